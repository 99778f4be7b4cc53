"""Cells of a code agent in a real kernel: what is shown where, how they are stopped, a whole notebook."""

from __future__ import annotations

import os
import random
import re
import time
from typing import Any

import nbformat
import pytest
from inline_snapshot import snapshot
from nbclient import NotebookClient
from page import Page, need_built_view

pytestmark = pytest.mark.kernel

RECORD = "application/vnd.agent-magic.run.v1+json"
SET_UP = """
%load_ext agent_magic
from agent_magic import ScriptedModel

def code(*lines):
    return "So be it.\\n<code>\\n" + "\\n".join(lines) + "\\n</code>"
"""
ASK = "%%agent bot --mode code --model @m"


@pytest.fixture
def ready(kernel):
    """A kernel with the extension."""
    assert kernel.execute(SET_UP).error is None
    return kernel


def asked(kernel: Any, *replies: str, line: str = "") -> Any:
    """A cell whose model says this; each reply is lines of code."""
    blocks = ", ".join(f"code(*{reply.splitlines()!r})" for reply in replies)
    assert kernel.execute(f"m = ScriptedModel([{blocks}])").error is None
    return kernel.execute(f"{ASK} {line}\nDo it.")


# -- what code shows -------------------------------------------------------------------------------

DRAW = """
import matplotlib.pyplot as plt
print("first")
plt.plot([1, 2])
plt.show()
print("second")
plt.plot([3, 4])
plt.show()
figure, axes = plt.subplots()
print("third, left open")
final_answer(plt.get_fignums())
"""


@pytest.mark.parametrize("backend", ["inline", "agg"])
def test_figures_are_shown_once_in_their_step_and_never_after(ready, backend):
    ready.execute(f"import matplotlib\n%matplotlib {backend}")
    done = asked(ready, DRAW)
    assert done.error is None
    assert len(done.displays) == 1
    told = ready.execute(
        "import matplotlib.pyplot as plt\n"
        "step = bot.result.actions[0]\n"
        "print(len(step.observations_images), plt.get_fignums(), step.tool_results[0].observation)"
    )
    assert told.stdout == snapshot("""\
3 [] first
second
third, left open
(3 pictures are shown.)
The answer was given: [1]
""")
    assert told.displays == []
    assert ready.execute("1").displays == []


def test_figure_of_a_library_that_draws_for_the_code_is_shown(ready):
    ready.execute("import pandas as pd\ndf = pd.DataFrame({'n': [1, 2]})\n%matplotlib inline")
    done = asked(ready, "df.plot()\nfinal_answer(1)")
    assert (done.error, len(done.displays)) == (None, 1)
    told = ready.execute("len(bot.result.actions[0].observations_images)")
    assert (told.result, told.displays) == ("1", [])


def test_displays_are_told_and_none_of_them_reaches_the_page(ready):
    done = asked(
        ready,
        "from IPython.display import HTML, Javascript\nprint('before')\ndisplay(HTML('<b>x</b>'), Javascript('y'))\n"
        "display([1, 2])\nprint('after')\nfinal_answer(1)",
        line="--imports IPython",
    )
    assert done.error is None
    assert len(done.displays) == 1
    assert "<b>x</b>" not in done.displays[0]["text/html"]
    assert ready.execute("print(bot.result.actions[0].tool_results[0].observation)").stdout == snapshot("""\
before
<IPython.core.display.HTML object>
<IPython.core.display.Javascript object>
[1, 2]
after
The answer was given: 1
""")


def test_warnings_and_logs_are_told_in_order(ready):
    done = asked(
        ready,
        "import logging, sys, warnings\nprint('one')\nwarnings.warn('two')\nlogging.getLogger('x').warning('three')\n"
        "print('four', file=sys.stderr)\nfinal_answer(1)",
        line="--imports sys",
    )
    assert (done.error, done.stderr, done.stdout) == (None, "", "")
    told = ready.execute("print(bot.result.actions[0].observations)").stdout
    assert re.sub(r" \(\d+\)>", ">", told) == snapshot("""\
one
<bot step 1>:3: UserWarning: two
  warnings.warn('two')
three
four
The answer was given: 1
""")


def test_tool_displays_in_the_cell_as_ever(ready):
    ready.execute("def look():\n    'Look.'\n    display('seen')\n    return 1")
    done = asked(ready, "display('not seen')\nfinal_answer(look())", line="--tools look")
    assert done.result == "1"
    assert [data["text/plain"] for data in done.displays if RECORD not in data] == ["'seen'"]


def test_run_is_drawn_while_its_code_runs(ready):
    need_built_view()
    ready.execute(
        "import time\ndef slow(n: int) -> int:\n    'Wait.\\n\\nArgs:\\n    n: number'\n    time.sleep(0.4)\n    return n\n"
        "m = ScriptedModel([code('total = [slow(n) for n in range(3)]', 'final_answer(total)')])"
    )
    page = Page(ready, f"{ASK} --tools slow\nDo it.")
    page.wait_for(lambda: "call_1_2" in page.now.get("running", []))
    (code,) = page.now["calls"]
    assert [call["name"] for call in code["calls"]] == ["slow", "slow"]
    assert code["calls"][0]["observation"] == "0"
    page.finish()
    assert page.error is None


def test_code_is_edited_on_the_page_before_it_runs(ready):
    need_built_view()
    ready.execute("m = ScriptedModel([code('total = 1', 'final_answer(total)')])")
    page = Page(ready, f"{ASK} --approve code\nDo it.")
    page.wait_for(lambda: page.state)
    page.ask("hello")
    page.wait_for(lambda: page.now.get("asked"))
    (item,) = page.now["asked"]["items"]
    assert (item["kind"], item["code"]) == ("call", "total = 1\nfinal_answer(total)")
    edited = {"code": "total = 2\nfinal_answer(total)"}
    assert page.ask("edit", item=item["id"], digest=item["digest"], arguments=edited)["ok"]
    page.finish()
    assert ready.execute("bot.result.value, total").result == "(2, 2)"


# -- stopping --------------------------------------------------------------------------------------

ENDLESS = "n = 0\nwhile True:\n    try:\n        n += 1\n    except:\n        pass"
STUBBORN = {
    "loop": ENDLESS,
    "swallow": "while True:\n    try:\n        while True: pass\n    except: pass",
    "sleep": "import time\ntime.sleep(60)",
    "lock": "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "comprehension": "[0 for _ in iter(int, 1)]",
}


@pytest.mark.parametrize("name", STUBBORN)
def test_ctrl_c_stops_the_code_and_ends_the_run(ready, name):
    lines = STUBBORN[name].splitlines()
    ready.execute(f"m = ScriptedModel([code(*{lines!r})])")
    running = ready.begin(f"{ASK} --step-timeout none\nDo it.")
    ready.wait_for_output(running, "running code", timeout_s=10)
    time.sleep(0.6)
    ready.interrupt()
    began = time.monotonic()
    done = ready.finish(running, timeout_s=8)
    assert time.monotonic() - began < 10
    assert done.error is not None
    assert done.error.ename == "KeyboardInterrupt"
    assert ready.execute("bot.result.status, 6 * 7").result == "('interrupted', 42)"
    assert asked(ready, "final_answer(1)").result == "1"


def test_stop_on_the_page_stops_the_code(ready):
    need_built_view()
    ready.execute(f"m = ScriptedModel([code(*{ENDLESS.splitlines()!r})])")
    page = Page(ready, f"{ASK} --step-timeout none\nDo it.")
    page.wait_for(lambda: "while True" in repr(page.now))
    time.sleep(0.3)
    assert page.ask("stop") == {"v": 1, "ok": True, "effective": "now"}
    page.finish()
    assert page.error == "KeyboardInterrupt"
    assert page.record["status"] == "interrupted"
    assert ready.execute("6 * 7").result == "42"


def test_interrupt_from_another_thread_stops_the_code(ready):
    ready.execute("import threading\nthreading.Timer(0.7, lambda: bot.interrupt()).start()")
    done = asked(ready, ENDLESS, line="--step-timeout none")
    assert done.error is not None
    assert done.error.ename == "KeyboardInterrupt"
    assert ready.execute("bot.result.status").result == "'interrupted'"


def test_code_is_stopped_at_its_limit_and_the_next_cell_works(ready):
    done = asked(ready, ENDLESS, "final_answer(n > 0)", line="--step-timeout 0.5")
    assert done.result == "True"
    assert ready.execute("6 * 7").result == "42"


MANY_STEPS = """
import random, time
from agent_magic.core.memory import AgentMemory

def slow(n: int) -> int:
    "Wait.\\n\\nArgs:\\n    n: any"
    time.sleep(0.01)
    return n

def block(number):
    return code(f"# {number}", "total = 0", "for n in range(9):", "    try:", "        total += slow(n)",
                "    except BaseException: pass", "many = [n for n in range(200_000)]", "print(total)")
"""


@pytest.mark.timeout(180)
def test_ctrl_c_at_fifty_moments_leaves_a_valid_memory(ready):
    assert ready.execute(MANY_STEPS).error is None
    moments = random.Random(5)
    for _ in range(50):
        ready.execute("globals().pop('total', 0), globals().pop('many', 0)")
        ready.execute("m, mine = ScriptedModel([block(n) for n in range(40)]), slow")
        running = ready.begin(f"{ASK} --new --tools slow --max-steps 40\nDo it.")
        ready.wait_for_output(running, "running", timeout_s=10)
        time.sleep(moments.uniform(0, 0.4))
        ready.interrupt()
        done = ready.finish(running, timeout_s=10)
        assert done.error is not None
        assert done.error.ename == "KeyboardInterrupt"
        told = ready.execute(
            "copy = AgentMemory.from_dict(bot.memory.to_dict())\n"
            "bot.result.status, copy.to_messages() == bot.memory.to_messages(), slow is mine"
        )
        assert told.result == "('interrupted', True, True)"


# -- a notebook ------------------------------------------------------------------------------------

NOTEBOOK = [
    SET_UP
    + """
import pandas as pd
df = pd.DataFrame({"city": ["Oslo", "Bergen", "Narvik", "Oslo"], "price": [9.0, 4.0, 6.5, 8.0]})
before, copy = df, df.copy()
m = ScriptedModel([
    code("df = df.groupby('city', as_index=False).price.mean()"),
    code("means = df.groupby('city', as_index=False).price.mean()",
         "def dearest(n):",
         "    return means.nlargest(n, 'price')",
         "best = dearest(2)",
         "print(best.to_string(index=False))"),
    code("final_answer(best.city.tolist())"),
])
""",
    f"{ASK}\nWhich two cities are the dearest in @df?",
    "print(dearest(1).city.item(), best.shape, means.price.round(2).tolist())",
    "print(df is before, df.equals(copy), list(df.columns))",
    "%agent blame best",
    "%agent undo bot --step 2",
    "print(sorted({'best', 'means', 'dearest'} & set(globals())), df is before, df.equals(copy))",
]


def test_notebook_that_is_executed_goes_on_from_what_code_has_made(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in NOTEBOOK])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": os.fspath(tmp_path)}}).execute()
    assert [to_text(cell) for cell in notebook.cells[1:]] == snapshot(
        [
            """\
bot · answered · scripted, as given
3 steps of 20 · tokens unknown · cost unknown · 0 s
! Code runs in this kernel with your rights. A guard keeps it from accidents; it is no security boundary.

Task
    Which two cities are the dearest in @df?
    @df: DataFrame, 4 rows × 2 columns
    columns city: str, price: float64
         city  price
    0    Oslo    9.0
    1  Bergen    4.0
    2  Narvik    6.5
    3    Oslo    8.0

 1  df = df.groupby('city', as_index=False).price.mean() ✗ CodeRefused  [0 s]
    thought
        So be it.
    code
        df = df.groupby('city', as_index=False).price.mean()
    error CodeRefused
        Line 1 is refused, and nothing ran: `df = df.groupby('city', as_index=False).price.mean()`
        `df` is the person's own, and code may not rebind it. Bind a new name, such as `df_2`.
 2  means = df.groupby('city', as_index=False).price.mean() … (5 lines) → Narvik 6.5  [0 s]
    thought
        So be it.
    code
        means = df.groupby('city', as_index=False).price.mean()
        def dearest(n):
            return means.nlargest(n, 'price')
        best = dearest(2)
        print(best.to_string(index=False))
    observation
          city  price
          Oslo    8.5
        Narvik    6.5
    namespace
        added means: DataFrame, 3 rows × 2 columns
        added dearest: function
        added best: DataFrame, 2 rows × 2 columns
 3  final_answer(best.city.tolist()) → ['Oslo', 'Narvik']  [0 s]
    thought
        So be it.
    code
        final_answer(best.city.tolist())
    observation
        The answer was given: ['Oslo', 'Narvik']

Answer (list, 2 items)
    ["Oslo", "Narvik"]
['Oslo', 'Narvik']\
""",
            "Oslo (2, 2) [4.0, 6.5, 8.5]\n",
            "True True ['city', 'price']\n",
            """\
bot, step 2 of 'Which two cities are the dearest in @df?' (run …)
    added best: DataFrame, 2 rows × 2 columns
    by line 4: best = dearest(2)
""",
            """\
means is gone: step 2 had made it (DataFrame, 3 rows × 2 columns)
dearest is gone: step 2 had made it (function)
best is gone: step 2 had made it (DataFrame, 2 rows × 2 columns)
""",
            "[] True True\n",
        ]
    )


def to_text(cell: Any) -> str:
    """All that a cell shows as text, without what differs from run to run."""
    texts = [
        output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        for output in cell.outputs
    ]
    text = re.sub(r"\b\d+(\.\d+)? (ms|s)\b", "0 s", "\n".join(texts))
    return re.sub(r"\(run [0-9a-f]{12}\)", "(run …)", text)
