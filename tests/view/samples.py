"""Runs that the tests of this room draw."""

from __future__ import annotations

from typing import Any

from agent_magic.core.approval import EDITED
from agent_magic.core.changes import NameChange
from agent_magic.core.events import RunStarted, StepEnded, StepStarted, TextDelta, ToolCallStarted
from agent_magic.core.messages import ImagePart, TokenUsage, ToolCall, ToolExample, ToolSchema
from agent_magic.core.result import CheckResult, RunResult
from agent_magic.core.steps import (
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanDiff,
    PlanningStep,
    StateVariable,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import Description
from agent_magic.record.draft import RunDraft
from agent_magic.record.notes import to_laid_on
from agent_magic.record.preview import to_preview_record
from agent_magic.record.preview_schema import PreviewRecord
from agent_magic.record.run import to_record
from agent_magic.record.schema import RunRecord

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


def plan(number: int, text: str = "", **fields: Any) -> PlanningStep:
    begun = START + number - 1.5
    fields.setdefault("token_usage", TokenUsage(input_tokens=300, output_tokens=60, cached_tokens=0))
    return PlanningStep(
        step_number=number,
        timing=Timing(start=begun, end=begun + 0.4),
        plan=text,
        **({"model_output": text} | fields),
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


FIRST_PLAN = "1. Look at the islands.\n2. Compare the means.\n3. Answer."
SECOND_PLAN = "1. Compare the means.\n2. Count the sexes.\n3. Answer."


def planned_run() -> RunResult:
    """A plan, a step that changes the namespace, a plan that the person edited, one that failed, a guess."""
    return run(
        plan(1, FIRST_PLAN, reasoning="Three steps will do."),
        action(
            1,
            call("by_island", {"table": "@penguins"}, observation="three islands"),
            changes=(
                NameChange(name="by_island_1", kind="added", after="DataFrame, 3 rows × 2 columns"),
                NameChange(
                    name="penguins",
                    kind="mutated",
                    before="DataFrame, 344 rows × 8 columns",
                    after="DataFrame, 344 rows × 9 columns",
                    detail="columns + heavy",
                ),
            ),
        ),
        plan(
            2,
            SECOND_PLAN,
            model_output="1. Compare the means.\n2. Answer.",
            is_first=False,
            diff=PlanDiff(
                added=("2. Count the sexes.",),
                dropped=("1. Look at the islands.",),
                kept=("1. Compare the means.", "3. Answer."),
            ),
        ),
        action(2, call("count", {"of": "sex"}, "call_2", observation="165, 168")),
        plan(
            3, is_first=False, fault=Fault(kind="GenerationError", message="openai/gpt-5: 503, overloaded.")
        ),
        FinalAnswerStep(answer="Biscoe, I think.", is_told=False),
        value="Biscoe, I think.",
        status="budget",
        error=Fault(kind="BudgetError", message="max_total_tokens is 2,000."),
        verified="no",
        checks=(
            CheckResult(name="is_text", passed=True),
            CheckResult(name="is_short", passed=True),
            CheckResult(name="names_a_mass", passed=False, reason="There is no number in it."),
        ),
        resumed_from="run_0",
    )


def planned_record() -> RunRecord:
    """The same with what happened around its steps, and what was laid upon them."""
    return to_record(
        planned_run(),
        notes={
            2: [{"text": "summary_mode is 'all' from the next call"}],
            4: [{"text": "slow", "is_warning": True}],
        },
        laid_on={
            0: to_laid_on(is_pinned=True),
            2: to_laid_on(form="short_observations"),
            3: to_laid_on(view="summary", edited_by="person", edited_at=START),
            4: to_laid_on(view="hidden", form="line"),
        },
    )


MESSAGES = [
    {"role": "system", "content": "You are an agent.\nUse the tools."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "How heavy are they?"},
            {
                "type": "image_url",
                "image_url": {
                    "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAEElEQVR4nGNgYGD4jwVhAwA3PgP9pWc0eAAAAABJRU5ErkJggg=="
                },
            },
        ],
    },
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "mean_mass", "arguments": '{"island": "Biscoe"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "4716.0"},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "mean_mass",
            "description": "Mean body mass of one island.\n\nBoth sexes count alike.",
            "parameters": {
                "type": "object",
                "properties": {"island": {"type": "string"}},
                "required": ["island"],
            },
        },
    }
]


def preview(messages: Any = MESSAGES, **fields: Any) -> PreviewRecord:
    settings = {
        "kind": "act",
        "step_number": 2,
        "is_past": False,
        "model_id": "openai/gpt-5",
        "tools": TOOLS,
        "tokens": [(12, False), (300, True), (20, False), (5, False)],
        "tools_tokens": (40, False),
        "window": 8_000,
        "n_kept": 2,
        "n_before": 2,
        "options": {"temperature": 0},
    }
    return to_preview_record(**({"messages": messages} | settings | fields))


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
            call(text, {"task": text}, "call_4", observation=text, run=_lane_full_of(text)),
            model_output=text,
            reasoning=text,
            fault=Fault(kind=text, message=text),
            changes=(NameChange(name=text, kind="rebound", before=text, after=text, detail=text),),
        ),
        _code_full_of(text),
        plan(
            2,
            text,
            model_output=f"not {text}",
            reasoning=text,
            is_first=False,
            diff=PlanDiff(added=(text,), dropped=(text,), kept=(text,)),
        ),
        plan(2, fault=Fault(kind=text, message=text)),
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
        verified="no",
        checks=(
            CheckResult(name=text, passed=True),
            CheckResult(name=text, passed=False, reason=text),
        ),
        resumed_from=text,
    )


def _lane_full_of(text: str) -> RunResult:
    """The run of a managed agent."""
    fault = Fault(kind=text, message=text)
    asked = call(text, {text: text}, text, observation=text, notes=(text,), printed=text)
    return run(
        action(1, asked, call(text, text, "raw", fault=fault), model_output=text, reasoning=text),
        plan(2, text, reasoning=text, fault=fault),
        agent_name=text,
        model_id=text,
        run_id=text,
        value=text,
        status="failed",
        error=fault,
    )


def _code_full_of(text: str) -> ActionStep:
    """A step of an agent that writes code, whose code made calls and was edited."""
    inner = (
        call(text, {text: text}, text, observation=text, output=[text], notes=(text,), printed=text),
        call(text, text, "inner_2", fault=Fault(kind=text, message=text)),
        *(call(text, {}, f"inner_{n}", output=Table(), bound_to=text) for n in range(60)),
    )
    edited = f"{EDITED} this code:\n{text}"
    code = call("python", {"code": text}, "code_1", observation=text, notes=(text, edited), calls=inner)
    failed = call("python", {"code": text}, "code_2", fault=Fault(kind=text, message=text), output=text)
    return action(1, code, failed, is_code=True)


def record_full_of(text: str) -> RunRecord:
    """The record of that run, with `text` in what stands beside its steps too."""
    return to_record(
        run_full_of(text),
        reason=text,
        warnings=[text],
        notes={1: [{"text": text}, {"text": text, "is_warning": True}], 2: [{"text": text}]},
        laid_on={i: to_laid_on(edited_by=text) for i in range(3)},
    )


def preview_full_of(text: str) -> PreviewRecord:
    """A request with `text` in every field that holds text."""
    function = {"name": text, "arguments": text, "description": text, "parameters": {text: text}}
    return preview(
        [
            {"role": text, "content": text, "tool_calls": [{"id": text, "function": function}]},
            {"role": "tool", "tool_call_id": text, "content": [{"type": text, "text": text}, {"type": text}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": text}}]},
        ],
        tools=[{"type": "function", "function": function}],
        model_id=text,
        options={text: text},
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
