"""Budgets: a run ends before the call that would pass its time, tokens or cost, and amid one that passes its time.

It must not end a run: it raises, and the loop does. What a call will take is foreseen from the
calls before it and from the size of the request.
"""

from __future__ import annotations

import math
import time

from agent_magic.agents.requests.moment import Composed, Moment
from agent_magic.agents.requests.window import count_request
from agent_magic.agents.run.counting import Spent, Unreported
from agent_magic.agents.run.run import Run
from agent_magic.core.messages import ChatMessage
from agent_magic.core.request import SentRequest

_GO_ON = "To go on, resume (with the same budget again) or raise it."
_SURELY_TOO_HIGH = 10
"""By how much no estimate of a first request is too high."""


class BudgetReached(Exception):  # noqa: N818 - a state of the run, not a fault
    """A budget is used up; the text says which, how much was used, and what to do."""

    is_midway = False
    """It came amid a call, and not before one."""


def check_budget(run: Run, moment: Moment, composed: Composed) -> int | None:
    """See whether the next call stays within the budgets, those too of the runs that it was started for.

    Returns:
        The tokens that the request is thought to have, None if nobody asks.

    Raises:
        BudgetReached: It would not.
    """
    check_time(run)
    if not any(_has_sum(each) for each in run.chain):
        return None
    n_counted = count_request(moment, composed)
    _count_unreported(run)
    n_input, n_output = _foresee(run.spent, n_counted)
    if run.spent.n_calls == 0 and moment.meter.is_estimate:
        # Nothing is known yet, and a call that is held back teaches nothing: an estimate stops a run here
        # only if the limit is of another order. From the next call on the reported figures correct it.
        n_input //= _SURELY_TOO_HIGH
    for each in run.chain:
        if not _has_sum(each):
            continue
        _count_unreported(each)
        limits = each.values
        of = "" if each is run else f" of {each.agent_name}"
        if limits.max_total_tokens is not None:
            _check_tokens(each.spent, n_input + n_output, limits.max_total_tokens, of)
        if limits.max_cost_usd is not None:
            _check_cost(each, run, run.model.price_usd(n_input, n_output), limits.max_cost_usd, of)
    return n_counted


def _has_sum(run: Run) -> bool:
    """Whether a run has a budget of tokens or of money."""
    return run.values.max_total_tokens is not None or run.values.max_cost_usd is not None


def check_time(run: Run, *, delay_s: float = 0.0) -> None:
    """See whether another call, after a wait of `delay_s`, ends in time.

    Raises:
        BudgetReached: Calls like those before would not.
    """
    spent = run.spent
    for each in run.chain:
        limit = each.values.max_time_s
        if limit is None:
            continue
        elapsed = time.time() - each.start - each.paused_s
        expected = spent.seconds / spent.n_calls if spent.n_calls else 0.0
        of = "" if each is run else f" of {each.agent_name}"
        if elapsed >= limit:
            raise BudgetReached(f"max_time_s={limit:g}{of} has passed: {elapsed:.1f} s have gone. {_GO_ON}")
        if elapsed + delay_s + expected > limit:
            told = [f"{elapsed:.1f} s have gone"]
            if delay_s:
                told.append(f"it has to wait {delay_s:.1f} s")
            if spent.n_calls:
                told.append(f"a call takes about {expected:.1f} s")
            raise BudgetReached(
                f"The next call would pass max_time_s={limit:g}{of}: {' and '.join(told)}. {_GO_ON}"
            )


def has_time_limit(run: Run) -> bool:
    """Whether a run has a budget of time, or one that it was started for."""
    return any(each.values.max_time_s is not None for each in run.chain)


def check_time_amid(run: Run) -> float:
    """See whether there is time for the call that goes on.

    Returns:
        The seconds left; infinity without a limit.

    Raises:
        BudgetReached: There is none.
    """
    least_s = math.inf
    for each in run.chain:
        limit = each.values.max_time_s
        if limit is None:
            continue
        left_s = limit - (time.time() - each.start - each.paused_s)
        if left_s <= 0:
            of = "" if each is run else f" of {each.agent_name}"
            reached = BudgetReached(
                f"max_time_s={limit:g}{of} passed amid a model call, which was given up. "
                "To go on, resume (with the same budget again) or raise it."
            )
            reached.is_midway = True
            raise reached
        least_s = min(least_s, left_s)
    return least_s


def note_call(
    run: Run, request: SentRequest, message: ChatMessage, seconds: float, n_counted: int | None
) -> None:
    """Enter a call that was answered, also for the runs that this one was started for.

    Args:
        n_counted: What `check_budget` gave for it.
    """
    usage = message.usage
    unreported = None
    if usage is None or usage.input_tokens is None or usage.output_tokens is None or usage.cost_usd is None:
        # It is estimated when there is a budget to keep, and not before: that takes time.
        unreported = Unreported(run=run, request=request, message=message, n_counted=n_counted)
    for each in run.chain:
        with each.spent.lock:
            if unreported is not None:
                each.spent.unreported.append(unreported)
            elif usage is not None:
                _add(each, run, usage.input_tokens or 0, usage.output_tokens or 0, usage.cost_usd)
    spent = run.spent
    spent.n_calls += 1
    spent.seconds += seconds
    if usage is not None and usage.input_tokens is not None and n_counted:
        spent.last_input = (usage.input_tokens, n_counted)


def _count_unreported(run: Run) -> None:
    """Estimate what providers did not report of the calls so far."""
    with run.spent.lock:
        while run.spent.unreported:
            call = run.spent.unreported.pop(0)
            of, usage = call.run, call.message.usage
            n_input = usage.input_tokens if usage else None
            n_output = usage.output_tokens if usage else None
            cost = usage.cost_usd if usage else None
            if n_input is None:
                n_input = call.n_counted
            if n_input is None:  # the budget was given after this call
                messages = of.memory.rebuild(call.request)
                n_input = of.meter.count(messages) + of.meter.count_tools(call.request.schemas)
            if n_output is None:
                n_output = of.meter.count_once([call.message])
            _add(run, of, n_input, n_output, of.model.price_usd(n_input, n_output) if cost is None else cost)


def _add(run: Run, of: Run, n_input: int, n_output: int, cost_usd: float | None) -> None:
    """Put a call of the run `of` into the sums of `run`."""
    spent = run.spent
    spent.tokens += n_input + n_output
    spent.cost_usd = None if cost_usd is None or spent.cost_usd is None else spent.cost_usd + cost_usd
    spent.n_summed += 1
    if of is run:
        spent.output_tokens += n_output


def _foresee(spent: Spent[Run], n_counted: int) -> tuple[int, int]:
    """Input and output tokens of the next call."""
    n_output = spent.output_tokens // spent.n_calls if spent.n_calls else 0
    if spent.last_input is None:
        return n_counted, n_output
    reported, counted = spent.last_input
    return round(n_counted * reported / counted), n_output


def _check_tokens(spent: Spent[Run], n_next: int, limit: int, of: str) -> None:
    if spent.tokens + n_next > limit:
        raise BudgetReached(
            f"The next call would pass max_total_tokens={limit:,}{of}: {spent.tokens:,} were used, and it needs about "
            f"{n_next:,}. To go on, resume (with the same budget again) or raise it."
        )


def _check_cost(run: Run, asking: Run, expected: float | None, limit: float, of: str) -> None:
    spent = run.spent
    if spent.cost_usd is None:
        raise BudgetReached(
            f"What a call of {asking.model.model_id} costs is not known, so max_cost_usd={limit:g}{of} cannot be kept. "
            "Limit max_total_tokens instead."
        )
    if expected is None:
        if spent.n_summed == 0:
            return
        expected = spent.cost_usd / spent.n_summed
    if spent.cost_usd + expected > limit:
        raise BudgetReached(
            f"The next call would pass max_cost_usd={limit:g}{of}: {_usd(spent.cost_usd)} were spent, and it costs about "
            f"{_usd(expected)}. To go on, resume (with the same budget again) or raise it."
        )


def _usd(cost: float) -> str:
    return f"${cost:.4f}"
