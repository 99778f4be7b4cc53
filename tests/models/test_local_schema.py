from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.messages import ToolExample, ToolSchema
from agent_magic.models.local_schema import (
    TaskWords,
    build_answer_schema,
    build_call_schema,
    describe_type,
    parse_task_words,
)


def arguments(
    properties: dict, task: str, *, required: list[str] | None = None, examples=(), names=(), **root
):
    """What the one tool of a request may be given."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
    }
    tool = ToolSchema(name="act", description="", parameters={**parameters, **root}, examples=tuple(examples))
    return build_call_schema([tool], parse_task_words(task, names))["properties"]["arguments"]


def narrowed(schema: dict, task: str, **given):
    return arguments({"value": schema}, task, **given)["properties"]["value"]


REFERENCE = {"type": "string", "description": "the table. The name of a state variable, e.g. @df"}


def test_spans_are_one_to_three_words_that_stand_together():
    assert parse_task_words("How is it in New York?").spans == snapshot(
        (
            "How",
            "How is",
            "How is it",
            "is",
            "is it",
            "is it in",
            "it",
            "it in",
            "it in New",
            "in",
            "in New",
            "in New York",
            "New",
            "New York",
            "York",
        )
    )


def test_spans_do_not_run_over_a_comma_or_the_end_of_a_sentence():
    assert parse_task_words("Oslo, then. Bergen").spans == snapshot(("Oslo", "then", "Bergen"))


def test_spans_lose_a_possessive_and_quotes():
    assert parse_task_words("(Åse's) Größe!").spans == snapshot(("Åse's", "Åse", "Åse's) Größe", "Größe"))


def test_spans_hold_what_is_quoted_whole():
    assert "my long file name.csv" in parse_task_words("Open `my long file name.csv` now").spans


def test_spans_hold_references_but_no_longer_text_with_one():
    assert parse_task_words("Take @df now").spans == snapshot(("@df", "Take", "now"))


def test_spans_keep_an_address_with_an_at_sign():
    words = parse_task_words("Write ada@example.org")
    assert ("ada@example.org" in words.spans, words.references) == (True, ())


def test_spans_are_empty_for_a_long_task():
    assert parse_task_words("word " * 151).spans == ()


@pytest.mark.parametrize(
    ("task", "numbers"),
    [
        ("3 or 4.5 or -2", (3, 4.5, -2)),
        ("1,234,567 rows", (1234567,)),
        ("1e3 and 12+30 and 7-5", (1000.0, 12, 30, 7, 5)),
        ("the first ten rows of @df2 in file3", (10,)),
        ("none", ()),
    ],
)
def test_numbers_of_a_task_are_found(task: str, numbers: tuple):
    assert parse_task_words(task).numbers == numbers


def test_references_are_those_of_the_task_and_those_it_was_given():
    assert parse_task_words("Join @a and @b, not c@d", ["extra"]).references == ("@extra", "@a", "@b")


def test_text_argument_is_one_of_the_tasks_spans():
    assert narrowed({"type": "string", "description": "a city"}, "In Oslo") == snapshot(
        {"enum": ["In", "In Oslo", "Oslo"]}
    )


def test_text_argument_is_free_but_short_when_the_task_is_long():
    assert narrowed({"type": "string"}, "word " * 151) == snapshot({"type": "string", "maxLength": 120})


def test_number_argument_is_one_of_the_tasks_numbers():
    assert narrowed({"type": "number"}, "3 or 4.5") == snapshot({"enum": [3, 4.5]})


def test_integer_argument_is_one_of_the_tasks_integers():
    assert narrowed({"type": "integer"}, "3 or 4.5") == snapshot({"enum": [3]})


def test_number_argument_is_free_when_the_task_has_none():
    assert narrowed({"type": "number"}, "some") == snapshot({"type": "number"})


def test_boolean_enum_and_const_stay():
    assert [
        narrowed(schema, "x")
        for schema in ({"type": "boolean"}, {"type": "string", "enum": ["a"]}, {"const": 1})
    ] == snapshot([{"type": "boolean"}, {"enum": ["a"]}, {"const": 1}])


def test_argument_by_reference_is_one_of_the_tasks_references():
    assert narrowed(REFERENCE, "Look at @df or @other, not df") == snapshot({"enum": ["@df", "@other"]})


def test_argument_by_reference_is_free_when_the_task_has_none():
    assert narrowed(REFERENCE, "Look at it") == snapshot({"type": "string", "maxLength": 120})


def test_argument_without_a_type_is_a_span_or_a_number():
    assert narrowed({}, "Oslo 3") == snapshot({"enum": ["Oslo", "Oslo 3", "3", 3]})


def test_alternatives_are_narrowed_each():
    assert narrowed({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3 rows") == snapshot(
        {"anyOf": [{"enum": [3]}, {"type": "null"}]}
    )


def test_list_of_types_is_read_as_alternatives():
    assert narrowed({"type": ["number", "null"]}, "x") == snapshot(
        {"anyOf": [{"type": "number"}, {"type": "null"}]}
    )


def test_list_and_mapping_stay_as_they_are_with_bounds():
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string", "format": "x"}},
            "n": {"type": "integer"},
        },
        "required": ["tags"],
    }
    assert narrowed(schema, "Oslo 3") == snapshot(
        {
            "type": "object",
            "properties": {
                "tags": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 120},
                    "minItems": 0,
                    "maxItems": 12,
                },
                "n": {"type": "integer"},
            },
            "required": ["tags"],
            "additionalProperties": False,
        }
    )


def test_list_may_be_a_reference_when_the_task_has_one():
    assert narrowed({"type": "array", "items": {"type": "number"}}, "Sum @xs") == snapshot(
        {
            "anyOf": [
                {"enum": ["@xs"]},
                {"type": "array", "items": {"type": "number"}, "minItems": 0, "maxItems": 12},
            ]
        }
    )


def test_definitions_are_put_in_where_they_are_referred_to():
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert narrowed({"$ref": "#/$defs/Place"}, "x", **{"$defs": {"Place": place}}) == snapshot(
        {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 120}},
            "required": ["city"],
            "additionalProperties": False,
        }
    )


def test_definition_that_holds_itself_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    narrowed({"$ref": "#/$defs/Node"}, "x", **{"$defs": {"Node": node}})


@pytest.mark.parametrize(
    ("task", "offered"),
    [
        ("First rows", []),
        ("First 3 rows", ["n"]),
        ("Rows in color", ["color"]),
        ("Rows in blue", ["color"]),
        ("Rows with a note: fine", ["note"]),
        ("Rows of bluebells", []),
    ],
)
def test_optional_parameter_is_offered_when_the_task_has_something_for_it(task: str, offered: list[str]):
    properties = {
        "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "note": {"type": "string"},
    }
    assert list(arguments(properties, task, required=[])["properties"]) == offered


def test_optional_parameter_is_offered_when_an_example_has_it():
    example = ToolExample(task="Say hi", arguments={"note": "hi"})
    found = arguments({"note": {"type": "string"}}, "Rows", required=[], examples=[example])
    assert (list(found["properties"]), found["required"]) == (["note"], [])


def test_optional_reference_is_offered_when_one_is_left_over():
    properties = {"left": REFERENCE, "right": REFERENCE}
    offered = [
        list(arguments(properties, task, required=["left"])["properties"])
        for task in ("Join @a", "Join @a and @b")
    ]
    assert offered == [["left"], ["left", "right"]]


def test_tool_without_parameters_takes_none():
    tool = ToolSchema(name="now", description="", parameters={"type": "object"})
    assert build_call_schema([tool], TaskWords()) == snapshot(
        {
            "type": "object",
            "properties": {
                "name": {"const": "now"},
                "arguments": {
                    "type": "object",
                    "properties": {},
                    "required": [],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
            "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
        }
    )


def test_several_tools_are_alternatives():
    tools = [ToolSchema(name=name, description="", parameters={}) for name in ("a", "b")]
    calls = build_call_schema(tools, TaskWords())["anyOf"]
    assert [call["properties"]["name"] for call in calls] == [{"const": "a"}, {"const": "b"}]


def test_answer_schema_names_the_tools_own_parameter():
    tool = ToolSchema(name="final_answer", description="", parameters={"properties": {"value": {}}})
    assert build_answer_schema(tool, [1, "a"])["properties"]["arguments"] == snapshot(
        {
            "type": "object",
            "properties": {"value": {"enum": [1, "a"]}},
            "required": ["value"],
            "additionalProperties": False,
        }
    )


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "string"),
        (REFERENCE, "@name"),
        ({"enum": ["a", "b"]}, "a | b"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({}, "any"),
    ],
)
def test_type_is_told_in_a_word(schema: dict, told: str):
    assert describe_type(schema) == told
