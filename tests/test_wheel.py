from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """A wheel and a source distribution of a copy of the tree."""
    folder = tmp_path_factory.mktemp("dist")
    copy = folder / "tree"
    kept = (
        "agent_magic",
        "notebooks",
        "tests",
        ".github",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".gitignore",
    )
    for name in kept:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "dist")]
    subprocess.run(build, cwd=copy, check=True, capture_output=True)
    return folder / "dist"


def test_wheel_holds_the_package_its_data_and_the_quickstart(dist):
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        names = archive.namelist()
    package = {
        f"agent_magic/{file.relative_to(ROOT / 'agent_magic').as_posix()}"
        for file in (ROOT / "agent_magic").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == package | {"agent_magic/notebooks/quickstart.ipynb"}
    assert "agent_magic/py.typed" in inside


def test_sdist_can_be_built_and_tested_from(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "notebooks/quickstart.ipynb",
        "tests/conftest.py",
    } <= names
    assert not {name for name in names if "__pycache__" in name or name.endswith(".pyc")}
