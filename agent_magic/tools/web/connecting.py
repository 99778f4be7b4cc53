"""Connections that reach only machines that may be reached, and end when their time is up.

It must not know HTTP. What was checked is what is connected to: a name is resolved once for a
connection, all its addresses are checked, and the connection goes to one of these.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from agent_magic.core.errors import ToolError
from agent_magic.tools.web.address import IP, show_url, why_closed

Resolve = Callable[[str, int], list[str]]
"""Gives the addresses of a host; raises `OSError` if there are none."""

_MOST_ADDRESSES = 16
_MOST_TRIED = 4
_CONNECT_S = 5.0
"""Of one address, where others are left."""


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Deadline:
    """A moment at which whatever waits is given up."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        """In all."""
        self._end = time.monotonic() + seconds

    def left(self, at_most: float | None = None) -> float:
        """Seconds that are left.

        Args:
            at_most: However many there are.

        Raises:
            httpcore.ReadTimeout: None are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if at_most is None else min(left, at_most)


class CheckedNetwork(httpcore.NetworkBackend):
    """The network as far as it may be reached.

    Args:
        deadline: For all that is done through it.
        url: The page that it is for, as errors name it.
        allow_private: See `why_closed`.
        resolve: How names become addresses.
    """

    def __init__(self, deadline: Deadline, url: str, *, allow_private: bool, resolve: Resolve) -> None:
        self._deadline = deadline
        self._url = url
        self._allow_private = allow_private
        self._resolve = resolve
        self._system = httpcore.SyncBackend()

    def check(self, host: str, port: int) -> list[IP]:
        """The addresses of a host, all of which may be reached.

        Raises:
            ToolError: There is no such host, or one of its addresses is closed.
        """
        self._deadline.left()
        try:
            found = [ipaddress.ip_address(address.partition("%")[0]) for address in self._resolve(host, port)]
        except (OSError, ValueError, UnicodeError):
            found = []
        if not found:
            raise ToolError(
                f"{show_url(self._url)} was not read: no host of the name {host!r} was found. "
                "Check the spelling, or search for the page."
            )
        addresses = list(dict.fromkeys(found))[:_MOST_ADDRESSES]
        for address in addresses:
            reason = why_closed(address, allow_private=self._allow_private)
            if reason is not None:
                named = str(address) if str(address) == host else f"{host} is {address}, which"
                is_ever = why_closed(address, allow_private=True) is None
                raise ToolError(
                    f"{show_url(self._url)} was not read: {named} is {reason}, and only public addresses are read"
                    f"{' unless the person sets allow_private=True' * is_ever}. "
                    "Take another source, or say in your answer what could not be read."
                )
        return addresses

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to one of the addresses that were checked."""
        addresses = self.check(host, port)[:_MOST_TRIED]
        for place, address in enumerate(addresses, start=1):
            is_last = place == len(addresses)
            seconds = self._deadline.left(timeout if is_last else _CONNECT_S)
            try:
                stream = self._system.connect_tcp(str(address), port, seconds, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if is_last:
                    raise
                continue
            return _TimedStream(stream, self._deadline)
        raise httpcore.ConnectError


class _TimedStream(httpcore.NetworkStream):
    """A stream that waits no longer than to the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return _TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
