"""What a check of the doctor looks at, and what it found.

It must not look at anything itself, nor import more than the standard library and `core`: it is needed
most where something is missing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Status = Literal["ok", "warning", "failure"]
"""A warning: something works less well than it could. A failure: something that is asked for does not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where the doctor was called."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    magics: Any = None
    """Of the notebook; None in a terminal, where the checks of a notebook are left out."""
    folder: Path | None = None
    """The notebook's, if it is known."""
    ports: Sequence[int] | None = None
    """Where servers on loopback are looked for; None for the usual ones."""

    @property
    def shell(self) -> Any:
        """IPython's shell, or None."""
        return getattr(self.magics, "shell", None)

    @property
    def kernel(self) -> Any:
        """The notebook's kernel; None in a terminal."""
        return getattr(self.shell, "kernel", None)

    def pip(self, *requirements: str) -> str:
        """The line that installs something into this very Python."""
        quoted = " ".join(map(shlex.quote, requirements))
        if self.magics is None:
            return f"python -m pip install {quoted}"
        return f"%pip install {quoted}, then restart the kernel"

    def set_variable(self, name: str, verb: Literal["Set", "Correct"] = "Set") -> str:
        """How a variable gets a value, or another one, that is saved nowhere."""
        if self.magics is None:
            return f"{verb} {name} before Jupyter starts."
        return f"{verb} {name}: os.environ[{name!r}] = getpass.getpass(), or before Jupyter starts."


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one check came to."""

    status: Status
    text: str
    fix: str | None = None


Check = Callable[[Scene], Found | None]
"""Looks at one thing; None where there is nothing of the kind to look at."""


def ok(text: str) -> Found:
    """All is well."""
    return Found(status="ok", text=text)


def warning(text: str, fix: str) -> Found:
    """It works, but less well than it could."""
    return Found(status="warning", text=text, fix=fix)


def failure(text: str, fix: str) -> Found:
    """It does not work."""
    return Found(status="failure", text=text, fix=fix)
