"""Tool calls, arguments and thinking, read from what a model wrote."""

from __future__ import annotations

import time

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ParsingError
from agent_magic.models.parsing import has_call_mark, parse_tool_calls, read_arguments, split_reasoning

CALL = '{"name": "add", "arguments": {"a": 1, "b": 2}}'


def calls_in(text: str) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in parse_tool_calls(text).calls]


def fault_of(text: str) -> str:
    with pytest.raises(ParsingError) as caught:
        parse_tool_calls(text)
    return caught.value.message


ADD = [("add", {"a": 1, "b": 2})]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CALL, id="bare"),
        pytest.param(f"I add.\n```json\n{CALL}\n```\nDone.", id="fenced"),
        pytest.param(f"<tool_call>\n{CALL}\n</tool_call>", id="tagged"),
        pytest.param('{"function": "add", "parameters": {"a": 1, "b": 2}}', id="function and parameters"),
        pytest.param(
            '{"id": "x", "type": "function", "function": {"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}}',
            id="as a provider writes it",
        ),
        pytest.param(f'{{"tool_calls": [{CALL}]}}', id="inside tool_calls"),
        pytest.param('{"action": "add", "action_input": {"a": 1, "b": 2}}', id="action and its input"),
        pytest.param('{"name": "add", "arguments": {"a": 1, "b": 2,},}', id="trailing commas"),
        pytest.param("{'name': 'add', 'arguments': {'a': 1, 'b': 2}}", id="Python quotes"),
        pytest.param('{"name": "add", // the tool\n "arguments": {"a": 1, "b": 2}}', id="comment"),
        pytest.param("{name: 'add', arguments: {a: 1, b: 2}}", id="bare keys"),
        pytest.param('{"name": "add" "arguments": {"a": 1 "b": 2}}', id="lost commas"),
        pytest.param(f"{{{CALL}}}", id="template braces"),
        pytest.param(f"I call [as asked: {CALL}]", id="inside brackets of prose"),
        pytest.param(f"With x[0] and {{this}} in mind, and one {{ too many: {CALL}", id="brackets in prose"),
        pytest.param(
            f'{{"name": "old", "arguments": {{}}}} was wrong.\nAction:\n{CALL}', id="after the mark"
        ),
        pytest.param(
            f"{CALL}\nObservation: 3\n" + '{"name": "final_answer", "arguments": {"answer": 3}}',
            id="dreamt result",
        ),
    ],
)
def test_a_call_is_read_in_every_form(text: str) -> None:
    assert calls_in(text) == ADD


def test_python_literals_keep_their_values() -> None:
    text = "{'name': 'f', 'arguments': {'t': True, 'n': None, 's': 'it\\'s \"so\"', 'p': (1, 2), 'x': -1.5}}"
    assert calls_in(text) == [("f", {"t": True, "n": None, "s": 'it\'s "so"', "p": [1, 2], "x": -1.5})]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"a } b { c \\" d"', 'a } b { c " d'),
        ('"line one\nline two"', "line one\nline two"),
        ('"a\\u0000b\\u001b[2Jc\\u202Egpj.exe"', "a\0b\x1b[2Jc\u202egpj.exe"),
        ('"bad \\ud83d end"', "bad \ufffd end"),
        ('"\\ud83d\\ude00"', "😀"),
        ('"x\nAction:\n{"', "x\nAction:\n{"),
        ("'\\d+ \\/ // no comment'", "\\d+ \\/ // no comment"),
    ],
)
def test_a_text_argument_is_what_was_meant(written: str, text: str) -> None:
    assert calls_in(f'{{"name": "echo", "arguments": {{"text": {written}}}}}') == [("echo", {"text": text})]


@pytest.mark.parametrize(
    "text",
    [
        f'{CALL}\n{{"name": "now", "arguments": {{}}}}',
        f'[{CALL}, {{"name": "now", "arguments": null}}]',
        f'<tool_call>{CALL}</tool_call><tool_call>{{"name": "now", "arguments": ""}}</tool_call>',
    ],
)
def test_several_calls_are_read_in_order_each_with_its_id(text: str) -> None:
    calls = parse_tool_calls(text).calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("call_1", "add", {"a": 1, "b": 2}),
        ("call_2", "now", {}),
    ]


def test_a_name_alone_is_a_call_where_a_call_would_stand() -> None:
    assert calls_in('```json\n{"name": "now"}\n```') == [("now", {})]


def test_a_name_alone_is_data_inside_a_sentence() -> None:
    assert fault_of('The row is {"name": "Anna"}.') == snapshot("""\
No tool call was found in 'The row is {"name": "Anna"}.'.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        (f"I add them.\n\n```json\n{CALL}\n```", "I add them."),
        (f"I add. <tool_call>{CALL}</tool_call>", "I add."),
        (f"I add.\n**Action:**\n{CALL}", "I add."),
        (f"One: {CALL}", "One:"),
        (CALL, ""),
    ],
)
def test_the_start_is_where_the_thought_ends(text: str, thought: str) -> None:
    assert text[: parse_tool_calls(text).start].rstrip() == thought


def test_prose_is_told_what_a_call_looks_like() -> None:
    assert fault_of("I think we should add the numbers first.") == snapshot("""\
No tool call was found in 'I think we should add the numbers first.'.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_an_empty_reply_is_told_so() -> None:
    assert fault_of(" \n") == snapshot("""\
The reply is empty: there is no tool call.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_nothing_after_the_mark_is_told_so() -> None:
    assert fault_of(f"{CALL}\nAction: add them") == snapshot("""\
No tool call was found after `Action:` in 'add them'.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_a_list_that_is_no_call_is_named() -> None:
    assert fault_of("[1, 2, 3]") == snapshot("""\
The reply is a JSON list, '[1, 2, 3]', and no tool call.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_an_object_that_is_no_call_is_named_by_its_keys() -> None:
    assert fault_of('{"a": 1, "b": 2}') == snapshot("""\
The reply is a JSON object with the keys 'a', 'b', and no tool call.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_a_list_with_one_call_and_something_else_is_refused() -> None:
    assert fault_of(f"[{CALL}, 3]") == snapshot("""\
A list of tool calls holds '3', which is none.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_a_cut_off_call_is_incomplete() -> None:
    assert fault_of('{"name": "add", "arguments": {"a": 1, "b": 2}') == snapshot("""\
The JSON '{"name": "add", "arguments": {"a": 1, "b": 2}' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.\
""")


def test_a_cut_off_call_after_a_whole_one_makes_both_void() -> None:
    assert fault_of(f'{CALL}\n{{"name": "echo", "argum') == snapshot("""\
The JSON '{"name": "echo", "argum' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.\
""")


def test_a_quote_inside_a_text_is_not_guessed_at() -> None:
    assert fault_of('{"name": "echo", "arguments": {"text": "he said "hi" to me"}}') == snapshot("""\
The JSON '{"name": "echo", "arguments": {"text": "he said "hi" to me"}}' cannot be read: Expecting ',' delimiter at line 1, column 50.
Write it again with double quotes round each text, and a backslash before each quote inside one.\
""")


def test_a_key_given_twice_is_refused() -> None:
    assert fault_of('{"name": "add", "arguments": {"a": 1, "a": 100, "b": 2}}') == snapshot("""\
The key 'a' stands twice in one JSON object.
Give each argument once.\
""")


@pytest.mark.parametrize(
    "text", ["{'name': 'add', 'arguments': {'a': 1, 'a': 2}}", '{name: "add", arguments: {a: 1, a: 2}}']
)
def test_a_key_given_twice_is_refused_in_lax_form_too(text: str) -> None:
    with pytest.raises(ParsingError):
        parse_tool_calls(text)


def test_nan_is_refused() -> None:
    assert fault_of('{"name": "add", "arguments": {"a": NaN, "b": 2}}') == snapshot("""\
NaN is no number that JSON can hold.
Give a finite number, or null if the tool takes it.\
""")


@pytest.mark.parametrize("number", ["-Infinity", "1e999", "nan"])
def test_what_is_no_finite_number_is_refused(number: str) -> None:
    assert "is no number that JSON can hold" in fault_of(
        f"{{'name': 'add', 'arguments': {{'a': {number},}}}}"
    )


def test_a_number_of_5000_digits_is_refused() -> None:
    assert fault_of('{"name": "add", "arguments": {"b": 1, "a": ' + "1" * 5_000 + "}}") == snapshot("""\
The JSON holds a whole number of 5,000 digits; at most 4,300 digits are read.
Give a smaller number, or text.\
""")


def test_a_number_of_4300_digits_is_read() -> None:
    assert calls_in('{"name": "f", "arguments": {"a": ' + "1" * 4_300 + "}}") == [
        ("f", {"a": int("1" * 4_300)})
    ]


def test_deep_nesting_is_refused() -> None:
    assert fault_of(
        '{"name": "echo", "arguments": {"text": ' + "[" * 10_000 + "]" * 10_000 + "}}"
    ) == snapshot("""\
The JSON is nested deeper than 64 levels.
Give flatter arguments.\
""")


def test_62_lists_inside_the_arguments_are_read() -> None:
    text = '{"name": "f", "arguments": {"x": ' + "[" * 62 + "]" * 62 + "}}"
    assert calls_in(text)[0][0] == "f"


def test_over_a_megabyte_is_refused() -> None:
    assert fault_of(
        '{"name": "echo", "arguments": {"text": "' + "abcdefghij" * 2_000_000 + '"}}'
    ) == snapshot("""\
The text is 20,000,043 characters long; at most 1,000,000 (1 MB) are read as a tool call.
Call the tool with a shorter argument.\
""")


def test_two_sets_of_arguments_are_refused() -> None:
    assert fault_of('{"name": "f", "arguments": {}, "parameters": {"a": 1}}') == snapshot("""\
The call of 'f' has both 'arguments' and 'parameters'.
Give all arguments in one object.\
""")


def test_a_name_that_is_no_text_is_refused() -> None:
    assert fault_of('{"name": 3, "arguments": {}}') == snapshot("""\
The tool's name is '3', and not a text.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
""")


def test_arguments_in_order_are_refused() -> None:
    assert fault_of('{"name": "add", "arguments": [1, 2]}') == snapshot("""\
The arguments are a JSON list, '[1, 2]', and not an object.
Give each by its name: {"argument": "value"}\
""")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"name": ' * 100_000, id="open braces"),
        pytest.param("[a " * 60 + "x" * 900_000, id="open brackets in prose"),
        pytest.param("{'\"' " * 200_000, id="quotes"),
        pytest.param('{"name": ' + "\nAction:\n" * 90_000, id="marks"),
        pytest.param('{"name": "x ' + "</think>" * 90_000, id="tags"),
        pytest.param("[x] " * 240_000, id="prose brackets"),
        pytest.param('{name: ["x" 1' + ' "x" 1' * 100_000 + "]}", id="much to repair"),
    ],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    begin = time.process_time()
    split_reasoning(text)
    has_call_mark(text)
    with pytest.raises(ParsingError) as caught:
        parse_tool_calls(text)
    assert time.process_time() - begin < 10
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("text", "is_meant"),
    [
        (CALL, True),
        ('{"name": "add", "argum', True),
        ("Action: add", True),
        ("<tool_call>add", True),
        ("The answer is 3.", False),
        ('The set {1, 2} and {"city": "Oslo"}.', False),
    ],
)
def test_has_call_mark_tells_a_broken_call_from_prose(text: str, is_meant: bool) -> None:
    assert has_call_mark(text) is is_meant


@pytest.mark.parametrize("raw", [None, "", " \n", "{}", "null", "None", '""', {}])
def test_no_arguments_are_an_empty_mapping(raw: object) -> None:
    assert read_arguments(raw) == {}


@pytest.mark.parametrize(
    "raw",
    [
        {"a": 1, "b": 2},
        '{"a": 1, "b": 2}',
        '"{\\"a\\": 1, \\"b\\": 2}"',
        "{'a': 1, 'b': 2}",
        '{"a": 1, "b": 2,}',
        '```json\n{"a": 1, "b": 2}\n```',
    ],
)
def test_arguments_are_read_in_every_form(raw: object) -> None:
    assert read_arguments(raw) == {"a": 1, "b": 2}


def test_arguments_of_a_mapping_are_a_copy() -> None:
    raw = {"a": [1]}
    read_arguments(raw)["a"].append(2)
    assert raw == {"a": [1]}


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (
            "[1, 2]",
            snapshot("""\
The arguments are a JSON list, '[1, 2]', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            '"abc"',
            snapshot("""\
The arguments are a text, 'abc', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            "abc",
            snapshot("""\
The arguments are a text, 'abc', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            "7",
            snapshot("""\
The arguments are a JSON number, '7', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            7,
            snapshot("""\
The arguments are a JSON number, '7', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            '{"a": 1, "b":',
            snapshot("""\
The JSON '{"a": 1, "b":' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.\
"""),
        ),
        (
            '{"a": 1}{"b": 2}',
            snapshot("""\
After the JSON '{"a": 1}' stands more text, '{"b": 2}'.
Give one JSON object and nothing else.\
"""),
        ),
        (
            {"a": float("nan")},
            snapshot("""\
nan is no number that JSON can hold.
Give a finite number, or null if the tool takes it.\
"""),
        ),
    ],
)
def test_arguments_that_are_no_object_are_refused(raw: object, fault: str) -> None:
    with pytest.raises(ParsingError) as caught:
        read_arguments(raw)
    assert caught.value.message == fault


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("<think>hm</think>\nYes.", ("hm", "Yes.")),
        ("hm</think>Yes.", ("hm", "Yes.")),
        ("<think>hm", ("hm", "")),
        ("a <think>1</think> b <thinking>2</thinking>", ("1\n2", "a  b")),
        ("no tags, 1 < 2", ("", "no tags, 1 < 2")),
        (
            '{"name": "e", "arguments": {"t": "</think>"}}',
            ("", '{"name": "e", "arguments": {"t": "</think>"}}'),
        ),
        ('<think>{"name": "x", "arguments": {</think>Yes.', ('{"name": "x", "arguments": {', "Yes.")),
    ],
)
def test_thinking_is_split_from_the_text(text: str, split: tuple[str, str]) -> None:
    assert split_reasoning(text) == split


def nested(depth: int) -> list[object]:
    """Lists in lists, deeper than Python tells of."""
    made: list[object] = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (
            10**5_000,
            snapshot("""\
The arguments are a JSON number, '<int of about 5,000 digits>', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            nested(5_000),
            snapshot("""\
The arguments are a JSON list, '[[[[[[[...]]]]]]]', and not an object.
Give each by its name: {"argument": "value"}\
"""),
        ),
        (
            {"a": nested(5_000)},
            snapshot("""\
The JSON is nested deeper than 64 levels.
Give flatter arguments.\
"""),
        ),
        (
            {"a": 10**5_000},
            snapshot("""\
The JSON holds a whole number with too many digits; at most 4,300 digits are read.
Give a smaller number, or text.\
"""),
        ),
    ],
    ids=["number", "lists", "lists inside", "number inside"],
)
def test_arguments_that_python_cannot_write_are_refused(raw: object, fault: str) -> None:
    with pytest.raises(ParsingError) as caught:
        read_arguments(raw)
    assert caught.value.message == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            f'{{"id": 1, "{"k" * 5_000}": 2}}',
            snapshot("""\
The reply is a JSON object with the keys 'id', 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…', and no tool call.
Write a tool call as one JSON object: {"name": "tool_name", "arguments": {"argument": "value"}}\
"""),
        ),
        (
            f'{{"name": "{"n" * 5_000}", "args": {{}}, "input": {{}}}}',
            snapshot("""\
The call of 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…' has both 'args' and 'input'.
Give all arguments in one object.\
"""),
        ),
    ],
    ids=["key", "name"],
)
def test_long_name_or_key_is_told_by_its_beginning(text: str, fault: str) -> None:
    with pytest.raises(ParsingError) as caught:
        parse_tool_calls(text)
    assert caught.value.message == fault
