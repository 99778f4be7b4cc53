from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from page import Page as LivePage
from page import need_built_view
from view.markup import Page

RECORD = "application/vnd.agent-magic.run.v1+json"
SET_UP = (
    "%load_ext agent_magic\nimport asyncio, sys, threading, time\nfrom agent_magic import ScriptedModel\n"
)
STATIC_FORMS = {RECORD, "text/html", "text/markdown", "text/plain"}


def record_of(done):
    """The record of the one run that a cell shows."""
    (bundle,) = done.displays
    return bundle[RECORD]


@pytest.mark.kernel
@pytest.mark.parametrize("where", ["kernel", "nest_asyncio", "terminal", "coroutine"])
def test_run_inside_a_live_event_loop(case, kernel, where, tmp_path):
    assert "one tool agent with a sync tool and an async tool" in case.given
    define = (
        "def twice(x: int) -> int:\n    'Twice.\\n\\nArgs:\\n    x: n'\n    return 2 * x\n"
        "async def later(x: int) -> int:\n    'Later.\\n\\nArgs:\\n    x: n'\n    await asyncio.sleep(0.01)\n    return x + 1\n"
        "m = ScriptedModel([ScriptedModel.calls(('twice', {'x': 4})), ScriptedModel.calls(('later', {'x': 8})),"
        " ScriptedModel.calls(('twice', {'x': 9}), ('later', {'x': 17})), ScriptedModel.final('18 and 18')])\n"
    )
    line, task = "bot --model @m --tools twice, later", "What is it?\n"
    if where == "terminal":
        session = f"{SET_UP}{define}\n%%agent {line}\n{task}\n\nprint('told', [r.observation for s in bot.result.actions for r in s.tool_results])\n"
        # Pasted line by line, a definition ends with an empty line.
        session = session.replace("\nasync def", "\n\nasync def").replace("\nm = ", "\n\nm = ")
        done = subprocess.run(
            [sys.executable, "-m", "IPython", "--simple-prompt", "--colors=NoColor", "--no-banner"],
            input=session, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=True,
        )  # fmt: skip
        told, shown = re.search(r"told (\[.*\])", done.stdout)[1], done.stdout + done.stderr
        assert "18 and 18" in done.stdout.partition("Answer")[2]
    else:
        patch = "import nest_asyncio\nnest_asyncio.apply()\n" if where == "nest_asyncio" else ""
        ready = kernel.execute(f"{SET_UP}{patch}{define}loop_before = None")
        assert ready.error is None
        kernel.execute("loop_before = asyncio.get_running_loop()")
        cell = f"%%agent {line}\n{task}"
        if where == "coroutine":
            cell = f"await asyncio.sleep(0.01)\nget_ipython().run_cell_magic('agent', {line!r}, {task!r})"
        done = kernel.execute(cell)
        assert done.error is None
        assert done.result == "'18 and 18'"
        told = kernel.execute("[r.observation for s in bot.result.actions for r in s.tool_results]").result
        shown = str(done.outputs)
        # the loop in a later cell is still the kernel's loop
        assert (
            kernel.execute("asyncio.get_running_loop() is loop_before, loop_before.is_running()").result
            == "(True, True)"
        )
        if patch:
            kernel.restart()  # it changes asyncio for good
    # same result in all
    assert told == "['8', '9', '18', '18', 'accepted']"
    # none of the well-known complaints
    assert "already running" not in shown
    assert "cannot be called from a running event loop" not in shown
    assert "no current event loop" not in shown


@pytest.mark.kernel
def test_run_prints_from_threads(case, kernel):
    ready = kernel.execute(
        f"{SET_UP}{case.code}\n"
        "m = ScriptedModel([ScriptedModel.calls(('fan', {'n': 4})), ScriptedModel.final('x'),"
        " ScriptedModel.calls(('fan', {'n': 4}), ('fan', {'n': 2})), ScriptedModel.final('y')])"
    )
    assert ready.error is None
    for cell, n_lines in (("%%agent bot --model @m --tools fan\nFan.", 4), ("%%agent bot\nTwo fans.", 6)):
        done = kernel.execute(cell)
        following = kernel.execute("print('NEXT')")
        calls = [call for step in record_of(done)["steps"] for call in step["calls"]]
        printed = "\n".join(call.get("printed", "") for call in calls).split("\n")
        # T 0 to T 3 are all in the step record
        assert {"T 0", "T 1", "T 2", "T 3"} <= set(printed)
        assert len([line for line in printed if line]) == n_lines
        # none in the next cell's output; NEXT is alone in its own
        assert following.outputs == [{"output_type": "stream", "name": "stdout", "text": "NEXT\n"}]
        assert done.stdout == ""


@pytest.mark.kernel
def test_run_async_tool_prints_after_await(case, kernel):
    ready = kernel.execute(
        f"{SET_UP}{case.code}\nown = sys.stdout\n"
        "m = ScriptedModel([ScriptedModel.calls(('talk', {'n': 1})), ScriptedModel.calls(('talk', {'n': 1}), ('talk', {'n': 2})), ScriptedModel.final('x')])"
    )
    assert ready.error is None
    done = kernel.execute("%%agent bot --model @m --tools talk\nTalk.")
    # both words are in that step's shown output
    alone, parallel, _ = record_of(done)["steps"]
    assert [call["printed"] for call in alone["calls"]] == ["before\nafter"]
    assert [call["printed"] for call in parallel["calls"]] == ["before\nafter"] * 2
    assert "before" in done.displays[0]["text/plain"]
    assert "after" in done.displays[0]["text/plain"]
    # sys.stdout is the kernel's own stream afterwards
    assert kernel.execute("sys.stdout is own, type(sys.stdout).__name__").result == "(True, 'OutStream')"


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["widget", "capture"])
def test_run_tool_with_its_own_output_area(case, execute_notebook, kind):
    assert 'prints "inner"' in case.given
    area = {
        "widget": "import ipywidgets\narea = ipywidgets.Output()\n",
        "capture": "from IPython.utils.capture import capture_output\n",
    }
    tool = {
        "widget": "def look():\n    'Look.'\n    with area:\n        print('inner')\n    print('outer')\n",
        "capture": "def look():\n    'Look.'\n    global held\n    with capture_output() as held:\n        print('inner')\n    print('outer')\n",
    }
    inner = {
        "widget": "''.join(output['text'] for output in area.outputs)",
        "capture": "held.stdout",
    }
    notebook = execute_notebook(
        SET_UP + area[kind],
        f"{tool[kind]}\ndef more():\n    'More.'\n    print('later')\n"
        "m = ScriptedModel([ScriptedModel.calls(('look', {})), ScriptedModel.calls(('more', {})), ScriptedModel.final('done')])",
        "%%agent bot --model @m --tools look, more\nLook.",
        "time.sleep(0.2)",  # the widget's state comes back by a message of its own
        inner[kind],
    )
    outputs = notebook.cells[2].outputs
    look, more, _ = outputs[0].data[RECORD]["steps"]
    # outer and later are in the steps' output
    assert look["calls"][0]["printed"] == "outer"
    assert more["calls"][0]["printed"] == "later"
    # inner is where the tool put it
    assert notebook.cells[4].outputs[0].data["text/plain"] == repr("inner\n")
    # the cell shows nothing outside the agent's area but the documented answer
    assert [output.output_type for output in outputs] == ["display_data", "execute_result"]
    assert outputs[1].data["text/plain"] == "'done'"


@pytest.mark.kernel
def test_run_html_in_model_text(case, kernel):
    text = re.search(r"'(<img.*?</details>)'", case.given)[1]
    ready = kernel.execute(
        f"{SET_UP}text = {text!r}\ndef echo(text: str) -> str:\n    'Echo.\\n\\nArgs:\\n    text: t'\n    return text\n"
        "m = ScriptedModel([ScriptedModel.calls(('echo', {'text': text})) | {'content': 'thought ' + text}, ScriptedModel.final(text)])"
    )
    assert ready.error is None
    done = kernel.execute(f"%%agent bot --model @m --tools echo\nSay {text}")
    (bundle,) = done.displays
    page = Page(bundle["text/html"])
    # the text is visible as text everywhere: task, thought, arguments, observation, answer
    for where in ("task", "thought", "arguments", "observation", "answer"):
        record = bundle[RECORD]
        step = record["steps"][0]
        held = {
            "task": record["task"],
            "thought": step["thought"],
            "arguments": step["calls"][0]["arguments"]["text"],
            "observation": step["calls"][0]["observation"],
            "answer": record["answer"]["text"],
        }[where]
        assert text in held
    assert page.text.count(text) >= 5
    assert f"thought {text}" in page.text
    assert bundle["text/plain"].count(text) >= 5
    # no img or script element
    assert {"img", "script"} & set(page.elements) == set()
    # no on* attribute
    assert [name for name, _ in page.attributes if name.startswith("on")] == []
    # its <details> elements are balanced: the stray closing tag breaks nothing
    assert page.elements.count("details") >= 2
    assert page.is_balanced
    assert bundle["text/html"].count("<details") == bundle["text/html"].count("</details>")


@pytest.mark.kernel
def test_run_vscode_shows_late_content(case, kernel):
    assert "10 steps" in case.given
    need_built_view()
    ready = kernel.execute(
        f"{SET_UP}def look(n: int) -> str:\n    'Look.\\n\\nArgs:\\n    n: n'\n    time.sleep(0.15)\n    return f'content-{{n}}-end'\n"
        "m = ScriptedModel([*(ScriptedModel.calls(('look', {'n': n})) for n in range(9)), ScriptedModel.final('content-9-end')])"
    )
    assert ready.error is None
    page = LivePage(kernel, "%%agent bot --model @m --tools look\nLook ten times.")
    page.wait_for(lambda: bool(page.state) and 6 in page.steps)
    # a view opened late during the run gets all steps so far: it asks for them
    late = page.ask("hello", snapshot=True)["data"]["snapshot"]["run"]["steps"]
    assert [n for n in range(7) if f"content-{n}-end" not in json.dumps(late[n])] == []
    # the form for front ends without widgets was there from the first
    assert {"text/html", "text/plain"} < set(page.outputs[0])
    page.finish()
    # replaying the widget's comm messages from its opening into a fresh store gives all 10 steps
    assert sorted(page.steps) == list(range(10))
    assert [n for n in range(10) if f"content-{n}-end" not in json.dumps(page.steps[n])] == []
    # after the end html, text and record each hold all 10
    (bundle,) = page.outputs
    for form in ("text/html", "text/plain", RECORD):
        held = bundle[form] if isinstance(bundle[form], str) else json.dumps(bundle[form])
        assert [n for n in range(10) if f"content-{n}-end" not in held] == []
    assert len(bundle[RECORD]["steps"]) == 10
    # no widget is left in the output
    assert set(bundle) == STATIC_FORMS
    assert page.is_closed


@pytest.mark.kernel
def test_run_vscode_rerun_refreshes(case, kernel):
    assert 'first with a model answering "one"' in case.given
    need_built_view()
    cell = "%%agent bot --model @m\nWhich?"
    kernel.execute(f"{SET_UP}m = ScriptedModel([ScriptedModel.final('one')])")
    first = LivePage(kernel, cell).finish()
    assert first.outputs[0]["text/plain"].endswith("Answer\n    one")
    kernel.execute("m = ScriptedModel([ScriptedModel.final('two')])")
    second = LivePage(kernel, cell).finish()
    # the second run has a fresh display_id and widget model id
    assert [len(display_ids(each)) for each in (first, second)] == [1, 1]
    assert display_ids(first) != display_ids(second)
    assert first.comm_id
    assert second.comm_id
    assert first.comm_id != second.comm_id
    # its stored text/plain holds "two" and not "one"
    assert "two" in second.outputs[0]["text/plain"]
    assert "one" not in second.outputs[0]["text/plain"]
    # run 1's widget was closed and nothing is sent on its comm afterwards, nor to its output
    assert first.is_closed
    assert first.sent_after_close == []
    kernel.execute("m = ScriptedModel([ScriptedModel.final('three')])")
    third = LivePage(kernel, cell).finish()
    for later in (second, third):
        assert first.comm_id not in {content.get("comm_id") for _, content in later.sent}
        assert display_ids(first).isdisjoint(display_ids(later))


def display_ids(page):
    """The ids of the displays that a cell wrote to."""
    ids = {content.get("transient", {}).get("display_id") for _, content in page.sent}
    return ids - {None}


def test_run_import_outside_ipython(case, tmp_path):
    assert "`import agent_magic`" in case.given
    probe = tmp_path / "plain.py"
    probe.write_text(
        "import importlib.abc, sys\n"
        "class Refuse(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.partition('.')[0] in ('IPython', 'ipykernel', 'traitlets'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}')\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import agent_magic\n"
        "print('imported', agent_magic.ToolCallingAgent.__name__)\n"
        "try:\n    agent_magic.load_ipython_extension()\n"
        "except Exception as error:\n    print(f'{type(error).__name__}: {error}')\n"
    )
    done = subprocess.run([sys.executable, probe], capture_output=True, text=True, timeout=60, check=False)
    # the import works with no IPython shell present, and even with no IPython
    assert done.returncode == 0, done.stderr
    imported, *registering = done.stdout.splitlines()
    assert imported == "imported ToolCallingAgent"
    # registering says in one line that IPython is needed
    assert len(registering) == 1
    assert "needs IPython" in registering[0]


@pytest.mark.kernel
@pytest.mark.parametrize("made", ["Python", "--tools"])
def test_run_autoreloaded_module_tool(case, kernel, made):
    assert "%autoreload 2" in case.given
    module = (
        "from dataclasses import dataclass\nimport sys\n\n@dataclass\nclass Row:\n    x: int\n\n"
        "def rate(row: Row) -> str:\n    'Rate.\\n\\nArgs:\\n    row: a row'\n"
        "    return f'{FACTOR * row.x} {isinstance(row, sys.modules[\"mytools\"].Row)}'\n"
    )
    agent = "from agent_magic import ToolCallingAgent\nbot = ToolCallingAgent([rate], name='bot')\n"
    ready = kernel.execute(
        "import pathlib, sys, os\nsys.path.insert(0, os.getcwd())\nsys.modules.pop('mytools', None)\n"
        f"module = {module!r}\n"
        "pathlib.Path('mytools.py').write_text(module.replace('FACTOR', '1'))\n"
    )
    assert ready.error is None
    ready = kernel.execute(
        f"{SET_UP}%reload_ext autoreload\n%autoreload 2\nfrom mytools import rate, Row\n{agent if made == 'Python' else ''}"
        "m = ScriptedModel([ScriptedModel.calls(('rate', {'row': {'x': 3}})), ScriptedModel.final('one'),"
        " ScriptedModel.calls(('rate', {'row': {'x': 3}})), ScriptedModel.final('two')])"
    )
    assert ready.error is None
    tools = "" if made == "Python" else " --tools rate"
    before = kernel.execute(f"%%agent bot --model @m{tools}\nRate it.")
    observed = [record_of(before)["steps"][0]["calls"][0].get("observation")]
    kernel.execute(
        "pathlib.Path('mytools.py').write_text(module.replace('FACTOR', '10'))\n"
        "later = time.time() + 10\nos.utime('mytools.py', (later, later))"
    )
    after = kernel.execute("%%agent bot\nRate it again.")
    observed.append(record_of(after)["steps"][0]["calls"][0].get("observation"))
    # the second answer uses the new body; the Row passes isinstance(row, mytools.Row) after the reload
    assert observed == ["3 True", "30 True"]
    assert kernel.execute("import mytools\nmytools.Row is Row").result == "True"
