from __future__ import annotations

import pytest
from lab import write_notebook

pytestmark = pytest.mark.browser


def test_driver_runs_cells_and_reads_their_outputs(lab, lab_folder):
    write_notebook(lab_folder / "plain.ipynb", ["#md # Title", "x = 6\nprint('said')\nx * 7", "1 / 0"])
    lab.open("plain.ipynb")
    lab.run(1)
    lab.run(2)
    assert [output["output_type"] for output in lab.outputs(1)] == ["stream", "execute_result"]
    assert lab.outputs(2)[0]["ename"] == "ZeroDivisionError"
    assert lab.complaints == []
