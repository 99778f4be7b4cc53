"""Machines that the doctor looks at, as a test makes them.

It must not know what the doctor says of them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_magic.core.version import __version__

ROOT = Path(__file__).resolve().parents[3]
OLD = Path(os.environ.get("OLD_JUPYTER", ROOT / ".venv-old/bin/python"))
"""Python of an environment with the oldest JupyterLab and ipykernel that are supported."""
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
MANAGER = "@jupyter-widgets/jupyterlab-manager"

Run = Callable[..., subprocess.CompletedProcess[str]]


def skip(reason: str) -> None:
    """Skip the test; in CI it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def masked(text: str, folder: Path) -> str:
    """The text without what differs from machine to machine."""
    text = text.replace(str(folder), "FOLDER").replace(str(ROOT), "SOURCES").replace(__version__, "OURS")
    return re.sub(r"(?!127\.0\.0\.1)\b\d+(?:\.\d+)+", "N", text)


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """The findings of a call with `--json`, by check."""
    assert done.stderr == ""
    return {row["check"]: row for row in json.loads(done.stdout)}


def fake_package(folder: Path, name: str, version: str) -> Path:
    """A folder in which an installer has noted a package of this version."""
    noted = folder / f"{name}-{version}.dist-info" / "METADATA"
    noted.parent.mkdir(parents=True)
    noted.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    return folder


def add_extension(data: Path, name: str, version: str = "1.0", *, is_whole: bool = True) -> None:
    """An extension where JupyterLab looks for it."""
    folder = data / "labextensions" / name
    (folder / "static").mkdir(parents=True)
    about = {"name": name, "version": version, "jupyterlab": {"_build": {"load": "static/remote.js"}}}
    (folder / "package.json").write_text(json.dumps(about), encoding="utf-8")
    if is_whole:
        (folder / "static" / "remote.js").write_text("", encoding="utf-8")
