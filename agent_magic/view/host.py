"""Host: what a notebook gives to widgets, put here when the extension is loaded.

The view must not know the notebook, nor an agent; so that `widget(agent)` can be asked for here all
the same, the notebook says how a panel is made. It must stay light: loading imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agent_magic.view.agent_widget import AgentWidget


class Host(Protocol):
    """A notebook, to widgets."""

    def kernel_id(self) -> str:
        """The id by which a server knows this kernel; empty if none does."""
        ...

    def harden(self, comm: Any) -> None:
        """Let a widget's own messages be taken while a cell runs, as far as that can be."""
        ...

    def open_panel(self, agent: Any) -> AgentWidget:
        """A new widget that shows an agent, and follows it."""
        ...


_hosts: list[Host] = []


def current() -> Host | None:
    """The notebook; None in plain Python."""
    return _hosts[-1] if _hosts else None


def put(host: Host) -> None:
    """From now on this is the notebook."""
    _hosts[:] = [host]


def take_off() -> None:
    """There is no notebook any more."""
    _hosts.clear()
