"""Draws runs, agents and tools from their records; it draws a saved run with no agent there.

Importing it loads nothing heavy: `widget` and `traits` are fetched when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_magic.view.settings import traits
    from agent_magic.view.widget_of import widget

_HOMES = {"traits": "settings", "widget": "widget_of"}

__all__ = ["traits", "widget"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'agent_magic.view' has no attribute {name!r}")
    return getattr(importlib.import_module(f"agent_magic.view.{home}"), name)


def __dir__() -> list[str]:
    return __all__
