"""Budgets: a run ends before the call that would pass its time, tokens or cost.

It must not end a run: it raises, and the loop does. What a call will take is foreseen from the
calls before it and from the size of the request.
"""

from __future__ import annotations

import time

from agent_magic.agents.counting import Spent
from agent_magic.agents.moment import Composed, Moment
from agent_magic.agents.run import Run
from agent_magic.agents.window import count_request
from agent_magic.core.messages import ChatMessage
from agent_magic.core.request import SentRequest

_SURELY_TOO_HIGH = 10
"""By how much no estimate of a first request is too high."""


class BudgetReached(Exception):  # noqa: N818 - a state of the run, not a fault
    """The next call would pass a budget; the text says which, how much was used, and what to do."""


def check_budget(run: Run, moment: Moment, composed: Composed) -> int | None:
    """See whether the next call stays within the budgets.

    Returns:
        The tokens that the request is thought to have, None if nobody asks.

    Raises:
        BudgetReached: It would not.
    """
    values = run.values
    if values.max_time_s is not None:
        check_time(run, values.max_time_s)
    if values.max_total_tokens is None and values.max_cost_usd is None:
        return None
    _count_unreported(run)
    n_counted = count_request(moment, composed)
    n_input, n_output = _foresee(run.spent, n_counted)
    if run.spent.n_calls == 0 and moment.meter.is_estimate:
        # Nothing is known yet, and a call that is held back teaches nothing: an estimate stops a run here
        # only if the limit is of another order. From the next call on the reported figures correct it.
        n_input //= _SURELY_TOO_HIGH
    if values.max_total_tokens is not None:
        _check_tokens(run.spent, n_input + n_output, values.max_total_tokens)
    if values.max_cost_usd is not None:
        _check_cost(run, n_input, n_output, values.max_cost_usd)
    return n_counted


def check_time(run: Run, max_time_s: float, *, delay_s: float = 0.0) -> None:
    """See whether another call, after a wait of `delay_s`, ends in time.

    Raises:
        BudgetReached: Calls like those before would not.
    """
    spent = run.spent
    elapsed = time.time() - run.start - run.paused_s
    expected = spent.seconds / spent.n_calls if spent.n_calls else 0.0
    if elapsed + delay_s + expected > max_time_s:
        raise BudgetReached(
            f"The next call would pass max_time_s={max_time_s:g}: {elapsed:.1f} s have gone, and a call takes "
            f"about {delay_s + expected:.1f} s. To go on, resume (with the same budget again) or raise it."
        )


def note_call(
    run: Run, request: SentRequest, message: ChatMessage, seconds: float, n_counted: int | None
) -> None:
    """Enter a call that was answered.

    Args:
        n_counted: What `check_budget` gave for it.
    """
    spent, usage = run.spent, message.usage
    spent.n_calls += 1
    spent.seconds += seconds
    if usage is None or usage.input_tokens is None or usage.output_tokens is None or usage.cost_usd is None:
        # It is estimated when there is a budget to keep, and not before: that takes time.
        spent.unreported.append((request, message, n_counted))
    else:
        _add(run, usage.input_tokens, usage.output_tokens, usage.cost_usd)
    if usage is not None and usage.input_tokens is not None and n_counted:
        spent.last_input = (usage.input_tokens, n_counted)


def _count_unreported(run: Run) -> None:
    """Estimate what providers did not report of the calls so far."""
    while run.spent.unreported:
        request, message, n_counted = run.spent.unreported.pop(0)
        usage = message.usage
        n_input = usage.input_tokens if usage else None
        n_output = usage.output_tokens if usage else None
        cost = usage.cost_usd if usage else None
        if n_input is None:
            n_input = n_counted
        if n_input is None:  # the budget was given after this call
            n_input = run.meter.count(run.memory.rebuild(request)) + run.meter.count_tools(request.schemas)
        if n_output is None:
            n_output = run.meter.count_once([message])
        _add(run, n_input, n_output, run.model.price_usd(n_input, n_output) if cost is None else cost)


def _add(run: Run, n_input: int, n_output: int, cost_usd: float | None) -> None:
    spent = run.spent
    spent.tokens += n_input + n_output
    spent.output_tokens += n_output
    spent.cost_usd = None if cost_usd is None or spent.cost_usd is None else spent.cost_usd + cost_usd


def _foresee(spent: Spent, n_counted: int) -> tuple[int, int]:
    """Input and output tokens of the next call."""
    n_output = spent.output_tokens // spent.n_calls if spent.n_calls else 0
    if spent.last_input is None:
        return n_counted, n_output
    reported, counted = spent.last_input
    return round(n_counted * reported / counted), n_output


def _check_tokens(spent: Spent, n_next: int, limit: int) -> None:
    if spent.tokens + n_next > limit:
        raise BudgetReached(
            f"The next call would pass max_total_tokens={limit:,}: {spent.tokens:,} were used, and it needs about "
            f"{n_next:,}. To go on, resume (with the same budget again) or raise it."
        )


def _check_cost(run: Run, n_input: int, n_output: int, limit: float) -> None:
    spent = run.spent
    expected = run.model.price_usd(n_input, n_output)
    if spent.cost_usd is None:
        raise BudgetReached(
            f"What a call of {run.model.model_id} costs is not known, so max_cost_usd={limit:g} cannot be kept. "
            "Limit max_total_tokens instead."
        )
    if expected is None:
        if spent.n_calls == 0:
            return
        expected = spent.cost_usd / spent.n_calls
    if spent.cost_usd + expected > limit:
        raise BudgetReached(
            f"The next call would pass max_cost_usd={limit:g}: {_usd(spent.cost_usd)} were spent, and it costs about "
            f"{_usd(expected)}. To go on, resume (with the same budget again) or raise it."
        )


def _usd(cost: float) -> str:
    return f"${cost:.4f}"
