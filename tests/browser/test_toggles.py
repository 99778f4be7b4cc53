"""Toggles turned in a cell that runs: the next step, and the request that is recorded, obey.

On the newest JupyterLab and ipykernel, and on the oldest ones that are supported.
"""

from __future__ import annotations

import re

import pytest
from lab import write_notebook
from playwright.sync_api import expect
from runs import LOAD, ask

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

RECORD = "application/vnd.agent-magic.run.v1+json"
VERSIONS = "import ipykernel, jupyterlab; print(ipykernel.__version__, jupyterlab.__version__)"
REQUESTS = "for r in analyst.memory.requests: print(r.step_number, r.kind, r.projection.summary_mode)"
# Plans are made where the person asks for them, so replies go by what is asked for.
ACTS = """
acts = iter([*prices(6, 1.5), final('Oslo')])
m = ScriptedModel([lambda request: next(acts) if request.kind == 'act' else PLAN] * 20)
"""


@pytest.mark.parametrize("environment", ["new", "old"])
def test_toggles_take_effect_while_the_cell_runs(environment, lab, old_lab, lab_folder):
    lab = lab if environment == "new" else old_lab()
    write_notebook(lab_folder / f"{environment}.ipynb", [VERSIONS, LOAD + ACTS, ask(), REQUESTS])
    lab.open(f"{environment}.ipynb")
    lab.run(0)
    versions = lab.outputs(0)[0]["text"]
    assert re.match(r"6\.31\S* 4\.3" if environment == "old" else r"[7-9]\S* 4\.[6-9]", versions), versions
    lab.run(1)
    lab.start(2)
    shown = lab.area(2)
    expect(shown.get_by_text(re.compile("mean_price")).first).to_be_visible(timeout=15_000)
    # Step 1 is running, for a second and a half.
    shown.get_by_label("Steps between plans").fill("1")
    shown.get_by_label("Replanning", exact=True).check()
    shown.get_by_role("combobox", name=re.compile("summary_mode")).select_option("all")
    expect(shown.get_by_text("from the next call").first).to_be_visible(timeout=1_000)
    said = shown.get_by_text(re.compile(r"from step \d")).first
    expect(said).to_be_visible(timeout=1_000)
    first_planned = int(re.search(r"from step (\d)", said.inner_text())[1])
    expect(shown.get_by_text(re.compile("^Plan: ")).nth(1)).to_be_visible(timeout=20_000)
    shown.get_by_label("Replanning", exact=True).uncheck()
    lab.wait_for_end(2)
    record = lab.outputs(2)[0]["data"][RECORD]
    plans = [step["step_number"] for step in record["steps"] if "plan" in step]
    assert plans[:2] == [first_planned, first_planned + 1]
    assert plans[-1] < record["n_steps"], "replanning was turned off, and there was a plan all the same"
    assert record["status"] == "answered"
    lab.run(3)
    requests = [line.split() for line in lab.outputs(3)[0]["text"].splitlines()]
    acts = [(int(number), mode == "True") for number, kind, mode in requests if kind == "act"]
    switched = [number for number, is_summary in acts if is_summary]
    assert switched, "the summary view was never sent"
    assert switched == list(range(switched[0], acts[-1][0] + 1))
    assert acts[0] == (1, False)
    if environment == "new":  # the old JupyterLab misses a file of its own
        assert lab.complaints == []
