from __future__ import annotations

import math

import pytest
from cells import call, final
from inline_snapshot import snapshot

FUNCTIONS = """
def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b

class Thing:
    def __repr__(self):
        return "a thing"

thing, number, text = Thing(), 41, "words"
"""


@pytest.fixture
def asked(cells):
    """Cells with a function and some variables."""
    cells.define(FUNCTIONS)
    return cells


def offered(model, at=0):
    return [tool["name"] for tool in model.requests[at].tools]


def last_task(model):
    return [m["content"] for m in model.requests[-1].messages if m["role"] == "user"][-1]


# -- what becomes of a name ---------------------------------------------------------------------


def test_mentioned_function_becomes_a_tool(asked):
    model = asked.model(call("add", a=1, b=2), final("x"))
    asked.run("%%agent bot --model @m\nUse @add.")
    assert offered(model) == ["add", "final_answer"]
    assert model.requests[1].messages[-1]["content"] == "3"
    assert last_task(model) == "Use @add."


def test_object_that_can_be_called_but_says_not_how_is_a_variable(asked):
    asked.define("import sqlite3\ndb = sqlite3.connect(':memory:')")
    model = asked.model(final("@db"))
    done = asked.run("%%agent bot --model @m\nWhat is in @db?")
    assert done.value is asked["db"]
    assert offered(model) == ["final_answer"]
    asked["db"].close()


@pytest.mark.parametrize("line", ["--tools look\nSearch.", "\nSearch with @look."])
def test_foreign_tool_becomes_a_tool_though_it_cannot_be_called(asked, line):
    asked.define(
        "from tools.foreign_shapes import Lang, Query, search\nlook = Lang('search-web', 'Search.', Query, search)"
    )
    model = asked.model(call("look", text="ice"), final("x"))
    done = asked.run(f"%%agent bot --model @m {line}")
    assert done.value == "x"
    assert offered(model) == ["look", "final_answer"]
    assert model.requests[1].messages[-1]["content"] == "3 news about ice"
    assert "Tool 'search-web' is offered to the model as 'look', the variable that holds it" in done.text


def test_mentioned_variable_is_told_by_type_shape_and_preview(asked):
    model = asked.model(final("x"))
    asked.run("%%agent bot --model @m\nWhat of @thing, @number and @text?")
    assert offered(model) == ["final_answer"]
    assert last_task(model) == snapshot("""\
What of @thing, @number and @text?

State variables:
- @thing: Thing: a thing
- @number: int: 41
- @text: str, 5 characters: 'words'\
""")


def test_tools_takes_callables_as_tools_and_all_else_as_state(asked):
    model = asked.model(final("@thing"))
    done = asked.run("%%agent bot --model @m --tools add @thing\nDo it.")
    assert offered(model) == ["add", "final_answer"]
    assert last_task(model) == snapshot("""\
Do it.

State variables:
- @thing: Thing: a thing\
""")
    assert done.value is asked["thing"]


@pytest.mark.parametrize(
    ("define", "name", "arguments", "expected"),
    [
        ("import functools\nadd_one = functools.partial(add, b=1)", "add_one", {"a": 4}, "5"),
        ("twice = lambda x: 2 * x", "twice", {"x": 4}, "8"),
        ("class Half:\n    def __call__(self, x: int) -> int:\n        'Half.'\n        return x // 2\nhalf = Half()", "half", {"x": 4}, "2"),
        ("class Adder:\n    def plus(self, x: int) -> int:\n        'Plus.'\n        return x + 10\nplus = Adder().plus", "plus", {"x": 4}, "14"),
        ("async def later(x: int) -> int:\n    'Later.'\n    return x + 3", "later", {"x": 4}, "7"),
        ("import math\nroot = math.isqrt", "root", {"n": 17}, "4"),
    ],
    ids=["partial", "lambda", "instance", "bound method", "async function", "built-in"],
)  # fmt: skip
def test_callable_without_a_name_is_called_by_its_variable(asked, define, name, arguments, expected):
    asked.define(define)
    model = asked.model(call(name, **arguments), final("x"))
    assert asked.run(f"%%agent bot --model @m --tools {name}\nDo it.").value == "x"
    assert offered(model) == [name, "final_answer"]
    assert model.requests[1].messages[-1]["content"] == expected


def test_module_part_is_no_mention_and_the_header_says_how(asked):
    asked.shell.user_ns["math"] = math
    model = asked.model(final("x"))
    done = asked.run("%%agent bot --model @m\nUse @math.gcd.")
    assert offered(model) == ["final_answer"]
    assert [line for line in done.text.splitlines() if line.startswith("!")] == snapshot(
        ["! math.gcd is a function in a module; write gcd = math.gcd in a cell and mention @gcd."]
    )


def test_mentioned_variables_stay_open_in_later_cells(asked):
    asked.model(final("x"), final("@thing"))
    asked.run("%%agent bot --model @m\nWhat is @thing?")
    assert asked.run("%%agent bot\nGive it.").value is asked["thing"]


# -- references ---------------------------------------------------------------------------------


def test_closed_name_is_refused_with_the_open_ones(asked):
    asked.define("things = [Thing()]")
    model = asked.model(final("@thing"), final("x"))
    asked.run("%%agent bot --model @m\nWhat of @things?")
    assert model.requests[1].messages[-1]["content"] == snapshot(
        "final_answer: argument 'answer' is '@thing'; no open variable has that name. Nearest: things. Write \"@things\", or give text without \"@\"."
    )


def test_state_all_opens_the_whole_namespace_but_the_kernels_own_names(asked):
    model = asked.model(final("@thing"))
    assert asked.run("%%agent bot --model @m --state all\nDo it.").value is asked["thing"]
    told = last_task(model)
    assert all(f"@{name}: " in told for name in ("thing", "number", "text"))
    assert "@In" not in told
    assert "@Out" not in told
    refused = asked.model(final("@In"), final("@get_ipython"), final("@_"), final("x"))
    assert asked.run("%%agent bot --model @m\nDo it.").value == "x"
    assert [len(step.faults) for step in asked.agent().result.actions] == [1, 1, 1, 0]
    assert len(refused.requests) == 4


def test_bare_name_of_what_json_can_hold_stays_text(asked):
    asked.define("yes = 1")
    asked.model(final("yes"), final("number"))
    assert asked.run("%%agent bot --model @m\nIs it, @yes and @number?").value == "yes"
    assert asked.run("%%agent bot\nWhich?").value == "number"


def test_references_exact_replaces_every_text_that_is_an_open_name(asked):
    asked.model(final("number"), final("number"))
    assert asked.run("%%agent bot --model @m\nWhat of @number?").value == "number"
    asked.define("%config AgentMagics.references = 'exact'")
    exact = asked.run("%%agent bot\nAgain.")
    assert exact.value == 41
    assert "read as @number" in exact.text


def test_reference_is_resolved_at_any_depth(asked):
    asked.model(final({"all": ["@thing", {"deep": "@number"}], "text": "not @thing"}))
    done = asked.run("%%agent bot --model @m\nWhat of @thing and @number?")
    assert done.value == {"all": [asked["thing"], {"deep": 41}], "text": "not @thing"}


def test_object_that_a_tool_returns_is_a_variable_of_the_notebook(asked):
    asked.define("def make() -> Thing:\n    'Make.'\n    return Thing()\nmake_1 = 'mine'")
    model = asked.model(call("make"), final("@make_2"))
    done = asked.run("%%agent bot --model @m --tools make\nMake one.")
    assert done.value is asked["make_2"]
    assert asked["make_1"] == "mine"
    assert model.requests[1].messages[-1]["content"] == snapshot(
        """\
The result is in the variable make_2; refer to it as "@make_2".
Thing: a thing\
"""
    )


# -- tools are live -----------------------------------------------------------------------------


def test_tool_that_is_redefined_between_cells_is_the_new_one_and_its_schema_follows(asked):
    model = asked.model(call("add", a=1, b=2), final("x"), call("add", a=1), final("y"))
    asked.run("%%agent bot --model @m --tools add\nDo it.")
    asked.define("def add(a: float) -> float:\n    'Add a half.\\n\\nArgs:\\n    a: one'\n    return a + 0.5")
    asked.run("%%agent bot\nDo it.")
    assert [model.requests[at].messages[-1]["content"] for at in (1, 3)] == ["3", "1.5"]
    before, after = (model.requests[at].tools[0] for at in (0, 2))
    assert (before["description"], list(before["parameters"]["properties"])) == ("Add.", ["a", "b"])
    assert (after["description"], list(after["parameters"]["properties"])) == ("Add a half.", ["a"])


def test_tool_that_is_redefined_during_a_run_is_the_new_one_in_the_next_step(asked):
    def redefine(request):
        asked.shell.user_ns["add"] = lambda a, b: 100
        return call("add", a=1, b=2)

    model = asked.model(call("add", a=1, b=2), redefine, call("add", a=1, b=2), final("x"))
    asked.run("%%agent bot --model @m --tools add\nDo it.")
    assert [model.requests[at].messages[-1]["content"] for at in (1, 3)] == ["3", "100"]


@pytest.mark.parametrize("lose", ["del add", "add = 3"])
def test_run_goes_without_a_tool_that_is_gone_and_the_header_says_so(asked, lose):
    model = asked.model(final("x"), call("add", a=1, b=2), final("y"))
    asked.run("%%agent bot --model @m --tools add\nDo it.")
    asked.run(lose)
    done = asked.run("%%agent bot\nDo it.")
    assert done.value == "y"
    assert "! The tool add is gone or no longer callable, so the run goes without it." in done.text
    assert offered(model, 1) == ["final_answer"]
    assert "No tool 'add'" in model.requests[2].messages[-1]["content"]


def test_cell_that_names_a_tool_that_is_gone_is_refused(asked):
    asked.model(final("x"))
    asked.run("%%agent bot --model @m --tools add\nDo it.")
    asked.run("del add")
    assert str(asked.run("%%agent bot --tools add\nDo it.").error) == snapshot(
        "%%agent --tools: there is no variable 'add'. Run the cell that defines it first."
    )
    asked.define("add = 3")
    said = [str(asked.run(f"%%agent bot{line}").error) for line in (" --tools add\nDo it.", "\nUse @add.")]
    assert (
        said[0]
        == said[1]
        == snapshot(
            "%%agent: `add` was a tool of this agent and is your int now. Define it as a function again, or give it as a variable to a new agent, with --new."
        )
    )
    assert len(asked.agent().runs) == 1


# -- the text, byte for byte --------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "{braces} {{twice}} {1+1} {",
        "'single' \"double\" '''three''' \"\"\"three\"\"\"",
        "100% %s %(x)s %%agent %agent %timeit",
        "$HOME $$ ${x} $(ls) `ls` !ls !!ls",
        "back\\slash \\n \\t \\\\ \\",
        "# comment? help? ?help x = 1",
        "请总结 مرحبا שלום 👩‍👩‍👧 e\u0301 \u3000x\u200f",
        "  indented\n\ttab\n\n\n  after blank lines",
        "line one\r\nline two",
        "@dataclass `@add` \\x an@add.org",
    ],
)
def test_body_reaches_the_model_byte_for_byte(asked, body):
    model = asked.model(final("x"))
    asked.run(f"%%agent bot --model @m\n{body}\n")
    assert last_task(model) == body
    assert asked.agent().result.task == body
    assert offered(model) == ["final_answer"]


def test_escaped_mention_is_sent_without_its_backslash_and_hands_over_nothing(asked):
    model = asked.model(final("x"))
    asked.run("%%agent bot --model @m\nWrite to \\@add.")
    assert (last_task(model), offered(model)) == ("Write to @add.", ["final_answer"])


def test_code_in_the_body_mentions_nothing(asked):
    model = asked.model(final("x"))
    body = "What does this do?\n```\n@add\ndef f(): ...\n```"
    asked.run(f"%%agent bot --model @m\n{body}")
    assert (last_task(model), offered(model)) == (body, ["final_answer"])
