"""An OpenAI-compatible server on loopback that plays a script: replies, streams and faults."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal


@dataclass(kw_only=True)
class Turn:
    """What one request gets: a body, or with `chunks` a stream of events."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Sequence[dict[str, Any] | str] | None = None
    """Sent as JSON; a text is sent as it is, as a comment if it begins with a colon."""
    end: Literal["done", "eof", "reset"] = "done"
    """How a stream ends: as it should, silently, or with the connection reset."""
    pause_s: float = 0.0
    """Before each chunk, or before the body."""


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    """By the monotonic clock."""


def reply(
    content: Any = None,
    *,
    tool_calls: Any = None,
    usage: Any = None,
    finish_reason: str = "stop",
    **message: Any,
) -> Turn:
    """A whole reply that does not stream."""
    inner: dict[str, Any] = {"role": "assistant", "content": content, **message}
    if tool_calls is not None:
        inner["tool_calls"] = tool_calls
    choice = {"index": 0, "message": inner, "finish_reason": finish_reason}
    return Turn(body={**_HEAD, "object": "chat.completion", "choices": [choice], "usage": usage})


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk of a stream."""
    return {**_CHUNK, "choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def call_delta(
    index: int, call_id: str | None = None, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    """A chunk with a fragment of a tool call."""
    function = {"name": name, "arguments": arguments}
    return delta(tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function}])


def usage_chunk(**usage: Any) -> dict[str, Any]:
    """A chunk that carries the usage and no choice."""
    return {**_CHUNK, "choices": [], "usage": usage}


def fault(status: int, message: str = "no", *, headers: dict[str, str] | None = None, **fields: Any) -> Turn:
    """An error reply as OpenAI writes it."""
    return Turn(status=status, body={"error": {"message": message, **fields}}, headers=headers or {})


class OpenAIServer(ThreadingHTTPServer):
    """Plays `turns` in order, the last again and again, and keeps what it `received`.

    With `answer`, that is asked for the turn of each request instead.
    """

    daemon_threads = True
    request_queue_size = 256
    answer: Callable[[Received], Turn] | None = None

    def __init__(self, models: Sequence[str] = ("tiny",), port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.turns: list[Turn] = []
        self.received: list[Received] = []
        self.models = models
        self.broken_pipe = threading.Event()
        """Set when a client hung up in the middle of a stream."""
        self.closing = threading.Event()
        """Set at the end, so that no pause outlasts the server."""
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no error."""

    @property
    def port(self) -> int:
        return self.server_address[1]

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *turns: Turn) -> None:
        self.turns, self.received = list(turns), []


@contextmanager
def serve(models: Sequence[str] = ("tiny",)) -> Iterator[OpenAIServer]:
    """A running server."""
    server = OpenAIServer(models)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(60)


_HEAD = {"id": "c", "created": 1, "model": "tiny"}
_CHUNK = {**_HEAD, "object": "chat.completion.chunk"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OpenAIServer

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        listing = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.models]}
        self._send(Turn(body=listing))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            received = Received(self.path, dict(self.headers), body, time.monotonic())
            self.server.received.append(received)
            answer, n = self.server.answer, len(self.server.received)
            turn = self.server.turns[min(n, len(self.server.turns)) - 1] if answer is None else None
        if turn is None:
            assert answer is not None
            turn = answer(received)
        try:
            if turn.chunks is None:
                self.server.closing.wait(turn.pause_s)
                self._send(turn)
            else:
                self._stream(turn)
        except (BrokenPipeError, ConnectionResetError):
            self.server.broken_pipe.set()
            self.close_connection = True

    def _send(self, turn: Turn) -> None:
        is_text = isinstance(turn.body, str)
        data = turn.body.encode() if is_text else json.dumps(turn.body).encode()
        self.send_response(turn.status)
        self.send_header("Content-Type", "text/html" if is_text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, turn: Turn) -> None:
        self.send_response(turn.status)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in turn.chunks or ():
            self.server.closing.wait(turn.pause_s)
            self._event(chunk if isinstance(chunk, str) else json.dumps(chunk))
        if turn.end == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if turn.end == "done":
            self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, text: str) -> None:
        data = f"{text if text.startswith(':') else f'data: {text}'}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()
