"""Foreign tools by their shape: what a model is told of them, and that the foreign object itself is called."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from inline_snapshot import snapshot
from threads import join
from tools.foreign_shapes import Anything, ByBody, Lang, Query, Rows, Smol, Weather, later, search

from agent_magic import CodeAgent, ScriptedModel, ToolCallingAgent
from agent_magic.core.errors import ToolCallError, ToolDefinitionError
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.adapt import adapt, is_foreign_tool
from agent_magic.tools.code_prompt import to_code_prompt
from agent_magic.tools.toolbox import LiveTool, Toolbox

SEARCH = Lang("search", "Search the library.", Query, search)


def told(source: Any) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """The arguments' schema, the code form, and what the author is told."""
    tool = adapt(source)
    return dict(tool.to_schema().parameters), to_code_prompt(tool), tool.warnings


def observed(source: Any, *calls: dict[str, Any], state: dict[str, Any] | None = None) -> list[str]:
    """What a model is told of calls of the only tool."""
    agent = ToolCallingAgent(tools=[source], state=state)
    (name,) = agent.tools
    agent.model = ScriptedModel(
        [*(ScriptedModel.calls((name, call)) for call in calls), ScriptedModel.final("x")]
    )
    result = agent.run("Do it.")
    return [action.tool_results[0].to_text() for action in result.actions[:-1]]


def test_smolagents_tool_is_told_by_inputs_and_forward() -> None:
    assert told(Weather()) == snapshot(
        (
            {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "its English name"},
                    "days": {"type": "integer", "description": "how many days ahead", "default": 1},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
            '''\
def weather(city: str, days: int = 1) -> str:
    """The weather of a city now.

    Args:
        city: its English name
        days: how many days ahead
    """\
''',
            (),
        )
    )


def test_smolagents_tool_is_called_itself_and_set_up_once_by_many_threads() -> None:
    weather = Weather()
    tool = adapt(weather)
    prepared = tool.prepare({"city": "Oslo"}, None)
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(tool.invoke(prepared))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert (answers, weather.n_setups) == (["Oslo: sun for 1"] * 8, 1)


def test_input_of_type_object_takes_a_table_of_the_notebook() -> None:
    schema, code, _ = told(Rows())
    assert (schema["properties"]["table"], code.split("\n")[0]) == snapshot(
        (
            {
                "anyOf": [
                    {"type": "object"},
                    {"type": "string", "description": "The name of a state variable, e.g. @df"},
                ],
                "description": "a table",
            },
            "def rows(table: dict | object) -> int:",
        )
    )
    frame = pd.DataFrame({"a": [1, 2]})
    assert observed(
        Rows(), {"table": "@df"}, {"table": {"a": 1}}, {"table": 3}, state={"df": frame}
    ) == snapshot(
        [
            """\
(table read as @df)
2\
""",
            "1",
            """\
rows raised TypeError: object of type 'int' has no len()
Call it with other arguments, or use another tool.\
""",
        ]
    )


def test_body_that_takes_whatever_comes_is_told_by_its_inputs_alone() -> None:
    assert told(Anything())[:2] == snapshot(
        (
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "what"},
                    "colour": {"type": ["string", "null"], "enum": ["teal", "ochre"], "description": "which"},
                    "picture": {
                        "type": "string",
                        "description": "alike. The name of a state variable, e.g. @df",
                    },
                    "more": {"description": "anything"},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            '''\
def search(*, query: str, colour: str | None = ..., picture: Image = ..., more=...) -> Any:
    """Search.

    Args:
        query: what
        colour: which; one of 'teal', 'ochre'
        picture: alike
        more: anything
    """\
''',
        )
    )
    assert observed(
        Anything(), {"query": "q", "colour": "teal"}, {"query": "q", "colour": "red"}
    ) == snapshot(
        [
            '{"colour": "teal", "query": "q"}',
            'search: argument \'colour\' is \'red\'; expected one of \'teal\', \'ochre\'. Call search with {"query": <string>, "colour": <"teal" | "ochre", optional>, "picture": <"@name" of an image, optional>, "more": <any, optional>}.',
        ]
    )


def test_output_schema_of_a_foreign_tool_is_told_and_not_checked() -> None:
    rows = Rows()
    rows.output_schema = {"type": "string"}  # pyright: ignore[reportAttributeAccessIssue] - as those tools have it
    assert "string" in to_code_prompt(adapt(rows))
    assert observed(rows, {"table": {"a": 1}}) == ["1"]
    rows.output_schema = {"type": "words"}  # pyright: ignore[reportAttributeAccessIssue] - as above
    assert adapt(rows).output_schema is None


def test_langchain_tool_is_told_by_its_pydantic_class() -> None:
    assert told(SEARCH) == snapshot(
        (
            {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "what to look for"},
                    "kind": {"type": "string", "enum": ["news", "papers"], "default": "news"},
                    "limit": {
                        "type": "integer",
                        "maximum": 9,
                        "minimum": 1,
                        "description": "how many",
                        "default": 3,
                    },
                },
                "required": ["text"],
                "additionalProperties": False,
            },
            '''\
def search(text: str, kind: Literal['news', 'papers'] = 'news', limit: int = 3) -> str:
    """Search the library.

    Args:
        text: what to look for
        limit: how many; at least 1; at most 9
    """\
''',
            ("Tool 'search': parameter 'kind' has no description. Describe it where the tool is made",),
        )
    )


def test_langchain_tool_is_invoked_and_its_own_words_reach_the_model() -> None:
    calls = [
        {"text": "penguins", "limit": 2},
        {"text": "penguins", "limit": 10},
        {"text": "nothing"},
        {"text": "private"},
    ]
    assert observed(SEARCH, *calls) == snapshot(
        [
            "2 news about penguins",
            'search: argument \'limit\' is 10; expected at most 9. Call search with {"text": <string>, "kind": <"news" | "papers", optional>, "limit": <integer, optional>}.',
            'search: arguments: there is nothing to look for. Call search with {"text": <string>, "kind": <"news" | "papers", optional>, "limit": <integer, optional>}.',
            "Look for something else.",
        ]
    )


def test_langchain_tool_with_a_dictionary_as_schema_is_told_by_it() -> None:
    schema = {
        "type": "object",
        "properties": {
            "place": {"$ref": "#/$defs/Place", "description": "where"},
            "n": {"type": "integer", "description": "how many", "default": 2},
        },
        "required": ["place"],
        "$defs": {"Place": {"title": "Place", "type": "object", "properties": {"city": {"type": "string"}}}},
    }
    tool = Lang("near", "What is near.", schema, lambda place, n=2: [place["city"]] * n)
    assert told(tool) == snapshot(
        (
            {
                "type": "object",
                "properties": {
                    "place": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "description": "where",
                    },
                    "n": {"type": "integer", "description": "how many", "default": 2},
                },
                "required": ["place"],
                "additionalProperties": False,
            },
            '''\
def near(place: dict, n: int = 2):
    """What is near.

    Args:
        place: where; as a dict: {'city': <str, optional>}
        n: how many
    """\
''',
            (),
        )
    )
    assert observed(tool, {"place": {"city": "Oslo"}}, {"place": "Oslo"}) == snapshot(
        [
            '["Oslo", "Oslo"]',
            'near: argument \'place\' is \'Oslo\'; expected an object. Call near with {"place": <{"city": <string, optional>}>, "n": <integer, optional>}.',
        ]
    )


def test_langchain_tool_without_a_schema_is_told_by_its_body() -> None:
    assert told(ByBody()) == snapshot(
        (
            {
                "type": "object",
                "properties": {
                    "column": {"type": "string", "description": "its name"},
                    "digits": {"type": "integer", "description": "after the point", "default": 2},
                },
                "required": ["column"],
                "additionalProperties": False,
            },
            '''\
def mean(column: str, digits: int = 2) -> float:
    """The mean of a column.

    Args:
        column: its name
        digits: after the point
    """\
''',
            (),
        )
    )
    assert observed(ByBody(), {"column": "price"}) == ["1.67"]


def test_langchain_tool_of_one_text_is_told_by_args() -> None:
    tool = Lang("shout", "Say it loud.", func=lambda tool_input: tool_input.upper())
    tool.args = {"tool_input": {"type": "string"}}  # pyright: ignore[reportAttributeAccessIssue] - as such tools have it
    assert told(tool)[0] == snapshot(
        {
            "type": "object",
            "properties": {"tool_input": {"type": "string"}},
            "required": ["tool_input"],
            "additionalProperties": False,
        }
    )
    assert observed(tool, {"tool_input": "hi"}) == ["HI"]


def test_async_langchain_tool_is_awaited_in_both_kinds_of_agent() -> None:
    tool = Lang(
        "later",
        "Say it later.",
        {"properties": {"text": {"type": "string"}}, "required": ["text"]},
        coroutine=later,
    )
    assert told(tool)[1] == snapshot('''\
async def later(text: str) -> str:
    """Say it later.

    It is async: write `await later(...)`.
    """\
''')
    assert observed(tool, {"text": "hello"}) == ["hello, later, in True"]
    agent = CodeAgent(tools=[tool], model=ScriptedModel(["<code>final_answer(await later('hello'))</code>"]))
    assert agent.run("Do it.").value == "hello, later, in True"


def test_code_calls_foreign_tools_as_functions() -> None:
    model = ScriptedModel(["<code>final_answer([weather('Oslo', days=2), search('ice', limit=1)])</code>"])
    assert CodeAgent(tools=[Weather(), SEARCH], model=model).run("Do it.").value == [
        "Oslo: sun for 2",
        "1 news about ice",
    ]


def test_docstring_in_a_description_is_taken_apart() -> None:
    text = "Search.\n\nArgs:\n    text: the words\n    kind: of what\n"
    tool = adapt(Lang("search", text, Query, search))
    properties = tool.to_schema().parameters["properties"]
    assert (tool.description, properties["kind"]["description"], properties["text"]["description"]) == (
        "Search.",
        "of what",
        "what to look for",
    )


@pytest.mark.parametrize(
    ("name", "variable", "alias"),
    [
        ("search web", None, "search_web"),
        ("search-web.v2", "look", "look"),
        ("2nd try", None, "tool_2nd_try"),
        ("class", None, "tool_class"),
        ("検索", None, "tool_"),
    ],
)
def test_name_that_models_cannot_call_gets_an_alias_and_the_author_is_told(
    name: str, variable: str | None, alias: str
) -> None:
    tool = adapt(Lang(name, "Search.", Query, search), name=variable)
    assert tool.name.startswith(alias)
    assert tool.name.isascii()
    assert tool.name.isidentifier()
    assert repr(name) in tool.warnings[0]
    assert repr(tool.name) in tool.warnings[0]


def test_alias_is_said_in_full() -> None:
    tool = adapt(Lang("search-web", "Search.", Query, search), name="look")
    assert tool.warnings[0] == snapshot(
        "Tool 'search-web' is offered to the model as 'look', the variable that holds it, as not every provider takes its own name. Give it another name, or hand it over by a variable whose name you choose"
    )


def test_class_of_foreign_tools_is_made_one() -> None:
    assert list(Toolbox([Weather, ByBody]).current()) == ["weather", "mean"]


def test_class_that_wants_arguments_is_refused_with_the_way_out() -> None:
    class Needy(Weather):
        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    with pytest.raises(ToolDefinitionError) as caught:
        Toolbox([Needy])
    assert caught.value.message == snapshot("""\
Needy is a class of tools, and could not be made without arguments: TypeError: test_class_that_wants_arguments_is_refused_with_the_way_out.<locals>.Needy.__init__() missing 1 required positional argument: 'key'.
Make one and hand that over:  tool = Needy(…)\
""")


def test_langchain_tool_that_its_library_fills_in_is_refused() -> None:
    tool = Lang("search", "Search.", Query, search)
    tool.args = {"kind": {}, "limit": {}}  # pyright: ignore[reportAttributeAccessIssue] - `text` is not for the model
    with pytest.raises(ToolDefinitionError) as caught:
        adapt(tool)
    assert caught.value.message == snapshot("""\
Tool 'search': its own library fills in 'text', and nothing does that here, so no call could be made right.
Wrap it in a function that gives it\
""")


def test_schema_that_is_none_is_refused() -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        adapt(Lang("search", "Search.", {"properties": {"text": {"type": "words"}}}, search))
    assert caught.value.message == snapshot("""\
Tool 'search': the schema of its argument 'text' is no JSON Schema: 'words' is not valid under any of the given schemas.
Correct its args_schema\
""")


def test_live_foreign_tool_follows_its_variable() -> None:
    names = DictState({"look": Lang("search", "Old.", Query, search)})
    box = Toolbox([LiveTool(name="look", state=names)])
    before = box.current()["search"]
    assert box.current()["search"] is before
    names["look"].description = "New."
    assert box.current()["search"].description == "New."
    names["look"] = Weather()
    assert list(box.current()) == ["weather"]
    names["look"] = 3
    assert (box.current(), box.missing()) == ({}, ["look"])


def test_code_calls_by_position_in_the_order_told() -> None:
    tool = adapt(SEARCH)
    assert tool("ice", "papers", limit=2) == "2 papers about ice"
    with pytest.raises(ToolCallError):
        tool.prepare({"text": 3}, AgentState())


@pytest.mark.parametrize(
    "value",
    [
        3,
        "text",
        None,
        len,
        search,
        pd,
        pd.DataFrame({"name": [1], "description": [2], "inputs": [3]}),
        Smol,
        SimpleNamespace(name="a", description="b", invoke=len),
        SimpleNamespace(name=1, description="b", args_schema=None, invoke=len),
        ScriptedModel([]),
        ToolCallingAgent(model=ScriptedModel([])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_not_the_shape_is_no_foreign_tool(value: Any) -> None:
    assert not is_foreign_tool(value)


def test_inputs_that_the_body_does_not_take_are_refused_with_the_names() -> None:
    class Odd:
        name = "odd"
        description = "Says a word."
        inputs = {"word": {"type": "string", "description": "a word"}}  # noqa: RUF012 - as such tools have it
        output_type = "string"

        def forward(self, text: str) -> str:
            return text

        def __call__(self, **arguments: Any) -> str:
            return self.forward(**arguments)

    with pytest.raises(ToolDefinitionError) as refusal:
        Toolbox([Odd()])
    assert refusal.value.message == snapshot("""\
Tool 'odd': its inputs have 'word', which its forward(text) does not take.
Give both the same names\
""")
