"""Undo: the names that a step or a run made, rebound or deleted become what they were before.

It must not change a memory, nor guess: what another changed since is left as it is, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magic.agents.past.history import RunHistory
from agent_magic.agents.run.drafts import Binding
from agent_magic.core.changes import ABSENT
from agent_magic.core.errors import OptionError
from agent_magic.core.state import AgentState


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was taken back, and what could not be, a line for each name."""

    undone: tuple[str, ...]
    kept: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([*self.undone, *self.kept])


def undo(history: RunHistory, state: AgentState, step: int | None, run_id: str | None) -> Undone:
    """Take back the bindings of one step, or of all steps of a run, the newest first.

    Args:
        history: Of the agent.
        state: The agent's.
        step: A step's number; None for all.
        run_id: None for the run that ended last.

    Raises:
        OptionError: There is no such run or step, or it changed nothing.
    """
    chain = _chain_of(history, run_id)
    _refuse_unknown_step(history, chain, step)
    owners = _steps_of(history, chain)
    steps = {number: changed for owner in owners for number, changed in owner.items()}
    chosen = sorted(steps, reverse=True) if step is None else [step]
    if step is not None and step not in steps:
        known = ", ".join(map(str, sorted(steps))) or "none"
        raise OptionError(
            f"Step {step} changed no name, or it was taken back already. Steps that can be: {known}. "
            "Give one of these, or none for the whole run."
        )
    undone: list[str] = []
    kept: dict[str, str] = {}
    for number in chosen:
        left: dict[str, Binding] = {}
        for name, binding in steps[number].items():
            is_done, line = _take_back(state, name, binding, number)
            if not is_done:
                kept[name], left[name] = line, binding
                continue
            kept.pop(name, None)  # what a later step changed in it is gone with it
            if line:
                undone.append(line)
        for owner in owners:
            if number in owner and left:
                owner[number] = left
            elif number in owner:
                del owner[number]
    if undone:
        state.tell_undone(undone)
    return Undone(undone=tuple(undone), kept=tuple(kept.values()))


def _chain_of(history: RunHistory, run_id: str | None) -> list[str]:
    """The ids of a run and of those that it went on with."""
    if not history.results:
        raise OptionError("There is no run whose changes could be taken back.")
    wanted: str | None = history.results[-1].run_id if run_id is None else run_id
    if wanted not in {result.run_id for result in history.results}:
        known = ", ".join(result.run_id for result in history.results[-5:])
        raise OptionError(f"There is no run {wanted!r} in memory. The newest: {known}.")
    earlier = {result.run_id: result.resumed_from for result in history.results}
    chain: list[str] = []
    while wanted is not None and wanted not in chain:
        chain.append(wanted)
        wanted = earlier.get(wanted)
    return chain


def _steps_of(history: RunHistory, chain: list[str]) -> list[dict[int, dict[str, Binding]]]:
    """What the steps of these runs changed, by their numbers."""
    found = [history.bindings[run_id] for run_id in chain if history.bindings.get(run_id)]
    if not found:
        raise OptionError(
            "That run changed no name that could be taken back, or it was taken back already, "
            "or the kernel was restarted since."
        )
    return found


def _refuse_unknown_step(history: RunHistory, chain: list[str], step: int | None) -> None:
    """See that a run, or one that it went on with, has a step of this number."""
    of_chain = [result for result in history.results if result.run_id in chain]
    known = sorted({action.step_number for result in of_chain for action in result.actions})
    if step is None or step in known or any(step in history.bindings.get(run_id, {}) for run_id in chain):
        return
    if not known:
        raise OptionError(f"There is no step {step}: that run made none.")
    is_row = len(known) > 2 and known == list(range(known[0], known[-1] + 1))
    shown = f"{known[0]} to {known[-1]}" if is_row else ", ".join(map(str, known))
    raise OptionError(
        f"There is no step {step} in that run. Its steps: {shown}. "
        "Give one of these, or none for the whole run."
    )


def _take_back(state: AgentState, name: str, binding: Binding, number: int) -> tuple[bool, str]:
    """Make one name what it was; whether that was done, and what to say of it, if anything."""
    change = binding.change
    now = state.base[name] if name in state.base else ABSENT  # noqa: SIM401 - a State has no `get`
    if change.kind == "mutated" and now is ABSENT:
        return True, ""
    if change.kind == "mutated":
        how = f" ({change.detail or change.after})" if change.detail or change.after else ""
        return False, f"{name} stays as it is: step {number} changed it in place{how}, and no copy is kept"
    if now is not binding.after:
        return False, f"{name} stays as it is: it was changed after step {number}"
    if binding.before is ABSENT:
        state.base.unbind(name)
        return True, f"{name} is gone: step {number} had made it ({change.after})"
    state.base.bind(name, binding.before)
    if change.kind == "deleted":
        return True, f"{name} is back ({change.before}): step {number} had deleted it"
    return True, f"{name} is what it was before step {number} ({change.before})"
