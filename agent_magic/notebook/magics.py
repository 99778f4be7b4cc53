"""`%%agent` and `%agent` as IPython knows them, and all that loading puts on a shell.

It must stay light: whatever runs an agent is imported with the first cell that asks for it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from traitlets import Bool, Enum, Float, Int, List, Unicode

from agent_magic.core.approval import APPROVAL_POLICIES
from agent_magic.core.errors import DefinitionError
from agent_magic.core.settings import SUMMARY_MODES
from agent_magic.notebook.kernel import control_channel, empty_body
from agent_magic.notebook.live import widget_host
from agent_magic.notebook.looking import formatters
from agent_magic.notebook.options import completion
from agent_magic.notebook.options.commands import parse_command
from agent_magic.notebook.options.help import help_text
from agent_magic.notebook.options.options import MODES, WRITES, parse_line


@magics_class
class AgentMagics(Magics):
    """Settings of all `%%agent` cells: `%config AgentMagics.model = "openai/…"`."""

    model = Unicode(
        "", help="Model of agents that name none: provider/name, or local. Empty: chosen as documented."
    ).tag(config=True)
    mode = Enum(
        MODES,
        "tools",
        help="What new agents do: call functions (tools), or write Python that runs here (code).",
    ).tag(config=True)
    max_steps = Int(20, min=1, help="Steps that a run may make.").tag(config=True)
    max_tool_threads = Int(128, min=1, help="Tool calls of one turn that run side by side.").tag(config=True)
    planning_interval = Int(
        None,
        min=1,
        allow_none=True,
        help="A plan before step 1 and again every so many steps; None: no plans.",
    ).tag(config=True)
    summary_mode = Enum(
        SUMMARY_MODES,
        "plan",
        help="Which calls read the history without old plans and old thoughts: those for a plan, all, or none (off).",
    ).tag(config=True)
    approve = Enum(
        APPROVAL_POLICIES,
        "never",
        help="What waits for your word: nothing, code, tool calls (those in code too), or code, calls and plans (all).",
    ).tag(config=True)
    writes = Enum(WRITES, "new", help="What code may bind: new names, your names too (all), or none.").tag(
        config=True
    )
    protect = List(
        Unicode(),
        None,
        allow_none=True,
        help="Variables that code may not change. None: all of yours; []: none of them.",
    ).tag(config=True)
    imports = List(
        Unicode(),
        help="Modules that code may import beside the safe ones and those that you have imported; '*' for all.",
    ).tag(config=True)
    step_timeout_s = Float(
        30.0, allow_none=True, help="Seconds of its own after which code is stopped. None: no limit."
    ).tag(config=True)
    unattended = Enum(
        ["refuse", "approve"],
        "refuse",
        help="Where nobody can answer: refuse to run an agent that would ask, or approve all that it asks.",
    ).tag(config=True)
    max_time_s = Float(
        None,
        allow_none=True,
        help="Seconds; a run ends before the call that would pass them, or amid it. None: no limit.",
    ).tag(config=True)
    max_cost_usd = Float(
        None,
        allow_none=True,
        help="US dollars; a run ends before the call that would pass them. None: no limit.",
    ).tag(config=True)
    max_total_tokens = Int(
        None, min=1, allow_none=True, help="Likewise tokens, input and output together."
    ).tag(config=True)
    prompt_templates = Unicode("", help="A YAML file whose texts replace those of the built-in prompts.").tag(
        config=True
    )
    state = Enum(
        ["named", "all"],
        "named",
        help="What a model can refer to: names given or mentioned, or all variables.",
    ).tag(config=True)
    images = Enum(["auto", "none"], "auto", help="Send mentioned images to models that see, or never.").tag(
        config=True
    )
    instructions = Unicode("", help="Added to the system prompt of agents that have no instructions.").tag(
        config=True
    )
    quiet = Bool(False, help="Show header and answer only.").tag(config=True)
    after_run = Enum(
        ["record", "widget"],
        "record",
        help="What stays in the cell after a run: the saved record, or the live widget, which is dead once the kernel ends.",
    ).tag(config=True)
    journal = Bool(
        True,
        help="Keep each run on disk, step by step: beside the notebook in .agent_magic, or in your state folder.",
    ).tag(config=True)
    raise_unanswered = Bool(
        None,
        allow_none=True,
        help="Raise RunNotAnswered for a run without an answer: True, False, or None for only where no person can look.",
    ).tag(config=True)
    references = Enum(
        ["typed", "exact"],
        "typed",
        help="typed: a bare word is a variable only where the parameter's type says so. exact: wherever it equals an open name.",
    ).tag(config=True)

    @no_var_expand
    @cell_magic("agent")
    def agent_cell(self, line: str, cell: str) -> Any:
        """Run an agent on the task in the cell. Replaced by the options' own help below."""
        # The one seam: templates, schemas, YAML and the agents cost ten times what loading may.
        from agent_magic.notebook.session import run_cell  # noqa: PLC0415

        try:
            if {"--help", "-h"} & set(line.split()):
                print(help_text())
                return None
            return run_cell(self, parse_line(line), cell)
        except DefinitionError as error:
            # IPython shows one line for `UsageError` itself; a subclass gets a whole traceback.
            raise UsageError(error.message) from None

    @no_var_expand
    @line_magic("agent")
    def agent_line(self, line: str) -> Any:
        """Look at agents, and let them go on: `%agent help` lists what there is."""
        try:
            command = parse_command(line)
            if command.name == "doctor":  # without what runs agents, as that may be what is broken
                from agent_magic.notebook.doctor.table import report  # noqa: PLC0415 - only when it is asked

                print(report(self, is_json=command.is_json))
                return None
            from agent_magic.notebook.line_magic import run_command  # noqa: PLC0415 - the same seam

            return run_command(self, command)
        except DefinitionError as error:
            raise UsageError(error.message) from None


AgentMagics.agent_cell.__doc__ = help_text()


def load(shell: Any) -> None:
    """Put magics, completion and formatters on a shell; what was there of ours is replaced."""
    unload(shell)
    shell.register_magics(AgentMagics(shell=shell))
    completion.install(shell, model_ids=_model_ids, find_ids=_find_ids)
    formatters.install(shell)
    empty_body.install(shell)
    control_channel.install(shell)
    widget_host.install(shell)


def _model_ids() -> list[str]:
    """Ids worth offering: those that would be chosen, one for each provider."""
    from agent_magic.models.select import DEFAULT_IDS  # noqa: PLC0415 - only once somebody presses Tab there

    return list(DEFAULT_IDS.values())


def _find_ids(text: str) -> list[str] | None:
    """Ids that `%agent models` lists for a text; None before LiteLLM is loaded: pressing Tab must not take seconds."""
    if "litellm" not in sys.modules:
        return None
    from agent_magic.models.known import find_known  # noqa: PLC0415 - it imports LiteLLM

    return [one.model_id for one in find_known(text, os.environ).models]


def unload(shell: Any) -> None:
    """Take all of it off again."""
    journals = sys.modules.get("agent_magic.notebook.building.journals")
    if journals is not None:  # a run was kept
        journals.uninstall(shell)
    widget_host.uninstall()
    control_channel.uninstall(shell)
    empty_body.uninstall(shell)
    formatters.uninstall(shell)
    completion.uninstall(shell)
    for kind in ("cell", "line"):
        shell.magics_manager.magics[kind].pop("agent", None)
    shell.magics_manager.registry.pop(AgentMagics.__name__, None)
    shell.configurables[:] = [c for c in shell.configurables if type(c).__name__ != AgentMagics.__name__]
