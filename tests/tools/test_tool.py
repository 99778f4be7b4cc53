"""The class form of a tool."""

# ruff: noqa: RUF012 - plain class attributes, as people write a tool
from __future__ import annotations

import datetime as dt
import threading
from typing import Any

import pandas as pd
import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.errors import ToolCallError, ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.tool import PreparedCall, Tool


class Weather(Tool):
    name = "weather"
    description = "The weather of a city, in one sentence."
    inputs = {
        "city": {"type": "string", "description": "its English name"},
        "days": {"type": "integer", "description": "how many", "minimum": 1},
        "unit": {"type": "string", "description": "of degrees", "enum": ["C", "F"], "nullable": True},
    }
    output_type = "string"
    examples = (
        "Weather in Oslo? -> weather(city='Oslo')",
        ToolExample(task="and tomorrow", arguments={"days": 1}),
    )

    def __init__(self) -> None:  # as people write it: without calling ours
        self.log: list[str] = []

    def setup(self) -> None:
        self.log.append("setup")

    def forward(self, city: str, days: int = 1, unit: str | None = "C") -> str:
        self.log.append(city)
        return f"{city} {days} {unit}"


def test_class_form_gives_a_schema():
    assert Weather().to_schema().parameters == snapshot(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "its English name"},
                "days": {"type": "integer", "minimum": 1, "description": "how many", "default": 1},
                "unit": {
                    "anyOf": [{"type": "string", "enum": ["C", "F"]}, {"type": "null"}],
                    "description": "of degrees",
                    "default": "C",
                },
            },
            "required": ["city"],
            "additionalProperties": False,
        }
    )
    assert Weather().to_schema().examples == snapshot(
        (
            ToolExample(task="Weather in Oslo?", arguments={"city": "Oslo"}),
            ToolExample(task="and tomorrow", arguments={"days": 1}),
        )
    )
    assert (Weather().to_schema().name, Weather().to_schema().description) == (
        Weather.name,
        Weather.description,
    )


def test_class_form_makes_its_schema_once():
    weather = Weather()
    assert weather.to_schema() is weather.to_schema()


def test_class_form_is_set_up_once_at_the_first_call():
    weather = Weather()
    prepared = weather.prepare({"city": "Oslo", "unit": None}, AgentState())
    assert weather.log == []
    assert [weather.invoke(prepared), weather("Rome", days=2)] == ["Oslo 1 None", "Rome 2 C"]
    assert weather.log == ["setup", "Oslo", "Rome"]


def test_class_form_is_set_up_once_when_many_threads_call_at_once():
    weather = Weather()
    barrier = threading.Barrier(8, timeout=60)

    def call() -> None:
        barrier.wait()
        weather("Oslo")

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert sorted(weather.log) == ["Oslo"] * 8 + ["setup"]
    assert weather.log[0] == "setup"


def test_class_form_tries_to_set_up_again_when_it_failed():
    class Shaky(Tool):
        name = "shaky"
        description = "Fails once."
        inputs = {}
        output_type = "string"
        tries = 0

        def setup(self) -> None:
            self.tries += 1
            if self.tries == 1:
                raise OSError("no table")

        def forward(self) -> str:
            return "ok"

    shaky = Shaky()
    with pytest.raises(OSError, match="no table"):
        shaky()
    assert shaky() == "ok"


def test_class_form_checks_arguments_by_inputs():
    with pytest.raises(ToolCallError) as caught:
        Weather().prepare({"city": "Oslo", "days": 0, "unit": "K"}, AgentState())
    assert caught.value.message == snapshot(
        "weather: argument 'days' is 0; expected at least 1; argument 'unit' is 'K'; expected one of 'C', 'F' or null. Call weather with {\"city\": <string>, \"days\": <integer, optional>, \"unit\": <\"C\" | \"F\" or null, optional>}."
    )


def test_class_form_checks_and_converts_when_python_calls_it():
    class When(Tool):
        name = "when"
        description = "A day."
        inputs = {
            "day": {"type": "string", "description": "ISO date"},
            "rest": {"type": "any", "description": "whatever"},
        }
        output_type = "string"

        def forward(self, day: dt.date, rest: Any = None) -> Any:
            return day, rest

    rest = [object()]
    assert When()("2024-01-02", rest)[0] == dt.date(2024, 1, 2)
    assert When()("2024-01-02", rest)[1] is rest
    assert When()("2024-01-02", "@nobody")[1] == "@nobody"
    with pytest.raises(ToolCallError) as caught:
        When()(5)
    assert caught.value.message == snapshot(
        "when: argument 'day' is 5; expected str. Call when(day=<str>, rest=<Any, optional>)."
    )


def test_class_form_takes_objects_by_reference():
    class Top(Tool):
        name = "top"
        description = "Rows."
        inputs = {
            "frame": {"type": "object", "description": "the table"},
            "picture": {"type": "image", "description": "the chart"},
        }
        output_type = "array"

        def forward(self, frame: pd.DataFrame, picture=None):
            return frame, picture

    sales = pd.DataFrame({"a": [1]})
    tool = Top()
    assert tool.to_schema().parameters["properties"] == snapshot(
        {
            "frame": {"type": "string", "description": "the table. The name of a state variable, e.g. @df"},
            "picture": {"type": "string", "description": "the chart. The name of a state variable, e.g. @df"},
        }
    )
    state = AgentState(DictState(sales=sales), opened=["sales"])
    assert tool.invoke(tool.prepare({"frame": "sales"}, state))[0] is sales


def test_class_form_may_work_out_its_description():
    class Late(Tool):
        name = "late"
        inputs = {}
        output_type = "null"

        @property
        def description(self) -> str:
            return "Made late."

        def forward(self) -> None: ...

    assert Late().to_schema().description == "Made late."


def test_renamed_tool_is_the_same_under_another_name():
    weather = Weather()
    twin = weather.renamed("climate")
    assert (twin.to_schema().name, weather.to_schema().name) == ("climate", "weather")
    assert twin.call_form.startswith("Call climate with")
    twin("Oslo")
    assert weather.log == ["setup", "Oslo"]


def test_tool_class_is_made_an_instance():
    assert isinstance(tool_from(Weather), Weather)


def forward_city(self: Any, city: str) -> str:
    return city


GOOD: dict[str, Any] = {
    "name": "weather",
    "description": "The weather.",
    "inputs": {"city": {"type": "string", "description": "its name"}},
    "output_type": "string",
    "forward": forward_city,
}


def refusal_of(**changes: Any) -> str:
    """What is said when a class is defined with these attributes (None: without that one)."""
    attributes = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(ToolDefinitionError) as caught:
        type("Weather", (Tool,), attributes)
    return caught.value.message


def test_class_form_that_is_right_is_taken():
    assert type("Weather", (Tool,), GOOD)()("Oslo") == "Oslo"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"name": None},
            snapshot("""\
Tool class Weather: 'name' is None, expected text.
Write:  name = "weather"\
"""),
        ),
        (
            {"name": "the weather"},
            snapshot("""\
Tool class Weather: 'name' is 'the weather', which is no Python name.
Write:  name = "weather"\
"""),
        ),
        (
            {"name": "class"},
            snapshot("""\
Tool class Weather: 'name' is 'class', which is no Python name.
Write:  name = "weather"\
"""),
        ),
        (
            {"description": None},
            snapshot("""\
Tool class Weather: 'description' is None, expected text.
Write:  description = "What it returns and when to use it."\
"""),
        ),
        (
            {"description": "  "},
            snapshot("""\
Tool class Weather: 'description' is '  ', expected text.
Write:  description = "What it returns and when to use it."\
"""),
        ),
        (
            {"output_type": "str"},
            snapshot("""\
Tool class Weather: 'output_type' is 'str', expected one of string, integer, number, boolean, array, object, null, any, image, audio.
Write:  output_type = "string"\
"""),
        ),
        (
            {"output_type": None},
            snapshot("""\
Tool class Weather: 'output_type' is None, expected text.
Write:  output_type = "string"\
"""),
        ),
        (
            {"forward": None},
            snapshot("""\
Tool class Weather: it has no method 'forward'.
Write:  def forward(self, …): …\
"""),
        ),
        (
            {"inputs": None},
            snapshot("""\
Tool class Weather: 'inputs' is None, expected a mapping.
Write:  inputs = {"city": {"type": "string", "description": "…"}}\
"""),
        ),
        (
            {"inputs": {}},
            snapshot("""\
Tool class Weather: parameter 'city' of forward is not described in 'inputs'.
Write:  "city": {"type": "string", "description": "…"}\
"""),
        ),
        (
            {"inputs": {"town": {"type": "string", "description": "x"}}},
            snapshot("""\
Tool class Weather: 'inputs' describes 'town', which is no parameter of forward (city).
Write:  a parameter of that name in forward, or take it out of inputs\
"""),
        ),
        (
            {"inputs": {**GOOD["inputs"], "citi": {"type": "string", "description": "x"}}},
            snapshot("""\
Tool class Weather: 'inputs' describes 'citi', which is no parameter of forward (city).
Write:  a parameter of that name in forward, or take it out of inputs\
"""),
        ),
        (
            {"inputs": {"city": "string"}},
            snapshot("""\
Tool class Weather: inputs['city'] is 'string', expected a mapping.
Write:  "city": {"type": "string", "description": "…"}\
"""),
        ),
        (
            {"inputs": {"city": {"type": "str", "description": "x"}}},
            snapshot("""\
Tool class Weather: inputs['city'] has the type 'str', expected one of string, integer, number, boolean, array, object, null, any, image, audio.
Write:  "type": "string"\
"""),
        ),
        (
            {"inputs": {"city": {"description": "x"}}},
            snapshot("""\
Tool class Weather: inputs['city'] has the type None, expected one of string, integer, number, boolean, array, object, null, any, image, audio.
Write:  "type": "string"\
"""),
        ),
        (
            {"inputs": {"city": {"type": "string"}}},
            snapshot("""\
Tool class Weather: inputs['city'] has no description.
Write:  "description": "what city means"\
"""),
        ),
    ],
    ids=str,
)
def test_class_form_that_is_wrong_is_refused_at_definition(changes, text):
    assert refusal_of(**changes) == text


def test_prepared_call_can_be_made_by_hand():
    assert Weather().invoke(PreparedCall(kwargs={"city": "Oslo"})) == "Oslo 1 C"
