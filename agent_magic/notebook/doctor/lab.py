"""What JupyterLab of this Python would find of an extension: its folder, its version, whether it is on.

It reads the folders in which JupyterLab looks, in the same order. It must not import JupyterLab, which
takes seconds, nor anything of Jupyter unless it is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agent_magic.core.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class LabExtension:
    """An extension that JupyterLab finds."""

    name: str
    folder: Path
    version: str
    is_whole: bool
    """The file that JupyterLab loads first is there."""
    disabled_by: str | None
    """The entry of its configuration that turns it off, or a part of it: a name or a pattern."""


def find_extension(name: str) -> LabExtension | None:
    """The extension of that name in the first folder that has it; None if JupyterLab finds none."""
    for root in _paths("labextensions"):
        about = _read(root / name / "package.json")
        if about.get("name") == name:
            build = _part(_part(about, "jupyterlab"), "_build")
            load = build.get("load")
            return LabExtension(
                name=name,
                folder=root / name,
                version=str(about.get("version")),
                is_whole=isinstance(load, str) and (root / name / load).is_file(),
                disabled_by=next(_entries_against(name), None),
            )
    return None


def _paths(folder: str) -> list[Path]:
    """Where Jupyter looks for data of a kind, or for its configuration; the first goes before the others."""
    try:
        from jupyter_core import paths  # noqa: PLC0415 - it comes with JupyterLab, which may be missing
    except ImportError:
        return []
    found = paths.jupyter_path(folder) if folder else paths.jupyter_config_path()
    return list(map(Path, found))


def _entries_against(name: str) -> Iterator[str]:
    """The entries that turn an extension off, as JupyterLab reads them."""
    entries: dict[str, Value] = {}
    for file in _configurations():
        value = _read(file).get("disabledExtensions") or {}
        entries.update(value if isinstance(value, dict) else dict.fromkeys(cast("list[str]", value), True))
    for entry, is_off in entries.items():
        if is_off and (entry == name or entry.startswith(f"{name}:") or _matches(entry, name)):
            yield entry


def _configurations() -> Iterator[Path]:
    """The files that can turn an extension off; what stands in a later one counts."""
    for data in reversed(_paths("lab")):
        yield data / "settings" / "page_config.json"
    for folder in reversed(_paths("")):
        yield from sorted((folder / "labconfig" / "page_config.d").glob("*.json"))
        yield folder / "labconfig" / "page_config.json"


def _matches(entry: str, name: str) -> bool:
    try:
        return re.match(entry, name) is not None
    except re.error:
        return False


def _read(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _part(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    part = mapping.get(key)
    return cast("dict[str, Any]", part) if isinstance(part, dict) else {}
