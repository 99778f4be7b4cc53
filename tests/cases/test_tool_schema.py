"""What a model is told of a tool, and that the values of its calls arrive as the declared types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from cells import Cells, Ended, call, final

from agent_magic import ScriptedModel, ToolCallingAgent

ASK = "%%agent bot --model @m --tools"


def _sent(model: ScriptedModel, name: str) -> dict[str, Any]:
    """The schema of the parameters of a tool, as the first request had it."""
    tools = json.loads(json.dumps(model.requests[0].tools))
    return next(tool["parameters"] for tool in tools if tool["name"] == name)


def _told(model: ScriptedModel) -> list[str]:
    """What the model was told of its calls, in order."""
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


def _faults(cells: Cells, step: int) -> list[str]:
    """The texts of a step's faults, counted from 1, none of whose calls entered its body."""
    action = cells.agent().result.actions[step - 1]
    assert all(fault.kind == "ToolCallError" for fault in action.faults)
    assert all(result.timing is None for result in action.tool_results)
    return [fault.message for fault in action.faults]


def _run(cells: Cells, name: str, *replies: Any, body: str = "Do it.") -> tuple[Ended, ScriptedModel]:
    model = cells.model(*replies)
    done = cells.run(f"{ASK} {name}\n{body}")
    assert done.error is None, done.error
    return done, model


def test_schema_union_return(case, cells):
    cells.define(case.code)
    done, model = _run(cells, "probe", call("probe", key="flag"), call("probe", key="else"), final(1))
    # the agent is created without error, and the tool gives both kinds
    assert done.value == 1
    assert [step.action_output for step in cells.agent().result.actions[:2]] == [True, "text"]
    assert _told(model) == ["true", "text"]


def test_schema_literal_choices(case, cells):
    cells.define(case.code)
    done, model = _run(
        cells, "paint", call("paint", colour="pink"), call("paint", colour="ochre"), final("ok")
    )
    sent = _sent(model, "paint")
    assert sent["properties"]["colour"] == {
        "type": "string",
        "enum": ["teal", "ochre"],
        "description": "which tin",
    }
    assert sent["properties"]["coats"]["type"] == "integer"
    assert sent["required"] == ["colour"]
    # the "pink" call is an error step whose text lists both, body not run
    (fault,) = _faults(cells, 1)
    assert "'teal', 'ochre'" in fault
    # the second call
    assert _told(model)[1] == "1 x ochre"
    assert done.value == "ok"


def test_schema_literal_ints(case, cells):
    cells.define("from typing import Literal\n" + case.code)
    done, model = _run(cells, "bet", call("bet", lane=2), final("done"))
    lane = _sent(model, "bet")["properties"]["lane"]
    assert lane["type"] == "integer"
    assert lane["enum"] == [1, 2, 3]
    assert all(type(choice) is int for choice in lane["enum"])
    assert _told(model) == ["int"]
    assert done.value == "done"


def test_schema_docstring_types_in_parens(case, cells):
    cells.define(case.code)
    agent = ToolCallingAgent(tools=[cells["maree"]], model=ScriptedModel([]))
    schema = agent.tools["maree"].to_schema()
    described = {name: part["description"] for name, part in schema.parameters["properties"].items()}
    assert described == {
        "port": 'Nom du port (par ex. "Brest", "Sète")',
        "jour": 'Date, comme ceci : "03-05"',
    }
    # the Returns text is in neither
    assert "le texte" not in json.dumps(schema.parameters, ensure_ascii=False)


def test_schema_missing_hint_names_the_argument(case, cells):
    cells.define(case.code)
    agent = ToolCallingAgent(tools=[cells["mix"]], model=ScriptedModel([]))
    tool = agent.tools["mix"]
    # the agent is made, and the schema has both; b without a fixed type
    assert tool.to_schema().parameters["properties"] == {"a": {"type": "integer"}, "b": {}}
    assert tool.to_schema().parameters["required"] == ["a", "b"]
    # its author is told, by both names
    assert any("'mix'" in warning and "'b'" in warning for warning in tool.warnings)
    assert "_empty" not in "".join(tool.warnings)


def test_schema_nullable_without_default(case, cells):
    cells.define(case.code)
    done, model = _run(
        cells,
        "find",
        call("find", q="x"),
        ScriptedModel.calls(("find", {"q": "x", "lang": None})),
        final("e"),
    )
    sent = _sent(model, "find")
    assert sent["required"] == ["q", "lang"]
    # lang's schema admits null
    assert {"type": "null"} in sent["properties"]["lang"]["anyOf"]
    # the first call is an error step that names lang, body not run; the second runs
    (fault,) = _faults(cells, 1)
    assert "'lang' is missing" in fault
    assert _told(model)[1] == "r"
    assert cells["got"] == [None]
    assert done.value == "e"


def test_schema_star_args(case, cells):
    cells.define(case.code)
    done, model = _run(cells, "glue", call("glue", sep="-"), final("x"))
    # accepted: parts and opts are not among required, and the call can be made
    sent = _sent(model, "glue")
    assert sent["required"] == ["sep"]
    assert list(sent["properties"]) == ["sep"]
    assert _told(model) == ["[]"]
    assert done.value == "x"


def test_schema_enum_member_delivered(case, cells):
    cells.define(case.code)
    done, model = _run(
        cells, "run_job", call("run_job", mode="slow", level=2), call("run_job", mode="medium"), final(0)
    )
    # json.dumps of the schema works even with the Enum default (`_sent` does it)
    sent = _sent(model, "run_job")["properties"]
    assert sent["mode"]["enum"] == ["fast", "slow"]
    assert sent["level"]["enum"] == [1, 2]
    assert _told(model)[0] == "slow2"
    # the second is an error step that lists both
    (fault,) = _faults(cells, 2)
    assert "fast" in fault
    assert "slow" in fault
    assert done.value == 0


def test_schema_dataframe_by_variable_name(case, cells):
    cells.define(case.code)
    replies = (call("top", frame="sales", n=2), call("top", frame="salez"), final("end"))
    done, model = _run(cells, "top", *replies, body="The largest amounts in @sales?")
    # the schema passes json.dumps; frame is a string, and its text tells to give the name of a variable
    frame = _sent(model, "top")["properties"]["frame"]
    assert frame["type"] == "string"
    assert "name of a state variable" in frame["description"]
    # the same object, not a copy
    assert _told(model)[0] == "(frame read as @sales)\n[9, 5]"
    assert cells["ids"] == [id(cells["sales"])]
    # the second is an error step with the nearest open name; the string never reaches the function
    (fault,) = _faults(cells, 2)
    assert "'salez'" in fault
    assert "Nearest: sales" in fault
    assert done.value == "end"
    # a run that does not mention sales: the first call is an error step too, body not run
    cells.model(*replies[:1], final("end"))
    assert cells.run("%%agent other --model @m --tools top\nThe largest amounts?").value == "end"
    (step, _) = cells.agent("other").result.actions
    assert [fault.kind for fault in step.faults] == ["ToolCallError"]
    assert len(cells["ids"]) == 1
    # with --state all it is open
    cells.model(*replies[:1], final("end"))
    assert cells.run("%%agent all --model @m --tools top --state all\nThe largest?").value == "end"
    assert cells["ids"] == [id(cells["sales"])] * 2


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every property, and every schema inside one."""
    for part in schema.get("properties", {}).values():
        yield part
        yield from _nodes(part)
    for member in schema.get("anyOf", ()):
        yield member
        yield from _nodes(member)


def test_schema_optional_union_with_empty_literal(case, cells):
    cells.define("from typing import Literal, Optional, Union\n" + case.code)
    done, model = _run(cells, "note", call("note", body="hi"), call("note"), final(1))
    nodes = list(_nodes(_sent(model, "note")))
    assert nodes
    assert all(node.keys() & {"type", "enum", "anyOf"} for node in nodes)
    assert _told(model) == ["'hi'", "None"]
    assert done.value == 1


def test_schema_positional_and_keyword_only(case, cells):
    cells.define(case.code)
    done, model = _run(cells, "pad", call("pad", text="ab", width=4), final("z"))
    sent = _sent(model, "pad")
    assert list(sent["properties"]) == ["text", "width", "fill"]
    assert sent["required"] == ["text", "width"]
    assert _told(model) == ["ab.."]
    assert done.value == "z"


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_schema_no_arguments_no_return_hint(case, cells, arguments):
    cells.define("n = []\n" + case.code.replace('return "heads"', 'n.append(1); return "heads"'))
    empty = {"tool_calls": [{"name": "flip", "arguments": arguments}]}
    done, model = _run(cells, "flip", empty, final("heads"))
    assert _sent(model, "flip") == {"type": "object", "properties": {}, "additionalProperties": False}
    # the call runs once
    assert cells["n"] == [1]
    assert _told(model) == ["heads"]
    assert done.value == "heads"
