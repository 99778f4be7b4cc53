"""One server on loopback for many runs at once, each with a list of answers of its own.

It must not know a dialect: it sends bytes, and keeps what it was sent.
"""

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
from typing import Any, TypeAlias

from tests.providers.said import Answer

Answering: TypeAlias = Callable[[str, Any], Answer]
"""What is answered to a path and a body."""
_HEADER = "x-line"
_STALL_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    """By names in small letters."""
    body: Any
    at: float
    """On the monotonic clock, in seconds."""


@dataclass(slots=True, kw_only=True)
class Line:
    """What one run is answered, the last again and again, and what came of it."""

    name: str
    answers: Sequence[Answering]
    received: list[Received] = field(default_factory=list)

    @property
    def headers(self) -> dict[str, str]:
        """By these in a request the server knows the line: one address serves all, as in real life."""
        return {_HEADER: self.name}


class ProviderServer(ThreadingHTTPServer):
    """Answers on as many lines as there are runs."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lines: dict[str, Line] = {}
        self.lock = threading.Lock()
        self.closing = threading.Event()

    def open_line(self, answers: Sequence[Answering]) -> Line:
        """A new line."""
        with self.lock:
            line = Line(name=f"run{len(self.lines) + 1}", answers=answers)
            self.lines[line.name] = line
        return line

    @property
    def address(self) -> str:
        """Without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no error."""


@contextmanager
def serving() -> Iterator[ProviderServer]:
    """A running server."""
    server = ProviderServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(60)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProviderServer

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._send(Answer(status=404, pieces=(b'{"error": "not found"}',)))

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/api/show":  # a look at what a model of Ollama's can
            shown = {"capabilities": ["completion", "tools"], "model_info": {}, "template": "{{ .Tools }}"}
            self._send(Answer(pieces=(json.dumps(shown).encode(),)))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        line = self.server.lines[headers.pop(_HEADER)]
        received = Received(path=self.path, headers=headers, body=json.loads(data), at=time.monotonic())
        with self.server.lock:
            line.received.append(received)
            answering = line.answers[min(len(line.received), len(line.answers)) - 1]
        try:
            self._send(answering(self.path, received.body))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        is_broken = answer.end != "whole"
        pieces = answer.pieces[: max(1, len(answer.pieces) // 2)] if is_broken else answer.pieces
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        is_chunked = len(answer.pieces) != 1
        if is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            # A body that breaks off is half of what was announced.
            self.send_header("Content-Length", str(len(pieces[0])))
            if is_broken:
                pieces = (pieces[0][: len(pieces[0]) // 2],)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in pieces:
            self.server.closing.wait(answer.pause_s)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
            self.wfile.flush()
        match answer.end:
            case "reset":
                self._reset()
            case "stall":
                self._wait_until_it_hangs_up()
            case "cut" if not is_chunked:
                self.close_connection = True
            case _ if is_chunked:
                self.wfile.write(b"0\r\n\r\n")
            case _:
                pass

    def _reset(self) -> None:
        # What was sent is read first, or it would be lost with the connection.
        time.sleep(0.02)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _wait_until_it_hangs_up(self) -> None:
        self.close_connection = True
        end = time.monotonic() + _STALL_S
        self.connection.settimeout(0.1)
        while time.monotonic() < end and not self.server.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
