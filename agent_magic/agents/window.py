"""Keeps a request within a model's window: older steps go to shorter forms, and nothing is lost.

In passes over the history, oldest first: images, then observations, then whole steps as one line,
then left out; pinned steps after all others. It must not change a record: forms stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agent_magic.agents.moment import Composed, Moment
from agent_magic.core.edits import name_of
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import ContextShortened
from agent_magic.core.memory import Entry
from agent_magic.core.short_form import FORMS, Form, to_short_messages
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep

_KEPT_FROM_CHARS = 240
_MOST_REPLY_TOKENS = 4_096
_PART_LEFT = 0.7
"""How full a request is after shortening, so that not every step changes the history again."""
_ESTIMATE_ERROR = 1.5
"""By how much an estimate may be too high."""
_WORDS: Mapping[Form, str] = {
    "whole": "sent whole",
    "no_images": "images",
    "short_observations": "observations",
    "line": "all but one line",
    "left_out": "left out",
}


@dataclass(slots=True)
class _Shortening:
    """What is about to be shortened."""

    forms: dict[int, Form] = field(default_factory=dict[int, Form])
    kept: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])


def fit_to_window(
    moment: Moment, composed: Composed, *, window: int | None, at_most: int | None = None
) -> ContextShortened | None:
    """Shorten the memory until the request fits; None if it did already.

    Args:
        window: Of the model, in tokens; None if it is not known.
        at_most: Tokens that the request may have after a provider refused it as too long.

    Raises:
        GenerationError: Even in its shortest form it does not fit.
    """
    if at_most is None and (window is None or moment.model.makes_own_prompt):
        return None
    limit = at_most or room_in(window or 0)
    if at_most is None and _surely_fits(moment, composed, limit):
        return None
    n_before = n_now = count_request(moment, composed)
    if n_now <= limit:
        return None
    shortening = _Shortening()
    for pass_ in _passes(moment):
        if n_now <= limit:
            break
        for index, form in pass_:
            if n_now <= _PART_LEFT * limit:
                break
            n_now -= _shorten(moment, index, form, composed, shortening)
    moment.memory.shorten(shortening.forms, shortening.kept)
    _check(moment, composed, n_now, limit)
    return ContextShortened(
        step_number=moment.step_number,
        shortened=tuple(_tell(moment, shortening.forms)),
        tokens_before=n_before,
        tokens_after=n_now,
        window=window or limit,
        is_estimate=moment.meter.is_estimate,
    )


def room_in(window: int) -> int:
    """Tokens that a request may have, so that there is room for the reply."""
    return window - min(window // 8, _MOST_REPLY_TOKENS)


def count_request(moment: Moment, composed: Composed) -> int:
    """Tokens of a whole request, tools included."""
    messages = [*composed.head, *moment.memory.project(composed.projection), *composed.tail]
    return moment.meter.count(messages) + moment.meter.count_tools(composed.schemas)


def _surely_fits(moment: Moment, composed: Composed, limit: int) -> bool:
    """Whether the request fits even if every byte of it were a token."""
    if any(message.images for message in composed.tail):
        return False
    frame = [*composed.head, *moment.memory.system_prompt.to_messages(), *composed.tail]
    n_bytes = moment.memory.size(composed.projection) + sum(4 * len(m.content or "") for m in frame)
    return n_bytes + sum(len(repr(schema)) for schema in composed.schemas) + 20 * len(moment.memory) <= limit


def _passes(moment: Moment) -> Iterator[Iterator[tuple[int, Form]]]:
    """The steps that may be shortened, gentlest form first, pinned ones last."""
    entries = moment.memory.entries
    old = _old_places(entries)
    free = [index for index in old if not entries[index].is_pinned]
    pinned = [index for index in old if entries[index].is_pinned]
    newest = [max((i for i, entry in enumerate(entries) if isinstance(entry.step, ActionStep)), default=-1)]
    for places, forms in ((free, FORMS[1:]), (pinned, FORMS[1:]), (newest, FORMS[1:3])):
        for form in forms:
            yield ((index, form) for index in places if index >= 0)


def _old_places(entries: tuple[Entry, ...]) -> list[int]:
    """All but the task that is worked on, the plan that counts, and the newest action."""
    tasks = [i for i, e in enumerate(entries) if isinstance(e.step, TaskStep) and e.step.resumes is None]
    task = tasks[-1] if tasks else -1
    plans = [i for i, e in enumerate(entries) if isinstance(e.step, PlanningStep) and not e.step.fault]
    actions = [i for i, e in enumerate(entries) if isinstance(e.step, ActionStep)]
    kept = {task, *plans[-1:], *actions[-1:]}
    return [
        i
        for i, entry in enumerate(entries)
        if i not in kept and not entry.is_dropped and not (i > task and isinstance(entry.step, TaskStep))
    ]


def _shorten(moment: Moment, index: int, form: Form, composed: Composed, shortening: _Shortening) -> int:
    """Take a step to a shorter form; returns the tokens that it saves."""
    meter = moment.meter
    entry = moment.memory.entries[index]
    old_form = shortening.forms.get(index, entry.form)
    if entry.view == "hidden" or FORMS.index(old_form) >= FORMS.index(form):
        return 0
    is_summary = composed.projection.summary_mode if entry.view is None else entry.view == "summary"
    kept = shortening.kept.get(index, dict(entry.kept))
    before = to_short_messages(entry.step, old_form, kept, summary_mode=is_summary)
    if form in ("short_observations", "line"):
        kept = {**kept, **_keep_whole(entry, kept, moment.state)}
    after = to_short_messages(entry.step, form, kept, summary_mode=is_summary)
    saved = meter.count(before) - meter.count(after)
    if saved <= 0:
        return 0
    shortening.forms[index] = form
    if kept != entry.kept:
        shortening.kept[index] = kept
    return saved


def _keep_whole(entry: Entry, kept: Mapping[str, str], state: AgentState) -> dict[str, str]:
    """Names for the observations that are about to be cut, so that a model can look into them."""
    if not isinstance(entry.step, ActionStep):
        return {}
    names: dict[str, str] = {}
    for result in entry.step.tool_results:
        if result.call.id not in kept and len(result.observation) > _KEPT_FROM_CHARS:
            names[result.call.id] = result.kept_as or state.keep(result.observation)
    return names


def _check(moment: Moment, composed: Composed, n_now: int, limit: int) -> None:
    meter = moment.meter
    # What an estimate says is too long may fit all the same: then the provider decides.
    if n_now <= limit or (meter.is_estimate and n_now / _ESTIMATE_ERROR <= limit):
        return
    system = [
        *composed.head,
        *(moment.memory.system_prompt.to_messages() if composed.projection.system else ()),
    ]
    about = "about " if meter.is_estimate else ""
    raise GenerationError(
        f"{moment.model.model_id}: the request has {about}{n_now:,} tokens in its shortest form, and "
        f"{limit:,} fit beside a reply (system prompt {meter.count(system):,}, tools "
        f"{meter.count_tools(composed.schemas):,}, the rest is the task and the newest step). "
        "Take a model with a larger window, fewer tools or a shorter task.",
        model_id=moment.model.model_id,
    )


def _tell(moment: Moment, forms: Mapping[int, Form]) -> Iterator[str]:
    """A line for each form: which steps it was laid on."""
    entries = moment.memory.entries
    for form in FORMS[1:]:
        names = [name_of(entries[index].step) for index, got in sorted(forms.items()) if got == form]
        if names:
            more = f" and {len(names) - 6} more" if len(names) > 6 else ""
            yield f"{_WORDS[form]}: {', '.join(names[:6])}{more}"
