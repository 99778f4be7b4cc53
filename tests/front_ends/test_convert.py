from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

QUICKSTART = Path(__file__).resolve().parents[2] / "notebooks/quickstart.ipynb"


def _convert(folder: Path, form: str) -> str:
    command = [sys.executable, "-m", "nbconvert", "--to", form, "--stdout", str(QUICKSTART)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, timeout=120).stdout


def test_saved_run_opens_in_a_page_made_by_nbconvert(tmp_path):
    page = _convert(tmp_path, "html")
    asked = sum("%%agent" in cell.source for cell in nbformat.read(QUICKSTART, as_version=4).cells)
    assert page.count('class="agent-magic') >= asked
    assert "<details" in page
    summaries = [
        html.unescape(re.sub(r"<[^>]+>", "", found)) for found in re.findall(r"<summary.*?</summary>", page)
    ]
    assert any('flipper_length(species="Gentoo") → 217.2' in summary for summary in summaries)


@pytest.mark.parametrize("form", ["markdown", "script"])
def test_saved_run_survives_conversion_to_text(tmp_path, form):
    text = _convert(tmp_path, form)
    assert "How long are the flippers of Gentoo penguins?" in text
