"""The toolbox: tools are what their variables hold now."""

# ruff: noqa: RUF012 - plain class attributes, as people write a tool
from __future__ import annotations

import functools
import importlib
import sys
import threading
import timeit
from typing import Any

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.decorator import tool
from agent_magic.tools.offering import OffersTool
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import LiveTool, Toolbox


def double(x: int) -> int:
    "Double.\n\nArgs:\n    x: n"
    return 2 * x


def square(x: int) -> int:
    "Square.\n\nArgs:\n    x: n"
    return x * x


class Fixed(Tool):
    name = "fixed"
    description = "Always one."
    inputs = {}
    output_type = "integer"

    def forward(self) -> int:
        return 1


def live(state: DictState, *names: str) -> Toolbox:
    return Toolbox(LiveTool(name=name, state=state) for name in names)


def call(toolbox: Toolbox, name: str, **arguments: Any) -> Any:
    made = toolbox.current()[name]
    return made.invoke(made.prepare(arguments, AgentState()))


def define(source: str, **names: Any) -> dict[str, Any]:
    exec(source, names)
    return names


def test_toolbox_keeps_the_order_and_takes_every_kind_of_source():
    state = DictState(square=square, f=lambda x: x, fixed_one=Fixed())
    toolbox = Toolbox([double, LiveTool(name="square", state=state), tool_from(max_of)])
    toolbox.add(LiveTool(name="f", state=state))
    toolbox.add(LiveTool(name="fixed_one", state=state))
    assert list(toolbox.current()) == ["double", "square", "max_of", "f", "fixed"]
    assert [source for source in toolbox.sources if not isinstance(source, Tool)] == [
        double,
        *(LiveTool(name=name, state=state) for name in ("square", "f", "fixed_one")),
    ]


def max_of(values: list[float]) -> float:
    """The largest."""
    return max(values)


def test_toolbox_uses_a_function_that_was_defined_again():
    state = DictState(define('def quote(x: int) -> int:\n    "Old.\\n\\nArgs:\\n    x: n"\n    return x'))
    toolbox = live(state, "quote")
    assert toolbox.current()["quote"].description == "Old."
    state.update(
        define(
            'def quote(x: int, y: int = 1) -> int:\n    "New.\\n\\nArgs:\\n    x: n\\n    y: m"\n    return x * 100'
        )
    )
    schema = toolbox.current()["quote"].to_schema()
    assert schema.description == "New."
    assert list(schema.parameters["properties"]) == ["x", "y"]
    assert call(toolbox, "quote", x=3) == 300


def test_toolbox_makes_a_schema_anew_only_when_something_changed():
    toolbox = live(DictState(double=double), "double")
    assert toolbox.current()["double"] is toolbox.current()["double"]


@pytest.mark.parametrize("change", ["code", "doc", "defaults", "hints", "kwdefaults", "options"])
def test_toolbox_notices_a_function_that_was_changed_in_place(change):
    def f(x: int, *, y: int = 1) -> Any:
        """Old."""
        return x

    def g(x: int, *, y: int = 2) -> Any:
        """New."""
        return -x

    toolbox = live(DictState(f=f), "f")
    before = toolbox.current()["f"]
    match change:
        case "code":
            f.__code__ = g.__code__
        case "doc":
            f.__doc__ = g.__doc__
        case "defaults":
            f.__defaults__ = (5,)
        case "hints":
            f.__annotations__["x"] = str
        case "kwdefaults":
            f.__kwdefaults__ = {"y": 7}
        case _:
            tool(sequential=True)(f)
    assert toolbox.current()["f"] is not before


def test_toolbox_notices_that_a_hint_means_another_class_by_now():
    names = define(
        "from __future__ import annotations\nimport enum\nclass Mode(enum.Enum):\n    A = 'a'\n"
        "def run(mode: Mode) -> bool:\n    'Run.'\n    return isinstance(mode, Mode)\n",
        __name__="somewhere",
    )
    toolbox = live(DictState(names), "run")
    assert toolbox.current()["run"].to_schema().parameters["properties"]["mode"]["enum"] == ["a"]
    exec("class Mode(enum.Enum):\n    A = 'a'\n    B = 'b'\n", names)
    assert toolbox.current()["run"].to_schema().parameters["properties"]["mode"]["enum"] == ["a", "b"]
    assert call(toolbox, "run", mode="b") is True


def test_toolbox_builds_arguments_of_the_class_that_a_reloaded_module_has_now(tmp_path, monkeypatch):
    source = (
        "from dataclasses import dataclass\n@dataclass\nclass Row:\n    price: float\n"
        "def rate(row: Row) -> list:\n    'Rate.'\n    return [row.price * 1, isinstance(row, Row)]\n"
    )
    module_file = tmp_path / "reloaded_tools.py"
    module_file.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("reloaded_tools")
    rate = module.rate
    toolbox = live(DictState(rate=rate), "rate")
    assert call(toolbox, "rate", row={"price": 2}) == [2.0, True]
    module_file.write_text(source.replace("* 1", "* 10"))
    importlib.reload(module)
    rate.__code__ = module.rate.__code__  # as autoreload does: the function object in the notebook stays
    assert call(toolbox, "rate", row={"price": 2}) == [20.0, True]
    sys.modules.pop("reloaded_tools")


def test_toolbox_notices_a_changed_function_in_a_tool_that_was_given_whole():
    def f(x: int) -> int:
        """Old."""
        return x

    def g(x: int) -> int:
        """New."""
        return -x

    toolbox = Toolbox([tool_from(f)])
    f.__code__, f.__doc__ = g.__code__, g.__doc__
    assert toolbox.current()["f"].description == "New."
    assert toolbox.current()["f"] is toolbox.current()["f"]
    assert call(toolbox, "f", x=1) == -1


def test_toolbox_leaves_out_names_that_are_gone_or_cannot_be_called_and_lists_them():
    state = DictState(double=double, square=square)
    toolbox = live(state, "double", "square", "cube")
    assert (list(toolbox.current()), toolbox.missing()) == (["double", "square"], ["cube"])
    del state["double"]
    state["square"] = 4
    state["cube"] = square
    assert (list(toolbox.current()), toolbox.missing()) == (["cube"], ["double", "square"])
    state["double"] = double
    assert list(toolbox.current()) == ["double", "cube"]


def test_toolbox_refuses_two_tools_of_one_name():
    with pytest.raises(ToolDefinitionError) as caught:
        Toolbox([double, functools.wraps(double)(square)])
    assert caught.value.message == snapshot("""\
Two tools have the name 'double'.
Give one of them another: put it in a variable of another name, or mark it  @tool(name="double_2")\
""")
    toolbox = Toolbox([double])
    with pytest.raises(ToolDefinitionError):
        toolbox.add(LiveTool(name="double", state=DictState(double=square)))
    assert list(toolbox.current()) == ["double"]


def test_toolbox_takes_a_live_name_twice_as_once():
    state = DictState(double=double)
    toolbox = live(state, "double", "double")
    assert list(toolbox.current()) == ["double"]


def test_toolbox_refuses_a_nameless_callable():
    with pytest.raises(ToolDefinitionError) as caught:
        Toolbox([lambda x: x])
    assert caught.value.message == snapshot("""\
A callable of type function has no name that a model could call it by: '<lambda>'.
Put it in a variable and give that name, or write a function with def\
""")


@pytest.mark.parametrize(
    ("sources", "text"),
    [
        (
            double,
            snapshot("""\
The tools are a function on its own, expected a list of functions.
Write  [double]\
"""),
        ),
        (
            functools.partial(double, 1),
            snapshot("""\
The tools are a partial on its own, expected a list of functions.
Write  [fn]\
"""),
        ),
        (
            Fixed(),
            snapshot("""\
The tools are a Fixed on its own, expected a list of functions.
Write  [fixed]\
"""),
        ),
        (
            Fixed,
            snapshot("""\
The tools are a type on its own, expected a list of functions.
Write  [Fixed]\
"""),
        ),
        (
            len,
            snapshot("""\
The tools are a builtin_function_or_method on its own, expected a list of functions.
Write  [len]\
"""),
        ),
        (
            LiveTool(name="double", state=DictState(double=double)),
            snapshot("""\
The tools are a LiveTool on its own, expected a list of functions.
Write  [double]\
"""),
        ),
        (
            "double",
            snapshot("""\
The tools are the text 'double', expected a list of functions.
Write the function itself, in a list:  [double]\
"""),
        ),
        (
            "double the price",
            snapshot("""\
The tools are the text 'double the price', expected a list of functions.
Write the function itself, in a list:  [fn]\
"""),
        ),
        (
            5,
            snapshot("""\
The tools are 5, expected a list of functions.
Write  [fn], or [] for none\
"""),
        ),
        (
            None,
            snapshot("""\
The tools are None, expected a list of functions.
Write  [fn], or [] for none\
"""),
        ),
    ],
)
def test_toolbox_refuses_what_is_no_list(sources: Any, text: str):
    with pytest.raises(ToolDefinitionError) as caught:
        Toolbox(sources)
    assert caught.value.message == text


def test_toolbox_gives_live_tools_their_alias():
    state = DictState(double=double, one=Fixed(), ready=tool_from(square))
    toolbox = Toolbox(
        LiveTool(name=name, state=state, alias=alias)
        for name, alias in [("double", "twice"), ("one", "uno"), ("ready", "sq")]
    )
    assert {name: made.to_schema().name for name, made in toolbox.current().items()} == snapshot(
        {"twice": "twice", "uno": "uno", "sq": "sq"}
    )
    assert [call(toolbox, "twice", x=2), call(toolbox, "uno"), call(toolbox, "sq", x=3)] == [4, 1, 9]
    assert toolbox.current()["uno"] is toolbox.current()["uno"]


def test_toolbox_gives_many_threads_one_tool():
    toolbox = live(DictState(double=double), "double")
    found: list[Tool] = []
    threads = [threading.Thread(target=lambda: found.append(toolbox.current()["double"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert len({id(made) for made in found}) == 1


def test_toolbox_looks_at_a_tool_in_little_time():
    state = DictState({f"f{n}": square for n in range(20)})
    toolbox = live(state, *state)
    toolbox.current()
    per_tool_s = min(timeit.repeat(toolbox.current, number=50, repeat=5)) / 50 / 20
    assert per_tool_s < 2e-3


def test_toolbox_knows_the_warnings_of_a_class_form_at_once():
    class Odd(Tool):
        name = "odd"
        description = "Odd."
        inputs = {}
        output_type = "integer"
        examples = ("no arrow",)

        def forward(self) -> int:
            return 1

    assert Toolbox([Odd()]).current()["odd"].warnings == snapshot(
        ("Tool 'odd': example 'no arrow' is left out: it has no '->'. Write: task in words -> odd()",)
    )


# -- what offers a tool -----------------------------------------------------------------------------


class _Offering(OffersTool):
    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def to_tool(self, name: str | None = None) -> Tool:
        self.asked.append(name)
        return tool_from(lambda: 1, name=name or "own")


def test_what_offers_a_tool_is_asked_for_it_by_the_variables_name() -> None:
    offering = _Offering()
    state = DictState(helper=offering)
    toolbox = Toolbox([offering, LiveTool(name="helper", state=state)])
    assert list(toolbox.current()) == ["own", "helper"]
    assert set(offering.asked) == {None, "helper"}
    state.unbind("helper")
    assert list(toolbox.current()) == ["own"]
    assert toolbox.missing() == ["helper"]


def test_method_of_that_name_alone_offers_no_tool() -> None:
    class Foreign:
        def to_tool(self, name: str | None = None) -> Tool:
            raise AssertionError(name)

    assert list(Toolbox([LiveTool(name="x", state=DictState(x=Foreign()))]).current()) == []
