"""Runs of an agent that writes code, which the tests of this room draw; made by hand, event by event."""

from __future__ import annotations

from typing import Any

from PIL import Image
from view.samples import START, Table, call, run

from agent_magic.core.approval import Decision, Item, Question, call_item
from agent_magic.core.changes import NameChange
from agent_magic.core.events import (
    ApprovalGiven,
    Event,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import ChatMessage, ImagePart, TokenUsage, ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, Fault, FinalAnswerStep, TaskStep, Timing, ToolResult, to_code
from agent_magic.record.draft import RunDraft
from agent_magic.record.schema import RunRecord

TASK = "Which of <b>Oslo</b> and Bergen has the higher mean price?"
CODE_1 = """\
# Both cities, side by side
import pandas as pd

prices = {}
for city in ["Oslo", "Bergen"]:
    prices[city] = mean_price(city=city, listings=df)  # </code> is no end here
    print(f"{city}: {prices[city]:,.1f}")
pd.Series(prices).plot.bar()
max(prices, key=prices.get)"""
CODE_2 = 'top = prices["Oslo" + "!"]\nfinal_answer(top)'
CODE_3 = "final_answer(f\"Oslo, by {prices['Oslo'] - prices['Bergen']:,.0f}\")"
EDITED_3 = 'final_answer("Oslo")'


def code_call(code: str, call_id: str = "code_1", **fields: Any) -> ToolResult:
    return call("python", {"code": code}, call_id, **fields)


def code_step(number: int, result: ToolResult, *, thought: str = "", **fields: Any) -> ActionStep:
    """A step whose action is code."""
    text = f"{thought}\n" if thought else ""
    begun = START + number - 1
    fields.setdefault("token_usage", TokenUsage(input_tokens=800 + number, output_tokens=90, cached_tokens=0))
    return ActionStep(
        step_number=number,
        timing=Timing(start=begun, end=begun + 1.25),
        model_output=f"{text}<code>\n{to_code(result.call)}\n</code>",
        calls_start=len(text),
        is_code=True,
        tool_results=(result,),
        **fields,
    )


def first_step() -> ActionStep:
    """Two calls of a tool, a picture, an observation, a new name."""
    result = code_call(
        CODE_1,
        observation="Oslo: 4,321.5\nBergen: 3,900.0\n(1 picture is shown.)\nValue of the last line: 'Oslo'",
        output="Oslo",
        images=(ImagePart(image=Image.new("RGB", (32, 24), "#2b7fd4")),),
        timing=Timing(start=START, end=START + 0.42),
        calls=(
            call(
                "mean_price",
                {"city": "Oslo", "listings": Table()},
                "code_1.1",
                observation="4321.5",
                output=4321.5,
                timing=Timing(start=START, end=START + 0.012),
            ),
            call(
                "mean_price",
                {"city": "Bergen", "listings": Table()},
                "code_1.2",
                output=3900.0,
                notes=("city read as Bergen",),
                timing=Timing(start=START, end=START + 0.013),
            ),
        ),
    )
    return code_step(
        1,
        result,
        thought="I look at both cities at once, and draw them.",
        reasoning="Two calls are enough.",
        changes=(NameChange(name="prices", kind="added", after="dict, 2 items"),),
    )


def failing_step() -> ActionStep:
    """Code that crashed after it had printed, with a call that failed and was caught."""
    result = code_call(
        CODE_2,
        "code_2",
        observation="looking",
        fault=Fault(
            kind="CodeExecutionError",
            message='KeyError: \'Oslo!\'\n  line 1: top = prices["Oslo" + "!"]\nUse a key that is there: Oslo, Bergen.',
        ),
        calls=(
            call(
                "mean_price",
                {"city": "Atlantis"},
                "code_2.1",
                fault=Fault(kind="ToolError", message="No city 'Atlantis'."),
            ),
        ),
        timing=Timing(start=START, end=START + 0.03),
    )
    return code_step(2, result, thought="Now the answer.")


def answering_step() -> ActionStep:
    """Code that the person changed before it ran, and that gave the answer."""
    result = code_call(
        CODE_3,
        "code_4",
        observation="The answer was given: 'Oslo'",
        output="Oslo",
        notes=(f"the person changed the arguments to this code:\n{EDITED_3}",),
        timing=Timing(start=START, end=START + 0.001),
    )
    return code_step(4, result, is_final_answer=True)


def unread_step() -> ActionStep:
    """A reply in which no code could be read."""
    return ActionStep(
        step_number=3,
        timing=Timing(start=START + 2, end=START + 2.5),
        model_output="Oslo, I would say.",
        is_code=True,
        fault=Fault(
            kind="ParsingError", message="No code could be read in the reply. Write it between tags."
        ),
    )


def code_run() -> RunResult:
    """Code with two calls and a picture, code that fails, a reply without code, code that answers."""
    return run(
        first_step(),
        failing_step(),
        unread_step(),
        answering_step(),
        FinalAnswerStep(answer="Oslo"),
        task=TASK,
        value="Oslo",
        mode="code",
    )


def asked_code(code: str = CODE_3) -> tuple[Item, Waiting]:
    """Code that waits for the person's word, and the news of it."""
    item = call_item("ask-0", ToolCall(id="code_4", name="python", arguments={"code": code}))
    question = Question(id="ask", run_id="run_1", step_number=4, items=(item,))
    return item, Waiting(step_number=4, kind="approval", reason="The person is asked.", question=question)


def code_events() -> list[Event]:
    """The same run as it happens."""
    result = code_run()
    first, failing, unread, answering = result.actions
    task = next(step for step in result.steps if isinstance(step, TaskStep))
    item, waiting = asked_code()
    edited = Decision(item=item, verdict="edited", arguments={"code": EDITED_3})
    return [
        RunStarted(
            run_id="run_1",
            agent_name="analyst",
            model_id="openai/gpt-5",
            max_steps=20,
            task=task,
            mode="code",
        ),
        *_written(first),
        *_ran(first),
        StepEnded(step=first),
        *_written(failing),
        *_ran(failing),
        StepEnded(step=failing),
        *_written(unread),
        StepEnded(step=unread),
        *_written(answering),
        waiting,
        ApprovalGiven(step_number=4, decision=edited),
        *_ran(answering),
        StepEnded(step=answering),
        RunEnded(result=result),
    ]


def _written(step: ActionStep) -> list[Event]:
    """What the model writes, as it comes: in pieces that do not end where tags do."""
    number, text = step.step_number, step.model_output.removesuffix("</code>")
    told: list[Event] = [StepStarted(step_number=number)]
    if step.reasoning:
        told.append(TextDelta(step_number=number, text=step.reasoning, is_reasoning=True))
    told += [TextDelta(step_number=number, text=text[at : at + 48]) for at in range(0, len(text), 48)]
    return [
        *told,
        ModelReplied(step_number=number, message=ChatMessage(role="assistant", content=text)),
    ]


def _ran(step: ActionStep) -> list[Event]:
    (result,) = step.tool_results
    code_id, number = result.call.id, step.step_number
    told: list[Event] = [ToolCallStarted(step_number=number, call=result.call)]
    for inner in result.calls:
        told.append(ToolCallStarted(step_number=number, call=inner.call, inside=code_id))
        told.append(ToolCallEnded(step_number=number, result=inner, inside=code_id))
    return [*told, ToolCallEnded(step_number=number, result=result)]


def draft_of(*events: Event) -> RunDraft:
    """A run of an agent that writes code, that goes on."""
    draft = RunDraft(clock=lambda: START)
    task = TaskStep(task="Look.")
    draft.add(RunStarted(run_id="r", agent_name="analyst", model_id="m", max_steps=5, task=task, mode="code"))
    for event in (StepStarted(step_number=1), *events):
        draft.add(event)
    return draft


def moments_full_of(text: str) -> list[RunRecord]:
    """A run whose code is written, asked about, run, and makes a call, with `text` in every field."""
    draft = draft_of(TextDelta(step_number=1, text=f"{text} <code>{text} "))
    moments = [draft.to_record()]
    draft.add(ModelReplied(step_number=1, message=ChatMessage(role="assistant")))
    item, waiting = asked_code(text)
    draft.add(waiting)
    moments.append(draft.to_record())
    edited = Decision(item=item, verdict="edited", arguments={"code": text})
    draft.add(ApprovalGiven(step_number=1, decision=edited))
    assert item.call is not None
    draft.add(ToolCallStarted(step_number=1, call=item.call))
    inner = call(text, {text: text}, text, observation=text)
    draft.add(ToolCallStarted(step_number=1, call=inner.call, inside=item.call.id))
    moments.append(draft.to_record())
    draft.add(ToolCallEnded(step_number=1, result=inner, inside=item.call.id))
    moments.append(draft.to_record())
    return moments
