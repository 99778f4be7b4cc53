"""What this notebook gives to `agent_magic.view.widget`: its kernel, and panels that follow agents.

It must stay light: it is put there when the extension is loaded, before anything is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_magic.notebook.cell.answers import takes_input
from agent_magic.notebook.kernel import control_channel
from agent_magic.view import host
from agent_magic.view.drawing_code import is_built

if TYPE_CHECKING:
    from agent_magic.view.agent_widget import AgentWidget

_CELL_ENDED = "post_run_cell"


class NotebookHost:
    """The notebook of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._is_heard = False

    def kernel_id(self) -> str:
        """The id by which a server knows this kernel; empty if none does."""
        return control_channel.kernel_id()

    def harden(self, comm: Any) -> None:
        """Let a widget's own messages be taken while a cell runs, as far as ipykernel can."""
        control_channel.harden(comm)

    def open_panel(self, agent: Any) -> AgentWidget:
        """A new widget that shows an agent, and follows it."""
        from agent_magic.notebook.live import live_panel  # noqa: PLC0415 - widgets take 0.1 s to import

        if not self._is_heard:
            # A cell may have changed anything: functions that are tools, variables, the memory.
            self._shell.events.register(_CELL_ENDED, live_panel.look_at_all)
            self._is_heard = True
        return live_panel.open_panel(agent)

    def end(self) -> None:
        """Follow no agent any more."""
        if self._is_heard:
            from agent_magic.notebook.live import live_panel  # noqa: PLC0415 - it is imported by now

            self._shell.events.unregister(_CELL_ENDED, live_panel.look_at_all)
            live_panel.end_all()
            self._is_heard = False


def install(shell: Any) -> None:
    """Let `agent_magic.view.widget` show agents."""
    host.put(NotebookHost(shell))


def uninstall() -> None:
    """Let it not."""
    known = host.current()
    if isinstance(known, NotebookHost):
        known.end()
        host.take_off()


def shows_widgets(shell: Any) -> bool:
    """Whether a person looks at this notebook, in a front end that can draw a widget of ours.

    Where nobody looks, a widget would leave nothing but its state behind.
    """
    return hasattr(shell, "kernel") and takes_input(shell) and is_built()


def mime_of(widget: Any) -> dict[str, Any]:
    """The forms of a widget without its text."""
    bundle = widget._repr_mimebundle_()
    data: dict[str, Any] = bundle[0] if isinstance(bundle, tuple) else bundle or {}
    return {mime: form for mime, form in data.items() if mime != "text/plain"}
