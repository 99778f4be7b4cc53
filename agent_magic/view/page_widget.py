"""PageWidget: what the widgets of runs and of agents have in common.

It must not know what is shown, nor who does what a page asks: the board hands it on.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from agent_magic.core.values import Value
from agent_magic.view.control import BOARD
from agent_magic.view.drawing_code import NOT_BUILT, read_built
from agent_magic.view.protocol import VERSION, AgentSnapshot, Reply, Snapshot


class PageWidget(anywidget.AnyWidget):
    """Drawn by the TypeScript bundle in `static/`, from `snapshot` and the messages after it."""

    kind = traitlets.Unicode("").tag(sync=True)
    """`run` or `agent`."""
    snapshot = traitlets.Dict().tag(sync=True)
    nonce = traitlets.Unicode("").tag(sync=True)
    """Stands in what the views of this widget ask for; empty: they may ask for nothing."""
    kernel_id = traitlets.Unicode("").tag(sync=True)
    is_live = traitlets.Bool(False).tag(sync=True)
    """What is shown goes on, and is told of."""

    def __init__(self, snapshot: Snapshot | AgentSnapshot, **traits: Value) -> None:
        # Texts of the bundle, not its path: anywidget would watch a path for changes in a thread.
        self._esm = read_built("run.js") or _MISSING
        self._css = read_built("run.css")
        super().__init__(snapshot=snapshot, **traits)
        self.on_msg(_answer)


_MISSING = f"export default {{ render({{ el }}) {{ el.textContent = {NOT_BUILT!r}; }} }};"


def _answer(widget: PageWidget, content: Any, buffers: Any) -> None:
    """Answer a request that came over the widget's own comm."""
    del buffers
    if not isinstance(content, dict) or content.get("kind") != "request":
        return
    request = content.get("request")
    reply: Reply = BOARD.handle(request)
    asked_as = request.get("id") if isinstance(request, dict) else None
    widget.send({"v": VERSION, "kind": "reply", "id": asked_as, "reply": reply})
