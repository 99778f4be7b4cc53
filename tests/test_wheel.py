from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from wheels import ROOT, build, copy_tree, env_of, install, programs, site_of

from agent_magic.core.version import __version__

SHARED = f"agent_magic-{__version__}.data/data/share/jupyter/labextensions/agent-magic"


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """A wheel and a source distribution of a copy of the tree, with the view that is built there."""
    subprocess.run([sys.executable, "labextension/build.py", "build"], cwd=ROOT, check=True, timeout=500)
    if not (ROOT / "agent_magic/view/static/run.js").is_file():
        pytest.skip("live view not built: there is no node")  # in CI the command failed
    tree = copy_tree(tmp_path_factory.mktemp("dist") / "tree", is_built=True)
    return build(tree, "sdist", "wheel")[0]


def test_wheel_holds_the_package_its_data_the_quickstart_and_the_live_view(dist):
    inside = _names(next(dist.glob("*.whl")))
    package = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "agent_magic").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    extension = {name for name in package if name.startswith("agent_magic/labextension/")}
    shared = {name.replace("agent_magic/labextension", SHARED) for name in extension}
    assert inside == package - extension | shared | {
        "agent_magic/notebooks/quickstart.ipynb",
        f"{SHARED}/install.json",
    }
    assert {
        "agent_magic/py.typed",
        "agent_magic/view/static/run.js",
        "agent_magic/view/static/run.css",
        f"{SHARED}/package.json",
    } <= inside
    assert [name for name in inside if re.fullmatch(rf"{SHARED}/static/remoteEntry\.\w+\.js", name)]


def test_sdist_can_be_built_and_tested_from(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "agent_magic/labextension/package.json",
        "agent_magic/view/static/run.js",
        "labextension/build.py",
        "labextension/package-lock.json",
        "labextension/src/protocol.ts",
        "notebooks/quickstart.ipynb",
        "tests/conftest.py",
    } <= names
    assert not {name for name in names if "__pycache__" in name or name.endswith(".pyc")}
    assert not {name for name in names if name.startswith(("labextension/node_modules", "labextension/lib/"))}


def test_wheel_of_the_sdist_is_the_same_and_needs_no_node(dist, tmp_path):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    built, said = build(tree, "wheel", env={"PATH": programs(tmp_path / "bin")})
    assert "live view" not in said
    assert _names(next(built.glob("*.whl"))) == _names(next(dist.glob("*.whl")))


def test_changed_source_is_not_packaged_with_what_was_built_before(dist, tmp_path):
    tree = copy_tree(tmp_path / "tree", is_built=True)
    (tree / "labextension/style/run.css").write_text("", encoding="utf-8")
    built, said = build(tree, "wheel", env={"PATH": programs(tmp_path / "bin")})
    assert "live view not built: Install node" in said
    assert _view_in(next(built.glob("*.whl"))) == []


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        (
            {},
            snapshot(
                "live view not built: Install node 20.19 or newer with npm, then install again. Until then runs are shown in their static form."
            ),
        ),
        (
            {"node": "echo v18.20.4", "npm": ":"},
            snapshot(
                "live view not built: node here is v18.20.4. Install node 20.19 or newer with npm, then install again. Until then runs are shown in their static form."
            ),
        ),
        (
            {"node": "echo v22.12.0", "npm": "echo no network; exit 1"},
            snapshot("""\
live view not built: `BIN/npm ci --ignore-scripts --no-audit --no-fund` failed. Runs are shown in their static form.
no network
"""),
        ),
    ],
    ids=["no node", "old node", "npm fails"],
)
def test_wheel_is_built_without_the_live_view_where_node_cannot(tmp_path, scripts, expected):
    tree = copy_tree(tmp_path / "tree", is_built=False)
    path = programs(tmp_path / "bin", **scripts)
    built, said = build(tree, "wheel", env={"PATH": path})
    assert _warning(said).replace(path, "BIN") == expected
    assert _view_in(next(built.glob("*.whl"))) == []


def test_wheel_is_built_without_the_live_view_when_the_builder_is_skipped(tmp_path):
    tree = copy_tree(tmp_path / "tree", is_built=False)
    path = programs(tmp_path / "bin", node="touch called", npm="touch called")
    built, said = build(tree, "wheel", env={"PATH": path, "SKIP_JUPYTER_BUILDER": "1"})
    wheel = next(built.glob("*.whl"))
    assert "live view" not in said
    assert not (tree / "labextension/called").exists()
    assert _view_in(wheel) == []
    asked = "import agent_magic.view.drawing_code as made; print(made.__file__, made.is_built())"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=tmp_path,
        env=env,
        check=True,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.stdout.split() == [str(tmp_path / "site/agent_magic/view/drawing_code.py"), "False"]


def _warning(said: str) -> str:
    lines = re.sub(r"\x1b\[[\d;]*m", "", said).splitlines()
    first = next(at for at, line in enumerate(lines) if "live view" in line)
    return "\n".join(line for line in lines[first:] if not line.startswith(("[", "dist/")))


def _view_in(wheel: Path) -> list[str]:
    return [name for name in _names(wheel) if "labextension" in name or "view/static" in name]


def test_installed_wheel_serves_the_extension_without_node(dist, tmp_path):
    environment = tmp_path / "environment"
    python = install(next(dist.glob("*.whl")), environment)
    env = env_of(environment)
    listed = subprocess.run(
        [python, "-m", "jupyterlab.labextensions", "list"],
        cwd=tmp_path,
        env=env,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )
    lines = [line.strip() for line in re.sub(r"\x1b\[[\d;]*m", "", listed.stdout).splitlines()]
    assert f"agent-magic v{__version__} enabled OK (python, agent-magic)" in lines
    asked = "import agent_magic.view.drawing_code as made; print(made.__file__, made.is_built())"
    done = subprocess.run(
        [python, "-c", asked], cwd=tmp_path, env=env, check=True, capture_output=True, text=True, timeout=500
    )
    assert done.stdout.split() == [str(site_of(environment) / "agent_magic/view/drawing_code.py"), "True"]
