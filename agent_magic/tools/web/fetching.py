"""Fetching: one address read within limits, each redirect looked at before it is followed.

It must not understand what it reads.
"""

from __future__ import annotations

import ssl
import threading
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus

import httpcore
import httpx

from agent_magic.core.errors import ToolError
from agent_magic.core.text import first_line
from agent_magic.core.version import __version__
from agent_magic.tools.web import robots
from agent_magic.tools.web.address import parse_url, show_url
from agent_magic.tools.web.connecting import CheckedNetwork, Deadline, Resolve, resolve
from agent_magic.tools.web.robots import ROBOT_NAME, Robots

USER_AGENT = f"{ROBOT_NAME}/{__version__} (an agent in a Jupyter notebook reads this for a person)"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_TEXT = ("text/", "application/json", "application/xml", "application/xhtml+xml", "application/javascript")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one fetch may take."""

    max_bytes: int = 2_000_000
    """Of a body, unpacked; the rest is not read."""
    max_wait_s: float = 20.0
    """For all of it: robots.txt, redirects, body."""
    allow_private: bool = False
    """Also read this machine and the networks around it."""
    user_agent: str = USER_AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What an address gave."""

    url: httpx.URL
    """Where it was found, after redirects."""
    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes
    is_cut: bool = False
    """The body was longer."""

    @property
    def media_type(self) -> str:
        """Such as `text/html`; empty if it does not say."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """As its header names it."""
        _, found, rest = self.headers.get("content-type", "").lower().partition("charset=")
        return rest.partition(";")[0].strip(" \"'") or None if found else None


@dataclass(slots=True, kw_only=True)
class Fetcher:
    """Reads addresses; safe to use from several threads."""

    limits: Limits = field(default_factory=Limits)
    resolve: Resolve = resolve
    """How names become addresses."""
    _robots: Robots = field(default_factory=Robots)

    def fetch(
        self, text: str, *, headers: Mapping[str, str] | None = None, asks_robots: bool = True
    ) -> Fetched:
        """What an address gives, wherever it leads to; text only.

        Args:
            text: The address.
            headers: To be sent to that host alone, not to one that it leads to.
            asks_robots: False for an address that is there for programs, or for one of the person's.

        Raises:
            ToolError: It could not be read, and why; the text is for the model.
        """
        url = parse_url(text)
        deadline = Deadline(self.limits.max_wait_s)
        first = url
        for _ in range(_MOST_REDIRECTS + 1):
            is_first_host = (url.scheme, url.host, url.port) == (first.scheme, first.host, first.port)
            network = self._network(deadline, str(url))
            with _telling(str(url), deadline):
                if asks_robots:
                    network.check(url.host, _port_of(url))
                    self._robots.check(
                        url, lambda where, page=str(url): self._robots_of(where, page, deadline)
                    )
                fetched = _get(url, network, self.limits, headers or {} if is_first_host else {})
            if fetched.status not in _REDIRECTS or "location" not in fetched.headers:
                return _checked(fetched)
            url = parse_url(fetched.headers["location"], base=url)
        raise ToolError(
            f"{show_url(text)} was not read: it leads from one address to the next, more than {_MOST_REDIRECTS} times. "
            "Take another source."
        )

    def _network(self, deadline: Deadline, page: str) -> CheckedNetwork:
        return CheckedNetwork(deadline, page, allow_private=self.limits.allow_private, resolve=self.resolve)

    def _robots_of(self, url: httpx.URL, page: str, deadline: Deadline) -> tuple[int, str]:
        limits = Limits(max_bytes=robots.MAX_BYTES, user_agent=self.limits.user_agent)
        for _ in range(_MOST_REDIRECTS + 1):
            fetched = _get(url, self._network(deadline, page), limits, {})
            if fetched.status not in _REDIRECTS or "location" not in fetched.headers:
                return fetched.status, fetched.body.decode("utf-8-sig", "replace")
            url = parse_url(fetched.headers["location"], base=url)
        return HTTPStatus.NOT_FOUND, ""


def _get(url: httpx.URL, network: CheckedNetwork, limits: Limits, headers: Mapping[str, str]) -> Fetched:
    """One request, on a connection of its own."""
    sent: Mapping[str | bytes, str | bytes] = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": limits.user_agent,
        "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.1",
        "Accept-Encoding": "gzip",
        "Connection": "close",
        **headers,
    }
    seconds = limits.max_wait_s
    waits = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
    with (
        httpcore.ConnectionPool(ssl_context=_ssl_context(), network_backend=network) as pool,
        pool.stream("GET", str(url), headers=sent, extensions={"timeout": waits}) as response,
    ):
        got = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        fetched = Fetched(url=url, status=response.status, headers=got, body=b"")
        if not 200 <= response.status < 300 or not _is_text(fetched.media_type):
            return fetched  # the body is not even read
        body, is_cut = _read(
            _unpacked(response.iter_stream(), got.get("content-encoding", ""), str(url), limits.max_bytes),
            limits.max_bytes,
        )
        return Fetched(url=url, status=response.status, headers=got, body=body, is_cut=is_cut)


def _read(chunks: Iterable[bytes], max_bytes: int) -> tuple[bytes, bool]:
    """The first bytes, and whether there are more."""
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


def _unpacked(chunks: Iterable[bytes], encoding: str, url: str, max_bytes: int) -> Iterator[bytes]:
    """The chunks as they were before packing, none of them ever larger than the limit by much."""
    match encoding.strip().lower():
        case "" | "identity":
            yield from chunks
            return
        case "gzip" | "x-gzip":
            unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        case "deflate":
            unpacker = zlib.decompressobj()
        case other:
            raise ToolError(
                f"{show_url(url)} was sent packed as {first_line(other, 40)!r}, which was not asked for and cannot be read. "
                "Take another source."
            )
    n_left = max_bytes + 1
    try:
        for chunk in chunks:
            piece = unpacker.decompress(chunk, n_left)
            yield piece
            n_left -= len(piece)
            if n_left <= 0:
                return
        yield unpacker.flush()
    except zlib.error:
        raise ToolError(
            f"{show_url(url)} was sent broken: it could not be unpacked. Take another source."
        ) from None


def _checked(fetched: Fetched) -> Fetched:
    """What was fetched, if it is a text.

    Raises:
        ToolError: It is none, or the host did not give it.
    """
    url, status = show_url(str(fetched.url)), fetched.status
    if 200 <= status < 300:
        if _is_text(fetched.media_type):
            return fetched
        raise ToolError(
            f"{url} is of the type {first_line(fetched.media_type, 80)!r}, and only pages and text are read. "
            "Take a page that tells the same, or name the address in your answer."
        )
    words = HTTPStatus(status).phrase if status in _STATUSES else "unknown"
    what = f"{url} was not read: {fetched.url.host} answered {status} ({words})."
    if status in (404, 410):
        raise ToolError(f"{what} There is no such page: check the address, or search for it.")
    if status in (401, 402, 403, 451):
        raise ToolError(f"{what} It does not let everybody read it: take another source.")
    if status in (429, 503):
        wait = first_line(fetched.headers.get("retry-after", ""), 40)
        when = f"after {wait} s" if wait.isdigit() else "later"
        raise ToolError(f"{what} It is asked too much: try again {when}, once, or take another source.")
    if status >= 500:
        raise ToolError(f"{what} The fault is its own: try once more later, or take another source.")
    raise ToolError(f"{what} Take another source.")


_STATUSES = frozenset(HTTPStatus)


def _is_text(media_type: str) -> bool:
    return not media_type or media_type.startswith(_TEXT) or media_type.endswith(("+xml", "+json"))


@contextmanager
def _telling(url: str, deadline: Deadline) -> Generator[None]:
    """Faults of the network as a model is told of them."""
    shown = show_url(url)
    try:
        yield
    except httpcore.TimeoutException:
        raise ToolError(
            f"{shown} took longer than {deadline.seconds:g} s and was given up. Take another source, or try once more."
        ) from None
    except httpcore.ConnectError as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise ToolError(
                f"{shown} was not read: its host could not prove that it is the one it says. Take another source."
            ) from None
        kind = "no secure connection" if "SSL" in str(error) else "no connection"
        raise ToolError(
            f"{shown} was not read: its host takes {kind}. Check the address, or take another source."
        ) from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        raise ToolError(
            f"{shown} was not read: the connection broke off ({first_line(str(error), 100) or type(error).__name__}). "
            "Try once more, or take another source."
        ) from None


def _port_of(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


_ssl_lock = threading.Lock()


def _ssl_context() -> ssl.SSLContext:
    with _ssl_lock:
        return _made_ssl_context()


@cache
def _made_ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()
