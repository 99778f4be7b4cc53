from __future__ import annotations

import json

import pytest
from inline_snapshot import snapshot
from view.samples import action, call, plan, planned_record, run, small_run

from agent_magic.core.changes import NameChange
from agent_magic.core.messages import ImagePart
from agent_magic.core.result import CheckResult
from agent_magic.core.steps import Fault, PlanDiff
from agent_magic.record.clean import stored_size
from agent_magic.record.notes import to_laid_on
from agent_magic.record.run import MAX_BYTES, to_record

KEY = "sk-proj-abcdefghijklmnop1234"


def test_record_of_a_small_run() -> None:
    record = to_record(small_run(), reason="the only key found", warnings=["@penguin is no variable"])
    assert record == snapshot(
        {
            "version": 1,
            "agent_magic": "0.1.0",
            "mode": "tools",
            "status": "answered",
            "max_steps": 20,
            "n_steps": 4,
            "started": "2027-01-15T08:00:00.000+00:00",
            "duration_s": 4.2,
            "usage": {
                "input_tokens": 1506,
                "output_tokens": 120,
                "cached_tokens": 1024,
                "reasoning_tokens": None,
                "cost_usd": 0.00315,
            },
            "steps": [
                {
                    "step_number": 1,
                    "duration_s": 1.25,
                    "thought": "I look at one island first, with the average of both sexes.",
                    "reasoning": "The person asks for the heaviest penguins. A mean for each island is needed.",
                    "calls": [
                        {
                            "id": "call_1",
                            "name": "mean_mass",
                            "arguments": {
                                "table": "@penguins",
                                "island": "Biscoe",
                                "weights": {"male": 0.5, "female": 0.5},
                            },
                            "observation": "4716.0",
                            "output": {"type": "float"},
                            "notes": ["penguins read as @penguins"],
                            "printed": "dropped 2 rows without a mass",
                            "duration_s": 0.012,
                        }
                    ],
                    "usage": {
                        "input_tokens": 501,
                        "output_tokens": 40,
                        "cached_tokens": 0,
                        "reasoning_tokens": None,
                        "cost_usd": None,
                    },
                },
                {
                    "step_number": 2,
                    "duration_s": 1.25,
                    "calls": [
                        {
                            "id": "call_2",
                            "name": "mean_mass",
                            "arguments": {"table": "@penguins", "island": "Dreem"},
                            "error": {
                                "kind": "ToolError",
                                "message": """\
No island 'Dreem'. Islands: Biscoe, Dream, Torgersen.
Use one of these.\
""",
                            },
                            "duration_s": 0.004,
                        },
                        {
                            "id": "call_3",
                            "name": "by_island",
                            "arguments": {"table": "@penguins"},
                            "observation": """\
DataFrame, 3 rows × 2 columns
  island    mass
0 Biscoe  4716.0
1 Dream   3712.9\
""",
                            "output": {"type": "Table", "shape": "3 rows × 2 columns"},
                            "bound_to": "by_island_1",
                            "duration_s": 0.02,
                        },
                    ],
                    "usage": {
                        "input_tokens": 502,
                        "output_tokens": 40,
                        "cached_tokens": 0,
                        "reasoning_tokens": None,
                        "cost_usd": None,
                    },
                },
                {
                    "step_number": 3,
                    "duration_s": 1.25,
                    "thought": "It is clear now: Biscoe.",
                    "error": {
                        "kind": "ParsingError",
                        "message": "No tool call could be read in the reply. Call final_answer.",
                    },
                    "usage": {
                        "input_tokens": 503,
                        "output_tokens": 40,
                        "cached_tokens": 0,
                        "reasoning_tokens": None,
                        "cost_usd": None,
                    },
                },
                {
                    "step_number": 4,
                    "duration_s": 1.25,
                    "calls": [
                        {
                            "id": "call_4",
                            "name": "final_answer",
                            "arguments": {"answer": "Biscoe."},
                            "observation": "accepted",
                        }
                    ],
                    "usage": {
                        "input_tokens": 504,
                        "output_tokens": 40,
                        "cached_tokens": 0,
                        "reasoning_tokens": None,
                        "cost_usd": None,
                    },
                    "is_final_answer": True,
                },
            ],
            "steps_left_out": 0,
            "answer": {
                "type": "str",
                "text": "The penguins of Biscoe are the heaviest: 4,716 g on average, about 1 kg more than those of Dream (3,713 g) and Torgersen (3,706 g).",
            },
            "error": None,
            "run_id": "run_1",
            "agent": "analyst",
            "model": "openai/gpt-5",
            "why": "the only key found",
            "task": "Which island has the heaviest penguins?",
            "images": [],
            "variables": [
                {
                    "name": "penguins",
                    "description": "DataFrame, 344 rows × 8 columns: columns species: str, island: str",
                }
            ],
            "warnings": ["@penguin is no variable"],
        }
    )


def test_record_of_a_planned_run() -> None:
    record = planned_record()
    assert record["steps"] == snapshot(
        [
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
            },
            {
                "step_number": 1,
                "duration_s": 1.25,
                "calls": [
                    {
                        "id": "call_1",
                        "name": "by_island",
                        "arguments": {"table": "@penguins"},
                        "observation": "three islands",
                    }
                ],
                "changes": [
                    "added by_island_1: DataFrame, 3 rows × 2 columns",
                    "changed in place penguins: DataFrame, columns + heavy",
                ],
                "usage": {
                    "input_tokens": 501,
                    "output_tokens": 40,
                    "cached_tokens": 0,
                    "reasoning_tokens": None,
                    "cost_usd": None,
                },
                "notes": [{"text": "summary_mode is 'all' from the next call"}],
                "laid_on": {"form": "short_observations"},
            },
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
                "laid_on": {
                    "view": "summary",
                    "edited_by": "person",
                    "edited_at": "2027-01-15T08:00:00.000+00:00",
                },
            },
            {
                "step_number": 2,
                "duration_s": 1.25,
                "calls": [
                    {"id": "call_2", "name": "count", "arguments": {"of": "sex"}, "observation": "165, 168"}
                ],
                "usage": {
                    "input_tokens": 502,
                    "output_tokens": 40,
                    "cached_tokens": 0,
                    "reasoning_tokens": None,
                    "cost_usd": None,
                },
                "notes": [{"text": "slow", "is_warning": True}],
                "laid_on": {"form": "line", "view": "hidden"},
            },
            {
                "kind": "plan",
                "step_number": 3,
                "duration_s": 0.4,
                "plan": "",
                "error": {"kind": "GenerationError", "message": "openai/gpt-5: 503, overloaded."},
                "usage": {
                    "input_tokens": 300,
                    "output_tokens": 60,
                    "cached_tokens": 0,
                    "reasoning_tokens": None,
                    "cost_usd": None,
                },
            },
        ]
    )
    kept = (
        "status",
        "n_steps",
        "steps_left_out",
        "verified",
        "checks",
        "resumed_from",
        "task_laid_on",
        "error",
    )
    assert {key: record.get(key) for key in kept} == snapshot(
        {
            "status": "budget",
            "n_steps": 2,
            "steps_left_out": 0,
            "verified": "no",
            "checks": [
                {"name": "is_text", "passed": True},
                {"name": "is_short", "passed": True},
                {"name": "names_a_mass", "passed": False, "reason": "There is no number in it."},
            ],
            "resumed_from": "run_0",
            "task_laid_on": {"is_pinned": True},
            "error": {"kind": "BudgetError", "message": "max_total_tokens is 2,000."},
        }
    )


def test_record_says_nothing_of_checks_when_there_were_none() -> None:
    assert not {"verified", "checks", "resumed_from", "task_laid_on"} & to_record(small_run()).keys()


def test_record_says_how_many_changes_are_left_out() -> None:
    changes = tuple(NameChange(name=f"x{n}", kind="added", after="int") for n in range(120))
    step = to_record(run(action(1, changes=changes)))["steps"][0]
    assert len(step.get("changes", [])) == 50
    assert step.get("changes_left_out") == 70


def test_record_of_a_long_run_keeps_its_ends_with_their_plans() -> None:
    steps = [
        step
        for n in range(1, 2_001)
        for step in (
            plan(n, "1. Look.\n" * 40),
            action(n, call("look", {"n": n}, f"c{n}", observation="seen")),
        )
    ]
    record = to_record(run(*steps))
    assert stored_size(record) <= MAX_BYTES
    assert record["n_steps"] == 2_000
    assert record["steps_left_out"] == 4_000 - len(record["steps"])
    assert "plan" in record["steps"][0]
    assert record["steps"][-1]["step_number"] == 2_000


def test_record_is_the_same_bytes_each_time() -> None:
    first, second = (json.dumps(to_record(small_run()), allow_nan=False, sort_keys=True) for _ in range(2))
    assert first == second


def test_record_of_5000_steps_keeps_the_ends_and_counts_all() -> None:
    steps = [
        action(
            n,
            call("look", {"n": n}, f"c{n}", observation=f"seen {n} " * 30, output="x"),
            model_output="so " * 100,
        )
        for n in range(1, 5_001)
    ]
    record = to_record(run(*steps))
    assert stored_size(record) <= MAX_BYTES
    assert record["n_steps"] == 5_000
    assert record["steps_left_out"] == 5_000 - len(record["steps"])
    assert len(record["steps"]) >= 200
    assert (record["steps"][0]["step_number"], record["steps"][-1]["step_number"]) == (1, 5_000)


def test_record_keeps_each_of_100_ordinary_steps() -> None:
    steps = [
        action(n, call("look", {"n": n}, f"c{n}", observation="seen " * 200), model_output="so " * 100)
        for n in range(1, 101)
    ]
    record = to_record(run(*steps))
    assert stored_size(record) <= MAX_BYTES
    assert len(record["steps"]) == 100
    assert record["steps_left_out"] == 0


HUGE = "äöü 漢字 text " * 2_000_000


@pytest.mark.parametrize(
    "field", ["arguments", "observation", "printed", "thought", "reasoning", "error", "task", "answer"]
)
def test_record_is_small_when_a_field_has_20_megabytes(field: str) -> None:
    fields: dict[str, object] = {field: HUGE} if field in ("observation", "printed") else {}
    if field == "error":
        fields = {"fault": Fault(kind="ToolError", message=HUGE)}
    said = (
        {"model_output": HUGE} if field == "thought" else {"reasoning": HUGE} if field == "reasoning" else {}
    )
    arguments = {"text": HUGE} if field == "arguments" else {}
    record = to_record(
        run(
            action(1, call("look", arguments, **fields), **said),
            task=HUGE if field == "task" else "short",
            value=HUGE if field == "answer" else 1,
        )
    )
    assert stored_size(record) <= MAX_BYTES
    text = json.dumps(record, ensure_ascii=False)
    assert "characters cut …" in text
    assert "\\u0001" not in json.dumps(record)
    assert HUGE[:1_000] in text


def test_record_is_small_when_all_is_emoji_and_there_are_many_calls() -> None:
    faces = "😀" * 2_000
    arguments = {f"😀{i}" * 50: faces for i in range(200)}
    steps = [
        action(
            n,
            *(
                call(faces, arguments, f"{faces}{i}", observation=faces, printed=faces, notes=(faces,) * 20)
                for i in range(60)
            ),
            model_output=faces,
        )
        for n in range(1, 11)
    ]
    record = to_record(run(*steps, value=faces, task=faces), reason=faces, warnings=[faces] * 50)
    assert stored_size(record) <= MAX_BYTES
    assert record["steps"][-1]["step_number"] == 10
    assert record["steps"][0].get("calls_left_out", 0) > 0


def test_record_is_valid_json_when_values_are_not() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    arguments = {"nan": float("nan"), "loop": loop, "object": object, "bad": "a\ud800b", "set": {3, 1, 2}}
    record = to_record(
        run(action(1, call("look", arguments, observation="x\udfff")), value=[float("inf"), loop])
    )
    text = json.dumps(record, allow_nan=False, ensure_ascii=False)
    text.encode()
    calls = record["steps"][0].get("calls", [])
    assert calls[0]["arguments"] == snapshot(
        {
            "nan": "nan",
            "loop": {
                "self": {
                    "self": {
                        "self": {
                            "self": {
                                "self": {
                                    "self": {
                                        "self": "{'self': {'self': {'self': {'self': {'self': {'self': {...}}}}}}}"
                                    }
                                }
                            }
                        }
                    }
                }
            },
            "object": "<class 'object'>",
            "bad": "a�b",
            "set": "{1, 2, 3}",
        }
    )
    assert record["answer"] == snapshot(
        {
            "type": "list",
            "shape": "2 items",
            "text": """\
[
  "inf",
  {
    "self": {
      "self": {
        "self": {
          "self": {
            "self": {
              "self": {
                "self": "{'self': {'self': {'self': {'self': {'self': {'self': {...}}}}}}}"
              }
            }
          }
        }
      }
    }
  }
]\
""",
        }
    )


@pytest.mark.parametrize(
    "field",
    [
        "task",
        "model",
        "agent",
        "why",
        "warning",
        "variable",
        "thought",
        "reasoning",
        "name",
        "id",
        "argument",
        "key",
        "observation",
        "printed",
        "note",
        "bound",
        "error",
        "step",
        "run",
        "answer",
        "plan",
        "original",
        "diff",
        "change",
        "check",
        "reason",
        "beside",
        "editor",
        "resumed",
    ],
)
def test_record_has_no_secret_in_any_field(field: str) -> None:
    def put(name: str) -> str:
        return f"a {KEY} b" if name == field else "text"

    record = to_record(
        run(
            action(
                1,
                call(
                    put("name"),
                    {put("key"): [put("argument")]},
                    put("id"),
                    observation=put("observation"),
                    printed=put("printed"),
                    notes=(put("note"),),
                    bound_to=put("bound"),
                    fault=Fault(kind="ToolError", message=put("error")) if field == "error" else None,
                ),
                model_output=put("thought"),
                reasoning=put("reasoning"),
                fault=Fault(kind="ParsingError", message=put("step")),
                changes=(NameChange(name=put("change"), kind="added", after="int"),),
            ),
            plan(
                2,
                put("plan"),
                model_output=put("original") + " more",
                is_first=False,
                diff=PlanDiff(added=(put("diff"),)),
            ),
            task=put("task"),
            value=put("answer"),
            agent_name=put("agent"),
            model_id=put("model"),
            images=(ImagePart(image=object(), name=put("variable")),),
            error=Fault(kind="GenerationError", message=put("run")),
            checks=(CheckResult(name=put("check"), passed=False, reason=put("reason")),),
            resumed_from=put("resumed"),
        ),
        reason=put("why"),
        warnings=[put("warning")],
        notes={1: [{"text": put("beside")}]},
        laid_on={0: to_laid_on(edited_by=put("editor"))},
    )
    text = json.dumps(record)
    assert "abcdefghijklmnop" not in text
    assert "[redacted]" in text


def test_record_says_that_the_answer_is_none() -> None:
    assert to_record(run(value=None))["answer"] == {"type": "NoneType", "text": "None"}


@pytest.mark.parametrize("status", ["failed", "interrupted", "max_steps"])
def test_record_has_no_answer_when_a_run_ended_without_value(status: str) -> None:
    assert to_record(run(value=None, status=status))["answer"] is None


def test_record_keeps_the_code_points_of_any_script() -> None:
    text = "请总结 \u200f\u0645\u0631\u062d\u0628\u0627\u200f שלום \U0001f469\u200d\U0001f469\u200d\U0001f467 e\u0301 \u3000x"
    record = to_record(run(task=text, value=text))
    assert record["task"] == text
    assert (record["answer"] or {}).get("text") == text


def test_record_leaves_the_text_of_calls_out_of_the_thought() -> None:
    step = action(1, call("look", {}), model_output='I look. {"name": "look"}', calls_start=8)
    assert to_record(run(step))["steps"][0].get("thought") == "I look."
