"""What people hand over as a tool: functions without source, bound methods, partials, async and decorated functions, and functions that change."""

from __future__ import annotations

import inspect

import pytest
from cells import call, final

from agent_magic import ScriptedModel


def observations(cells, number=-1):
    """All that the model was told of its calls in one of the runs."""
    return [result.to_text() for step in cells.agent().runs[number].actions for result in step.tool_results]


def schema_of(model, name):
    """What the first request says of a tool."""
    return next(tool for tool in model.requests[0].tools if tool["name"] == name)


def test_callable_defined_where_source_is_missing(case, cells):
    cells.define(case.code.partition("(inspect")[0])
    with pytest.raises(OSError, match=r"."):
        inspect.getsource(cells["ghost"])
    cells.model(call("ghost", x=1), final(2))
    done = cells.run("%%agent bot --model @m --tools ghost\nWhat is it?")
    # the run works
    assert (done.error, done.value) == (None, 2)
    assert observations(cells) == ["2", "accepted"]
    # no OSError reaches the user
    for shown in (done.text, done.stderr, cells.run("%agent tools ghost").text):
        assert "source code not available" not in shown
        assert "could not get source" not in shown
        assert "OSError" not in shown


def test_callable_bound_method(case, cells):
    cells.define(case.code)
    model = cells.model(call("lookup", key="a"), final("one"), call("lookup", key="a"), final("one"))
    cells.run("%%agent bot --model @m --tools lookup\nLook a up.")
    cells.define('store.d["a"] = 7')
    assert cells.run("%%agent bot\nLook a up again.").value == "one"
    # no self in the schema
    assert list(schema_of(model, "lookup")["parameters"]["properties"]) == ["key"]
    # first observation 1, second 7
    assert observations(cells, 0)[0] == "1"
    assert observations(cells, 1)[0] == "7"


def test_callable_partial(case, cells):
    cells.define(case.code)
    model = cells.model(call("to_kr", amount=2), final("20"))
    assert cells.run("%%agent bot --model @m --tools to_kr\nChange 2.").value == "20"
    # tool name is to_kr
    assert list(cells.agent().tools) == ["to_kr"]
    told = schema_of(model, "to_kr")
    # description starts "Change money."
    assert told["description"].startswith("Change money.")
    assert "partial(func" not in str(told)
    # rate is not required
    assert told["parameters"]["required"] == ["amount"]
    assert told["parameters"]["properties"]["rate"]["default"] == 10.0
    # observation "20.0x"
    assert observations(cells)[0] == "20.0x"


@pytest.mark.kernel
def test_callable_async_tool(case, kernel):
    ready = kernel.execute(
        f"%load_ext agent_magic\nimport warnings\nwarnings.simplefilter('error')\n{case.code}\n"
        "from agent_magic import ScriptedModel\n"
        "m = ScriptedModel([ScriptedModel.calls(('fetch', {'url': 'u1'}), ('fetch2', {'url': 'u2'})), ScriptedModel.final('done')])\n"
        "loop = asyncio.get_running_loop()"
    )
    assert ready.error is None
    # an event loop is running
    assert kernel.execute("loop.is_running()").result == "True"
    done = kernel.execute("%%agent bot --model @m --tools fetch, fetch2\nFetch both.")
    assert (done.error, done.result) == (None, "'done'")
    # calls == ["u1", "u2"] (any order)
    assert kernel.execute("sorted(calls)").result == "['u1', 'u2']"
    # observations "body:u1" and "body:u2"
    told = kernel.execute("[r.observation for s in bot.result.actions for r in s.tool_results]")
    assert told.result == "['body:u1', 'body:u2', 'accepted']"
    # the text "<coroutine object" appears nowhere
    sent = kernel.execute("print([r.messages for r in m.requests], bot.memory.to_dict())")
    collected = kernel.execute("import gc\nprint(gc.collect() >= 0)")
    for shown in (done, sent, collected):
        assert "<coroutine object" not in str(shown.outputs)
        # no "never awaited" warning
        assert "never awaited" not in str(shown.outputs) + shown.stderr


def test_callable_wrapped_decorator_signature(case, cells):
    cells.define("import functools\n" + case.code)
    model = cells.model(call("area", w=2, h=3), final(6))
    assert cells.run("%%agent bot --model @m --tools area\nHow large is it?").value == 6
    # schema has w and h
    properties = schema_of(model, "area")["parameters"]["properties"]
    assert properties == {
        "w": {"type": "integer", "description": "width"},
        "h": {"type": "integer", "description": "height"},
    }
    # the wrapper was called, not the bare function
    assert cells["n"]["hits"] == 1


def test_callable_redefined_later(case, cells):
    old, define, new = (
        "def quote(x: int) -> int:\n    'Old.\\n\\nArgs:\\n    x: n'\n    return x",
        "%%agent bot --define --tools quote",
        "def quote(x: int, y: int = 1) -> int:\n    'New.\\n\\nArgs:\\n    x: n\\n    y: m'\n    return x * 100",
    )
    for cell in (old, define, new):
        assert cell.split("\n")[0] in case.given
    cells.define(old)
    cells.run(f"{define}\nYou quote prices.")
    cells.define(new)
    model = cells.model(call("quote", x=3), final("v"))
    assert cells.run("%%agent bot --model @m\nQuote 3.").value == "v"
    # the schema sent has the description "New." and property y
    told = schema_of(model, "quote")
    assert told["description"] == "New."
    assert told["parameters"]["properties"]["y"] == {"type": "integer", "description": "m", "default": 1}
    # observation 300
    assert observations(cells)[0] == "300"
    # tools are the live variables: what is defined during a run is what its next step calls
    cells.define(
        "def quote(x: int) -> str:\n    'Once.\\n\\nArgs:\\n    x: n'\n    exec(NEXT, globals())\n    return 'once'"
    )
    cells.define(
        "NEXT = \"def quote(x: int) -> str:\\n    'Twice.\\\\n\\\\nArgs:\\\\n    x: n'\\n    return 'twice'\""
    )
    later = ScriptedModel([call("quote", x=1), call("quote", x=1), final("v")])
    cells.shell.user_ns["m"] = later
    cells.run("%%agent bot --model @m\nQuote twice.")
    assert observations(cells)[:2] == ["once", "twice"]
    assert [request.tools[0]["description"] for request in later.requests] == ["Once.", "Twice.", "Twice."]
