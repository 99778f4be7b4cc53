"""AgentWidget: an agent's panel as one ipywidget, drawn by the TypeScript bundle in `static/`.

It must not know an agent: whoever follows one puts a new `snapshot` into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from agent_magic.view.page_widget import PageWidget
from agent_magic.view.protocol import AgentSnapshot


class AgentWidget(PageWidget):
    """An agent: settings, memory, state, tools. It goes wherever a DOMWidget goes.

    Args:
        on_close: Called once, when the widget is closed.
    """

    kind = traitlets.Unicode("agent").tag(sync=True)

    def __init__(
        self, snapshot: AgentSnapshot, *, on_close: Callable[[AgentWidget], None] | None = None, **traits: Any
    ) -> None:
        self._on_close = on_close
        super().__init__(snapshot, **traits)

    def close(self) -> None:
        """Take it off every page; it follows the agent no more."""
        super().close()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close(self)
