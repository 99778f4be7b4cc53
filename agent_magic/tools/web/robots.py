"""robots.txt: what the hosts of pages let programs read.

It must not open connections: whoever asks fetches the file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx
from protego import Protego

from agent_magic.core.errors import ToolError
from agent_magic.tools.web.address import show_url

ROBOT_NAME = "agent-magic"
"""The name by which a robots.txt speaks of us."""
MAX_BYTES = 512_000
"""Of a robots.txt; the rest of a longer one is not read."""
_KEPT_S = 3_600.0
_MOST_HOSTS = 200

Fetch = Callable[[httpx.URL], tuple[int, str]]
"""Gives the status and the text of a robots.txt."""


class Robots:
    """The rules of the hosts that were asked, each kept for an hour."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: dict[str, tuple[float, Protego | None]] = {}

    def check(self, url: httpx.URL, fetch: Fetch) -> None:
        """Ask whether a page may be read by a program.

        Raises:
            ToolError: It may not, or its host failed to say so (RFC 9309: then nothing may be read).
        """
        rules = self._rules_of(url, fetch)
        if rules is not None and not rules.can_fetch(str(url), ROBOT_NAME):
            raise ToolError(
                f"{show_url(str(url))} was not read: the robots.txt of {url.host} does not let programs read it. "
                "Take another source, or name the page in your answer for the person to read."
            )

    def _rules_of(self, url: httpx.URL, fetch: Fetch) -> Protego | None:
        """The rules of a host; None if it has none."""
        where = url.copy_with(raw_path=b"/robots.txt")
        origin = str(where)
        with self._lock:
            kept = self._rules.get(origin)
        if kept is not None and time.monotonic() - kept[0] < _KEPT_S:
            return kept[1]
        status, text = fetch(where)
        if status >= 500:
            raise ToolError(
                f"{show_url(str(url))} was not read: {url.host} failed to give its robots.txt (status {status}), "
                "so it is not known whether programs may read it. Take another source, or try once more later."
            )
        rules = Protego.parse(text) if 200 <= status < 300 else None
        with self._lock:
            self._rules[origin] = (time.monotonic(), rules)
            while len(self._rules) > _MOST_HOSTS:
                del self._rules[next(iter(self._rules))]
        return rules
