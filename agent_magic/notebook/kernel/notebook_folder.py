"""Where the notebook is that a kernel serves.

It must not guess: a kernel that nobody has told it knows no notebook.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def folder_of_notebook(shell: Any) -> Path | None:
    """The folder of the notebook that the kernel serves, if somebody has told the kernel."""
    named = os.environ.get("JPY_SESSION_NAME") or shell.user_ns.get("__vsc_ipynb_file__")
    if not isinstance(named, str) or not named:
        return None
    file = Path(named)
    return file.parent if file.is_absolute() and file.parent.is_dir() else None
