"""FoundCode: the code that stands in a model's reply, and the reply as the record keeps it.

It must not judge the code: a syntax error in it is told when it is compiled.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent_magic.core.errors import ParsingError
from agent_magic.core.redact import redact
from agent_magic.core.text import strip_control
from agent_magic.execution.reply.finding import MAX_TEXT_CHARS, OBSERVATION, Block, find_blocks
from agent_magic.execution.reply.source import is_incomplete, refuse_unreadable, try_parse

_CUT_OFF = "length"
_SPEAKS_OF_ANSWER = re.compile(r"final[ _-]?answer|\banswer\b", re.IGNORECASE)
_CLOSER_AT_END = re.compile(r"(?:</code>|```)\Z", re.IGNORECASE)
_JSON_FENCE = re.compile(r"\s*```[\w-]*\s*(.*?)\s*```\s*", re.DOTALL)
_TAGS = re.compile(r"\s*<code\s*>(.*?)(?:</code\s*>)?\s*", re.DOTALL | re.IGNORECASE)
_DOES_SOMETHING = (
    ast.Call,
    ast.Assign,
    ast.AugAssign,
    ast.Import,
    ast.ImportFrom,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.NamedExpr,
    ast.Delete,
    ast.Raise,
    ast.Assert,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCode:
    """The code of one reply."""

    code: str
    r"""All of its blocks, in order, as one; lines end in `\n`."""
    start: int
    """Where in `mended` the code begins, its opening tag or fence included: before it stands the thought."""
    end: int
    """Where in `mended` it ends, its closing tag included."""
    mended: str
    """The reply as the record keeps it: cut after the code, and closed."""


def find_code(text: str, *, finish_reason: str | None = None) -> FoundCode:
    """The code in a reply: between `<code>` tags, else in Python fences, else the whole text if it is code.

    Args:
        finish_reason: Why the model stopped, as the provider says it; `length` is a reply that was cut off.

    Raises:
        ParsingError: There is none, or it was cut off, or Python could never read it.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_TEXT_CHARS:
        raise ParsingError(
            f"The reply has {len(text):,} characters; at most {MAX_TEXT_CHARS:,} can be read, and nothing ran.\n"
            "Send a short thought and one short block of code."
        )
    blocks, languages = find_blocks(text)
    chosen = _choose(blocks)
    if not chosen:
        return _find_bare(text, languages, finish_reason)
    code = "\n".join(block.code for block in chosen)
    last = chosen[-1]
    refuse_unreadable(code)
    if not last.is_closed:
        _refuse_cut(last, finish_reason)
    if not code.strip():
        raise _form_error("The code block is empty, and nothing ran.", text)
    mended = text[: last.end]
    if not last.is_closed:
        mended = f"{mended.rstrip()}\n{last.closer}"
    return FoundCode(code=code, start=chosen[0].start, end=len(mended), mended=mended)


def read_structured(text: str, *, finish_reason: str | None = None) -> FoundCode:
    """The code in a reply that is JSON with `thought` and `code`; any other reply is read by `find_code`.

    `mended` has the form of a reply with tags, the thought before the code.

    Raises:
        ParsingError: As `find_code`.
    """
    parts = _read_parts(text)
    if parts is None:
        return find_code(text, finish_reason=finish_reason)
    thought, code = parts
    fenced = _JSON_FENCE.fullmatch(code) or _TAGS.fullmatch(code)
    inner = fenced[1] if fenced and try_parse(code) is None else code
    before = f"{thought.strip()}\n" if thought.strip() else ""
    return find_code(f"{before.replace('<code>', '`code`')}<code>\n{inner.strip(chr(10))}\n</code>")


def _read_parts(text: str) -> tuple[str, str] | None:
    fenced = _JSON_FENCE.fullmatch(text) if "```" in text[:200] else None
    body = (fenced[1] if fenced else text).strip().removeprefix("\ufeff")
    if not body.startswith("{") or len(body) > MAX_TEXT_CHARS:
        return None
    try:
        read = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    fields = cast("dict[str, Any]", read)
    code, thought = fields.get("code"), fields.get("thought", "")
    if not isinstance(code, str):
        return None
    return thought if isinstance(thought, str) else "", code


def _choose(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that count: tags before fences, and of fences without a label only what is code."""
    tags = [block for block in blocks if block.kind == "tag"]
    if tags:
        return _without_mentions(tags)
    labelled = [block for block in blocks if block.kind == "python"]
    bare = [
        block
        for block in blocks
        if block.kind == "bare" and block.tree is not None and does_something(block.tree)
    ]
    if labelled or bare:
        return sorted((*labelled, *bare), key=lambda block: block.start)
    wrong = [
        block
        for block in blocks
        if block.kind == "bare" and block.tree is None and _looks_like_code(block.code)
    ]
    return wrong[:1]


def _without_mentions(tags: list[Block]) -> list[Block]:
    """Drops names that a text puts between tags as it speaks of them, if there is code beside them."""
    kept = [block for block in tags if block.tree is None or does_something(block.tree) or block is tags[-1]]
    if len(kept) > 1 and not kept[-1].code.strip():
        kept.pop()
    return kept


def does_something(tree: ast.Module) -> bool:
    """Whether code calls, binds, imports or has a compound statement; a lone name or literal is no code."""
    return any(
        isinstance(node, _DOES_SOMETHING) or (isinstance(node, ast.AnnAssign) and node.value is not None)
        for node in ast.walk(tree)
    )


def _looks_like_code(code: str) -> bool:
    return bool(
        re.search(
            r"^\s*(?:[%!]\w|\w[\w.]*\s*(?:=|\())|^\s*(?:import|from|def|for|if|while|with) ",
            code,
            re.MULTILINE,
        )
    )


def _find_bare(text: str, languages: Sequence[str], finish_reason: str | None) -> FoundCode:
    body = text
    if match := OBSERVATION.search(body):
        body = body[: match.start()]
    body = _CLOSER_AT_END.sub("", body.rstrip()).rstrip()
    code = body.strip("\n")
    tree = try_parse(code) if len(code) < MAX_TEXT_CHARS and code.strip() else None
    is_code = tree is not None and does_something(tree)
    if finish_reason == _CUT_OFF:
        what = "in the middle of its code" if is_code else "before its code"
        raise ParsingError(
            f"The reply was cut off by the length limit {what}, and nothing ran.\n"
            "Think in fewer words, and send the work in smaller steps, one short block each."
        )
    if is_code:
        refuse_unreadable(code)
        return FoundCode(code=code, start=len(body) - len(body.lstrip("\n")), end=len(body), mended=body)
    raise _form_error(_what_is_wrong(text, languages), text)


def _what_is_wrong(text: str, languages: Sequence[str]) -> str:
    if not text.strip():
        return "The reply is empty, and nothing ran."
    if languages:
        return f"The reply has a block of {languages[0]!r} and none of Python; only Python runs, and nothing ran."
    if text.lstrip().startswith(("{", "[")):
        return "The reply is data and no code, and nothing ran; a tool is called as a Python function."
    return "The reply has no code block, and nothing ran."


def _form_error(what: str, text: str) -> ParsingError:
    if _SPEAKS_OF_ANSWER.search(text):
        how = (
            "To give the final answer, call `final_answer` in a block of code between `<code>` and `</code>`:"
        )
        example = 'final_answer("the answer")'
    else:
        how = "Write a short thought, then Python between `<code>` and `</code>`:"
        example = "total = sum([1, 2, 3])\nprint(total)"
    return ParsingError(f"{what}\n{how}\n<code>\n{example}\n</code>")


def _refuse_cut(last: Block, finish_reason: str | None) -> None:
    """Refuses code whose end did not come; what lacks nothing but the closing tag is whole."""
    lines = last.code.rstrip().split("\n")
    if finish_reason == _CUT_OFF:
        raise ParsingError(
            f"The reply was cut off by the length limit in line {len(lines)} of its code, and nothing ran.\n"
            "Send the work in smaller steps, one short block each."
        )
    if last.tree is None and is_incomplete(last.code):
        end = redact(strip_control(lines[-1].strip()))
        raise ParsingError(
            f"The code block was never closed, and its code is cut off in line {len(lines)}: "
            f"`{end if len(end) <= 100 else '…' + end[-100:]}`. Nothing ran.\n"
            "Send the whole code again, and end it with `</code>`; where a text in it needs that tag, "
            'write "</" + "code>".'
        )
