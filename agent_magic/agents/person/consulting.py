"""What the person's own `approve_call` says of a call, and how its failure is told.

It must not make a call, nor ask anybody else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from agent_magic.agents.person.approvals import Check, clean_reason
from agent_magic.agents.person.hooks import Failure, takes_keyword, tell_error, tell_safely
from agent_magic.core.approval import Decision, call_item
from agent_magic.core.errors import StepError
from agent_magic.core.messages import ToolCall
from agent_magic.core.steps import CODE_CALL
from agent_magic.core.values import Value, safe_repr

_BY = "approve_call"


def consult(approve: Callable[..., Value], agent: Value, call: ToolCall, check: Check) -> Decision | Failure:
    """What the person's own function decides of a call, or how it failed to."""
    item = call_item(call.id, call)
    try:
        said = approve(call, agent=agent) if takes_keyword(approve, "agent") else approve(call)
        given = dict(cast("Mapping[str, Value]", said)) if isinstance(said, Mapping) else None
        is_same = given is not None and bool(given == call.arguments)  # values of theirs may refuse this
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the person's own function may raise anything
        why = f"raised {tell_error(error)}"
        return _failure(call, f"{why}.", why, f"raised {type(error).__name__}")
    if said is None or said is True or is_same:
        return Decision(item=item, verdict="approved", by=_BY)
    if said is False or isinstance(said, str):
        return Decision(item=item, verdict="rejected", reason=clean_reason(said or ""), by=_BY)
    if given is None:
        shown = tell_safely(safe_repr(said, 80))
        told = f"returned {shown}: give True, False, the reason of a refusal, or a mapping of arguments."
        return _failure(
            call, told, f"returned {shown}, which says neither yes nor no", f"returned {type(said).__name__}"
        )
    try:
        check(item, given)
    except StepError as error:
        told, about = "returned arguments that do not fit", "returned arguments that do not fit"
        return _failure(call, f"{told}. {tell_safely(error.message)}", f"{told} ({tell_error(error)})", about)
    return Decision(item=item, verdict="edited", arguments=given, by=_BY)


def tell_unasked(call: ToolCall, why: str) -> str:
    """What the model reads of a call that nobody could be asked about."""
    what, name = ("code", "It") if call.name == CODE_CALL else ("call", call.name)
    return (
        f"Nobody could be asked about this {what}, since {why}. {name} was not run, and nobody refused it. "
        "The fault is not in what you wrote: do it another way, or give the final answer with what is known."
    )


def _failure(call: ToolCall, told: str, why: str, about: str) -> Failure:
    what = "The code was not run." if call.name == CODE_CALL else f"The call of {call.name} was not made."
    return Failure(message=f"{_BY} {told} {what}", why=f"{_BY} {why}", about=f"{_BY} {about}")
