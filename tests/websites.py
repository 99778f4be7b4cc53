"""A website on 127.0.0.1 from the standard library, for tools that read the web.

It must not know the tools.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit


@dataclass(slots=True, kw_only=True)
class Answer:
    """What a path answers."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that came."""

    path: str
    headers: dict[str, str]


class Website:
    """Answers GET by `answers`, by path; all else is 404, robots.txt too."""

    def __init__(self, **_: object) -> None:
        self.answers: dict[str, Answer | bytes | Callable[[], Answer]] = {}
        self.asked: list[Asked] = []
        """Requests, robots.txt left out."""
        self.n_robots = 0
        self.n_sent = 0
        """Bytes of streamed bodies that went out."""
        self.hung_up = threading.Event()
        """Set when a client left before a streamed body was over."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.site = self  # type: ignore[attr-defined] - how a handler finds us
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_port

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(60)


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        site: Website = self.server.site  # type: ignore[attr-defined]
        path = urlsplit(self.path).path
        if path == "/robots.txt":
            site.n_robots += 1
        else:
            site.asked.append(Asked(path=self.path, headers=dict(self.headers)))
        found = site.answers.get(path, Answer(status=404, body=b"no such page"))
        answer = found if isinstance(found, Answer | bytes) else found()
        if isinstance(answer, bytes):
            answer = Answer(body=answer)
        self.send_response(answer.status)
        if answer.type:
            self.send_header("Content-Type", answer.type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if isinstance(answer.body, bytes):
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        try:
            if isinstance(answer.body, bytes):
                self.wfile.write(answer.body)
                return
            for piece in answer.body:
                self.wfile.write(piece)
                site.n_sent += len(piece)
        except OSError:
            site.hung_up.set()
