from __future__ import annotations

from inline_snapshot import snapshot
from view.samples import FIRST_PLAN, START, plan, planned_run

from agent_magic.core.steps import Fault, PlanDiff
from agent_magic.record.limits import Limits
from agent_magic.record.notes import to_laid_on
from agent_magic.record.plan import to_plan_record


def test_plan_record_of_a_first_plan() -> None:
    assert to_plan_record(plan(1, FIRST_PLAN, reasoning=" Three steps will do.\n")) == snapshot(
        {
            "kind": "plan",
            "step_number": 1,
            "duration_s": 0.4,
            "plan": """\
1. Look at the islands.
2. Compare the means.
3. Answer.\
""",
            "reasoning": "Three steps will do.",
            "n_items": 3,
            "usage": {
                "input_tokens": 300,
                "output_tokens": 60,
                "cached_tokens": 0,
                "reasoning_tokens": None,
                "cost_usd": None,
            },
        }
    )


def test_plan_record_of_an_edited_plan_has_its_diff_and_the_original() -> None:
    assert to_plan_record(
        planned_run().plans[1],
        notes=[{"text": "from step 2"}],
        laid_on=to_laid_on(edited_by="person", edited_at=START),
    ) == snapshot(
        {
            "kind": "plan",
            "step_number": 2,
            "duration_s": 0.4,
            "plan": """\
1. Compare the means.
2. Count the sexes.
3. Answer.\
""",
            "original": """\
1. Compare the means.
2. Answer.\
""",
            "n_items": 3,
            "diff": {
                "n_added": 1,
                "n_dropped": 1,
                "n_kept": 2,
                "added": ["2. Count the sexes."],
                "dropped": ["1. Look at the islands."],
                "kept": ["1. Compare the means.", "3. Answer."],
            },
            "usage": {
                "input_tokens": 300,
                "output_tokens": 60,
                "cached_tokens": 0,
                "reasoning_tokens": None,
                "cost_usd": None,
            },
            "notes": [{"text": "from step 2"}],
            "laid_on": {"edited_by": "person", "edited_at": "2027-01-15T08:00:00.000+00:00"},
        }
    )


def test_plan_record_of_a_failed_call_keeps_what_was_written() -> None:
    fault = Fault(kind="Interrupted", message="Stopped by you.")
    record = to_plan_record(plan(4, model_output="1. Lo", is_first=False, fault=fault, token_usage=None))
    assert record == snapshot(
        {
            "kind": "plan",
            "step_number": 4,
            "duration_s": 0.4,
            "plan": "",
            "original": "1. Lo",
            "error": {"kind": "Interrupted", "message": "Stopped by you."},
        }
    )


def test_plan_record_counts_the_items_of_the_outermost_list() -> None:
    text = "We go on so:\n1. Look\n   - here\n      - and there\n2) Count\n- Answer\nNo item. 3. Nor this."
    assert to_plan_record(plan(1, text)).get("n_items") == 4


def test_plan_record_is_small_and_counts_all_lines_of_a_long_diff() -> None:
    lines = tuple(f"{n}. {'word ' * 100}" for n in range(1_000))
    step = plan(2, "\n".join(lines), is_first=False, diff=PlanDiff(added=lines, dropped=lines, kept=lines))
    record = to_plan_record(step, Limits(chars=200, items=3))
    diff = record.get("diff")
    assert diff is not None
    assert (diff["n_added"], diff["n_dropped"], diff["n_kept"]) == (1_000, 1_000, 1_000)
    assert [len(diff["added"]), len(diff["dropped"]), len(diff["kept"])] == [3, 3, 3]
    assert len(str(record)) < 3_000
