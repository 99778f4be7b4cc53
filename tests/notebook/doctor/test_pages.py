"""What the doctor says of what pages draw with: the widget manager and our own extension."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_magic.core.version import __version__
from agent_magic.notebook.doctor.finding import Found, Scene
from agent_magic.notebook.doctor.lab import find_extension
from agent_magic.notebook.doctor.pages import extension, widget_manager
from tests.notebook.doctor.machines import MANAGER, add_extension, masked

pytestmark = pytest.mark.usefixtures("no_embedded_model")


@pytest.fixture
def jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which JupyterLab looks first."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("JUPYTER_PREFER_ENV_PATH")
    return tmp_path / "share"


def disable(folder: Path, *names: str, as_list: bool = False) -> None:
    """What `jupyter labextension disable` writes."""
    file = folder / "config" / "labconfig" / "page_config.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = list(names) if as_list else dict.fromkeys(names, True)
    file.write_text(json.dumps({"disabledExtensions": entries}), encoding="utf-8")


def test_disabled_widget_manager_is_told_with_what_enables_it(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, MANAGER)
    add_extension(jupyter, "anywidget")
    assert widget_manager(Scene()).status == "ok"
    disable(tmp_path, MANAGER)
    assert widget_manager(Scene()) == snapshot(
        Found(
            status="failure",
            text="@jupyter-widgets/jupyterlab-manager is disabled in JupyterLab, by the entry '@jupyter-widgets/jupyterlab-manager': runs stand there in their static form, without a live view",
            fix="jupyter labextension enable @jupyter-widgets/jupyterlab-manager, and reload the page",
        )
    )


@pytest.mark.parametrize("as_list", [False, True])
def test_disabled_part_of_our_extension_is_told(jupyter: Path, tmp_path: Path, as_list: bool):
    add_extension(jupyter, "agent-magic", __version__)
    disable(tmp_path, "agent-magic:bridge", "another", as_list=as_list)
    found = extension(Scene())
    assert found.status == "warning"
    assert found.fix == snapshot("jupyter labextension enable agent-magic:bridge, and reload the page")


def test_extension_that_is_enabled_again_counts_as_enabled(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, "agent-magic", __version__)
    file = tmp_path / "config" / "labconfig" / "page_config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"disabledExtensions": {"agent-magic": false, "(": true}}', encoding="utf-8")
    found = find_extension("agent-magic")
    assert found is not None
    assert found.disabled_by is None


def test_extension_of_another_version_is_told(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, "agent-magic", "0.0.1")
    found = extension(Scene())
    assert (found.status, masked(found.text, tmp_path)) == snapshot(
        ("failure", "the one in FOLDER/share/labextensions/agent-magic is of version N, and OURS runs here")
    )
    assert masked(found.fix or "", tmp_path) == snapshot(
        "python -m pip install --force-reinstall --no-deps SOURCES, and reload the page"
    )


def test_half_an_extension_is_told(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, "agent-magic", __version__, is_whole=False)
    found = extension(Scene())
    assert (found.status, masked(found.text, tmp_path)) == snapshot(
        ("failure", "the one in FOLDER/share/labextensions/agent-magic is not whole, and OURS runs here")
    )
