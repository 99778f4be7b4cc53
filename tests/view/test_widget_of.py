from __future__ import annotations

import subprocess
import sys

import ipywidgets
import pytest
from inline_snapshot import snapshot
from view.open_widgets import close_widgets
from view.samples import planned_run, small_run

from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.view import host, widget

call, final = ScriptedModel.calls, ScriptedModel.final


def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: one
        b: other
    """
    return a + b


@pytest.fixture(autouse=True)
def plain_python():
    """No notebook is there that another test has loaded the extension into; no widget is left open."""
    known = host.current()
    host.take_off()
    yield
    close_widgets()
    if known is not None:
        host.put(known)


def test_run_is_a_widget_of_its_record():
    shown = widget(small_run())
    assert isinstance(shown, ipywidgets.DOMWidget)
    assert (shown.kind, shown.is_live, shown.nonce) == ("run", False, "")
    assert (shown.snapshot["run"]["status"], len(shown.snapshot["run"]["steps"])) == ("answered", 4)
    assert (shown.snapshot["step"], shown.snapshot["settings"]) == (None, None)


def test_step_of_a_run_stands_at_its_place_among_all():
    shown = widget(planned_run(), step=2)
    assert shown.snapshot["step"] == 2
    assert [step["step_number"] for step in shown.snapshot["run"]["steps"]] == [1, 1, 2, 2, 3]


def test_step_of_an_agent_is_of_its_last_run():
    agent = ToolCallingAgent([add], ScriptedModel([final("one"), call(("add", {"a": 1, "b": 2})), final(3)]))
    agent.run("Say one.")
    agent.run("Add.", reset=False)
    shown = widget(agent, step=2)
    assert (shown.snapshot["step"], shown.snapshot["run"]["task"]) == (2, "Add.")


def test_widgets_of_runs_go_into_boxes_and_tabs_and_are_linked():
    one, other = widget(small_run()), widget(small_run(), step=1)
    tab = ipywidgets.Tab([ipywidgets.VBox([one]), ipywidgets.HBox([other])])
    assert tab.children[0].children == (one,)
    ipywidgets.link((one, "is_live"), (box := ipywidgets.Checkbox(), "value"))
    ipywidgets.jslink((one, "is_live"), (other, "is_live"))
    box.value = True
    assert one.is_live is True
    told = []
    one.observe(told.append, "is_live")
    one.is_live = False
    assert [change.new for change in told] == [False]


def error_of(*given, **options) -> str:
    with pytest.raises(OptionError) as raised:
        widget(*given, **options)
    return raised.value.message


def test_what_cannot_be_shown_says_what_can():
    agent = ToolCallingAgent(name="analyst")
    run = small_run()
    errors = [
        error_of("analyst"),
        error_of(run.steps[1]),
        error_of(run.steps[0]),
        error_of(run, step=9),
        error_of(run, step="last"),
        error_of(ToolCallingAgent([add], ScriptedModel([])).preview, 1),
        error_of(agent, step=1),
        error_of(agent),
    ]
    assert errors == snapshot(
        [
            "widget() shows an agent or a run, and not 'analyst'. Give the agent, or a run such as analyst.runs[-1].",
            "widget() was given step 1 alone. Give its run too: agent_magic.view.widget(run, step=1).",
            "widget() shows an agent or a run, and not a step of the memory. Give the agent, or a run such as analyst.runs[-1].",
            "step=9 is not in this run. Give the number of one of its steps: 1 to 4.",
            "step='last' is not in this run. Give the number of one of its steps: 1 to 4.",
            "widget() shows an agent or a run, and not <bound method PreviewingAgent.preview of <ToolCallingAgent 'agent': 1 tools, 0 …. Give the agent, or a run such as analyst.runs[-1].",
            "'analyst' has no run yet, so it has no step 1 to show.",
            "The panel of 'analyst' follows it in a notebook. Run  %load_ext agent_magic  first.",
        ]
    )


def test_view_loads_nothing_until_it_is_used():
    probe = (
        "import sys, agent_magic.view as view\n"
        "assert not {'ipywidgets', 'anywidget', 'traitlets'} & set(sys.modules)\n"
        "assert not [name for name in sys.modules if name.startswith('agent_magic.view.')]\n"
        "print(dir(view), view.widget.__name__, view.traits.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == ("['traits', 'widget'] widget traits\n", "")


def test_view_has_no_other_names():
    import agent_magic.view

    with pytest.raises(AttributeError, match="has no attribute 'wigdet'"):
        _ = agent_magic.view.wigdet
