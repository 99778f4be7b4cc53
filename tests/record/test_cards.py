from __future__ import annotations

import json

from inline_snapshot import snapshot
from view.samples import SCHEMA

from agent_magic.core.messages import ToolSchema
from agent_magic.record.cards import to_agent_record, to_tool_card, to_tool_record


def test_agent_record() -> None:
    record = to_agent_record(
        name="analyst",
        model_id="openai/gpt-5",
        reason="the only key found",
        tools=[SCHEMA],
        settings={"max_steps": 20},
        n_runs=2,
        n_steps=7,
        last_status="answered",
    )
    assert record == snapshot(
        {
            "name": "analyst",
            "model": "openai/gpt-5",
            "why": "the only key found",
            "tools": [{"name": "mean_mass", "description": "Mean body mass of one island."}],
            "settings": {"max_steps": 20},
            "n_runs": 2,
            "n_steps": 7,
            "last_status": "answered",
        }
    )


def test_agent_record_leaves_out_settings_that_are_not_set() -> None:
    settings = {"planning_interval": 5, "max_time_s": None, "max_cost_usd": 0.0}
    record = to_agent_record(name="a", model_id="m", settings=settings)
    assert record["settings"] == {"planning_interval": 5, "max_cost_usd": 0.0}


def test_tool_record() -> None:
    assert to_tool_record(SCHEMA, ["'n' has no description"]) == snapshot(
        {
            "name": "mean_mass",
            "description": """\
Mean body mass of one island.

Both sexes count alike.\
""",
            "parameters": [
                {"name": "table", "type": "object", "description": "the penguins", "is_required": True},
                {
                    "name": "island",
                    "type": '"Biscoe" | "Dream"',
                    "description": "which island",
                    "is_required": True,
                },
                {"name": "n", "type": "integer", "description": "", "is_required": False, "default": "3"},
            ],
            "examples": [
                {
                    "task": "How heavy are they on Biscoe?",
                    "arguments": {"table": "@penguins", "island": "Biscoe"},
                }
            ],
            "weaknesses": ["'n' has no description"],
        }
    )


def test_tool_record_names_types_in_few_words() -> None:
    properties = {
        "a": {"type": "array", "items": {"type": "string"}},
        "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "c": {"type": ["integer", "string"]},
        "d": {},
        "e": {"enum": ["x", 1]},
    }
    record = to_tool_record(ToolSchema(name="t", description="", parameters={"properties": properties}))
    assert [parameter["type"] for parameter in record["parameters"]] == snapshot(
        ["array of string", "integer | null", "integer | string", "any", '"x" | 1']
    )


def test_cards_have_no_secret_and_stay_small() -> None:
    text = "sk-proj-abcdefghijklmnop1234 " + "x" * 1_000_000
    schema = ToolSchema(
        name="t", description=text, parameters={"properties": {text: {"description": text, "default": text}}}
    )
    stored = json.dumps(
        [
            to_tool_record(schema, [text]),
            to_agent_record(name="a", model_id=text, reason=text, tools=[schema], settings={text: text}),
        ]
    )
    assert "abcdefghijklmnop" not in stored
    assert len(stored) < 20_000
    assert "\\u0001" not in stored
    card = json.dumps(to_tool_card(schema, sent={text: text}, code=text, weaknesses=[text]))
    assert "abcdefghijklmnop" not in card
    assert len(card) < 60_000
