from __future__ import annotations

import json
import subprocess
import sys

import pytest
from cells import final
from inline_snapshot import snapshot
from IPython.core.interactiveshell import InteractiveShell

import agent_magic
from agent_magic.core.errors import DefinitionError

PROBE = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
before = set(sys.modules)
shell.run_line_magic("load_ext", "agent_magic")
print(json.dumps(sorted(set(sys.modules) - before)))
"""
NEVER = {
    "anywidget", "docstring_parser", "httpx", "ipywidgets", "jinja2", "json_repair", "jsonschema", "litellm", "numpy",
    "openai", "pandas", "PIL", "platformdirs", "pydantic", "rich", "tenacity", "xllamacpp", "yaml",
}  # fmt: skip


def places(shell: InteractiveShell) -> dict[str, list[str]]:
    """All places of a shell where something of ours can be, with what is there of ours."""
    formatter = shell.display_formatter.mimebundle_formatter
    magics = shell.magics_manager
    return {
        "cell magics": [name for name in magics.magics["cell"] if name == "agent"],
        "line magics": [name for name in magics.magics["line"] if name == "agent"],
        "registry": [name for name in magics.registry if "Agent" in name],
        "configurables": [c.__class__.__name__ for c in shell.configurables if "Agent" in type(c).__name__],
        "matchers": [
            m.matcher_identifier
            for m in shell.Completer.custom_matchers
            if "agent" in getattr(m, "matcher_identifier", "")
        ],
        "formatters by name": sorted(
            f"{module}.{name}" for module, name in formatter.deferred_printers if "agent_magic" in module
        ),
        "formatters by type": sorted(
            kind.__name__ for kind in formatter.type_printers if "agent_magic" in kind.__module__
        ),
        "hooks": [
            str(callback)
            for callbacks in shell.events.callbacks.values()
            for callback in callbacks
            if "agent_magic" in str(getattr(callback, "__module__", ""))
        ],
        "names": sorted(name for name in shell.user_ns if "agent" in name.lower()),
    }


def test_load_puts_magics_settings_completion_and_formatters_on_the_shell(shell):
    shell.run_line_magic("load_ext", "agent_magic")
    assert places(shell) == snapshot(
        {
            "cell magics": ["agent"],
            "line magics": ["agent"],
            "registry": ["AgentMagics"],
            "configurables": ["AgentMagics"],
            "matchers": ["agent_magic"],
            "formatters by name": [
                "agent_magic.agents.multistep.MultiStepAgent",
                "agent_magic.agents.requests.preview.Preview",
                "agent_magic.core.memory_step.SystemPromptStep",
                "agent_magic.core.plan.PlanningStep",
                "agent_magic.core.steps.ActionStep",
                "agent_magic.core.steps.FinalAnswerStep",
                "agent_magic.core.steps.RunResult",
                "agent_magic.core.task.TaskStep",
                "agent_magic.tools.tool.Tool",
            ],
            "formatters by type": [],
            "hooks": [],
            "names": [],
        }
    )


def test_reload_twice_leaves_nothing_doubled(shell):
    shell.run_line_magic("load_ext", "agent_magic")
    loaded = places(shell)
    shell.run_line_magic("reload_ext", "agent_magic")
    shell.run_line_magic("reload_ext", "agent_magic")
    assert places(shell) == loaded
    assert [type(c).__name__ for c in shell.configurables].count("AgentMagics") == 1


def test_load_again_without_unloading_leaves_nothing_doubled(shell):
    agent_magic.load_ipython_extension(shell)
    loaded = places(shell)
    agent_magic.load_ipython_extension(shell)
    assert places(shell) == loaded


def test_unload_leaves_nothing_behind(shell):
    before = places(shell)
    shell.run_line_magic("load_ext", "agent_magic")
    shell.run_line_magic("unload_ext", "agent_magic")
    assert places(shell) == before
    assert not any(before.values())


def test_unload_after_agents_were_shown_leaves_nothing_behind(cells):
    cells.shell.user_ns["bot"] = agent_magic.ToolCallingAgent()
    assert cells.run("bot").text.startswith("Out[2]: \nagent · not run yet")
    cells.run("%unload_ext agent_magic")
    left = places(cells.shell)
    assert {place for place, held in left.items() if held} == set()
    # a plain repr again
    assert cells.run("bot").text.startswith("Out[4]: <ToolCallingAgent")


def test_agents_go_on_after_a_reload(cells):
    cells.model(final("one"), final("two"))
    cells.run("%%agent bot --model @m\nFirst.")
    cells.run("%reload_ext agent_magic")
    assert cells.run("%%agent bot\nSecond.").value == "two"
    assert len(cells.agent().runs) == 2


def test_load_imports_nothing_that_agents_need_to_run():
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    imported = json.loads(done.stdout.splitlines()[-1])
    assert "agent_magic.notebook.magics" in imported
    assert NEVER & {name.partition(".")[0] for name in imported} == set()
    rooms = {name.split(".")[1] for name in imported if name.startswith("agent_magic.")}
    assert rooms <= {"core", "notebook", "view", "tools"}
    light = {
        *("agent_magic.view", "agent_magic.view.drawing_code", "agent_magic.view.host"),
        *("agent_magic.tools", "agent_magic.tools.default_tools"),  # their names, for Tab
    }
    assert {name for name in imported if name.startswith(("agent_magic.view", "agent_magic.tools"))} <= light


def test_load_without_a_shell_says_one_line():
    with pytest.raises(DefinitionError) as raised:
        agent_magic.load_ipython_extension()
    assert raised.value.message == snapshot(
        "%%agent needs IPython: write `%load_ext agent_magic` in a notebook or in ipython."
    )


def test_package_works_where_there_is_no_ipython():
    probe = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("IPython", "ipykernel", "ipywidgets", "traitlets"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Refuse())
import agent_magic

def add(a: int, b: int) -> int:
    "Add."
    return a + b

model = agent_magic.ScriptedModel([agent_magic.ScriptedModel.calls(("add", {"a": 1, "b": 2})), agent_magic.ScriptedModel.final(3)])
result = agent_magic.ToolCallingAgent([add], model).run("What is it?")
print(result.status, result.value, [call.observation for step in result.actions for call in step.tool_results])
"""
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "answered 3 ['3', 'accepted']\n"), done.stderr


def test_config_lists_the_settings(cells):
    shown = cells.run("%config AgentMagics").text
    assert [line for line in shown.splitlines() if line.startswith("AgentMagics.")] == snapshot(
        [
            "AgentMagics.after_run=<Enum>",
            "AgentMagics.approve=<Enum>",
            "AgentMagics.images=<Enum>",
            "AgentMagics.imports=<list-item-1>...",
            "AgentMagics.instructions=<Unicode>",
            "AgentMagics.journal=<Bool>",
            "AgentMagics.max_cost_usd=<Float>",
            "AgentMagics.max_steps=<Int>",
            "AgentMagics.max_time_s=<Float>",
            "AgentMagics.max_tool_threads=<Int>",
            "AgentMagics.max_total_tokens=<Int>",
            "AgentMagics.mode=<Enum>",
            "AgentMagics.model=<Unicode>",
            "AgentMagics.planning_interval=<Int>",
            "AgentMagics.prompt_templates=<Unicode>",
            "AgentMagics.protect=<list-item-1>...",
            "AgentMagics.quiet=<Bool>",
            "AgentMagics.raise_unanswered=<Bool>",
            "AgentMagics.references=<Enum>",
            "AgentMagics.state=<Enum>",
            "AgentMagics.step_timeout_s=<Float>",
            "AgentMagics.summary_mode=<Enum>",
            "AgentMagics.unattended=<Enum>",
            "AgentMagics.writes=<Enum>",
        ]
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("max_steps = 0", "should not be less than 1, but a value of 0 was specified"),
        ("max_tool_threads = 'many'", "expected an int, not the str 'many'"),
        ("state = 'some'", "expected any of ['named', 'all'], not the str 'some'"),
        ("images = True", "expected any of ['auto', 'none'], not the bool True"),
        ("references = 'loose'", "expected any of ['typed', 'exact'], not the str 'loose'"),
    ],
)
def test_config_refuses_what_cannot_be(cells, caplog, line, said):
    cells.run(f"%config AgentMagics.{line}")
    assert said in caplog.text
    setting = line.partition(" ")[0]
    kept = {
        "max_steps": 20,
        "max_tool_threads": 128,
        "state": "named",
        "images": "auto",
        "references": "typed",
    }
    magics = cells.shell.magics_manager.registry["AgentMagics"]
    assert getattr(magics, setting) == kept[setting]


def test_help_of_the_cell_magic_is_that_of_the_options(cells):
    shown = cells.shell.find_cell_magic("agent").__doc__
    assert shown == cells.run("%agent help").text.rstrip("\n")
