from __future__ import annotations

import pytest
from view.samples import plan, run

from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import CheckResult
from agent_magic.record.plan import to_plan_record
from agent_magic.record.run import to_record
from agent_magic.record.step import to_usage
from agent_magic.view import words


@pytest.mark.parametrize(
    ("cost_usd", "text"),
    [
        (None, "cost unknown"),
        (0.0, "$0"),
        (0.00315, "$0.0032"),
        (0.00000001, "under $0.0001"),
        (12.3456, "$12.35"),
    ],
)
def test_cost_is_said_as_it_is_known(cost_usd: float | None, text: str) -> None:
    assert words.cost(cost_usd) == text


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0.0, "0 ms"),
        (0.0123, "12 ms"),
        (4.24, "4.2 s"),
        (59.9, "60 s"),
        (200.4, "3 min 20 s"),
        (7_260, "2 h 1 min"),
    ],
)
def test_seconds_in_fitting_units(duration_s: float, text: str) -> None:
    assert words.seconds(duration_s) == text


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (TokenUsage(), "tokens unknown"),
        (TokenUsage(input_tokens=1_204, output_tokens=None), "1,204 tokens in, unknown out"),
        (TokenUsage(input_tokens=10, output_tokens=2, cached_tokens=4), "10 tokens in (4 cached), 2 out"),
        (
            TokenUsage(input_tokens=9, output_tokens=5, reasoning_tokens=3),
            "9 tokens in, 5 out (3 reasoning)",
        ),
    ],
)
def test_tokens_are_said_as_they_are_known(usage: TokenUsage, text: str) -> None:
    assert words.tokens(to_usage(usage)) == text


@pytest.mark.parametrize(
    ("laid_on", "labels"),
    [
        (None, []),
        ({}, []),
        ({"form": "no_images"}, ["sent without images"]),
        ({"form": "short_observations", "is_pinned": True}, ["sent shortened: observation", "pinned"]),
        ({"form": "line"}, ["sent as one line"]),
        ({"form": "left_out"}, ["not sent"]),
        ({"form": "line", "view": "hidden"}, ["hidden from the model"]),
        ({"view": "summary", "form": "line"}, ["summary view", "sent as one line"]),
        ({"view": "full"}, ["full view"]),
        ({"edited_by": "person"}, ["edited by person"]),
        (
            {"edited_by": "person", "edited_at": "2027-01-15T08:00:00.000+00:00"},
            ["edited by person, 2027-01-15 08:00 UTC"],
        ),
    ],
)
def test_labels_say_how_a_model_is_shown_a_step(laid_on: object, labels: list[str]) -> None:
    assert words.labels(laid_on) == labels


def test_labels_of_a_step_count_its_warnings() -> None:
    step = to_plan_record(plan(1, "1. Look."), notes=[{"text": "a", "is_warning": True}, {"text": "b"}])
    assert words.step_labels(step) == ["1 warning"]


def asked_of(*names: str) -> object:
    """A question about calls of these tools."""
    return {
        "id": "q",
        "items": [{"id": f"q-{n}", "kind": "call", "name": name} for n, name in enumerate(names)],
    }


@pytest.mark.parametrize(
    ("now", "text"),
    [
        ({"doing": "planning"}, "planning"),
        ({"doing": "thinking"}, "thinking"),
        ({"doing": "paused"}, "paused"),
        (
            {"doing": "paused", "waiting": {"reason": "coffee", "delay_s": None, "attempt": 0}},
            "paused (coffee)",
        ),
        (
            {"doing": "waiting", "waiting": {"reason": "rate limit", "delay_s": 2.0, "attempt": 1}},
            "waiting 2 s (rate limit)",
        ),
        ({"doing": "thinking", "writing": [{"name": "look", "arguments": ""}]}, "writing a call of look"),
        (
            {
                "doing": "thinking",
                "writing": [{"name": name, "arguments": ""} for name in ("look", "list", "look")],
            },
            "writing a call of look, list",
        ),
        ({"doing": "thinking", "writing": [{"name": "", "arguments": ""}]}, "writing a call"),
        ({"doing": "asking", "asked": asked_of("look")}, "waiting for your approval of look"),
        (
            {"doing": "asking", "asked": asked_of("look", "look", "list")},
            "waiting for your approval of look and list",
        ),
        (
            {"doing": "asking", "asked": asked_of("a", "b", "c", "d", "e")},
            "waiting for your approval of a, b, c and 2 more",
        ),
        (
            {
                "doing": "asking",
                "asked": {"id": "q", "items": [{"id": "q-0", "kind": "plan", "plan": "1. Look."}]},
            },
            "waiting for your approval of the plan",
        ),
        (
            {
                "doing": "asking",
                "asked": {
                    "id": "q",
                    "items": [{"kind": "call", "name": "a", "verdict": "approved"}, {"name": "b"}],
                },
            },
            "waiting for your approval of b",
        ),
    ],
)
def test_now_in_words(now: object, text: str) -> None:
    assert words.now_words(now) == text


@pytest.mark.parametrize(
    ("status", "verified", "text"),
    [
        ("answered", "unchecked", "Answer"),
        ("answered", "yes", "Answer"),
        ("answered", "no", "Refused by a check, no answer"),
        ("max_steps", "yes", "Best guess, no answer"),
        ("budget", "unchecked", "Best guess, no answer"),
    ],
)
def test_value_is_an_answer_only_if_nothing_speaks_against_it(status: str, verified: str, text: str) -> None:
    assert words.answer_label(to_record(run(status=status, verified=verified))) == text


def test_last_status_in_words() -> None:
    assert words.last_status_words("budget") == "last run used up its budget"


def test_checks_in_words() -> None:
    checks = (
        CheckResult(name="a", passed=True),
        CheckResult(name="b", passed=False, reason="Too\nlong."),
        CheckResult(name="c", passed=True),
        CheckResult(name="d", passed=False),
    )
    record = to_record(run(verified="no", checks=checks))
    assert words.verified_words(record) == "check refused"
    assert words.check_lines(record) == [
        ("Checks passed: a, c", False),
        ("Check refused: b: Too long.", True),
        ("Check refused: d: no reason given", True),
    ]


@pytest.mark.parametrize(
    ("now", "words_of_it"),
    [
        ({"doing": "thinking", "code": "look()"}, "writing code"),
        (
            {"doing": "calling", "calls": [{"id": "c", "name": "python", "code": "x"}], "running": ["c"]},
            "running code",
        ),
        (
            {
                "doing": "calling",
                "calls": [
                    {
                        "id": "c",
                        "name": "python",
                        "code": "x",
                        "calls": [
                            {"id": "i", "name": "look"},
                            {"id": "j", "name": "look"},
                            {"id": "k", "name": "see"},
                        ],
                    }
                ],
                "running": ["c", "i", "j"],
            },
            "running code, calling look",
        ),
        (
            {"doing": "asking", "asked": {"id": "q", "items": [{"name": "python", "code": "x"}]}},
            "waiting for your approval of the code",
        ),
    ],
)
def test_words_of_what_code_does_now(now: dict[str, object], words_of_it: str) -> None:
    assert words.now_words({"step_number": 1, **now}) == words_of_it  # type: ignore[typeddict-item] # as little as it takes
