"""Runs that the tests of this room draw."""

from __future__ import annotations

from typing import Any

from agent_magic.core.events import RunStarted, StepEnded, StepStarted, TextDelta, ToolCallStarted
from agent_magic.core.messages import ImagePart, TokenUsage, ToolCall, ToolExample, ToolSchema
from agent_magic.core.result import RunResult
from agent_magic.core.steps import (
    ActionStep,
    Fault,
    FinalAnswerStep,
    StateVariable,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import Description
from agent_magic.record.draft import RunDraft

START = 1_800_000_000.0


class Table:
    """Looks like a data frame as far as descriptions go."""

    shape = (3, 2)
    columns = ("island", "mass")

    class _Dtypes:
        def items(self) -> list[tuple[str, str]]:
            return [("island", "str"), ("mass", "float64")]

    dtypes = _Dtypes()

    def head(self, n: int) -> Table:
        return self

    def to_string(self, **options: int) -> str:
        return "  island    mass\n0 Biscoe  4716.0\n1 Dream   3712.9"


def call(name: str, arguments: Any, call_id: str = "call_1", **fields: Any) -> ToolResult:
    return ToolResult(call=ToolCall(id=call_id, name=name, arguments=arguments), **fields)


def action(number: int, *results: ToolResult, **fields: Any) -> ActionStep:
    begun = START + number - 1
    fields.setdefault("token_usage", TokenUsage(input_tokens=500 + number, output_tokens=40, cached_tokens=0))
    return ActionStep(
        step_number=number, timing=Timing(start=begun, end=begun + 1.25), tool_results=results, **fields
    )


def run(
    *steps: Any, task: str = "Which island has the heaviest penguins?", value: Any = "Biscoe.", **fields: Any
) -> RunResult:
    head = TaskStep(task=task, variables=fields.pop("variables", ()), images=fields.pop("images", ()))
    settings = {
        "run_id": "run_1",
        "agent_name": "analyst",
        "model_id": "openai/gpt-5",
        "status": "answered",
        "max_steps": 20,
        "usage": TokenUsage(input_tokens=1_506, output_tokens=120, cached_tokens=1_024, cost_usd=0.00315),
        "timing": Timing(start=START, end=START + 4.2),
    }
    return RunResult(task=task, value=value, steps=(head, *steps), **(settings | fields))


def small_run() -> RunResult:
    """Four steps: a call, two calls of which one fails and one gives an object, a bad reply, the answer."""
    return run(
        action(
            1,
            call(
                "mean_mass",
                {"table": "@penguins", "island": "Biscoe", "weights": {"male": 0.5, "female": 0.5}},
                observation="4716.0",
                output=4716.0,
                notes=("penguins read as @penguins",),
                printed="dropped 2 rows without a mass\n",
                timing=Timing(start=START, end=START + 0.012),
            ),
            model_output="I look at one island first, with the average of both sexes.",
            reasoning="The person asks for the heaviest penguins. A mean for each island is needed.",
        ),
        action(
            2,
            call(
                "mean_mass",
                {"table": "@penguins", "island": "Dreem"},
                "call_2",
                fault=Fault(
                    kind="ToolError",
                    message="No island 'Dreem'. Islands: Biscoe, Dream, Torgersen.\nUse one of these.",
                ),
                timing=Timing(start=START, end=START + 0.004),
            ),
            call(
                "by_island",
                {"table": "@penguins"},
                "call_3",
                observation="DataFrame, 3 rows × 2 columns\n  island    mass\n0 Biscoe  4716.0\n1 Dream   3712.9",
                output=Table(),
                bound_to="by_island_1",
                timing=Timing(start=START, end=START + 0.02),
            ),
        ),
        action(
            3,
            model_output="It is clear now: Biscoe.",
            fault=Fault(
                kind="ParsingError", message="No tool call could be read in the reply. Call final_answer."
            ),
        ),
        action(
            4,
            call("final_answer", {"answer": "Biscoe."}, "call_4", observation="accepted"),
            is_final_answer=True,
        ),
        FinalAnswerStep(answer="Biscoe."),
        variables=(
            StateVariable(
                name="penguins",
                description=Description(
                    type_name="DataFrame",
                    shape="344 rows × 8 columns",
                    preview="columns species: str, island: str",
                ),
            ),
        ),
        value="The penguins of Biscoe are the heaviest: 4,716 g on average, about 1 kg more than those of Dream (3,713 g) and Torgersen (3,706 g).",
    )


SCHEMA = ToolSchema(
    name="mean_mass",
    description="Mean body mass of one island.\n\nBoth sexes count alike.",
    parameters={
        "type": "object",
        "properties": {
            "table": {"type": "object", "description": "the penguins"},
            "island": {"enum": ["Biscoe", "Dream"], "description": "which island"},
            "n": {"type": "integer", "default": 3},
        },
        "required": ["table", "island"],
    },
    examples=(
        ToolExample(
            task="How heavy are they on Biscoe?", arguments={"table": "@penguins", "island": "Biscoe"}
        ),
    ),
)


def run_full_of(text: str) -> RunResult:
    """A run with `text` in every field that holds text."""
    return run(
        action(
            1,
            call(
                text,
                {text: text, "list": [text, {text: text}]},
                text,
                observation=text,
                output=Table(),
                bound_to=text,
                notes=(text,),
                printed=text,
            ),
            call("raw", text, "call_2", fault=Fault(kind=text, message=text)),
            call("kept", {}, "call_3", output=[text]),
            model_output=text,
            reasoning=text,
            fault=Fault(kind=text, message=text),
        ),
        action(2, model_output=text),
        task=text,
        value=text,
        agent_name=text,
        model_id=text,
        run_id=text,
        variables=(
            StateVariable(name=text, description=Description(type_name=text, shape=text, preview=text)),
        ),
        images=(ImagePart(image=None, name=text),),
        error=Fault(kind=text, message=text),
    )


def running_draft(text: str) -> RunDraft:
    """A run that has made a step and is in the middle of its second, with `text` in every field."""
    done, now = action(1, call("look", {"at": text}, observation=text)), call(text, {"at": text}, "call_2")
    draft = RunDraft(reason=text, warnings=[text], clock=lambda: START)
    task = TaskStep(task=text)
    for event in (
        RunStarted(run_id=text, agent_name=text, model_id=text, max_steps=20, task=task),
        StepEnded(step=done),
        StepStarted(step_number=2),
        TextDelta(step_number=2, text=text, is_reasoning=True),
        TextDelta(step_number=2, text=f"{text} "),
        ToolCallStarted(step_number=2, call=now.call),
    ):
        draft.add(event)
    return draft
