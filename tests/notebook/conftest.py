from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cells import Cells

from tests.notebook.doctor.machines import ROOT, Run


@pytest.fixture
def cells(shell, capsys) -> Cells:
    """A shell with our magics."""
    return Cells(shell, capsys)


@pytest.fixture
def run_doctor(tmp_path: Path) -> Run:
    """Runs `python -m agent_magic doctor` where nothing of this machine's person counts."""

    def run(
        *arguments: str,
        python: Path | str = sys.executable,
        path: tuple[Path | str, ...] = (),
        **environ: str,
    ) -> subprocess.CompletedProcess[str]:
        own = {
            "AGENT_MAGIC_CACHE": str(tmp_path / "cache"),
            "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
            "JUPYTER_DATA_DIR": str(tmp_path / "data"),
            "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT))),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            **environ,
        }
        kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        return subprocess.run(
            [python, "-m", "agent_magic", "doctor", *arguments],
            capture_output=True, text=True, check=False, env={**kept, **own}, cwd=tmp_path, timeout=120,
        )  # fmt: skip

    return run


@pytest.fixture
def no_embedded_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking into 98 MB of weights again and again would take most of the time."""
    monkeypatch.setenv("AGENT_MAGIC_CACHE", str(tmp_path / "cache"))
