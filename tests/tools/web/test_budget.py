"""What a tool may read of the web in one run."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.current_run import in_run
from agent_magic.core.errors import ToolError
from agent_magic.tools.web.budget import Budget


def refusal(budget: Budget) -> str:
    with pytest.raises(ToolError) as caught:
        budget.take_page("visit_webpage")
    return caught.value.message


def test_budget_counts_pages_of_each_run_apart():
    budget = Budget(max_pages=2, max_chars=100, max_total_chars=1_000)
    for run_id in ("one", "other"):
        with in_run(run_id):
            for _ in range(2):
                budget.take_page("visit_webpage")
            assert refusal(budget) == snapshot(
                "visit_webpage is used up: 2 of 2 pages in this run. Answer from what you have, and say what is missing."
            )


def test_budget_cuts_to_what_is_left_of_the_characters():
    budget = Budget(max_pages=9, max_chars=200, max_total_chars=300)
    with in_run("one"):
        budget.take_page("visit_webpage")
        assert 200 - 9 < len(budget.cut("x" * 1_000)) <= 200
        budget.take_page("visit_webpage")
        assert 100 - 9 < len(budget.cut("x" * 1_000)) <= 100
        assert refusal(budget) == snapshot(
            "visit_webpage is used up: 298 of 300 characters in this run. Answer from what you have, and say what is missing."
        )
    with in_run("other"):
        budget.take_page("visit_webpage")


def test_calls_of_a_person_are_not_counted():
    budget = Budget(max_pages=1, max_chars=100, max_total_chars=100)
    for _ in range(3):
        budget.take_page("visit_webpage")
        assert 100 - 9 < len(budget.cut("x" * 1_000)) <= 100
