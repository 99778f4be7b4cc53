"""A run asks its person before it makes calls or takes a plan, and waits for the answers.

The person's own function is asked first; then, if the agent's `approve` says so, whoever answers at
the agent's desk. It must not make a call: it says which may be made.
"""

from __future__ import annotations

import dataclasses
import json
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Protocol

from agent_magic.agents.calls.calling import Ready
from agent_magic.agents.person.approvals import Approvals, Check
from agent_magic.agents.person.consulting import consult, tell_unasked
from agent_magic.agents.run.boundary import pass_boundary
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.run import Run
from agent_magic.core.approval import (
    EDITED,
    ApprovalPolicy,
    Decision,
    Item,
    Question,
    call_item,
    plan_item,
)
from agent_magic.core.errors import ApprovalError, CallRejected, StepError
from agent_magic.core.events import ApprovalGiven, Event, Notice, ToolCallEnded, Waiting
from agent_magic.core.messages import ToolCall
from agent_magic.core.steps import CODE_CALL, Fault, ToolResult
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.tool import PreparedCall, Tool

CallApproval = Callable[..., Value]
"""`approve_call(call)` or `approve_call(call, agent=agent)`: True or None lets the call be made, a
mapping has it made with these arguments, False or a text, which is the reason, refuses it."""
Prepare = Callable[[ToolCall], tuple[Tool, PreparedCall]]
"""The tool of a call as it is now, and the arguments ready for it; raises a `StepError`."""
TOOL_CALLS: frozenset[ApprovalPolicy] = frozenset({"tools", "all"})
"""The policies that ask of the calls of an agent that calls tools."""
CODE: frozenset[ApprovalPolicy] = frozenset({"code", "all"})
"""Those that ask of code before it runs."""
CALLS_OF_CODE: frozenset[ApprovalPolicy] = frozenset({"tools"})
"""Those that ask of the calls that code makes: where the code itself was approved, they are too."""
_POLL_S = 0.05
_MAX_NOTE = 2_000


class Asking(Protocol):
    """What asking needs of an agent."""

    @property
    def approvals(self) -> Approvals:
        """Where questions lie open."""
        ...

    @property
    def approve_call(self) -> CallApproval | None:
        """The person's say in each call, if there is one."""
        ...


def may_ask(run: Run, asking: Asking, tools: Iterable[Tool] = ()) -> bool:
    """Whether anything has to be asked of calls of these tools; asked at every step, so it is cheap."""
    return (
        run.settings.values.approve != "never"
        or run.values.approve != "never"
        or asking.approve_call is not None
        or any(tool.approve for tool in tools)
    )


def approve_calls(
    run: Run,
    asking: Asking,
    draft: StepDraft,
    ready: Ready,
    prepare: Prepare,
    *,
    policies: frozenset[ApprovalPolicy] = TOOL_CALLS,
) -> Generator[Event, None, Ready]:
    """The calls that may be made, with the arguments that the person gave; refused ones are in the draft.

    Args:
        policies: Those that ask of such calls. A tool with `approve` is asked of under every policy, and
            the person's own function of all.

    Raises:
        ApprovalError: Nobody is there who could answer.
        Interrupted: The person stopped the run.
    """
    if run.settings.values.approve != run.values.approve:  # it holds for the calls of this very reply
        yield from pass_boundary(run, "call")
    is_asked = {place for place, (tool, _) in ready.items() if tool.approve or run.values.approve in policies}
    if asking.approve_call is None and not is_asked:
        return ready
    # A tool that belongs to the run itself, such as `peek`, does nothing that a person must know of.
    calls = {
        place: draft.calls[place]
        for place, (tool, _) in ready.items()
        if run.own_tools.get(tool.name) is not tool
    }

    def check(item: Item, given: Mapping[str, Value]) -> None:
        assert item.call is not None
        prepare(dataclasses.replace(item.call, arguments=given))

    decisions: dict[int, Decision] = {}
    unasked: dict[int, str] = {}  # why the person's own function could not say
    if asking.approve_call is not None:
        for place, call in calls.items():
            said_of_it = consult(asking.approve_call, asking, call, check)
            if isinstance(said_of_it, Decision):
                decisions[place] = said_of_it
                continue
            unasked[place] = tell_unasked(call, said_of_it.why)
            yield Notice(step_number=draft.step_number, message=said_of_it.message, about=said_of_it.about)
    left = {
        place: _as_decided(call, decisions.get(place))
        for place, call in calls.items()
        if place in is_asked
        and place not in unasked
        and (place not in decisions or decisions[place].verdict != "rejected")
    }
    if left:
        names = dict.fromkeys(ready[place][0].name for place in left)
        said = yield from _ask(
            run,
            asking,
            draft.step_number,
            left,
            check=check,
            wanted_by="" if run.values.approve in policies else ", ".join(names),
        )
        for place, decision in said.items():
            if decision.verdict != "approved" or place not in decisions:  # else what was changed before stays
                decisions[place] = decision
    return (yield from _settle(draft, ready, decisions, unasked, prepare))


def approve_plan_text(
    run: Run, asking: Asking, step_number: int, plan: str
) -> Generator[Event, None, Decision | None]:
    """What the person says of a plan; None if the agent's `approve` does not ask.

    Raises:
        ApprovalError: Nobody is there who could answer.
        Interrupted: The person stopped the run.
    """
    if run.settings.values.approve != run.values.approve:
        yield from pass_boundary(run, "call")
    if run.values.approve != "all":
        return None
    said = yield from _ask(run, asking, step_number, {0: plan}, check=_no_check)
    return said[0]


def _ask(
    run: Run,
    asking: Asking,
    step_number: int,
    asked_of: Mapping[int, ToolCall | str],
    *,
    check: Check,
    wanted_by: str = "",
) -> Generator[Event, None, dict[int, Decision]]:
    """Ask of several things at once and wait until each is decided; decisions by their place.

    Args:
        wanted_by: The tools whose authors want it, where the agent's `approve` does not.
    """
    desks, question_id = [each.desk for each in run.chain], uuid.uuid4().hex[:12]
    items = {place: _to_item(f"{question_id}-{place}", what) for place, what in asked_of.items()}
    rule = next((desk.standing for desk in desks if desk.standing is not None), None)
    if rule is not None:
        decisions = {place: Decision(item=item, verdict="approved", by=rule) for place, item in items.items()}
        for decision in decisions.values():
            yield ApprovalGiven(step_number=step_number, decision=decision)
        return decisions
    if not any(desk.is_attended() for desk in desks):
        raise ApprovalError(_nobody(run, asking, wanted_by))
    question = Question(
        id=question_id,
        run_id=run.run_id,
        step_number=step_number,
        items=tuple(items.values()),
        agent_name=run.agent_name,
        agents=tuple(each.agent_name for each in reversed(list(run.chain))),
    )
    said = yield from _wait(run, asking, question, check, wanted_by)
    return {place: said[item.id] for place, item in items.items()}


def _wait(
    run: Run, asking: Asking, question: Question, check: Check, wanted_by: str
) -> Generator[Event, None, dict[str, Decision]]:
    start = time.time()
    desks = [each.desk for each in run.chain]  # who answers for a manager answers for those that it manages
    asked = run.desk.put(question, check)
    for desk in desks[1:]:
        desk.show(asked)
    take_off = run.on_interrupt(asked.news.set)
    n_told = 0
    try:
        yield Waiting(
            step_number=question.step_number,
            kind="approval",
            reason="The person is asked.",
            question=question,
        )
        while True:
            asked.news.clear()  # before looking, so that what comes while it looks is not missed
            for decision in list(asked.decisions.values())[n_told:]:
                n_told += 1
                yield ApprovalGiven(step_number=question.step_number, decision=decision)
            if n_told == len(question.items):
                return asked.decisions
            run.raise_if_interrupted()
            if not any(desk.has_anybody for desk in desks):
                raise ApprovalError(_nobody(run, asking, wanted_by))
            asked.news.wait(_POLL_S)
    finally:
        for desk in desks:
            desk.withdraw(asked)
        take_off()
        run.count_pause(time.time() - start)


def _settle(
    draft: StepDraft,
    ready: Ready,
    decisions: Mapping[int, Decision],
    unasked: Mapping[int, str],
    prepare: Prepare,
) -> Generator[Event, None, Ready]:
    """Do with each call as was decided; tools are looked up again, since time has gone by."""
    settled: dict[int, tuple[Tool, PreparedCall]] = {}
    for place, entry in ready.items():
        call, decision = draft.calls[place], decisions.get(place)
        try:
            if place in unasked:
                raise CallRejected(unasked[place])
            if decision is None:
                settled[place] = entry
                continue
            if decision.verdict == "rejected":
                raise CallRejected(_refusal(call, decision.reason))
            tool, prepared = prepare(_as_decided(call, decision))
            if note := _note_of(call, decision):
                prepared = dataclasses.replace(prepared, notes=(note, *prepared.notes))
            settled[place] = (tool, prepared)
        except StepError as error:
            fault = Fault(kind=type(error).__name__, message=error.message)
            draft.results[place] = result = ToolResult(call=call, fault=fault)
            yield ToolCallEnded(step_number=draft.step_number, result=result)
    return settled


def _no_check(item: Item, given: Mapping[str, Value]) -> None:
    del item, given


def _to_item(item_id: str, what: ToolCall | str) -> Item:
    return plan_item(item_id, what) if isinstance(what, str) else call_item(item_id, what)


def _as_decided(call: ToolCall, decision: Decision | None) -> ToolCall:
    if decision is None or decision.arguments is None:
        return call
    return dataclasses.replace(call, arguments=decision.arguments)


def _note_of(call: ToolCall, decision: Decision) -> str:
    """What the model is told beside the result; its call stays as it wrote it."""
    if decision.arguments is None or decision.arguments == call.arguments:
        return ""
    if call.name == CODE_CALL and isinstance(code := decision.arguments.get("code"), str):
        return truncate(f"{EDITED} this code:\n{code}", _MAX_NOTE)
    return truncate(f"{EDITED} {_to_json(decision.arguments)}", _MAX_NOTE)


def _to_json(arguments: Mapping[str, Value]) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, default=safe_repr)
    except (TypeError, ValueError):  # of Python code: keys that are no text, a value inside itself
        return safe_repr(arguments)


def _refusal(call: ToolCall, reason: str) -> str:
    end = "" if reason.endswith((".", "!", "?")) else "."
    why = f": {reason}{end}" if reason else "."
    if call.name == CODE_CALL:
        return (
            f"The person refused this code{why} It was not run. Do not write it again: "
            "do it another way, or give the final answer with what is known."
        )
    return (
        f"The person refused this call{why} {call.name} was not run. Do not make this call again: "
        "do it another way, or give the final answer with what is known."
    )


def _nobody(run: Run, asking: Asking, wanted_by: str) -> str:
    also = (
        " (approve_call is asked of every call, whatever approve says.)"
        if asking.approve_call is not None
        else ""
    )
    how = "Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or "
    if wanted_by:
        return (
            f"{wanted_by} waits for a person's word at every call (approve=True), and nobody can answer here. {how}"
            f"run without {wanted_by}.{also}"
        )
    return (
        f"approve={run.values.approve!r} wants a person to answer, and nobody can here. {how}set approve='never'."
        + also
    )
