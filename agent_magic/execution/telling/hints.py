"""What the one who wrote code can do about an exception: the names that it may have meant, and the next thing.

It must not run anything of a value's but what lists its names.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterable
from types import FrameType

from agent_magic.core.errors import StepError
from agent_magic.core.values import Value
from agent_magic.execution.reply.source import try_parse

_MAX_NAMES = 12
_MAX_CANDIDATES = 5_000

_ADVICE: tuple[tuple[type[BaseException], str], ...] = (
    (RecursionError, "Give the recursion an end that every call comes nearer to, or write a loop."),
    (MemoryError, "Work on parts of the data, or on fewer columns and smaller types."),
    (SystemExit, "Code cannot end the kernel: to end the run call `final_answer(value)`."),
    (KeyboardInterrupt, "Nobody pressed a key: the code raised it. Raise an ordinary exception, or none."),
    (GeneratorExit, "Raise an ordinary exception, or none: to end the run call `final_answer(value)`."),
    (
        ModuleNotFoundError,
        "It is not installed: use what is there, or say in the final answer what is missing.",
    ),
    (NameError, "Bind the name before you use it; names of earlier steps are still there."),
    (
        PermissionError,
        "Code may read files and not write them: keep the value in a variable or give it as the answer.",
    ),
    (FileNotFoundError, 'See which files there are: `list(pathlib.Path(".").iterdir())`.'),
)
_GO_ON = "What ran before that line stands, so go on from there: mend it, and do not repeat the rest."


def advise(error: BaseException) -> str:
    """One thing to do."""
    if isinstance(error, StepError):
        return _GO_ON
    if isinstance(error, ValueError) and "read-only" in str(error):
        return "It is the person's: work on a copy of it, such as `mine = theirs.copy()`."
    return next((advice for kind, advice in _ADVICE if isinstance(error, kind)), _GO_ON)


def suggest(error: BaseException, frame: FrameType | None, source: str) -> str:
    """The names that were perhaps meant; empty if nothing is near.

    Args:
        frame: Where the code itself was.
        source: Its line.
    """
    try:
        match error:
            case KeyError(args=(key,)) if frame is not None:
                return _of_key(key, frame, source)
            case AttributeError(name=str(name), obj=owner) if owner is not None:
                return _near(name, dir(owner))
            case NameError(name=str(name)) if frame is not None:
                return _near(name, (*frame.f_locals, *frame.f_globals, *vars(builtins)))
            case _:
                return ""
    except Exception:  # noqa: BLE001 - attributes and names of foreign values may raise anything; a hint is worth no fault
        return ""


def _near(name: str, candidates: Iterable[Value]) -> str:
    names = [other for other in candidates if isinstance(other, str) and _is_meant(name, other)]
    near = difflib.get_close_matches(name, names[:_MAX_CANDIDATES], n=3, cutoff=0.6)
    near = list(dict.fromkeys(near))
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _is_meant(name: str, other: str) -> bool:
    """Whether `other` is a name that somebody who wrote `name` could have meant."""
    is_special = other[:2] == "__" and other[-2:] == "__"
    return not is_special and (name.startswith("_") or other[:1] != "_")


def _of_key(key: Value, frame: FrameType, source: str) -> str:
    """The keys or columns that there are, where the line shows whose key it was."""
    for name in _subscripted(source):
        owner = frame.f_locals.get(name, frame.f_globals.get(name))
        keys = _keys(owner)
        if keys is None or key in keys:
            continue
        near = difflib.get_close_matches(str(key), [str(other) for other in keys], n=3, cutoff=0.6)
        shown = ", ".join(repr(other) for other in keys[:_MAX_NAMES])
        more = f", … ({len(keys):,} in all)" if len(keys) > _MAX_NAMES else ""
        meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        word = "columns" if hasattr(owner, "columns") else "keys"
        return f"The {word} of `{name}`: {shown}{more}.{meant}"
    return ""


def _subscripted(source: str) -> Iterable[str]:
    tree = (
        try_parse(source.strip())
        or try_parse(source.strip().rstrip(":") + ": pass")
        or try_parse(source.strip().rstrip("([{,"))
    )
    if tree is None:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=name)):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                yield name
            case _:
                pass


def _keys(owner: Value) -> list[Value] | None:
    if type(owner) is dict:
        return list(owner)[:_MAX_CANDIDATES]
    if type(owner).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(owner, "columns"):
        return list(owner.columns)[:_MAX_CANDIDATES]
    return None
