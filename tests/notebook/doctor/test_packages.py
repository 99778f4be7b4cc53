"""What the doctor says of packages that are missing, old or broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.notebook.doctor.machines import Run, fake_package, masked, rows

pytestmark = pytest.mark.usefixtures("no_embedded_model")


def test_old_ipykernel_is_told_with_the_line_that_replaces_it(run_doctor: Run, tmp_path: Path):
    done = run_doctor("--json", path=(fake_package(tmp_path / "old", "ipykernel", "6.20.2"),))
    assert done.returncode == 1
    assert rows(done)["ipykernel"] == snapshot(
        {
            "check": "ipykernel",
            "status": "failure",
            "found": "6.20.2 is older than 6.31, the oldest in which a run is known to be stopped and steered",
            "fix": "python -m pip install 'ipykernel>=6.31'",
        }
    )


def test_older_package_than_needed_is_told_with_the_line_that_replaces_it(run_doctor: Run, tmp_path: Path):
    path = tmp_path / "old"
    for name in ("pyyaml", "ipywidgets", "litellm", "xllamacpp"):
        fake_package(path, name, "0.1")
    found = rows(run_doctor("--json", path=(path,)))
    told = {check: row for check, row in found.items() if check in ("packages", "widgets", "LiteLLM")}
    assert told == snapshot(
        {
            "packages": {
                "check": "packages",
                "status": "failure",
                "found": "pyyaml is 0.1, needed is >=6; xllamacpp is 0.1, needed is <2027,>=2026.10.11549",
                "fix": "python -m pip install 'pyyaml>=6' 'xllamacpp<2027,>=2026.10.11549'",
            },
            "widgets": {
                "check": "widgets",
                "status": "failure",
                "found": "ipywidgets is 0.1, needed is >=8.1",
                "fix": "python -m pip install 'ipywidgets>=8.1'",
            },
            "LiteLLM": {
                "check": "LiteLLM",
                "status": "failure",
                "found": "litellm is 0.1, needed is >=1.80",
                "fix": "python -m pip install 'litellm>=1.80'",
            },
        }
    )


def test_other_version_than_the_installed_one_is_told(run_doctor: Run, tmp_path: Path):
    found = rows(run_doctor("--json", path=(fake_package(tmp_path / "other", "agent_magic", "9.9"),)))
    row = found["agent-magic"]
    assert masked(row["found"], tmp_path) == snapshot(
        "OURS runs here, from SOURCES/agent_magic, but N is installed"
    )
    assert (row["status"], masked(row["fix"], tmp_path)) == snapshot(
        ("failure", "python -m pip install --force-reinstall --no-deps SOURCES")
    )


def test_package_that_cannot_be_imported_leaves_the_other_checks(run_doctor: Run, tmp_path: Path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "jinja2.py").write_text("raise ImportError('jinja2 is broken')", encoding="utf-8")
    done = run_doctor("--json", path=(tmp_path / "broken",))
    assert done.returncode == 1
    found = rows(done)
    assert list(found) == ["Python", "agent-magic", "packages", "other checks"]
    assert found["other checks"] == snapshot(
        {
            "check": "other checks",
            "status": "failure",
            "found": "they cannot be made: jinja2 is broken",
            "fix": "Do what stands above, then ask again.",
        }
    )
