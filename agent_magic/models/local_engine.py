"""The embedded engine: one llama.cpp in this process, on one thread, asked by one worker.

Whoever asks waits on a queue and may stop waiting at any time; the worker then lets the engine
go at its next sign of life, a third of a second later at most. It must not know messages or tools.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import queue
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_magic.core.flag import Flag
from agent_magic.core.threads import start_thread
from agent_magic.core.values import Value
from agent_magic.models.openmp import load_openmp

WINDOW = 4_096
"""Tokens that the engine holds, request and reply together."""

# Between two pieces of a prompt the engine can be stopped: 64 tokens take about 0.3 s on one
# slow core, and larger pieces were measured to be no faster.
_PROMPT_PIECE = 64
_WAIT_S = 0.1
_COUNT_WAIT_S = 0.5
# A prompt that cannot fit is refused at once with its length, and what was read before stays cached.
_OVERFULL = [2] * (WINDOW + 1)
_EXIT_WAIT_S = 2.0


class EngineError(Exception):
    """The engine could not be loaded, or refused a request."""


class PromptTooLongError(EngineError):
    """The prompt is larger than the engine's window."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__(f"the prompt has {n_tokens:,} tokens")
        self.n_tokens = n_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a completion."""

    text: str = ""
    n_prompt_tokens: int | None = None
    """Known from the first piece on, which comes before the prompt is read."""
    finish_reason: str | None = None
    usage: Mapping[str, Value] | None = None
    """On the last piece."""


@dataclass(slots=True)
class _Request:
    body: dict[str, Value]
    replies: queue.SimpleQueue[Piece | Exception | None] = field(default_factory=queue.SimpleQueue)
    is_cancelled: Flag = field(default_factory=Flag)


class Engine:
    """An engine that loads its weights at the first request. Any thread may ask it."""

    def __init__(self, weights: Path) -> None:
        self.weights = weights
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._is_started = False
        self._has_ended = Flag()
        self._running: _Request | None = None
        self._is_closed = False
        self._is_loaded = False
        self._lock = threading.Lock()

    def complete(self, body: Mapping[str, Value]) -> Generator[Piece]:
        """Yield a completion piece by piece; closing the iterator cancels it.

        Requests are served one at a time, in the order asked.

        Args:
            body: A request as llama.cpp's `/completions` takes it.

        Raises:
            PromptTooLongError: The prompt does not fit.
            EngineError: The weights cannot be loaded, or the request was refused.
        """
        request = _Request({**body, "stream": True, "return_progress": True})
        self._start()
        self._requests.put(request)
        try:
            while True:
                try:
                    # With a time limit, because some platforms deliver no signal to a bare wait.
                    reply = request.replies.get(timeout=_WAIT_S)
                except queue.Empty:
                    continue
                if reply is None:
                    return
                if isinstance(reply, Exception):
                    raise reply
                yield reply
        finally:
            request.is_cancelled.set()

    def count_tokens(self, text: str, *, is_patient: bool = False) -> int | None:
        """Tokens of a text, marks of roles in it read as such; about 2 ms.

        Args:
            is_patient: Load the weights if they are not loaded, and wait for requests before this
                one; else the answer is None if that would take more than half a second.

        Raises:
            EngineError: The weights cannot be loaded.
        """
        if not (self._is_loaded or is_patient):
            return None
        request = _Request({"prompt": [text, *_OVERFULL], "max_tokens": 1, "stream": True})
        self._start()
        self._requests.put(request)
        deadline = time.monotonic() + _COUNT_WAIT_S
        try:
            while is_patient or time.monotonic() < deadline:
                try:
                    reply = request.replies.get(timeout=_WAIT_S)
                except queue.Empty:
                    continue
                if isinstance(reply, PromptTooLongError):
                    return reply.n_tokens - len(_OVERFULL)
                if isinstance(reply, Exception) and is_patient:
                    raise reply
                return None
        finally:
            request.is_cancelled.set()
        return None

    def close(self) -> None:
        """End the worker, so that the process can end; a request under way is cancelled."""
        self._is_closed = True
        if running := self._running:
            running.is_cancelled.set()
        self._requests.put(None)
        if self._is_started:
            self._has_ended.wait(_EXIT_WAIT_S)

    def _start(self) -> None:
        with self._lock:
            if not self._is_started:
                start_thread(self._work, "agent_magic_engine")
                self._is_started = True
                atexit.register(self.close)

    def _work(self) -> None:
        try:
            self._serve()
        finally:
            self._has_ended.set()

    def _serve(self) -> None:
        server: Value = None
        while (request := self._requests.get()) is not None and not self._is_closed:
            if request.is_cancelled.is_set():
                continue
            self._running = request
            try:
                server = server or _load(self.weights)
                self._is_loaded = True
                server.handle_completions(request.body, lambda chunk, r=request: _take(chunk, r))
            except Exception as error:  # noqa: BLE001 - whatever the engine raises is for who asked
                request.replies.put(error if isinstance(error, EngineError) else EngineError(str(error)))
            finally:
                self._running = None
                request.replies.put(None)


def engine_of(weights: Path) -> Engine:
    """The engine of this process, with these weights."""
    key = (os.getpid(), weights)  # a forked process has no worker and needs an engine of its own
    with _lock:
        if key not in _engines:
            _engines[key] = Engine(weights)
        return _engines[key]


def is_engine_installed() -> bool:
    """Whether the engine's package can be imported; it is not."""
    return importlib.util.find_spec("xllamacpp") is not None


_engines: dict[tuple[int, Path], Engine] = {}
_lock = threading.Lock()


def _load(weights: Path) -> Value:
    # Here and not at the top: 100 MB of engine, wanted at the first request only. It has no types.
    load_openmp()
    try:
        xllamacpp: Value = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise EngineError(
            f"the engine cannot be loaded: {error}. Run: python -m agent_magic download, which fetches what it lacks"
        ) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    # More threads spin while they wait for each other: on a busy machine two are far slower than one.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.n_batch = parameters.n_ubatch = _PROMPT_PIECE
    parameters.cache_ram_mib = 256
    parameters.verbosity = -1
    parameters.ui = False
    try:
        return xllamacpp.Server(parameters)
    except Exception as error:  # the engine's own errors have no common type
        raise EngineError(
            f"the engine cannot load {str(weights)!r}: {str(error).rstrip('.')}. Check it: python -m agent_magic download"
        ) from error


def _take(chunk: Value, request: _Request) -> bool:
    """Pass on what the engine says; true stops it."""
    for part in chunk if isinstance(chunk, list) else [chunk]:
        if error := part.get("error"):
            n_tokens = error.get("n_prompt_tokens")
            request.replies.put(
                PromptTooLongError(n_tokens) if n_tokens else EngineError(str(error.get("message")))
            )
            return True
        for choice in part.get("choices", ()):
            request.replies.put(
                Piece(
                    text=choice.get("text") or "",
                    n_prompt_tokens=(part.get("prompt_progress") or {}).get("total"),
                    finish_reason=choice.get("finish_reason"),
                    usage=part.get("usage"),
                )
            )
    return request.is_cancelled.is_set()
