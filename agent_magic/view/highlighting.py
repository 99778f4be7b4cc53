"""Python code in pieces, each with what it is, so that a form can give it a colour.

It must not write markup, nor change a sign of the code.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["keyword", "string", "number", "comment", "definition", "builtin"]
Pieces: TypeAlias = tuple[tuple[Kind | None, str], ...]

_LONGEST = 40_000
"""Characters; longer code is one piece, since reading it would take a tenth of a second."""


@lru_cache(maxsize=200)
def to_pieces(code: str) -> Pieces:
    """The pieces in their order; together they are the code. It need not be valid."""
    if len(code) > _LONGEST:
        return ((None, code),)
    # Slow, and only a run with code needs it.
    from pygments.lexers.python import PythonLexer  # noqa: PLC0415
    from pygments.token import Comment, Keyword, Name, Number, Operator, String  # noqa: PLC0415

    roots: dict[Kind, tuple[object, ...]] = {
        "keyword": (Keyword, Operator.Word),
        "string": (String,),
        "number": (Number,),
        "comment": (Comment,),
        "definition": (Name.Function, Name.Class, Name.Decorator),
        "builtin": (Name.Builtin,),
    }
    kinds: dict[object, Kind] = {root: kind for kind, found in roots.items() for root in found}
    pieces: list[tuple[Kind | None, str]] = []
    for _, token, text in PythonLexer().get_tokens_unprocessed(code):
        # A token type is a path: the longest part of it that has a colour is what counts.
        kind: Kind | None = next((kinds[part] for part in reversed(token.split()) if part in kinds), None)
        if pieces and pieces[-1][0] == kind:
            pieces[-1] = (kind, pieces[-1][1] + text)
        else:
            pieces.append((kind, text))
    return tuple(pieces)
