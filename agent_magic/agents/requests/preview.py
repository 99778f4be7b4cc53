"""The lens: exactly what a model is sent in a call, past or next.

A next request is composed as a run composes it, on a copy of the memory; a past one is rebuilt from
the record as it stood then and compared with its digest. It must not send anything, nor change what
it looks at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_magic.agents.requests.moment import Composer, Moment, projection_of
from agent_magic.agents.requests.window import fit_to_window
from agent_magic.agents.run.meter import Meter
from agent_magic.core.errors import GenerationError, OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.settings import SummaryMode
from agent_magic.core.values import Value
from agent_magic.models.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One request, as the model gets it."""

    kind: RequestKind
    step_number: int
    run_id: str | None
    """None for a request that no run has made yet."""
    is_past: bool
    is_exact: bool | None
    """Of a past one, shown as it was sent: whether it has the digest of what was sent."""
    summary_mode: SummaryMode
    """That decided the view."""
    model_id: str
    messages: tuple[dict[str, Value], ...]
    """In the provider's form."""
    tools: tuple[dict[str, Value], ...]
    """The schemas, in the provider's form; empty where they stand in the system prompt."""
    tokens: tuple[int, ...]
    """Of each message."""
    tool_tokens: int
    is_estimate: bool
    """The tokenizer of this model is not known: the tokens are estimates."""
    window: int | None
    """Of the model, in tokens; None if unknown."""
    n_kept: int
    """How many messages at the beginning are the same as in the call before of this kind."""
    n_before: int | None
    """How many that one had; None if there was none."""
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """What goes to the provider beside messages and tools, without keys."""
    shortened: tuple[str, ...] = ()
    """What the next call will shorten to stay within the window, a line each."""

    @property
    def total_tokens(self) -> int:
        """Of messages and tools."""
        return sum(self.tokens) + self.tool_tokens


def preview_next(composer: Composer, moment: Moment, kind: RequestKind, *, run_id: str | None) -> Preview:
    """The request that would be made now.

    Args:
        moment: A copy that may be changed.
        run_id: Of the run that would make it.
    """
    composed = composer.compose(moment, kind)
    shortened: tuple[str, ...] = ()
    try:
        event = fit_to_window(moment, composed, window=moment.window)
        if event:
            shortened = event.shortened
            composed = composer.compose(moment, kind)  # with the tool that looks into what was cut
    except GenerationError as error:
        shortened = (error.message,)
    history = moment.memory.project(composed.projection)
    return _to_preview(
        moment.model,
        moment.meter,
        [*composed.head, *history, *composed.tail],
        composed.schemas,
        previous=_rebuild_last(moment.memory, kind),
        kind=kind,
        step_number=moment.step_number,
        run_id=run_id,
        is_past=False,
        is_exact=None,
        summary_mode=moment.summary_mode,
        shortened=shortened,
    )


def preview_sent(
    memory: AgentMemory,
    model: Model,
    *,
    run_ids: Sequence[str],
    step_number: int,
    kind: RequestKind,
    summary_mode: SummaryMode | None,
) -> Preview:
    """A request that was made, or another view of its moment if `summary_mode` is given.

    Args:
        run_ids: Of the run that made it and of those that it went on with, newest first; empty for that of
            the memory's last request, as in one that was loaded.

    Raises:
        OptionError: No such request was made.
    """
    requests = memory.requests
    if not run_ids:
        if not requests:
            raise OptionError("No run was made yet, so there is no past request. Leave the step out.")
        run_ids = (requests[-1].run_id,)
    # Step numbers go on from a run to the one that resumes it, so each is found in one of them.
    places = [i for i, r in enumerate(requests) if r.run_id in run_ids and r.kind == kind]
    wanted = [i for i in places if requests[i].step_number == step_number]
    if not wanted:
        raise OptionError(_missing(step_number, kind, [requests[i].step_number for i in places]))
    place = wanted[-1]
    request = requests[place]
    projection = None if summary_mode is None else projection_of(kind, summary_mode)
    is_as_sent = projection is None or projection == request.projection
    return _to_preview(
        model,
        Meter(model),
        memory.rebuild(request, projection),
        request.schemas,
        previous=_rebuild_last(memory, kind, before=place),
        kind=kind,
        step_number=step_number,
        run_id=request.run_id,
        is_past=True,
        is_exact=memory.is_rebuilt_exactly(request) if is_as_sent else None,
        summary_mode=summary_mode or request.summary_mode,
    )


def _to_preview(
    model: Model,
    meter: Meter,
    messages: Sequence[ChatMessage],
    schemas: tuple[ToolSchema, ...],
    *,
    previous: Sequence[ChatMessage] | None,
    kind: RequestKind,
    step_number: int,
    run_id: str | None,
    is_past: bool,
    is_exact: bool | None,
    summary_mode: SummaryMode,
    shortened: tuple[str, ...] = (),
) -> Preview:
    wire = model.to_wire(messages, schemas, kind)
    before = None if previous is None else model.to_wire(previous, (), kind).messages
    return Preview(
        kind=kind,
        step_number=step_number,
        run_id=run_id,
        is_past=is_past,
        is_exact=is_exact,
        summary_mode=summary_mode,
        model_id=model.model_id,
        messages=tuple(wire.messages),
        tools=tuple(wire.tools),
        tokens=tuple(meter.count_wire(message) for message in wire.messages),
        tool_tokens=meter.count_wire_tools(wire.tools),
        is_estimate=meter.is_estimate,
        window=model.context_window,
        n_kept=_n_equal(before or [], wire.messages),
        n_before=None if before is None else len(before),
        options=model.shown_options,
        shortened=shortened,
    )


def _rebuild_last(
    memory: AgentMemory, kind: RequestKind, *, before: int | None = None
) -> list[ChatMessage] | None:
    earlier = [request for request in memory.requests[:before] if request.kind == kind]
    return memory.rebuild(earlier[-1]) if earlier else None


def _n_equal(old: Sequence[Value], new: Sequence[Value]) -> int:
    n = 0
    for before, after in zip(old, new, strict=False):
        if before != after:
            break
        n += 1
    return n


def _missing(step_number: int, kind: RequestKind, made: Sequence[int]) -> str:
    if not made:
        return f"The last run made no request of kind {kind!r}. Leave the step out to see the next one."
    numbers = ", ".join(map(str, dict.fromkeys(made)))
    return (
        f"The last run made no request of kind {kind!r} at step {step_number!r}. It made them at: {numbers}."
    )
