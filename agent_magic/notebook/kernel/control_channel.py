"""Requests of pages on the kernel's control channel: answered while a cell runs.

ipykernel hands a widget's own messages out only between cells; its control thread is free always. It
must not do what is asked: the board of the view does, and only sets what a run takes up.
"""

from __future__ import annotations

import re
import sys
from typing import Any

REQUEST = "agent_magic_request"
REPLY = "agent_magic_reply"


def install(shell: Any) -> None:
    """Take requests, where the shell is a kernel's."""
    kernel: Any = getattr(shell, "kernel", None)
    handlers = getattr(kernel, "control_handlers", None)
    if not isinstance(handlers, dict):
        return

    def answer(stream: Any, ident: Any, parent: Any) -> None:
        kernel.session.send(stream, REPLY, handle(parent.get("content")), parent, ident)

    handlers[REQUEST] = answer


def uninstall(shell: Any) -> None:
    """Take no requests any more."""
    handlers = getattr(getattr(shell, "kernel", None), "control_handlers", None)
    if isinstance(handlers, dict):
        handlers.pop(REQUEST, None)


def handle(request: Any) -> Any:
    """The reply to a request."""
    control = sys.modules.get("agent_magic.view.control")
    if control is None:  # nothing was run yet; loading it here would hold up what the control thread is for
        return {"v": 1, "ok": False, "error": "This kernel has run no agent yet."}
    return control.BOARD.handle(request)


def harden(comm: Any) -> None:
    """Let a widget's own messages be taken while a cell runs, as far as ipykernel can.

    ipykernel 7.4 hands a message to the shell that wrote last to its comm, which is the busy one; and
    a comm's `handle_msg` ends as a cell does, by which a figure that is being drawn is closed. Both
    are private to ipykernel, so where they have changed nothing is done.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _data, default: default

    def handle_msg(message: Any) -> None:
        callback = getattr(comm, "_msg_callback", None)
        if callback is not None:
            callback(message)

    if hasattr(comm, "_msg_callback") and hasattr(comm, "handle_msg"):
        comm.handle_msg = handle_msg


def kernel_id() -> str:
    """The id by which a server knows this kernel; empty if there is none."""
    connect = sys.modules.get("ipykernel.connect")
    if connect is None:
        return ""
    try:
        file = connect.get_connection_file()
    except RuntimeError:  # a kernel inside another application
        return ""
    found = re.search(r"kernel-([\w-]+)\.json$", file)
    return found[1] if found else ""
