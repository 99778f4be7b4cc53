"""RunWidget: a run as one ipywidget, drawn by the TypeScript bundle in `static/`.

It must not know an agent: it is given a snapshot, sends messages, and hands on what pages ask.
"""

from __future__ import annotations

from collections.abc import Sequence

import traitlets

from agent_magic.view.page_widget import PageWidget
from agent_magic.view.protocol import VERSION, Batch, Message


class RunWidget(PageWidget):
    """A run, or one step of it. It goes wherever a DOMWidget goes.

    Everything that a page draws comes from `snapshot` and from the messages after it.
    """

    kind = traitlets.Unicode("run").tag(sync=True)

    def tell(self, messages: Sequence[Message]) -> None:
        """Send what is new; several messages go as one."""
        if len(messages) == 1:
            self.send(messages[0])
        elif messages:
            self.send(Batch(v=VERSION, kind="batch", messages=list(messages)))
