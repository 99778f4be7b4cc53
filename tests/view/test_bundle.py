from __future__ import annotations

import json
import time

import pytest
from inline_snapshot import snapshot
from view.markup import Page
from view.samples import action, call, plan, run, running_draft, small_run

from agent_magic.core.events import StepEnded
from agent_magic.core.steps import Fault, PlanDiff
from agent_magic.record.run import to_record
from agent_magic.record.schema import RUN_MIME, Json
from agent_magic.view.bundle import DrawnSteps, step_to_bundle, to_bundle, to_live_bundle


def file_size(bundle: dict[str, Json]) -> int:
    """Bytes that an output takes in a notebook file."""
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("")])
    notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", bundle)]
    return len(nbformat.writes(notebook).encode())


def many_steps(n_steps: int, text: str) -> object:
    return run(
        *(
            action(n, call("look", {"text": text, "n": n}, f"c{n}", observation=text), model_output=text)
            for n in range(1, n_steps + 1)
        )
    )


def test_bundle_has_four_forms() -> None:
    record = to_record(small_run())
    bundle = to_bundle(record)
    assert list(bundle) == [RUN_MIME, "text/html", "text/markdown", "text/plain"]
    assert bundle[RUN_MIME] is record
    assert to_bundle(record) == bundle


@pytest.mark.parametrize("text", ["plain words ", "<&\"'>\n", "漢字", "😀"])
@pytest.mark.parametrize("n_steps", [1, 100, 101, 5_000])
def test_bundle_is_under_800_kilobytes_in_a_notebook_file(n_steps: int, text: str) -> None:
    bundle = to_bundle(to_record(many_steps(n_steps, text * 500)))
    assert file_size(bundle) < 800_000
    assert Page(bundle["text/html"]).is_balanced


def test_bundle_shows_titles_only_above_100_steps() -> None:
    page = Page(to_bundle(to_record(many_steps(101, "seen it all")))["text/html"])
    assert page.elements.count("details") == 1
    assert 'look(text="seen it all", n=101) → seen it all' in page.text


def test_bundle_says_how_many_steps_are_not_shown() -> None:
    bundle = to_bundle(to_record(many_steps(5_000, "seen")))
    for form in ("text/html", "text/markdown", "text/plain"):
        assert "steps not shown here …" in bundle[form]


def test_bundle_has_each_of_10_steps_in_every_form() -> None:
    bundle = to_bundle(to_record(many_steps(10, "seen")))
    for form in ("text/html", "text/markdown", "text/plain"):
        assert all(f"n={n})" in bundle[form] for n in range(1, 11))


def test_live_bundle_while_a_tool_runs() -> None:
    bundle = to_live_bundle(running_draft("Compare the islands.").to_record())
    assert bundle["text/plain"] == snapshot("""\
Compare the islands. · running · Compare the islands.
step 2 of 20 · 501 tokens in, 40 out · cost unknown · 0 ms
! Compare the islands.
 1  look(at="Compare the islands.") → Compare the islands.  [501 tokens in, 40 out · 1.2 s]
 2  calling Compare the islands. …\
""")
    assert Page(bundle["text/html"]).text == snapshot("""\
Compare the islands. running Compare the islands.step 2 of 20 · 501 tokens in, 40 out · cost unknown · 0 ms⚠ Compare the islands.
1.2 s 1look(at="Compare the islands.") → Compare the islands.look at"Compare the islands."ObservationCompare the islands.501 tokens in, 40 out
●2calling Compare the islands. …Compare the islands.Compare the islands.(at="Compare the islands.") → …\
""")


def test_live_bundle_draws_only_what_is_new() -> None:
    draft = running_draft("Look.")
    for n in range(2, 101):
        draft.add(
            StepEnded(
                step=action(
                    n, call("look", {"n": n}, f"c{n}", observation="seen " * 400), model_output="so " * 300
                )
            )
        )
    drawn: DrawnSteps = {}
    bundle = to_live_bundle(draft.to_record(), drawn=drawn)
    n_drawn = len(drawn)
    assert to_live_bundle(draft.to_record(), drawn=drawn)["text/html"] == bundle["text/html"]
    assert len(drawn) == n_drawn
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        to_live_bundle(draft.to_record(), drawn=drawn)
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.05
    assert len(json.dumps(bundle)) < 100_000


def test_live_bundle_is_small_when_the_run_is_long() -> None:
    draft = running_draft("Look.")
    for n in range(2, 1_001):
        draft.add(StepEnded(step=action(n, call("look", {"n": n}, f"c{n}", observation="seen"))))
    bundle = to_live_bundle(draft.to_record())
    assert len(json.dumps(bundle)) < 100_000
    assert "940 steps not shown here" in bundle["text/html"]


def test_quiet_live_bundle_has_header_and_progress_only() -> None:
    bundle = to_live_bundle(running_draft("Look.").to_record() | {"is_quiet": True})
    assert bundle["text/plain"] == snapshot("""\
Look. · running · Look.
step 2 of 20 · 501 tokens in, 40 out · cost unknown · 0 ms
! Look.
 2  calling Look. …\
""")


def test_step_bundle() -> None:
    step = to_record(
        run(action(2, call("look", {"n": 1}, fault=Fault(kind="ToolError", message="No.\nTry 2."))))
    )["steps"][0]
    bundle = step_to_bundle(step)
    assert list(bundle) == ["text/html", "text/markdown", "text/plain"]
    assert bundle["text/plain"] == snapshot("""\
 2  look(n=1) ✗ ToolError  [502 tokens in, 40 out · 1.2 s]
    look
        n = 1
        error ToolError
            No.
            Try 2.\
""")
    assert Page(bundle["text/html"]).is_balanced


def test_step_bundle_of_a_plan() -> None:
    bundle = step_to_bundle(to_record(run(plan(3, "1. Look.")))["steps"][0])
    assert bundle["text/plain"] == snapshot("""\
    Plan: 1 step  [300 tokens in, 60 out · 0.4 s]
    plan
        1. Look.\
""")
    assert Page(bundle["text/html"]).text == snapshot("0.4 s Plan: 1 step1. Look.300 tokens in, 60 out")
    assert bundle["text/markdown"] == snapshot("""\
**Plan** `1 step` · `300 tokens in, 60 out · 0.4 s`

*Plan*

```text
1. Look.
```\
""")


@pytest.mark.parametrize("n_steps", [50, 500])
def test_bundle_is_under_800_kilobytes_with_a_plan_before_each_step(n_steps: int) -> None:
    steps = [
        step
        for n in range(1, n_steps + 1)
        for step in (
            plan(n, "1. <look>\n" * 200, model_output="x", is_first=False, diff=PlanDiff(added=("y",) * 200)),
            action(n, call("look", {"n": n}, f"c{n}", observation="seen " * 200)),
        )
    ]
    record = to_record(run(*steps))
    assert record["n_steps"] == n_steps
    assert record["steps_left_out"] == 2 * n_steps - len(record["steps"])
    assert file_size(to_bundle(record)) < 800_000
