"""Keeps a request within a model's window: older steps go to shorter forms, and nothing is lost.

In passes over the history, oldest first: images, then observations, then whole steps as one line,
then left out; pinned steps after all others. It must not change a record: forms stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agent_magic.agents.requests.moment import Composed, Moment
from agent_magic.core.edits import name_of
from agent_magic.core.entry import Entry
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import ContextShortened
from agent_magic.core.messages import ChatMessage
from agent_magic.core.short_form import FORMS, WHOLE_UP_TO, Form, left_out_note, to_short_messages
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep

_TOO_HIGH = 1.9
"""By how much the estimate of a text in Latin letters may be too high."""
_TOO_HIGH_WIDE = 5.5
"""Of one in others, see `models.tokens`."""
_WIDE_SHARE = 0.1
"""From this share of further bytes on a text counts as one in other letters."""
_MOST_REPLY_TOKENS = 4_096
_PART_LEFT = 0.6
"""How full the room for older steps is after shortening, so that not every step changes the history again."""
_PEEK_TOKENS = 250
"""Of the schema of `peek`, which comes in with the first observation that is cut."""
_WORDS: Mapping[Form, str] = {
    "whole": "sent whole",
    "no_images": "images",
    "short_observations": "observations",
    "line": "all but one line",
    "left_out": "left out",
}


@dataclass(slots=True, kw_only=True)
class _Shortening:
    """What is about to be shortened, and what the request has then."""

    n_now: int
    n_fixed: int = 0
    """Of `n_now`: all that is not an older step that may be shortened."""
    forms: dict[int, Form] = field(default_factory=dict[int, Form])
    kept: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])


def fit_to_window(
    moment: Moment, composed: Composed, *, window: int | None, at_most: int | None = None
) -> ContextShortened | None:
    """Shorten the memory until the request fits; None if it did already, or nothing can be shortened.

    Args:
        window: Of the model, in tokens; None if it is not known.
        at_most: Tokens that the request may have after a provider refused it as too long; it may
            still have more in its shortest form.

    Raises:
        GenerationError: Even in its shortest form it does not fit the model's window.
    """
    if at_most is None and (window is None or moment.model.makes_own_prompt):
        return None
    limit = at_most or room_in(window or 0)
    if at_most is None and _surely_fits(moment, composed, limit):
        return None
    n_before = count_request(moment, composed)
    if n_before <= limit:
        return None
    room = limit if moment.state.has_kept else limit - _PEEK_TOKENS
    shortening = _find_shortening(moment, composed, n_before, room)
    if at_most is None:
        _check(moment, composed, shortening.n_now, limit)
    if not shortening.forms:
        return None
    moment.memory.shorten(shortening.forms, shortening.kept)
    return ContextShortened(
        step_number=moment.step_number,
        shortened=tuple(_tell(moment, shortening.forms)),
        tokens_before=n_before,
        tokens_after=count_request(moment, composed),
        window=window or window_for(limit),
        is_estimate=moment.meter.is_estimate,
    )


def room_in(window: int) -> int:
    """Tokens that a request may have, so that there is room for the reply."""
    return window - min(window // 8, _MOST_REPLY_TOKENS)


def window_for(room: int) -> int:
    """The window in which a request may have so many tokens."""
    return min(room * 8 // 7, room + _MOST_REPLY_TOKENS)


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
    return n_bytes + moment.meter.size_of_tools(composed.schemas) + 20 * len(moment.memory) <= limit


def _find_shortening(moment: Moment, composed: Composed, n_before: int, room: int) -> _Shortening:
    """In passes, gentlest form first: older steps, pinned ones, the newest step.

    A newest step that leaves no room even alone goes first: else all the others would go for it.
    """
    entries = moment.memory.entries
    free, pinned, newest = _places(entries)
    shortening = _Shortening(n_now=n_before)
    n_free = sum(moment.meter.count(_shown(entries[index], composed)) for index in free)
    shortening.n_fixed = n_before - n_free
    is_newest_first = shortening.n_fixed > room
    if is_newest_first:
        order = [(newest, FORMS[1:3]), (free, FORMS[1:]), (pinned, FORMS[1:])]
    else:
        order = [(free, FORMS[1:]), (pinned, FORMS[1:]), (newest, FORMS[1:3])]
    for places, forms in order:
        for index, form in _turns(places, forms):
            goal = room  # of what is protected only as much goes as must
            if places is free:
                goal = shortening.n_fixed + int(_PART_LEFT * max(room - shortening.n_fixed, 0))
            is_enough = is_newest_first and places is newest and shortening.n_fixed <= room
            if is_enough or shortening.n_now <= goal:
                break
            _shorten(moment, index, form, composed, shortening, is_fixed=places is not free)
    return shortening


def _turns(places: Sequence[int], forms: Sequence[Form]) -> Iterator[tuple[int, Form]]:
    return ((index, form) for form in forms for index in places)


def _places(entries: Sequence[Entry]) -> tuple[list[int], list[int], list[int]]:
    """Steps that may be shortened: older ones, pinned ones, the newest action.

    The task that is worked on, what was added to it last, and the plan that counts never are.
    """
    shown = [i for i, e in enumerate(entries) if not e.is_dropped and e.view != "hidden"]
    tasks = [i for i in shown if isinstance(task := entries[i].step, TaskStep) and task.resumes is None]
    since = tasks[-1] if tasks else 0
    current = [i for i in shown if i >= since]
    plans = [i for i in current if isinstance(plan := entries[i].step, PlanningStep) and not plan.fault]
    newest = [i for i in shown if isinstance(entries[i].step, ActionStep)][-1:]
    asked = [i for i in current if isinstance(entries[i].step, TaskStep)]
    kept = {*plans[-1:], *newest, *asked[:1], *asked[-1:]}
    older = [i for i in shown if i not in kept]
    return (
        [i for i in older if not entries[i].is_pinned],
        [i for i in older if entries[i].is_pinned],
        newest,
    )


def _is_summary(entry: Entry, composed: Composed) -> bool:
    return composed.projection.summary_mode if entry.view is None else entry.view == "summary"


def _shown(entry: Entry, composed: Composed) -> tuple[ChatMessage, ...]:
    """What stands in the request for a step now."""
    return entry.to_messages(summary_mode=_is_summary(entry, composed))


def _shorten(
    moment: Moment,
    index: int,
    form: Form,
    composed: Composed,
    shortening: _Shortening,
    *,
    is_fixed: bool,
) -> None:
    """Take a step to a shorter form, if that saves tokens."""
    meter, entries = moment.meter, moment.memory.entries
    entry = entries[index]
    old_form = shortening.forms.get(index, entry.form)
    if FORMS.index(old_form) >= FORMS.index(form):
        return
    is_summary = _is_summary(entry, composed)
    kept: Mapping[str, str] = shortening.kept.get(index, entry.kept)
    if index in shortening.forms:
        before = to_short_messages(entry.step, old_form, kept, summary_mode=is_summary)
        n_before = meter.count_once(before)
    else:
        n_before = meter.count(before := _shown(entry, composed))
    if form == "no_images" and not any(message.images for message in before):
        return
    n_after = meter.count_once(to_short_messages(entry.step, form, kept, summary_mode=is_summary))
    if form == "left_out" and not _is_left_out(entries, index - 1, shortening):
        n_after = meter.count_once([left_out_note(len(entries))])
    if n_after >= n_before:
        return
    names = _keep_whole(entry, form, kept, moment.state)
    if names:
        kept = shortening.kept[index] = {**kept, **names}
        n_after = meter.count_once(to_short_messages(entry.step, form, kept, summary_mode=is_summary))
    shortening.forms[index] = form
    shortening.n_now -= n_before - n_after
    if is_fixed:
        shortening.n_fixed -= n_before - n_after


def _is_left_out(entries: Sequence[Entry], index: int, shortening: _Shortening) -> bool:
    return index >= 0 and shortening.forms.get(index, entries[index].form) == "left_out"


def _keep_whole(entry: Entry, form: Form, kept: Mapping[str, str], state: AgentState) -> dict[str, str]:
    """Names for the observations that are about to be cut, so that a model can look into them."""
    if form not in WHOLE_UP_TO or not isinstance(entry.step, ActionStep):
        return {}
    return {
        result.call.id: result.kept_as or state.keep(result.observation)
        for result in entry.step.tool_results
        if result.call.id not in kept and len(result.observation) > WHOLE_UP_TO[form]
    }


def _check(moment: Moment, composed: Composed, n_now: int, limit: int) -> None:
    meter = moment.meter
    # What an estimate says is too long may fit all the same: then the provider decides.
    if n_now <= limit or (meter.is_estimate and n_now / _error_of(moment, composed) <= limit):
        return
    system = [
        *composed.head,
        *(moment.memory.system_prompt.to_messages() if composed.projection.system else ()),
    ]
    about = "about " if meter.is_estimate else ""
    raise GenerationError(
        f"{moment.model.model_id}: the request has {about}{n_now:,} tokens in its shortest form, and "
        f"{limit:,} fit beside a reply (system prompt {meter.count(system):,}, tools "
        f"{meter.count_tools(composed.schemas):,}{_parts(moment, composed)}). "
        "Take a model with a larger window, or make the largest part smaller: fewer tools, a shorter task, "
        "or agent.memory.edit and drop for what is in memory.",
        model_id=moment.model.model_id,
    )


def _error_of(moment: Moment, composed: Composed) -> float:
    """By how much the estimate of this request may be too high."""
    texts = [message.content or "" for message in moment.memory.project(composed.projection)]
    n_chars = sum(map(len, texts))
    n_wide = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) - n_chars
    return _TOO_HIGH_WIDE if n_wide > _WIDE_SHARE * n_chars else _TOO_HIGH


def _parts(moment: Moment, composed: Composed) -> str:
    """The three largest steps, with their tokens."""
    sizes = [
        (moment.meter.count(_shown(entry, composed)), name_of(entry.step))
        for entry in moment.memory.entries
        if not entry.is_dropped and entry.view != "hidden"
    ]
    return "".join(f", {name} {n:,}" for n, name in sorted(sizes, reverse=True)[:3] if n)


def _tell(moment: Moment, forms: Mapping[int, Form]) -> Iterator[str]:
    """A line for each form: which steps it was laid on."""
    entries = moment.memory.entries
    for form in FORMS[1:]:
        names = [name_of(entries[index].step) for index, got in sorted(forms.items()) if got == form]
        if names:
            more = f" and {len(names) - 6} more" if len(names) > 6 else ""
            yield f"{_WORDS[form]}: {', '.join(names[:6])}{more}"
