"""The doctor's checks of the disk: the folder in which runs are kept, the room for the embedded model.

They must not leave a folder behind where no run has been.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from agent_magic.models.download import is_downloaded
from agent_magic.models.pinned_wheel import CACHE_VARIABLE, cache_folder
from agent_magic.notebook.doctor.finding import Found, Scene, ok, warning
from agent_magic.record.journal_folder import FOLDER, own_folder

_NEEDED_BYTES = 300_000_000
"""What fetching the weights takes for a moment."""


def journal(scene: Scene) -> Found:
    """Whether runs can be kept on disk."""
    if scene.magics is not None and not scene.magics.journal:
        return ok("off, by %config AgentMagics.journal")
    places = [scene.folder / FOLDER] if scene.folder is not None else []
    faults: list[str] = []
    for place in (*places, own_folder()):
        fault = _fault_of(place)
        if fault is None:
            return ok(f"{place} can be written")
        faults.append(fault)
    return warning(
        f"runs are not kept on disk: {'; '.join(dict.fromkeys(faults))}",
        "Let one of these be written, set XDG_STATE_HOME to a folder that can, or say %config AgentMagics.journal = False.",
    )


def disk(scene: Scene) -> Found:
    """Whether the embedded model's weights would fit where they are kept."""
    del scene
    if is_downloaded():
        return ok(f"the weights are in {cache_folder()} already")
    folder = next(place for place in (cache_folder(), *cache_folder().absolute().parents) if place.exists())
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES:
        return warning(
            f"{free // 1_000_000} MB are free in {folder}, and the embedded model needs {_NEEDED_BYTES // 1_000_000} for a moment",
            f"Free some, or set {CACHE_VARIABLE} to another folder.",
        )
    return ok("there is room for the embedded model")


def _fault_of(place: Path) -> str | None:
    """Why a folder cannot be written, or not be made; None if it can."""
    nearest = next(
        folder for folder in (place, *place.absolute().parents) if folder.exists() or folder.is_symlink()
    )
    if place.is_symlink():
        return f"{place} is a link"
    if not nearest.is_dir():
        return f"{nearest} is no folder"
    try:
        with tempfile.TemporaryFile(dir=nearest) as file:
            file.write(b"\n")
            file.flush()
    except OSError as error:
        return f"{nearest} cannot be written ({error.strerror})"
    return None
