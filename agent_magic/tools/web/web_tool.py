"""WebTool: the settings that all tools share that read the web.

It must not know what any of them reads.
"""

from __future__ import annotations

from agent_magic.core.errors import OptionError
from agent_magic.core.text import SHORTEST_CUT
from agent_magic.core.values import Value
from agent_magic.tools.tool import Tool
from agent_magic.tools.web.budget import Budget
from agent_magic.tools.web.connecting import Resolve, resolve
from agent_magic.tools.web.fetching import USER_AGENT, Fetcher, Limits

_BESIDE_S = 20.0
"""For what the wait does not count: a name that is resolved slowly, a long page that becomes text."""


class WebTool(Tool, is_abstract=True):
    """A tool that reads the web within limits.

    Args:
        max_pages: Readings that one run may make; a person's own calls are not counted.
        max_chars: Characters that one reading may give; of a longer text, head and tail.
        max_total_chars: Characters that all readings of one run may give.
        max_bytes: Bytes of a page that are read at all.
        max_wait_s: Seconds that one reading may take, redirects and robots.txt included.
        allow_private: Also read this machine and the networks around it, such as a server on
            localhost. Whatever asks for pages can read them then, without a password too.
        user_agent: How it presents itself to hosts.
        resolve: How names become addresses; by default as the system does it.

    Raises:
        OptionError: A setting cannot be.
    """

    def __init__(
        self,
        *,
        max_pages: int = 20,
        max_chars: int = 40_000,
        max_total_chars: int = 400_000,
        max_bytes: int = 2_000_000,
        max_wait_s: float = 20.0,
        allow_private: bool = False,
        user_agent: str = USER_AGENT,
        resolve: Resolve = resolve,
    ) -> None:
        kind = type(self).__name__
        _need(kind, "max_pages", max_pages, 1)
        _need(kind, "max_chars", max_chars, SHORTEST_CUT)
        _need(kind, "max_total_chars", max_total_chars, SHORTEST_CUT)
        _need(kind, "max_bytes", max_bytes, 1)
        if not max_wait_s > 0:
            raise OptionError(f"{kind}: max_wait_s is {max_wait_s!r}, expected seconds above 0, such as 20.")
        if not (user_agent.isascii() and user_agent.isprintable() and user_agent.strip()):
            raise OptionError(
                f"{kind}: user_agent is {user_agent!r}, expected one line of ASCII, such as 'my-project/1.0 (me@example.org)'."
            )
        self.budget = Budget(max_pages=max_pages, max_chars=max_chars, max_total_chars=max_total_chars)
        """What a run may still read."""
        limits = Limits(
            max_bytes=max_bytes, max_wait_s=max_wait_s, allow_private=allow_private, user_agent=user_agent
        )
        self.fetcher = Fetcher(limits=limits, resolve=resolve)
        """What reads."""
        if self.timeout_s is None:
            # With a limit it runs in a thread of its own, so an interrupt need not wait for a silent host.
            self.timeout_s = max_wait_s + _BESIDE_S


def _need(kind: str, name: str, value: Value, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{kind}: {name} is {value!r}, expected a whole number of at least {least:,}.")
