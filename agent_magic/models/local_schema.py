"""What the embedded model may write as a call: a JSON Schema narrowed to the task's own words.

A model this small copies values out of its examples; so a text argument is chosen among the
task's words and a number among its numbers. Which of them, the model decides. It must not
decide which tool is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent_magic.core.messages import ToolSchema
from agent_magic.core.text import replace_surrogates
from agent_magic.core.values import Value

Schema = dict[str, Value]

BY_REFERENCE = "name of a state variable"
"""Stands in the description of a parameter that takes a live value by `@name`."""

# How JSON is set out: left free, this model may write line ends for ever.
_LAYOUT = {"x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}
_LONGEST_SPAN_WORDS = 3
_MOST_WORDS = 150
_LONGEST_TEXT = 120
_MOST_ITEMS = 12
_DEEPEST = 6
_EDGES = ".,;:!?…\"'`()[]{}<>“”‘’«»"
_REFERENCE = re.compile(r"(?<!\w)@[^\W\d]\w*")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|`([^`\n]{1,200})`|(?<!\w)'([^'\n]{1,200})'(?!\w)"
)
_NUMBER = re.compile(r"(?<![\w.@])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - reads better
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWords:
    """What of a task may become an argument, each in the order of its place in the text."""

    spans: tuple[str, ...] = ()
    """One to three words that stand together, and whatever is quoted; empty for a long task."""
    numbers: tuple[int | float, ...] = ()
    references: tuple[str, ...] = ()
    """With the `@`."""
    text: str = ""
    """The task in lower case."""


def parse_task_words(task: str, names: Iterable[str] = ()) -> TaskWords:
    """Take a task apart.

    Args:
        task: The person's text.
        names: The variables that the task is known to mention, without `@`.
    """
    task = replace_surrogates(task)
    references = dict.fromkeys([*(f"@{name}" for name in names), *_REFERENCE.findall(task)])
    found = [*references, *(next(filter(None, groups)) for groups in _QUOTED.findall(task)), *_spans(task)]
    words = (_number(match[0]) for match in _NUMBER.finditer(task))
    spelled = (_NUMBER_WORDS[word] for word in re.findall(r"\w+", task.lower()) if word in _NUMBER_WORDS)
    return TaskWords(
        spans=tuple(dict.fromkeys(found)) if len(task.split()) <= _MOST_WORDS else (),
        numbers=tuple(dict.fromkeys([*words, *spelled])),
        references=tuple(references),
        text=task.lower(),
    )


def build_call_schema(tools: Sequence[ToolSchema], words: TaskWords) -> Schema:
    """The JSON Schema of exactly one call of one of `tools`."""
    calls = [_call_schema(tool.name, _arguments_schema(tool, words)) for tool in tools]
    return {**(calls[0] if len(calls) == 1 else {"anyOf": calls}), **_LAYOUT}


def build_answer_schema(tool: ToolSchema, answers: Sequence[Value]) -> Schema:
    """The JSON Schema of a call of `tool` whose first parameter is one of `answers`."""
    properties: Mapping[str, Value] = tool.parameters.get("properties") or {}
    name = next(iter(properties), "answer")
    return {**_call_schema(tool.name, _object_schema({name: {"enum": list(answers)}}, [name])), **_LAYOUT}


def describe_type(schema: Mapping[str, Value]) -> str:
    """A parameter's type in a word or two, for the tool list."""
    if is_by_reference(schema):
        return "@name"
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"][:8])
    if alternatives := _alternatives(schema):
        return " | ".join(
            dict.fromkeys(describe_type(each) for each in alternatives if each.get("type") != "null")
        )
    return str(schema.get("type", "any"))


def is_by_reference(schema: Mapping[str, Value]) -> bool:
    """Whether a parameter takes a live value by `@name`."""
    return BY_REFERENCE in str(schema.get("description", ""))


def _call_schema(name: str, arguments: Schema) -> Schema:
    return _object_schema({"name": {"const": name}, "arguments": arguments}, ["name", "arguments"])


def _object_schema(properties: Mapping[str, Value], required: Sequence[str]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _arguments_schema(tool: ToolSchema, words: TaskWords) -> Schema:
    properties: Mapping[str, Mapping[str, Value]] = tool.parameters.get("properties") or {}
    required: Sequence[str] = tool.parameters.get("required") or ()
    shown = {name for example in tool.examples for name in example.arguments}
    root = tool.parameters
    resolved = {name: _resolve(schema, root) for name, schema in properties.items()}
    n_taken = sum(is_by_reference(schema) for name, schema in resolved.items() if name in required)
    kept = {
        name: schema
        for name, schema in resolved.items()
        if name in required or name in shown or _is_asked_for(name, schema, words, n_taken)
    }
    return _object_schema(
        {name: _narrow(schema, words, root) for name, schema in kept.items()},
        [name for name in kept if name in required],
    )


def _is_asked_for(name: str, schema: Mapping[str, Value], words: TaskWords, n_taken: int) -> bool:
    """Whether the task has something for an optional parameter; else it is not offered.

    Args:
        name: The parameter's.
        schema: Its own.
        words: The task's.
        n_taken: References that required parameters take.
    """
    alternatives = _alternatives(schema) or [schema]
    choices = [value for each in alternatives for value in each.get("enum", ())]
    if any(_stands_in(str(word), words.text) for word in (name, name.replace("_", " "), *choices)):
        return True
    if is_by_reference(schema):
        return len(words.references) > n_taken
    return bool(words.numbers) and any(each.get("type") in ("integer", "number") for each in alternatives)


def _stands_in(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) is not None


def _narrow(schema: Mapping[str, Value], words: TaskWords, root: Mapping[str, Value]) -> Schema:
    schema = _resolve(schema, root)
    if is_by_reference(schema):
        return {"enum": list(words.references)} if words.references else _plain(schema, root)
    if "const" in schema or "enum" in schema:
        return _plain(schema, root)
    if alternatives := _alternatives(schema):
        return {"anyOf": [_narrow(each, words, root) for each in alternatives]}
    kind = schema.get("type")
    if kind == "string" and words.spans:
        return {"enum": list(words.spans)}
    if kind in ("integer", "number") and (numbers := _numbers(words, kind)):
        return {"enum": numbers}
    if kind is None and words.spans:
        return {"enum": [*words.spans, *words.numbers]}
    if kind in ("array", "object") and words.references:
        return {"anyOf": [{"enum": list(words.references)}, _plain(schema, root)]}
    return _plain(schema, root)


def _plain(schema: Mapping[str, Value], root: Mapping[str, Value], depth: int = 0) -> Schema:
    """The schema as it is, without what would let the model write for ever."""
    schema = _resolve(schema, root)
    for key in ("const", "enum"):
        if key in schema:
            return {key: schema[key]}
    if alternatives := _alternatives(schema):
        return {"anyOf": [_plain(each, root, depth + 1) for each in alternatives]}
    kind = schema.get("type")
    if depth > _DEEPEST or kind is None or kind == "string":
        return {"type": "string", "maxLength": min(schema.get("maxLength", _LONGEST_TEXT), _LONGEST_TEXT)}
    if kind == "array":
        items = _plain(schema.get("items") or {}, root, depth + 1)
        bounds = {"minItems": min(schema.get("minItems", 0), _MOST_ITEMS)}
        return {"type": "array", "items": items, **bounds, "maxItems": _MOST_ITEMS}
    if kind == "object":
        properties: Mapping[str, Mapping[str, Value]] = schema.get("properties") or {}
        inner = {name: _plain(each, root, depth + 1) for name, each in properties.items()}
        if inner:
            return _object_schema(inner, [name for name in schema.get("required") or () if name in inner])
        return {"type": "object", "additionalProperties": {"type": "string", "maxLength": _LONGEST_TEXT}}
    return {"type": kind}


def _alternatives(schema: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    kind = schema.get("type")
    if isinstance(kind, list):
        return [{**schema, "type": each} for each in kind]
    return list(schema.get("anyOf") or schema.get("oneOf") or ())


def _resolve(schema: Mapping[str, Value], root: Mapping[str, Value]) -> Mapping[str, Value]:
    """The schema that a local `$ref` stands for."""
    for _ in range(_DEEPEST):
        path = schema.get("$ref")
        if not isinstance(path, str):
            return schema
        target: Value = root
        for key in path.removeprefix("#/").split("/"):
            target = target.get(key, {})
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return {}


def _spans(task: str) -> Iterable[str]:
    tokens = task.split()
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + _LONGEST_SPAN_WORDS, len(tokens)) + 1):
            piece = tokens[start:end]
            # A span does not run over a comma or the end of a sentence, nor hold a reference.
            if any(token[-1] in ".,;:!?" for token in piece[:-1]) or any(map(_REFERENCE.search, piece)):
                continue
            span = " ".join(piece).strip(_EDGES)
            if span:
                yield span
            if span.endswith(("'s", "’s")):
                yield span[:-2]


def _numbers(words: TaskWords, kind: str) -> list[int | float]:
    if kind == "number":
        return list(words.numbers)
    return [number for number in words.numbers if isinstance(number, int)]


def _number(text: str) -> int | float:
    text = text.replace(",", "")
    try:
        return int(text)
    except ValueError:
        return float(text)
