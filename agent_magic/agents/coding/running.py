"""One block of code run for a step: its tools lent, its changes watched, what came of it told.

It must not run code itself, nor know how the executor guards it.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Protocol

from agent_magic.agents.calls.approving import Asking
from agent_magic.agents.calls.managed import ManagedAgent
from agent_magic.agents.coding.calls import CodeCalls
from agent_magic.agents.coding.observation import observe_answer, observe_code
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.observation import observation_budget
from agent_magic.agents.run.run import Run
from agent_magic.core.events import Event, ToolCallEnded, ToolCallStarted
from agent_magic.core.messages import ImagePart
from agent_magic.core.picture import why_broken
from agent_magic.core.redact import note_secrets
from agent_magic.core.result import RunResult
from agent_magic.core.state import State
from agent_magic.core.steps import Fault, Timing, ToolResult
from agent_magic.core.values import Value
from agent_magic.execution.executor import CodeExecutor, NamespaceExecutor
from agent_magic.execution.request import CodeOutcome, CodeStep, Guard
from agent_magic.tools.tool import PreparedCall, Tool

_INTERRUPTED = Fault(
    kind="Interrupted", message="The code was interrupted before it ended; what it did so far holds."
)


class CodeRunning(Asking, Protocol):
    """An agent that runs code."""

    @property
    def guard(self) -> Guard:
        """What the code may do."""
        ...

    @property
    def step_timeout_s(self) -> float | None:
        """Seconds of the code's own time."""
        ...

    def executor_for(self, base: State) -> CodeExecutor:
        """What runs code on this State."""
        ...

    def report_of(self, tool: ManagedAgent, result: RunResult, answer: str, budget: int) -> str:
        """What is noted of a managed agent that has answered."""
        ...


def run_code(
    run: Run,
    agent: CodeRunning,
    draft: StepDraft,
    prepared: PreparedCall,
    tools: Mapping[str, Tool],
    *,
    window: int | None,
) -> Generator[Event, None, None]:
    """Run the code of a step; what came of it stands in the draft.

    Args:
        run: That makes the step.
        agent: Of the run.
        draft: With the code as its one call.
        prepared: The same, as the person wants it run.
        tools: Functions of the code.
        window: Tokens that a request may have, if that is known.

    Raises:
        ApprovalError: Nobody was there who could have been asked of a call.
        Interrupted: The run was stopped.
        KeyboardInterrupt: Ctrl-C.
    """
    call = draft.calls[0]
    budget = observation_budget(window)
    calls = CodeCalls(
        run,
        agent,
        tools,
        code_id=call.id,
        step_number=draft.step_number,
        report=lambda tool, result, answer: agent.report_of(tool, result, answer, budget),
    )
    yield ToolCallStarted(step_number=draft.step_number, call=call)
    draft.entered.add(0)
    start = time.time()
    executor = agent.executor_for(run.state.base)
    if not isinstance(executor, NamespaceExecutor):  # one of a person's need not know of turns
        draft.begin_watch(run.state.base, run.as_maker())
    note_secrets(_variables_of(executor, run.state.base))
    code: str = prepared.kwargs["code"]
    try:
        outcome = executor.execute(
            CodeStep(
                code=code,
                label=f"{run.agent_name} step {draft.step_number}",
                functions=calls.functions,
                lent=run.state.own,
                handed=run.state.handed,
                guard=agent.guard,
                is_interrupted=lambda: run.is_stopping,
                on_interrupt=run.on_interrupt,
                on_turn=lambda: draft.begin_watch(run.state.base, run.as_maker(code)),
                on_leave=lambda: draft.watch and draft.watch.leave(),
                on_return=lambda: draft.watch and draft.watch.come_back(),
                on_end=lambda: draft.watch and draft.watch.end(),
            )
        )
    finally:
        calls.close()
        if 0 not in draft.results and calls.results:  # Ctrl-C: what was called by then is not lost
            draft.results[0] = ToolResult(
                call=call,
                fault=_INTERRUPTED,
                calls=calls.results,
                timing=Timing(start=start, end=time.time()),
            )
    result = ToolResult(
        call=call,
        notes=(*prepared.notes, *outcome.notes, *calls.notes),
        timing=Timing(start=start, end=time.time()),
        calls=calls.results,
        n_calls_left_out=calls.n_left_out,
    )
    draft.results[0] = _told(run, draft, outcome, result, budget=budget, step_timeout_s=agent.step_timeout_s)
    yield from calls.take_events()
    if outcome.is_stopped:
        run.raise_if_interrupted()
        raise KeyboardInterrupt
    if calls.unanswered is not None:
        raise calls.unanswered
    if outcome.is_answered:
        draft.is_final_answer = True
        run.take_answer(outcome.answer, is_told=True)
    yield ToolCallEnded(step_number=draft.step_number, result=draft.results[0])


def _told(
    run: Run,
    draft: StepDraft,
    outcome: CodeOutcome,
    result: ToolResult,
    *,
    budget: int,
    step_timeout_s: float | None,
) -> ToolResult:
    """The result with what the model is told of the code."""
    run.state.keep_names(outcome.kept)
    seen = observe_code(outcome, run.state, budget, step_timeout_s)
    result = replace(
        result,
        observation=seen.text,
        output=outcome.value,
        kept_as=seen.kept_as,
        printed=seen.whole,
        images=tuple(
            ImagePart(image=picture.image, name=picture.name)
            for picture in outcome.pictures
            if not why_broken(picture.image)
        ),
        sounds=seen.sounds,
    )
    if outcome.is_stopped:
        return replace(result, fault=_INTERRUPTED)
    if outcome.is_answered:
        draft.told_before_answer = seen.text
        told = observe_answer(outcome.answer, seen.text, budget, step_timeout_s)
        return replace(result, observation=told, output=outcome.answer)
    if outcome.error is not None:
        fault = Fault(kind=type(outcome.error).__name__, message=outcome.error.message)
        return replace(result, fault=fault)
    return result


def _variables_of(executor: CodeExecutor, base: State) -> Mapping[str, Value]:
    if isinstance(executor, NamespaceExecutor):
        return executor.namespace
    return {name: base[name] for name in base if name in base}
