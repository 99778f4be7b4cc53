"""PrintRouter: what tools print goes into the record of their own call while a run goes on.

It must not keep any text, nor touch the streams outside of a run.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from agent_magic.execution.prints.sinks import CURRENT_SINK, open_sinks

_STREAMS = ("stdout", "stderr")
_lock = threading.RLock()


class Sink(Protocol):
    """Takes what one tool call prints."""

    def write(self, text: str) -> object:
        """Add text; called from any thread."""
        ...


_SinkType = TypeVar("_SinkType", bound=Sink)


class PrintRouter:
    """Context manager of one run: `sys.stdout` and `sys.stderr` are split up among its tool calls.

    - A write inside a tool call goes to the call's sink.
    - A thread that a tool started knows of no call. Its writes go to the call that is running, or
      the one that began last if there are several.
    - All else passes through: other writes of the main thread, writes while no call is running, and
      those for which a tool opened an Output widget of its own.

    Several runs at a time share one pair of proxies; with the last of them, the streams that were
    there before come back.

    Args:
        current_sink: Holds the sink of the call that a context runs.
        open_sinks: Gives the sinks of all calls that are running, oldest first.
        outer: At work already, round this one.
    """

    def __init__(
        self,
        current_sink: ContextVar[_SinkType | None],
        open_sinks: Callable[[], Sequence[_SinkType]],
        outer: PrintRouter | None = None,
    ) -> None:
        self._current_sink = current_sink
        self._open_sinks = open_sinks
        self._proxies: list[_Proxy] = []
        self._outer_widgets = outer._outer_widgets if outer is not None else None

    def __enter__(self) -> Self:
        if self._outer_widgets is None:
            # A cell that runs inside an Output widget does not lose its tools' prints to it.
            self._outer_widgets = frozenset(map(id, _open_output_widgets(sys.stdout)))
        with _lock:
            for name in _STREAMS:
                stream = getattr(sys, name)
                if type(stream) is not _Proxy:
                    stream = _Proxy(stream)
                    setattr(sys, name, stream)
                elif not stream._routers:
                    # Left over from a redirection that outlived its run.
                    stream = _Proxy(stream._stream)
                    setattr(sys, name, stream)
                stream._routers.append(self)
                self._proxies.append(stream)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        del kind, error, traceback
        with _lock:
            for name, proxy in zip(_STREAMS, self._proxies, strict=True):
                proxy._routers.remove(self)
                if proxy._routers:
                    continue
                # In the main thread nothing but tools can have put another stream there since: two
                # that redirected at the same time restore each other's, and prints would be lost.
                if getattr(sys, name) is proxy or threading.current_thread() is threading.main_thread():
                    setattr(sys, name, proxy._stream)
            self._proxies.clear()

    def sink_for(self, stream: Any) -> Sink | None:
        """Where a write to `stream` belongs that is made here and now; None to let it pass."""
        running = self._open_sinks()
        if not running:
            return None
        sink = self._current_sink.get(None)
        if sink is None:
            if threading.current_thread() is threading.main_thread():
                return None
            sink = next((other for other in reversed(running) if not getattr(other, "is_left", False)), None)
            if sink is None:
                return None
        elif not any(sink is other for other in running):
            return None  # a task that outlived its call
        outer = self._outer_widgets or ()
        if any(id(widget) not in outer for widget in _open_output_widgets(stream)):
            return None
        return sink


class _Proxy:
    """A stream that asks the routers for each write, and is the stream before it in all else."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._routers: list[PrintRouter] = []

    def write(self, text: object) -> int:
        sink = self._sink()
        if sink is None or not isinstance(text, str):  # the stream itself says what is wrong with it
            return self._stream.write(text)
        sink.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        # Flushing a kernel's stream waits for its thread; for a sink there is nothing to wait for.
        if self._sink() is None:
            self._stream.flush()

    def _sink(self) -> Sink | None:
        sinks = (router.sink_for(self._stream) for router in reversed(self._routers))
        return next((sink for sink in sinks if sink is not None), None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)

    def __repr__(self) -> str:
        return repr(self._stream)


def is_left_over(stream: object) -> bool:
    """Whether it is a proxy whose runs have all ended."""
    return type(stream) is _Proxy and not stream._routers


@contextlib.contextmanager
def routed() -> Generator[None]:
    """A router round the body; loggers that write to the streams go there, too.

    One of its own: that of another run, which may be at work already, goes with that run.
    """
    at_work = sys.stdout._routers if type(sys.stdout) is _Proxy else ()
    outer = next(reversed(at_work), None)
    with PrintRouter(CURRENT_SINK, open_sinks, outer):
        followed = _follow_loggers()
        try:
            yield
        finally:
            for handler, stream in followed:
                vars(handler)["stream"] = stream


def _follow_loggers() -> list[tuple[Any, Any]]:
    """Let handlers that hold a stream from before write to what stands in its place; gives what they held."""
    followed: list[tuple[Any, Any]] = []
    for handler in logging.root.handlers:
        held = getattr(handler, "stream", None)
        for stream in (sys.stdout, sys.stderr):
            if type(stream) is _Proxy and stream._stream is held:
                followed.append((handler, held))
                vars(handler)["stream"] = stream
    return followed


def _open_output_widgets(stream: Any) -> list[Any]:
    """The Output widgets that take what a kernel's `stream` sends for the cell that runs now."""
    widgets = sys.modules.get("ipywidgets.widgets.widget")
    outputs = sys.modules.get("ipywidgets.widgets.widget_output")
    parent = getattr(stream, "parent_header", None)
    if widgets is None or outputs is None or not parent:
        return []
    message_id = parent.get("msg_id")
    everyone = list(getattr(widgets, "_instances", {}).values())
    return [w for w in everyone if isinstance(w, outputs.Output) and message_id and w.msg_id == message_id]
