"""What the doctor says of the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_magic.notebook.doctor.disk import journal
from agent_magic.notebook.doctor.finding import Scene
from tests.notebook.doctor.machines import masked

pytestmark = pytest.mark.usefixtures("no_embedded_model")


def test_folder_for_runs_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    found = journal(Scene(folder=tmp_path / "file"))
    assert (found.status, masked(found.text, tmp_path), found.fix) == snapshot(
        (
            "warning",
            "runs are not kept on disk: FOLDER/file is no folder",
            "Let one of these be written, set XDG_STATE_HOME to a folder that can, or say %config AgentMagics.journal = False.",
        )
    )


def test_folder_for_runs_is_not_made_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = journal(Scene(folder=tmp_path))
    assert masked(found.text, tmp_path) == snapshot("FOLDER/.agent_magic can be written")
    assert list(tmp_path.iterdir()) == []
