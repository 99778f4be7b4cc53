"""Closes the widgets that a test left open; it must not make any."""

from __future__ import annotations

import contextlib

from ipywidgets.widgets import widget


def close_widgets() -> None:
    """Close all widgets of this process."""
    for one in list(widget._instances.values()):
        # No kernel runs here, but another test of the process may have loaded its registry of comms.
        with contextlib.suppress(KeyError):
            one.close()
