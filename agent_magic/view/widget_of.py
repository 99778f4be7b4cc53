"""`widget(x)`: an agent, a run, or one step of it, as an ipywidget.

It must not know what an agent is made of: the notebook makes its panel.
"""

from __future__ import annotations

from agent_magic.core.edits import name_of
from agent_magic.core.errors import OptionError
from agent_magic.core.result import RunResult
from agent_magic.core.settings import AgentSettings
from agent_magic.core.steps import ActionStep, MemoryStep, PlanningStep
from agent_magic.core.values import Value, safe_repr
from agent_magic.record.shown import beside_of, record_of
from agent_magic.view import host
from agent_magic.view.agent_widget import AgentWidget
from agent_magic.view.control import BOARD
from agent_magic.view.feed import Feed
from agent_magic.view.run_widget import RunWidget
from agent_magic.view.words import one_line


def widget(x: Value, step: int | None = None) -> AgentWidget | RunWidget:
    """A `DOMWidget` of an agent, or of one of its runs: for `VBox`, `Tab`, `link` and the like.

    A run keeps its controls as long as its agent lives in this kernel and the run is one of the
    last 200.

    Args:
        x: An agent, or a run such as `analyst.runs[-1]`.
        step: Show only the step of this number, of an agent that of its last run.

    Raises:
        OptionError: It is neither, or has no such step.
    """
    if isinstance(x, RunResult):
        return _run_widget(x, step)
    if isinstance(getattr(x, "settings", None), AgentSettings):
        if step is None:
            return _agent_widget(x)
        result: Value = x.result
        if result is None:
            raise OptionError(f"{safe_repr(x.name, 80)} has no run yet, so it has no step {step!r} to show.")
        return _run_widget(result, step)
    if isinstance(x, ActionStep | PlanningStep):
        raise OptionError(
            f"widget() was given {name_of(x)} alone. Give its run too: agent_magic.view.widget(run, step={x.step_number})."
        )
    what = "a step of the memory" if isinstance(x, MemoryStep) else one_line(safe_repr(x), 80)
    raise OptionError(
        f"widget() shows an agent or a run, and not {what}. Give the agent, or a run such as analyst.runs[-1]."
    )


def _agent_widget(agent: Value) -> AgentWidget:
    notebook = host.current()
    if notebook is None:
        raise OptionError(
            f"The panel of {safe_repr(agent.name, 80)} follows it in a notebook. Run  %load_ext agent_magic  first."
        )
    return notebook.open_panel(agent)


def _run_widget(result: RunResult, step: int | None) -> RunWidget:
    steered = BOARD.find(result.run_id)
    record = record_of(result)
    if steered is not None:
        beside = beside_of(result)
        result, laid_on = steered.as_it_counts(result)
        record = beside.to_record(result, laid_on)
    numbers = [made.step_number for made in result.steps if isinstance(made, ActionStep | PlanningStep)]
    if step is not None and step not in numbers:
        raise OptionError(_no_step(step, numbers))
    settings = steered.settings if steered is not None else None
    snapshot = Feed().to_snapshot(record, settings, step=step)
    notebook = host.current()
    made = RunWidget(
        snapshot,
        nonce=BOARD.open(result.run_id) or "",
        kernel_id=notebook.kernel_id() if notebook is not None else "",
    )
    if notebook is not None:
        notebook.harden(made.comm)
    return made


def _no_step(step: Value, numbers: list[int]) -> str:
    if not numbers:
        return f"step={step!r} is not in this run: it made no step. Leave the step out."
    known = str(numbers[0]) if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"
    return f"step={step!r} is not in this run. Give the number of one of its steps: {known}."
