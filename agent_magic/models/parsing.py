"""Tool calls, arguments and thinking, read from what a model wrote.

It must not check a call against any tool: here it is only read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from agent_magic.core.errors import ParsingError
from agent_magic.core.messages import ToolCall
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.json_text import (
    checked,
    excerpt,
    find_end,
    find_strings,
    read_json,
    refuse_incomplete,
    refuse_size,
)

_FORM = 'Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}'

_NAME_KEYS = ("name", "function", "tool", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_OTHER_KEYS = ("id", "type", "thought", "tool_calls")
_CALL_KEY = re.compile(
    rf"[{{,]\s*[\"']?(?:{'|'.join((*_NAME_KEYS, *_ARGUMENT_KEYS, 'tool_calls'))})[\"']?\s*:"
)
_CALL_OPENING = re.compile(
    rf"[{{\[][\s{{\[]{{0,8}}+[\"']?(?:{'|'.join((*_NAME_KEYS, *_ARGUMENT_KEYS, *_OTHER_KEYS))})[\"']?\s*:"
)
_OPENER = re.compile(r"[{\[]")
_MARK = re.compile(r"^[ \t>*_#]*Action[ \t]*(?:\*\*|__)?[ \t]*:(?:\*\*|__)?", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t>*_#]*Observation[ \t]*:", re.MULTILINE)
_TAG = "<tool_call>"
# What may stand between the thought and a call, and belongs to the call.
_LEAD = re.compile(r"(?:[\s{\[]|```[\w-]*|<tool_call>)*\Z")
_FENCE = re.compile(r"\s*```[\w-]*\s*(.*?)\s*```\s*", re.DOTALL)
_THINK = re.compile(r"<(/?)(?:think|thinking)>")
_MAX_LEAD_CHARS = 200
_MAX_UNCLOSED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCalls:
    """The tool calls that stand in a text."""

    calls: tuple[ToolCall, ...]
    """With arguments as mappings, in the order written."""
    start: int
    """Where the first of them begins, fence, tag or `Action:` included: before it stands the thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A bracketed part of a text that may hold calls."""

    start: int
    end: int | None
    """None if it is cut off."""


def parse_tool_calls(text: str) -> ParsedCalls:
    """The tool calls in a model's text, at least one.

    Raises:
        ParsingError: There is none, or one cannot be read; then none of them counts.
    """
    refuse_size(text)
    mark = _find_mark(text)
    begin = mark.end() if mark else 0
    calls: list[ToolCall] = []
    start = last_end = len(text)
    for span in _find_spans(text, begin):
        if calls and _OBSERVATION.search(text, last_end, span.start):
            break  # what follows is the model's own dream of a result
        if span.end is None:
            refuse_incomplete(text[span.start :])
        lead = _LEAD.search(text, max(begin, span.start - _MAX_LEAD_CHARS), span.start)
        lead_start = lead.start() if lead else span.start
        is_bare = mark is not None or lead_start == begin or text[lead_start : span.start].strip() != ""
        found = _to_calls(read_json(text[span.start : span.end]), is_bare=is_bare, number=len(calls) + 1)
        if found and not calls:
            start = lead_start + (
                len(text[lead_start : span.start]) - len(text[lead_start : span.start].lstrip())
            )
        calls.extend(found)
        last_end = span.end
    if not calls:
        _refuse(text, begin)
    return ParsedCalls(calls=tuple(calls), start=mark.start() if mark else start)


def has_call_mark(text: str) -> bool:
    """Whether a text means to call a tool, be it ever so broken; else it is prose."""
    return bool(_MARK.search(text) or _TAG in text or _CALL_OPENING.search(text))


def read_arguments(raw: object) -> dict[str, Value]:
    """The arguments of a call as a mapping, whatever form the provider gave them in.

    Args:
        raw: A mapping, or text: JSON, JSON in a JSON string, a Python literal. None and blank
            text are no arguments.

    Raises:
        ParsingError: It is something else, or cannot be read.
    """
    value = raw
    for _ in range(3):
        if not isinstance(value, str):
            break
        fenced = _FENCE.fullmatch(value)
        value = fenced[1] if fenced else value
        if not value.strip():
            return {}
        try:
            value = read_json(value)
        except ParsingError:
            if value.lstrip()[0] in "{[\"'":
                raise
            break  # a bare text: that it is no object says more than that it is no JSON
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(key): item for key, item in checked(dict(cast("Mapping[Value, Value]", value))).items()}
    raise ParsingError(
        f"The arguments are {_kind(value)}, {excerpt(value if isinstance(value, str) else safe_repr(value))}, and not an object.\n"
        'Give each by its name: {"argument": "value"}'
    )


def split_reasoning(text: str) -> tuple[str, str]:
    """The thinking in a model's text, and the text without it.

    Thinking is what stands between `<think>` and `</think>`, before a lone `</think>`, or after
    a `<think>` that is never closed. A tag inside a string of a tool call is data.
    """
    tags = list(_THINK.finditer(text)) if "<" in text else []
    if tags:
        strings = _find_call_strings(text)
        tags = [tag for tag in tags if not _is_inside(strings, tag.start())]
    if not tags:
        return "", text
    thinking: list[str] = []
    kept: list[str] = []
    position = 0
    is_thinking = bool(tags[0][1])
    for tag in tags:
        is_opening = not tag[1]
        (thinking if is_thinking else kept).append(text[position : tag.start()])
        position = tag.end()
        is_thinking = is_opening
    (thinking if is_thinking else kept).append(text[position:])
    return "\n".join(part.strip() for part in thinking if part.strip()), "".join(kept).strip()


def _find_mark(text: str) -> re.Match[str] | None:
    """The first `Action:` at the beginning of a line, outside of the strings of a call."""
    marks = _MARK.finditer(text)
    first = next(marks, None)
    if first is None:
        return None
    strings = _find_call_strings(text)
    return next((mark for mark in (first, *marks) if not _is_inside(strings, mark.start())), None)


def _find_call_strings(text: str) -> list[tuple[int, int]]:
    """Where the strings of whole calls stand: what looks like a mark or a tag in them is data."""
    strings: list[tuple[int, int]] = []
    begin, n_unclosed = 0, 0
    while n_unclosed < _MAX_UNCLOSED and (opening := _CALL_OPENING.search(text, begin)):
        try:
            end = find_end(text, opening.start())
        except ParsingError:
            end = None
        if end is None:
            n_unclosed += 1
            begin = opening.end()
        else:
            strings.extend(find_strings(text, opening.start(), end))
            begin = end
    return strings


def _is_inside(ranges: list[tuple[int, int]], position: int) -> bool:
    place = bisect_right(ranges, (position, position))
    return place > 0 and ranges[place - 1][0] < position < ranges[place - 1][1]


def _find_spans(text: str, begin: int) -> Iterator[_Span]:
    """The parts of a text that may hold calls.

    Brackets of prose are passed over. Each try to find an end is paid from one budget, so that
    the time is linear whatever the text.
    """
    budget = 8 * len(text) + 100_000
    position = begin
    while opener := _OPENER.search(text, position):
        start = opener.start()
        end = find_end(text, start)
        budget -= (len(text) if end is None else end) - start
        if budget < 0:
            refuse_incomplete(text[start:])
        if end is None:
            if _CALL_OPENING.match(text, start):
                yield _Span(start=start, end=None)
            position = start + 1
        elif not _CALL_KEY.search(text, start, end):
            position = end
        elif _holds_value(text, start):
            yield _Span(start=start, end=end)
            position = end
        else:
            position = start + 1


def _holds_value(text: str, start: int) -> bool:
    """Whether a bracket is that of a value, and not of prose or of a template: `[see {…}]`, `{{…}}`."""
    inside = text[start + 1 : start + 200].lstrip()[:1]
    return inside in ("[", "{") if text[start] == "[" else inside not in ("{", "[")


def _to_calls(value: Value, *, is_bare: bool, number: int) -> list[ToolCall]:
    """The calls that a JSON value means; none if it means something else."""
    if isinstance(value, list):
        items = cast("list[Value]", value)
        found = [_to_calls(item, is_bare=is_bare, number=0) for item in items]
        if any(found) and not all(found):
            wrong = next(item for item, calls in zip(items, found, strict=True) if not calls)
            raise ParsingError(f"A list of tool calls holds {excerpt(str(wrong))}, which is none.\n{_FORM}")
        calls = [call for item in found for call in item]
    elif isinstance(value, dict):
        fields = cast("dict[str, Value]", value)
        if isinstance(fields.get("tool_calls"), list):
            return _to_calls(fields["tool_calls"], is_bare=True, number=number)
        call = _to_call(fields, is_bare=is_bare)
        calls = [call] if call else []
    else:
        return []
    return [
        ToolCall(id=f"call_{number + place}", name=call.name, arguments=call.arguments)
        for place, call in enumerate(calls)
    ]


def _to_call(fields: dict[str, Value], *, is_bare: bool) -> ToolCall | None:
    inner = fields.get("function")
    if isinstance(inner, dict):
        return _to_call(cast("dict[str, Value]", inner), is_bare=True)
    argument_keys = [key for key in _ARGUMENT_KEYS if key in fields]
    name_key = next((key for key in _NAME_KEYS if key in fields), None)
    if name_key is None or (not argument_keys and not _is_name_alone(fields, name_key, is_bare=is_bare)):
        return None
    name = fields[name_key]
    if not isinstance(name, str) or not name.strip():
        raise ParsingError(f"The tool's name is {excerpt(str(name))}, and not a text.\n{_FORM}")
    if len(argument_keys) > 1:
        first, second = argument_keys[:2]
        raise ParsingError(
            f"The call of {excerpt(name)} has both {first!r} and {second!r}.\nGive all arguments in one object."
        )
    arguments = read_arguments(fields[argument_keys[0]]) if argument_keys else {}
    return ToolCall(id="", name=name, arguments=arguments)


def _is_name_alone(fields: dict[str, Value], name_key: str, *, is_bare: bool) -> bool:
    # {"name": "now"} calls a tool without arguments, if nothing else is said and it stands where a call would.
    return is_bare and fields.keys() <= {name_key, *_OTHER_KEYS}


def _refuse(text: str, begin: int) -> None:
    """Raise a ParsingError that says what stands there instead of a call."""
    body = text[begin:].strip()
    fenced = _FENCE.fullmatch(body)
    body = fenced[1] if fenced else body
    where = " after `Action:`" if begin else ""
    if not body:
        raise ParsingError(f"The reply is empty{where}: there is no tool call.\n{_FORM}")
    if body[0] in "{[":
        value = read_json(body)
        keys = (
            ", ".join(excerpt(str(key)) for key in list(cast("dict[str, Value]", value))[:5])
            if isinstance(value, dict)
            else ""
        )
        what = f"a JSON object with the keys {keys}" if keys else f"{_kind(value)}, {excerpt(body)}"
        raise ParsingError(f"The reply is {what}, and no tool call.\n{_FORM}")
    raise ParsingError(f"No tool call was found{where} in {excerpt(body)}.\n{_FORM}")


def _kind(value: object) -> str:
    match value:
        case bool():
            return "a JSON boolean"
        case int() | float():
            return "a JSON number"
        case str():
            return "a text"
        case list() | tuple():
            return "a JSON list"
        case dict():
            return "a JSON object"
        case _:
            return f"a {type(value).__name__}"
