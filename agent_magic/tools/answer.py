"""An answer that a model wrote as plain text, read as the declared type of `final_answer`.

Form is read leniently (prose and fences around it, single quotes, last commas), content strictly:
a value is never picked out of a sentence. It must not know why no tool was called.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

import json_repair

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState, parse_reference
from agent_magic.core.values import Value, is_json
from agent_magic.tools.container_text import MAX_CHARS, read_container
from agent_magic.tools.hints import LIVE
from agent_magic.tools.places import Place
from agent_magic.tools.tool import Tool

_MAX_REPAIR_CHARS = 4_000
"""Repair by guess takes quadratic time."""
_MOST_PIECES = 8
"""How many blocks, and how many lists or objects in prose, are tried, from the end on."""
# Linear: a text of a model must not make it go back and forth.
_BRACKET = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|[\[\]{}]', re.DOTALL)
_LABEL = re.compile(r"\banswer\W{0,3}(?:\s+is\b|:)", re.IGNORECASE)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_PYTHON_WORD = re.compile(r"\b(?:True|False|None)\b")
_NOT_CONTENT = re.compile(r"[^\w.+-]+")


def answer_schema(tool: Tool) -> Mapping[str, Value] | None:
    """JSON Schema of the answer that a `final_answer` takes; None where plain text will do."""
    parameter = tool.definition.parameters[0]
    hints = parameter.hint_schema
    if LIVE not in hints.schema and _takes_plain_text(Place(hints.schema, hints.definitions)):
        return None
    schema = parameter.to_property()
    if LIVE not in hints.schema:
        schema.pop("description", None)  # it speaks of an argument
    return {**schema, "$defs": hints.definitions} if hints.definitions else schema


def parse_answer(text: str, tool: Tool, state: AgentState) -> Value:
    """The answer that a text gives, as the type that `tool`, a `final_answer`, declares.

    Raises:
        ToolCallError: There is none of that type in it.
    """
    text = text.strip()
    hints = tool.definition.parameters[0].hint_schema
    place = Place(hints.schema, hints.definitions)
    if place.is_any:
        name = parse_reference(text)
        return state.lookup(name) if name is not None and state.is_open(name) else text
    if _takes_plain_text(place):
        return _give(text, tool, state)
    worst: ToolCallError | None = None
    is_worst_json = False
    for candidate in _candidates(text):
        try:
            return _give(candidate, tool, state)
        except ToolCallError as error:
            is_json_form = isinstance(candidate, list | dict)
            if worst is None or (is_json_form and not is_worst_json):
                worst, is_worst_json = error, is_json_form
    assert worst is not None  # the text itself is always tried
    raise worst


def _takes_plain_text(place: Place) -> bool:
    others = place.takes_number or place.takes_integer or place.takes_boolean
    containers = place.takes_array or place.takes_object
    return place.is_any or (place.takes_text and not (others or containers or place.has_choices))


def _give(answer: Value, tool: Tool, state: AgentState) -> Value:
    return tool.invoke(tool.prepare({"answer": answer}, state))


def _candidates(text: str) -> Iterator[Value]:
    """What may be meant, likeliest first: the whole, a fenced block, a JSON in prose, what ends it."""
    yield from _readings(text)
    if len(text) > MAX_CHARS:
        return
    for block in _blocks(text):
        yield from _readings(block)
    for start, end in _spans(text):
        yield from _readings(text[start:end], is_container=True)
    last = text.rpartition("\n")[2].strip()
    if last != text:
        yield from _readings(last)
    labels = list(_LABEL.finditer(last))
    if labels:
        yield from _readings(last[labels[-1].end() :].strip(" :"))


def _readings(text: str, *, is_container: bool = False) -> Iterator[Value]:
    """One piece of text as JSON, as what stands in an object under `answer`, and as it is."""
    for value in _values(text):
        yield value
        if isinstance(value, dict) and list(cast("dict[str, Value]", value)) == ["answer"]:
            yield value["answer"]
    if not is_container:
        yield text
        bare = text.rstrip(".").strip("*`\"' ").rstrip(".")
        if bare != text:
            yield bare


def _values(text: str) -> Iterator[Value]:
    held = read_container(f"[{_PYTHON_WORDS.get(text, text)}]")
    if isinstance(held, list) and len(held) == 1:
        yield held[0]
    elif len(text) <= _MAX_REPAIR_CHARS and (0, len(text)) in _spans(text):
        yield from _repaired(text)


def _repaired(text: str) -> Iterator[Value]:
    """JSON in a laxer form, if reading it so adds and loses nothing and makes no words a text."""
    with contextlib.suppress(ValueError, IndexError, RecursionError):
        value = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
        as_json = json.dumps(value, ensure_ascii=False)
        is_same = as_json[0] == text[0] and is_json(value) and _content(text) == _content(as_json)
        if is_same and all(f"'{words}'" in text or f'"{words}"' in text for words in _texts(value)):
            yield value


def _texts(value: Value) -> Iterator[str]:
    """The texts in a value, keys aside: bare keys are form, bare words are prose in brackets."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        held = cast("dict[str, Value] | list[Value]", value)
        for item in held.values() if isinstance(held, dict) else held:
            yield from _texts(item)


def _content(text: str) -> str:
    return _NOT_CONTENT.sub("", _PYTHON_WORD.sub(lambda word: _PYTHON_WORDS[word[0]], text))


def _blocks(text: str) -> Iterator[str]:
    """What stands between fences, the last first."""
    found: list[str] = []
    opened: list[str] | None = None
    for line in text.splitlines():
        if opened is None:
            opened = [] if line.startswith("```") else None
        elif line.strip() == "```":
            found.append("\n".join(opened).strip())
            opened = None
        else:
            opened.append(line)
    return iter(found[: -_MOST_PIECES - 1 : -1])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where lists and objects stand in prose, outermost only, the last first; none if the text was cut in one."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for token in _BRACKET.finditer(text):
        if token[0] in "[{":
            opened.append(token.start())
        elif token[0] in "]}" and opened:
            start = opened.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, token.end()))
    if opened:
        return iter(())
    return iter(found[: -_MOST_PIECES - 1 : -1])
