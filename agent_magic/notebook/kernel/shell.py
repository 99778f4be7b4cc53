"""Shell: the part of IPython's InteractiveShell that this room uses, typed.

It must not import IPython.
"""

from __future__ import annotations

from typing import Any, Protocol

from agent_magic.core.values import Value


class ShellCompleter(Protocol):
    """IPython's completer."""

    custom_matchers: list[Any]
    """Matchers of the second interface, asked before IPython's own."""


class Shell(Protocol):
    """IPython's shell, in a terminal or in a kernel."""

    user_ns: dict[str, Value]
    """The notebook's variables."""
    user_ns_hidden: dict[str, Value]
    """Those that were put there by IPython or at its start, with the values they had then."""
    Completer: ShellCompleter
