"""The handlers of signals, got and set quickly: each step of a run does it.

It must not know what a handler does.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

# The bare functions: those of `signal` spend ten times as long on finding a name for the handler.
_bare: Any = sys.modules.get("_signal", signal)
set_handler: Callable[[int, Any], Any] = _bare.signal
"""As `signal.signal`."""
get_handler: Callable[[int], Any] = _bare.getsignal
"""As `signal.getsignal`."""
