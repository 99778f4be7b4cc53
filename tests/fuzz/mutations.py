"""Valid replies of models, and what spoils them: strategies of hypothesis.

It must not know what is expected of an agent. Code is of harmless tools alone, and nothing is put
into it that could multiply, loop or reach anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

Change = tuple[str, int, int, str]
"""What is done, two places in thousandths of the text, and a text of use."""

ANSWERS: dict[Any, Any] = {
    float: 3.5,
    str: "recovered",
    list[int]: [1, 2],
    dict[str, float]: {"a": 1.5},
    Literal["x", "y"]: "x",
}
"""What an answer can be asked to be, and such an answer."""
_MAX_CHARS = 40_000
"""Of a spoilt text: pieces that double each other would fill the memory."""
_ARGUMENTS: list[tuple[str, dict[str, Any]]] = [
    ("add", {"a": 1, "b": 2}),
    ("add", {"a": -7, "b": 10**20}),
    ("echo", {"text": 'a } b { c " d'}),
    ("echo", {"text": "☀ 😀 Tromsø\nline two\t\\ 'quoted' </think> <tool_call>"}),
    ("pick", {"colour": "red", "sizes": [1, 2, 3]}),
    ("pick", {"sizes": None}),
    ("count", {"values": "@rows"}),
    ("count", {"values": [1.5, None, {"deep": [[["x"]]]}]}),
    ("boom", {}),
    ("now", {}),
    ("final_answer", {"answer": {"mean": 3.5, "names": ["a", "b"]}}),
    ("final_answer", {"answer": "It is 3."}),
    ("unknown_tool", {"x": 1}),
]
_TEXT_FORMS: list[Callable[[str, dict[str, Any]], str]] = [
    lambda name, arguments: json.dumps({"name": name, "arguments": arguments}),
    lambda name, arguments: json.dumps({"function": name, "parameters": arguments}, ensure_ascii=False),
    lambda name, arguments: f"```json\n{json.dumps({'name': name, 'arguments': arguments}, indent=2)}\n```",
    lambda name, arguments: f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>",
    lambda name, arguments: f"Thought: go.\nAction:\n{json.dumps({'tool': name, 'input': arguments})}",
    lambda name, arguments: repr({"name": name, "arguments": arguments}),
    lambda name, arguments: json.dumps([{"name": name, "arguments": arguments}] * 2),
    lambda name, arguments: json.dumps(
        {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}
    ),
    lambda name, arguments: json.dumps({"name": name, "arguments": json.dumps(json.dumps(arguments))}),
    lambda name, arguments: f"{{name: '{name}', arguments: {json.dumps(arguments)},}} // so",
]  # fmt: skip
_AROUND = [
    "{}",
    "I call a tool now. {}",
    "<think>First {{x}} or [y]?</think>\n{}",
    "Musing </think> {}",
    "{}\nObservation: 99\n{}",
    "{}\n{}",
    '{} <thinking>late {{"name": "echo"}}',
    "# Plan\n1. [see](x)\n\n{}\n\nDone.",
]
_CODES = [
    "x = add(1, 2)\nprint(x)",
    "final_answer(add(1, 2))",
    "print(echo('a } b { c'))\nfinal_answer(\"it's </code> so\")",
    "y = [pick('red', [1]), count(rows)]\ny",
    "try:\n    boom()\nexcept ValueError as error:\n    print(error)",
    "def f(n):\n    return add(n, 1)\nfinal_answer(f(2))",
]
_CODE_AROUND = [
    "Thought: go.\n<code>\n{}\n</code>",
    "```python\n{}\n```",
    "<code>{}</code> and <code>\n{}\n</code>",
    "<think><code>{}</code></think>\n```py\n{}\n```\nObservation: 3",
    "{}",
    "```\n{}\n```\n````python\n{}\n````",
]
_PIECES = [
    '"', "'", "\\", "\\\\", "{", "}", "[", "]", ",", ":", "}}", '{"', '"}', "{{", "[[", "//", "#", "\n", "\r\n", "\r", "\t",
    "\0", "\x1b[2J", "\x07", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\ud83d", "\udc00", "\ud83d\ude00", "\\ud83d", "\\u0000", "\\x41", "\\N{DASH}",
    "null", "None", "NaN", "Infinity", "-", "1e999", "0x10", "1_000", "9" * 5_000, "-" + "1" * 4_301, "0" * 300, "1" * 4_299, "True", "false",
    "[" * 70, "{" * 70, '{"a":' * 66, "[" * 3_000, "]" * 70, "(" * 200,
    "<think>", "</think>", "<thinking>", "</thinking>", "<tool_call>", "</tool_call>", "```", "```json\n", "Action:", "\nAction: ", "Observation:",
    '"name": "add"', '"arguments": {}', '"parameters": {', '"name"', '"function": {"name": "echo"}', '{"name": "now"}', '"tool_calls": [', '{"name": "add", "arguments": {"a": 1, "b": 2}}',
    '"id": "c1"', '"id": null', "@rows", "@nothing", "\\@rows", "__class__", "self", "$ref", "é" * 50, "A" * 5_000,
]  # fmt: skip
# Nothing here multiplies, loops, imports or opens.
_CODE_PIECES = [
    "<code>", "</code>", "```", "```python", "````", "~~~", "\n", "\r\n", "  ", "\t", '"', "'", '"""', "(", ")", "[", "]", ":", ",", "#", "\\", ";",
    "\0", "\x1b[2J", "\ud83d", "\u202e", "\ufeff", "final_answer", "add(", "print(", "<think>", "</think>", "Observation:", "{", "}", "f'{x}'", "await ", "return ", "%time", "!echo",
    "lambda", "yield", "=", "@", "é", "x", "(" * 250, "-" * 50, "[" * 250,
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model's replies, and how they come."""

    kind: str
    """`text`, `native` or `code`."""
    replies: tuple[Any, ...]
    n_times: int
    """How often they come, one after the other, before the model answers plainly."""
    calls_natively: bool
    n_pieces: int | None
    """In which a reply streams."""
    max_steps: int
    plans: bool
    answer_type: Any
    is_drawn: bool
    """Whether the run is drawn as well, which takes longer than the run."""


def spoil(text: str, changes: list[Change]) -> str:
    """The text with these changes made to it, in order."""
    for change in changes:
        text = _spoil(text, change)[:_MAX_CHARS]
    return text


def _spoil(text: str, change: Change) -> str:  # noqa: C901 - one case for each way
    what, first, second, piece = change
    start, end = sorted((len(text) * first // 1_000, len(text) * second // 1_000))
    match what:
        case "insert":
            return text[:start] + piece + text[start:]
        case "replace":
            return text[:start] + piece + text[min(end, start + 8) :]
        case "cut":
            return text[:start]
        case "behead":
            return text[end:]
        case "drop":
            return text[:start] + text[min(end, start + 40) :]
        case "double":
            return text[:end] + text[start:end] + text[end:]
        case "move":
            return text[:start] + text[end:] + text[start:end]
        case "flip":
            return _flip(text, first, second)
        case "quote":
            return json.dumps(text)
        case "escape":
            return text[:start] + json.dumps(text[start:end])[1:-1] + text[end:]
        case "swap quotes":
            return text[:start] + text[start:].translate({34: 39, 39: 34})
        case _:
            raise AssertionError(what)


def _flip(text: str, place: int, bit: int) -> str:
    """One bit of its UTF-8, whatever becomes of it; of bytes that are no UTF-8 halves of pairs are made."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data:
        data[len(data) * place // 1_001] ^= 1 << bit % 8
    return data.decode("utf-8", "surrogateescape")


_WAYS = (
    "insert",
    "replace",
    "cut",
    "behead",
    "drop",
    "double",
    "move",
    "flip",
    "quote",
    "escape",
    "swap quotes",
)
_CODE_WAYS = ("insert", "replace", "cut", "drop", "swap quotes")
"""A flipped bit could make any sign, and a doubled number a large one."""
_place = st.integers(0, 1_000)


def _changes(pieces: list[str], ways: tuple[str, ...]) -> st.SearchStrategy[list[Change]]:
    change = st.tuples(st.sampled_from(ways), _place, _place, st.sampled_from(pieces))
    return st.lists(change, max_size=5)


_text_changes = _changes(_PIECES, _WAYS)
_call = st.sampled_from(_ARGUMENTS)
_written = st.builds(lambda form, call: form(*call), st.sampled_from(_TEXT_FORMS), _call)
_finish = st.sampled_from(["stop", "tool_calls", "length", "content_filter", None, ""])
_content = st.builds(
    lambda around, one, other: around.replace("{}", one, 1).replace("{}", other).replace("{{", "{").replace("}}", "}"),
    st.sampled_from(_AROUND),
    _written,
    _written,
)  # fmt: skip
_odd = st.one_of(
    st.none(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.text(max_size=20),
    st.sampled_from(_PIECES),
    st.sampled_from(
        [
            "A" * 5_000,
            "é\n" * 3_000,
            "@rows",
            "@" + "r" * 4_000,
            "red",
            10**400,
            -0.0,
            [["x"] * 300],
            [[]] * 500,
        ]
    ),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers(), st.none()), st.floats(), max_size=3),
)
_KEYS = [
    "name", "function", "tool", "tool_name", "action", "arguments", "parameters", "args", "input", "tool_input", "action_input", "id", "type", "thought",
    "tool_calls", "a", "text", "K" * 3_000, "", "\ud83d", "k\n\0",
]  # fmt: skip
_made_up = st.recursive(
    st.one_of(_odd, st.sampled_from(["add", "echo", "now", "final_answer", "boom"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(_KEYS), inner, min_size=1, max_size=4),
    ),
    max_leaves=6,
).filter(lambda value: isinstance(value, list | dict))
"""Objects that look like calls, of whatever stands in one."""
spoilt_texts = st.one_of(
    st.builds(spoil, _content, _text_changes),
    st.builds(spoil, _content, _text_changes),
    st.builds(spoil, _made_up.map(json.dumps), _text_changes),
)
_native_arguments = st.one_of(
    _call.map(lambda call: call[1]),
    st.builds(spoil, _call.map(lambda call: json.dumps(call[1])), _text_changes),
    st.builds(spoil, _call.map(lambda call: json.dumps(json.dumps(call[1]))), _text_changes),
    _odd,
    st.dictionaries(
        st.sampled_from(["a", "b", "text", "values", "sizes", "colour", "answer"]), _odd, max_size=3
    ),
)
_native_name = st.one_of(
    _call.map(lambda call: call[0]), st.builds(spoil, _call.map(lambda call: call[0]), _text_changes)
)
_native_call = st.fixed_dictionaries(
    {"name": _native_name, "arguments": _native_arguments},
    optional={"id": st.sampled_from(["c1", "c1", "c2", "", "call_1", "call_1_2", "id\ud83d\n", "x" * 500])},
)
_reasoning = st.one_of(st.none(), spoilt_texts)
_native = st.fixed_dictionaries(
    {"tool_calls": st.lists(_native_call, min_size=1, max_size=4)},
    optional={
        "content": st.one_of(st.none(), spoilt_texts),
        "reasoning": _reasoning,
        "finish_reason": _finish,
    },
)
_text = st.one_of(
    spoilt_texts,
    st.fixed_dictionaries(
        {"content": spoilt_texts}, optional={"reasoning": _reasoning, "finish_reason": _finish}
    ),
)
_code = st.builds(
    lambda around, one, other, changes: spoil(around.replace("{}", one, 1).replace("{}", other), changes),
    st.sampled_from(_CODE_AROUND),
    st.sampled_from(_CODES),
    st.sampled_from(_CODES),
    _changes(_CODE_PIECES, _CODE_WAYS),
)
_coded = st.one_of(
    _code,
    st.fixed_dictionaries({"content": _code}, optional={"reasoning": _reasoning, "finish_reason": _finish}),
)


def _cases(kind: str, reply: st.SearchStrategy[Any]) -> st.SearchStrategy[Case]:
    return st.builds(
        Case,
        kind=st.just(kind),
        replies=st.lists(reply, min_size=1, max_size=2).map(tuple),
        n_times=st.sampled_from([1, 1, 1, 4]),
        calls_natively=st.just(True) if kind == "native" else st.booleans(),
        n_pieces=st.sampled_from([None, None, 3, 17]),
        max_steps=st.sampled_from([5, 5, 1]),
        plans=st.sampled_from([False, False, False, True]),
        answer_type=st.sampled_from([None, None, None, *ANSWERS]),
        is_drawn=st.integers(0, 15).map(lambda number: number == 15),
    )


cases: dict[str, st.SearchStrategy[Case]] = {
    "text": _cases("text", _text),
    "native": _cases("native", _native),
    "code": _cases("code", _coded),
}
