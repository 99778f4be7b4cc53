from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from lab import SHOTS, write_notebook
from playwright.sync_api import expect
from views import RECORD, row_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

ROOT = Path(__file__).resolve().parents[2]
SETUP = """\
%load_ext agent_magic
from agent_magic import ScriptedModel
from palmerpenguins import load_penguins

penguins = load_penguins()

def mean_mass(species: str) -> float:
    \"\"\"Mean body mass of a species, in grams.

    Args:
        species: its name.
    \"\"\"
    return round(penguins.loc[penguins.species == species, "body_mass_g"].mean(), 1)

m = ScriptedModel([
    ScriptedModel.calls(("mean_mass", {"species": "Gentoo"}), ("mean_mass", {"species": "Adelie"})),
    ScriptedModel.final("Gentoo penguins are heavier: 5076.0 g against 3700.7 g."),
])"""
ASK = """\
%%agent analyst --model @m --as answer
Which are heavier, Gentoo or Adelie penguins? Use @mean_mass on @penguins."""


def test_run_is_shown_and_its_step_opens(lab, lab_folder):
    write_notebook(lab_folder / "run.ipynb", [SETUP, ASK, "answer"])
    lab.open("run.ipynb")
    lab.run(0)
    lab.run(1)
    shown = lab.area(1)
    expect(shown.get_by_text("Gentoo penguins are heavier").first).to_be_visible()
    row = row_of(shown, 1)
    expect(row.get_by_text("Observation")).to_have_count(0)
    toggle_of(row).click()
    expect(row.get_by_text("Observation").first).to_be_visible()
    expect(row.get_by_text("5076.0", exact=True)).to_be_visible()
    expect(row.get_by_text("3700.7", exact=True)).to_be_visible()
    expect(shown.get_by_role("button", name="What the model gets next")).to_be_visible()
    expect(shown.get_by_role("button", name="Undo last change")).to_have_count(0)
    lab.run(2)
    assert (
        lab.outputs(2)[0]["data"]["text/plain"] == "'Gentoo penguins are heavier: 5076.0 g against 3700.7 g.'"
    )
    assert lab.complaints == []


def test_run_stays_in_the_saved_notebook_without_a_kernel(lab, lab_folder):
    write_notebook(lab_folder / "saved.ipynb", [SETUP, ASK])
    lab.open("saved.ipynb")
    lab.run(0)
    lab.run(1)
    lab.save()
    lab.shut_down_kernel()
    (output, *_) = nbformat.read(lab_folder / "saved.ipynb", as_version=4).cells[1].outputs
    assert set(output.data) == {RECORD, "text/html", "text/markdown", "text/plain"}
    assert json.dumps(output.data[RECORD])
    lab.page.goto("about:blank")
    lab.open("saved.ipynb", wait_for_kernel=False)
    expect(lab.area(1).get_by_text("Gentoo penguins are heavier").first).to_be_visible()
    expect(row_of(lab.area(1), 1)).to_be_visible()


def test_run_streams_into_one_output(lab, lab_folder):
    slow = SETUP.replace("ScriptedModel([", "ScriptedModel(latency_s=6, replies=[")
    write_notebook(lab_folder / "stream.ipynb", [slow, ASK])
    lab.open("stream.ipynb")
    lab.run(0)
    lab.start(1)
    # The second reply is still awaited when the first step can be read.
    expect(row_of(lab.area(1), 1).get_by_text("5076")).to_be_visible(timeout=20_000)
    assert [output["output_type"] for output in lab.outputs(1)] == ["display_data"]
    assert lab.outputs(1)[0]["data"][RECORD]["status"] == "running"
    lab.wait_for_end(1)
    assert [output["output_type"] for output in lab.outputs(1)] == ["display_data", "execute_result"]
    assert lab.outputs(1)[0]["data"][RECORD]["status"] == "answered"


def test_stop_button_ends_a_run_and_the_next_cell_works(lab, lab_folder):
    wait = "import time\ndef wait_long(n: int) -> str:\n    'Wait.'\n    time.sleep(n)\n    return 'done'\n"
    model = "m = ScriptedModel([ScriptedModel.calls(('wait_long', {'n': 60})), ScriptedModel.final('well')])"
    cells = [
        f"{SETUP}\n{wait}{model}",
        "%%agent analyst --model @m\nWait with @wait_long.",
        "%%agent analyst\nAnd now?",
    ]
    write_notebook(lab_folder / "stop.ipynb", cells)
    lab.open("stop.ipynb")
    lab.run(0)
    lab.start(1)
    expect(lab.area(1).get_by_text(re.compile("wait_long")).first).to_be_visible(timeout=10_000)
    lab.interrupt()
    lab.wait_for_end(1, timeout_s=10)
    assert lab.outputs(1)[-1]["ename"] == "KeyboardInterrupt"
    lab.run(2)
    expect(lab.area(2).get_by_text("well").first).to_be_visible()


@pytest.mark.embedded
def test_quickstart_works_with_the_embedded_model(lab, lab_folder):
    (lab_folder / "quickstart.ipynb").write_bytes((ROOT / "notebooks/quickstart.ipynb").read_bytes())
    lab.open("quickstart.ipynb")
    code = [place for place, cell in enumerate(lab.cells()) if cell["cell_type"] == "code"]
    for place in code[:4]:
        lab.run(place, timeout_s=120)
    question = code[3]
    shown = lab.area(question)
    toggle_of(row_of(shown, 1)).click()
    expect(row_of(shown, 1).get_by_text("Observation")).to_be_visible()
    record = lab.outputs(question)[0]["data"][RECORD]
    assert record["model"] == "local/smollm2-135m"
    assert record["answer"] == {"type": "float", "text": "217.2"}
    # The picture in the README is this one; without the marks of the active cell.
    lab.select(question + 1)
    lab.page.mouse.move(0, 0)
    lab.page.locator(".jp-Cell").nth(question).screenshot(path=SHOTS / "run.png")
