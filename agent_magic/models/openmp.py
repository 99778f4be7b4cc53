"""The OpenMP runtime that the embedded model's engine wants, where the system has none.

The engine's Linux wheel links to `libgomp.so.1`, which bare systems lack and which only root can
install. Wheels of other packages carry a copy; one of them is fetched, by hash, and its own name
inside is set back to the one that the engine looks for. It must not touch any installed package.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from agent_magic.models.pinned_wheel import (
    DownloadError,
    Out,
    PinnedWheel,
    cache_folder,
    fetch_wheel,
    folder_beside,
    sha256_of,
)

NAME = "libgomp.so.1"
_BY_HAND = "Install it: apt-get install libgomp1, or dnf install libgomp."
_SOURCE = "pykdtree==1.4.3"  # the smallest wheel that has it: 0.5 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """The runtime for one kind of machine."""

    wheel: PinnedWheel
    sha256: str
    """Of the library with its name set."""


def is_missing() -> bool:
    """Whether the engine would not find an OpenMP runtime: neither the system's nor ours."""
    return sys.platform == "linux" and not _can_load(NAME) and not _can_load(str(_path()))


def load_openmp() -> None:
    """Make the runtime known to the loader, before the engine is imported; the system's own goes first."""
    if sys.platform == "linux" and not _can_load(NAME):
        _can_load(str(_path()))


def provide_openmp(out: Out = print) -> None:
    """Fetch the runtime into the cache if it is missing.

    Raises:
        DownloadError: There is none for this machine, or it could not be fetched.
    """
    if not is_missing():
        return
    build = build_for(platform.machine())
    if build is None:
        raise DownloadError(
            f"The engine needs {NAME}, which this system lacks, and there is none to fetch for {platform.machine()!r}.\n"
            + _BY_HAND
        )
    out(f"Fetching {NAME}, which this system lacks: 0.5 MB, in {build.wheel.file_name}, with pip …")
    fetch_openmp(build, _path(), out)


def fetch_openmp(build: _Build, target: Path, out: Out) -> None:
    """Put the runtime at `target`, whole or not at all."""
    with folder_beside(target) as folder:
        with zipfile.ZipFile(fetch_wheel(build.wheel, folder, out)) as archive:
            library = _renamed(archive.read(build.wheel.member), Path(build.wheel.member).name)
        if hashlib.sha256(library).hexdigest() != build.sha256:
            raise DownloadError(
                f"{build.wheel.file_name} does not hold the expected {NAME}. Nothing was kept."
            )
        whole = folder / NAME
        whole.write_bytes(library)
        whole.replace(target)


def build_for(machine: str) -> _Build | None:
    """What there is for a machine, as `platform.machine()` names it."""
    return _BUILDS.get(machine)


def _renamed(library: bytes, packed_name: str) -> bytes:
    """The library with its own name inside it set to `NAME`; a shorter text, so nothing moves."""
    packed = packed_name.encode() + b"\0"
    return library.replace(packed, NAME.encode().ljust(len(packed), b"\0"))


def _path() -> Path:
    return cache_folder() / NAME


@functools.cache
def _is_ours_right(path: str) -> bool:
    build = build_for(platform.machine())
    return build is not None and sha256_of(Path(path)) == build.sha256


def _can_load(library: str) -> bool:
    if "/" in library and not (Path(library).is_file() and _is_ours_right(library)):
        return False
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


def _build(machine: str, *, wheel: str, library: str, member: str) -> _Build:
    tag = f"manylinux_2_28_{machine}"
    return _Build(
        wheel=PinnedWheel(
            requirement=_SOURCE,
            file_name=f"pykdtree-1.4.3-cp311-cp311-manylinux2014_{machine}.manylinux_2_17_{machine}.{tag}.whl",
            sha256=wheel,
            member=f"pykdtree.libs/{member}",
            instead=_BY_HAND,
            # The library does not depend on the Python that the wheel is for.
            pip_arguments=(
                "--python-version=3.11",
                "--implementation=cp",
                "--abi=cp311",
                f"--platform={tag}",
            ),
        ),
        sha256=library,
    )


_BUILDS = {
    "x86_64": _build(
        "x86_64",
        wheel="44d2e1b6a3d02b5cf9646bf754931fdacb869cefd328242766e1dc0be909cca1",
        library="9022a6601f576222c9be1d14fa5996cd1633661d8607ceda2f06625730403cd6",
        member="libgomp-870cb1d0.so.1.0.0",
    ),
    "aarch64": _build(
        "aarch64",
        wheel="bd3a4454b8f86ce22f7b92b4bc53e309817b0d3602afff8c9a17fde1bd6dd3f0",
        library="607db8cfb4b61df0a6c7aa1273ce18415cf18986ffcf16930a83ba786a108a74",
        member="libgomp-947d5fa1.so.1.0.0",
    ),
}
