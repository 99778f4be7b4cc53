"""The pieces of a reply, taken by a thread of their own where the model may be silent for too long.

So neither an interrupt nor the end of the run's time need wait for a provider's next piece. It must
not look into the pieces.
"""

from __future__ import annotations

import contextlib
import contextvars
import queue
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from agent_magic.agents.requests.budget import check_time_amid, has_time_limit
from agent_magic.agents.run.run import Run
from agent_magic.agents.threads.side_by_side import THREADS
from agent_magic.core.flag import Flag
from agent_magic.core.messages import ChatMessage, MessageDelta

Piece = MessageDelta | ChatMessage
_NAP_S = 0.25
"""Between two looks at what a signal handler has noted, for it may wake nobody."""


def pull(pieces: Iterator[Piece], run: Run) -> Generator[Piece, None, None]:
    """The pieces as they come; closing it cancels the request.

    Raises:
        Interrupted: The person stopped the run. A request that is silent at that moment ends
            behind, with its next piece or its time limit, and nothing of it is used.
        BudgetReached: The time of the run is over; what the request does is as above. A reply that
            is whole by then counts.
    """
    # Under `arun` the run has a thread already, which an interrupt can leave behind as a whole.
    is_left_behind = has_time_limit(run) or (run.model.may_be_silent and run.loop is None)
    return _by_a_thread(pieces, run) if is_left_behind else _here(pieces, run)


def _here(pieces: Iterator[Piece], run: Run) -> Generator[Piece, None, None]:
    try:
        for piece in pieces:
            run.raise_if_interrupted()
            if not isinstance(piece, ChatMessage):
                check_time_amid(run)
            yield piece
    finally:
        _close(pieces)


@dataclass(frozen=True, slots=True)
class _End:
    """No more pieces come."""

    error: BaseException | None


def _by_a_thread(pieces: Iterator[Piece], run: Run) -> Generator[Piece, None, None]:
    news: queue.SimpleQueue[Piece | _End | None] = queue.SimpleQueue()
    is_left = Flag()

    def work() -> None:
        error: BaseException | None = None
        try:
            for piece in pieces:
                news.put(piece)
                if is_left.is_set():
                    break
        except BaseException as raised:  # noqa: BLE001 - it is raised again where the pieces are wanted
            error = raised
        finally:
            _close(pieces)
        news.put(_End(error))

    take_off = run.on_interrupt(lambda: news.put(None))
    context = contextvars.copy_context()
    THREADS.start(lambda: context.run(work))
    try:
        while True:
            item = _next(news, run)
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        is_left.set()
        take_off()


def _next(news: queue.SimpleQueue[Piece | _End | None], run: Run) -> Piece | _End:
    """What comes next, as soon as it comes."""
    left_s = _NAP_S
    while True:
        item = None
        with contextlib.suppress(queue.Empty):
            item = news.get(timeout=left_s)
        run.raise_if_interrupted()
        if isinstance(item, ChatMessage | _End):
            return item
        left_s = min(check_time_amid(run), _NAP_S)
        if item is not None:
            return item


def _close(pieces: Iterator[Piece]) -> None:
    # An iterator that is no generator may have nothing to close.
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
