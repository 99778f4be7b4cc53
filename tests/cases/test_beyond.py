"""Further bad input of an agent that writes code: what no list of cases had, each with what is to come of it."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any

import pytest
from cases.code_cells import CodeCells, block, last_display
from kernels import Kernel

from agent_magic import CodeAgent, ScriptedModel
from agent_magic.core.memory import AgentMemory
from agent_magic.core.state import DictState
from agent_magic.core.steps import ActionStep

ASK = "--mode code --model @m"
MAX_ERROR = 4_000


@pytest.fixture
def kernel(kept_kernel: Kernel) -> Kernel:
    """One process for all; each case empties the namespace."""
    return kept_kernel


def run(code: str, **options: Any) -> tuple[CodeAgent, ActionStep]:
    """Ask an agent whose first block is this code, and whose next one answers; the agent and its first step."""
    agent = CodeAgent(model=ScriptedModel([block(code), block("final_answer('next')")]), **options)
    result = agent.run("Do it.")
    assert (result.status, result.value) == ("answered", "next")
    saved = json.loads(json.dumps(agent.memory.to_dict()))
    assert AgentMemory.from_dict(saved).to_dict() == agent.memory.to_dict()
    return agent, result.actions[0]


def error(step: ActionStep) -> tuple[str, str]:
    """Kind and text of the one fault of a step."""
    (fault,) = step.faults
    assert len(fault.message) <= MAX_ERROR
    assert "agent_magic" not in fault.message
    return fault.kind, fault.message


def sent(agent: CodeAgent) -> str:
    """What the model was told of the first step."""
    assert isinstance(agent.model, ScriptedModel)
    return agent.model.requests[1].messages[-1]["content"]


# -- text that is no Python ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = = 3", 1),
        ("x = 1\nprint 'old'", 2),
        ("x = (1,\ny = 2", 1),
        ("ran.append(1)\nreturn 5", 2),
        ("def f():\nreturn 1", 2),
        ("ran.append(1)\nbreak", 2),
        ("def f():\n    await g()", 2),
        ("nonlocal x", 1),
        ("f(a=1, a=2)", 1),
        ("x = 'open", 1),
        ("x = 08", 1),
        ("ran.append(1)\n1 + = 2", 2),
        ("del f()", 1),
        ("x = “quoted”", 1),
        ("if True:\n    x = 1\n  y = 2\nz = 3", 3),
    ],
)
def test_syntax_error_is_told_with_its_line_and_nothing_runs(code: str, line: int) -> None:
    held = DictState(ran=[])
    agent, step = run(code, state=held, protect=())
    kind, message = error(step)
    assert kind == "ParsingError"
    assert re.search(rf"\b[Ll]ine {line}\b", message), message
    assert code.split("\n")[line - 1].strip() in message
    assert held["ran"] == []
    assert message in sent(agent)


def test_tabs_alone_are_as_good_as_spaces() -> None:
    held = DictState()
    _, step = run("def f(x):\n\tif x:\n\t\treturn 2\n\treturn 1\ny = f(1)", state=held)
    assert step.faults == ()
    assert held["y"] == 2


def test_form_feeds_and_odd_line_ends_are_read_as_python_reads_them() -> None:
    held = DictState()
    _, step = run("x = 1\r\n\x0cy = 2\rz = 3\n", state=held)
    assert step.faults == ()
    assert (held["x"], held["y"], held["z"]) == (1, 2, 3)


@pytest.mark.parametrize("where", ["x = 1\0", "x = 'a\0b'", "# \0\nx = 1"])
def test_null_byte_is_told(where: str) -> None:
    held = DictState()
    _, step = run(where, state=held)
    kind, message = error(step)
    assert kind == "ParsingError"
    assert re.search(r"(?i)nul", message)
    assert "\0" not in message
    assert "x" not in held


@pytest.mark.parametrize(
    "code",
    [
        "print('half \\ud83d')",
        "'half \\ud83d'",
        "raise ValueError('half \\ud83d')",
        "x = {'\\udfff': ['\\ud83d']}\nx",
        "class \N{LATIN SMALL LETTER E WITH ACUTE}(Exception): pass\nraise \N{LATIN SMALL LETTER E WITH ACUTE}('\\ud83d')",
    ],
)
def test_half_a_surrogate_pair_can_be_sent_saved_and_stored(code: str) -> None:
    agent, _ = run(code)
    sent(agent).encode("utf-8")
    json.dumps(agent.memory.to_dict(), ensure_ascii=False).encode("utf-8")


def test_answer_with_half_a_surrogate_pair_is_given_as_it_is() -> None:
    agent = CodeAgent(model=ScriptedModel([block("final_answer('half \\ud83d')")]))
    assert agent.run("Half.").value == "half \ud83d"
    AgentMemory.from_dict(json.loads(json.dumps(agent.memory.to_dict())))


def test_dictionary_given_as_state_is_the_namespace_itself() -> None:
    held: dict[str, Any] = {}
    exec("base = 1\ndef shifted():\n    return base + shift", held)
    agent, step = run("shift = 10\nx = shifted()", state=held)
    assert step.faults == ()
    assert (held["shift"], held["x"], held["shifted"]()) == (10, 11, 11)
    assert agent.result is not None
    assert "final_answer" not in held


# -- size ----------------------------------------------------------------------------------------


def test_long_code_runs() -> None:
    held = DictState()
    lines = "".join(f"value_{n} = {n} * 2  # {'.' * 42}\n" for n in range(2_900))
    assert 190_000 < len(lines) < 200_000
    start = time.perf_counter()
    _, step = run(lines, state=held)
    assert time.perf_counter() - start < 10
    assert step.faults == ()
    assert held["value_2899"] == 5_798


@pytest.mark.parametrize(
    "code",
    ["x = 1\n" * 160_000, f"x = len('{'a' * 960_000}')", f"x = len('{'a' * 1_000_000}')"],
    ids=["lines", "one text", "over the limit of a reply"],
)
def test_a_megabyte_of_code_is_told_with_the_limit_and_not_run_nor_sent_back(code: str) -> None:
    held = DictState()
    start = time.perf_counter()
    agent, step = run(code, state=held)
    assert time.perf_counter() - start < 10
    kind, message = error(step)
    assert kind == "ParsingError"
    assert re.search(r"200,000|1,000,000", message)
    assert "x" not in held
    assert isinstance(agent.model, ScriptedModel)
    assert sum(len(each["content"] or "") for each in agent.model.requests[1].messages) < 150_000


@pytest.mark.kernel
@pytest.mark.parametrize(
    "code",
    [
        "x = " + "(" * 100_000 + ")" * 100_000,
        "x = " + "-" * 100_000 + "1",
        "x = " + "+".join(["1"] * 50_000),
        "x = " + "[" * 300 + "]" * 300,
        "x = a" + ".b" * 50_000,
        "x = " + "not " * 50_000 + "1",
        "\n".join(" " * n + "if 1:" for n in range(150)) + "\n" + " " * 150 + "x = 1",
        "x = " + "lambda: " * 5_000 + "1",
        "x = f'" + "{" * 10_000 + "'",
    ],
    ids=["parentheses", "minus", "sum", "lists", "attributes", "not", "indents", "lambdas", "braces"],
)
def test_code_nested_too_deep_is_an_error_step(kernel: Kernel, code: str) -> None:
    cells = CodeCells(kernel)
    cells.script([block(code), block("final_answer('next')")])
    done = cells.ask(ASK)
    (run_,) = cells.runs()
    assert done.result == "'next'"
    first = run_.steps[0]
    assert first.seconds < 10
    # a sum of 50,000 terms and 300 lists may be read or not; what is not read is told
    if first.faults:
        assert first.kind in ("ParsingError", "CodeRefused", "CodeExecutionError")
        assert len(first.error) <= MAX_ERROR
        assert "agent_magic" not in first.error
    cells.check_memory()


@pytest.mark.kernel
def test_200_megabytes_of_prints_leave_head_and_tail(kernel: Kernel) -> None:
    cells = CodeCells(kernel)
    cells.script(
        [
            block("print('FIRST')\nfor n in range(200):\n    print('x' * 1_000_000)\nprint('LAST')"),
            block("final_answer('next')"),
        ]
    )
    cells.define("import resource\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss")
    done = cells.ask(ASK)
    assert done.result == "'next'"
    first = cells.runs()[0].steps[0]
    assert first.faults == []
    assert first.seconds < 10
    assert len(first.told) <= 20_000
    assert "FIRST" in first.told
    assert "LAST" in first.told
    assert re.search(r"[\d,]+ characters cut", first.told)
    assert len(json.dumps(last_display(done))) < 400_000
    # and are not held on the way
    assert int(cells.value("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before")) < 100_000  # kB


@pytest.mark.kernel
@pytest.mark.skipif(sys.platform != "linux", reason="only there is the limit of memory kept")
def test_list_that_grows_without_end_is_an_error_step_when_memory_ends(kernel: Kernel) -> None:
    cells = CodeCells(kernel)
    cells.define(
        "import pathlib, resource\n"
        "taken = int(pathlib.Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (taken + 500_000_000, -1))"
    )
    cells.script(
        [
            block("held = []\nwhile True:\n    held.append(bytearray(10_000_000))"),
            block("del held\nfinal_answer('next')"),
        ]
    )
    done = cells.ask(ASK)
    assert done.result == "'next'"
    first = cells.runs()[0].steps[0]
    assert first.kind == "CodeExecutionError"
    assert "MemoryError" in first.error
    assert "held.append" in first.error
    assert kernel.execute("6 * 7").result == "42"
    kernel.restart()  # the limit stays with the process


@pytest.mark.parametrize(
    "code",
    [
        "x = 10 ** 10 ** 10",
        "x = [0] * 10**11",
        "x = 'a' * 10**12",
        "x = 1 << 10**12",
        "x = bytearray(10**12)",
    ],
)
def test_constant_that_fills_all_memory_is_refused_before_anything_runs(code: str) -> None:
    held = DictState(ran=[])
    start = time.perf_counter()
    _, step = run(f"ran.append(1)\n{code}", state=held, protect=())
    assert time.perf_counter() - start < 10
    kind, message = error(step)
    assert kind == "CodeRefused"
    assert code in message
    assert held["ran"] == []


def test_recursion_without_end_is_an_error_step() -> None:
    agent, step = run("def f(n):\n    return f(n + 1)\nf(0)")
    kind, message = error(step)
    assert kind == "CodeExecutionError"
    assert "RecursionError" in message
    assert "return f(n + 1)" in message
    assert len(message) < 2_000
    assert len(sent(agent)) < 3_000


@pytest.mark.kernel
def test_value_nested_100000_deep_can_be_shown_stored_and_answered(kernel: Kernel) -> None:
    deep = "x = []\nfor _ in range(100_000):\n    x = [x]\n"
    cells = CodeCells(kernel)
    cells.script([block(deep + "x"), block("print(len(x))"), block("final_answer(x)")])
    done = cells.ask(f"{ASK} --as answer")
    (run_,) = cells.runs()
    assert (run_.status, len(run_.steps)) == ("answered", 3)
    assert [step.faults for step in run_.steps] == [[], [], []]
    assert cells.value("answer is x") == "True"
    assert done.error is None
    assert kernel.execute("6 * 7").result == "42"


# -- time ----------------------------------------------------------------------------------------


def test_call_of_c_that_cannot_be_stopped_is_told_honestly() -> None:
    start = time.perf_counter()
    _, step = run("total = sum(range(10**8))", step_timeout_s=0.3)
    took = time.perf_counter() - start
    kind, message = error(step)
    assert kind == "CodeExecutionError"
    assert "time limit of 0.3 s" in message
    told = [float(number) for number in re.findall(r"(\d+(?:\.\d+)?) s\b", message.replace("0.3 s", ""))]
    assert any(abs(one - took) < 0.5 for one in told), message
    assert "total = sum(range(10**8))" in message


def test_input_is_refused_with_what_to_do_instead() -> None:
    held = DictState(ran=[])
    _, step = run("ran.append(1)\nname = input('Your name? ')", state=held, protect=())
    kind, message = error(step)
    assert kind == "CodeRefused"
    assert "`input`" in message
    assert "final answer" in message
    assert held["ran"] == []


# -- the notebook's own syntax, and what libraries show ------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "%timeit 1 + 1",
        "%%bash",
        "!touch {path}",
        "x = !touch {path}",
        "x?",
        "print??",
        "%matplotlib inline",
        "?print",
    ],
)
def test_syntax_of_the_notebook_is_refused_with_the_reason_and_nothing_runs(tmp_path, line: str) -> None:
    path = tmp_path / "made"
    held = DictState(ran=[])
    line = line.replace("{path}", str(path))
    _, step = run(f"ran.append(1)\n{line}", state=held, protect=())
    kind, message = error(step)
    assert kind in ("CodeRefused", "ParsingError")
    assert line in message
    assert "not Python" in message
    assert not path.exists()
    assert held["ran"] == []


@pytest.mark.kernel
@pytest.mark.parametrize("backend", ["inline", "agg"])
def test_shown_figures_are_pictures_of_their_step(kernel: Kernel, backend: str) -> None:
    cells = CodeCells(kernel)
    cells.define(f"%matplotlib {backend}")
    cells.script(
        [
            block(
                "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.plot([3, 4])\nplt.show()\nprint('both')"
            ),
            block("final_answer('next')"),
        ]
    )
    done = cells.ask(f"{ASK} --imports matplotlib")
    first, _ = cells.runs()[0].steps
    assert first.faults == []
    assert first.notes == []
    assert cells.value("[len(s.observations_images) for s in bot.result.actions]") == "[2, 0]"
    assert [output["output_type"] for output in done.outputs] == ["display_data", "execute_result"]
    assert last_display(done)["text/html"].count("<img") == 2
    assert "2 pictures" in first.told
    assert kernel.execute("pass").outputs == []
    assert done.stderr == ""


@pytest.mark.kernel
def test_logging_of_code_is_in_its_step_and_that_of_later_cells_in_theirs(kernel: Kernel) -> None:
    cells = CodeCells(kernel)
    cells.script(
        [
            block(
                "import logging, warnings\nlogging.warning('first word')\n"
                "logging.getLogger('mine').error('second word')\nwarnings.warn('third word')"
            ),
            block("final_answer('next')"),
        ]
    )
    done = cells.ask(ASK)
    first = cells.runs()[0].steps[0]
    for word in ("first word", "second word", "third word"):
        assert word in first.told
    assert done.stdout + done.stderr == ""
    later = kernel.execute("import logging\nlogging.warning('fourth word')")
    assert "fourth word" in later.stderr
    assert later.error is None


# -- others at work ------------------------------------------------------------------------------


@pytest.mark.kernel
def test_tool_that_is_redefined_while_code_runs_is_the_new_one_afterwards(kernel: Kernel) -> None:
    cells = CodeCells(kernel)
    cells.define(
        """
import threading, time
def rate(x: int) -> int:
    "Rate.\\n\\nArgs:\\n    x: n"
    return x
old = rate
def redefine():
    while "a" not in globals():
        time.sleep(0.01)
    exec('def rate(x: int) -> int:\\n    "Rate.\\\\n\\\\nArgs:\\\\n    x: n"\\n    return x * 100', globals())
"""
    )
    cells.script(
        [
            block("import time\na = rate(x=3)\ntime.sleep(0.5)\nb = rate(x=3)"),
            block("c = rate(x=3)\nfinal_answer((a, b, c))"),
        ]
    )
    running = kernel.begin(
        f"threading.Thread(target=redefine).start()\nget_ipython().run_cell_magic('agent', 'bot {ASK} --tools rate', 'Rate.')"
    )
    done = kernel.finish(running)
    (run_,) = cells.runs()
    assert done.error is None
    assert run_.status == "answered"
    first, second = run_.steps
    assert (first.faults, second.faults) == ([], [])
    # the person's new one is not lost
    assert cells.value("(rate is old, rate(3))") == "(False, 300)"
    # the step that began before may use either; the next one uses the new
    assert done.result in ("(3, 3, 300)", "(3, 300, 300)")
    # each call is recorded
    assert [call["name"] for call in first.calls + second.calls] == [
        "rate"
    ] * 3 or done.result == "(3, 300, 300)"
    cells.check_memory()


@pytest.mark.kernel
def test_agent_that_runs_inside_a_tool_ends_only_itself(kernel: Kernel) -> None:
    cells = CodeCells(kernel)
    cells.define(
        """
from agent_magic import CodeAgent, ScriptedModel
base = 20
def double(x: int) -> int:
    "Double.\\n\\nArgs:\\n    x: n"
    return 2 * x
inner = CodeAgent(
    [double], ScriptedModel(["<code>\\nfound = double(x=base)\\nprint('inside')\\n</code>", "<code>\\nfinal_answer(found + 1)\\n</code>"]),
    name="inner", state=globals(),
)
def ask_inner(task: str) -> int:
    "Ask another agent.\\n\\nArgs:\\n    task: what"
    return inner.run(task).value
"""
    )
    cells.script(
        [block("found = double(x=base)\nprint('inside')"), block("final_answer(found + 1)")], name="of_inner"
    )
    cells.define("%%agent inner --define --mode code --model @of_inner --tools double")
    cells.script(
        [
            block("got = ask_inner(task='double it')\nprint('after', got)\nmore = double(x=got)"),
            block("final_answer((got, more, found))"),
        ]
    )
    done = cells.ask(f"{ASK} --tools ask_inner, double")
    assert done.error is None
    # its answer ends it alone, and the line after the call runs
    assert done.result == "(41, 82, 40)"
    (run_,) = cells.runs()
    assert "after 41" in run_.steps[0].told
    assert "inside" not in run_.steps[0].told
    assert [call["name"] for call in run_.steps[0].calls] == ["ask_inner", "double"]
    # both have memories of their own, and no name is left
    assert cells.value("(inner.result.value, len(inner.result.actions))") == "(41, 2)"
    assert cells.value("('final_answer' in globals(), type(double).__name__)") == "(False, 'function')"
    cells.check_memory()
    cells.check_memory("inner")


@pytest.mark.kernel
def test_agent_asked_inside_its_own_tool_does_not_hang(kernel: Kernel) -> None:
    cells = CodeCells(kernel)
    cells.define(
        "def again(task: str) -> str:\n    'Again.\\n\\nArgs:\\n    task: what'\n    return bot.run(task).value"
    )
    cells.script(
        [
            block("x = again(task='and again')"),
            block("final_answer('inner')"),
            block("final_answer((x, 'outer'))"),
        ]
    )
    done = cells.ask(f"{ASK} --tools again", timeout_s=20)
    # either it is refused with its name, or it is a run of its own; it does not hang
    outer = next(each for each in cells.runs() if each.steps[0].code == "x = again(task='and again')")
    if outer.steps[0].faults:
        assert "bot" in outer.steps[0].error
    else:
        assert done.result == "('inner', 'outer')"
    assert outer.status == "answered"
    cells.check_memory()
    cells.script([block("final_answer('still')")])
    assert cells.ask("--model @m", timeout_s=20).result == "'still'"
