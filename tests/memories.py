"""Random memories: all kinds of steps, and all that a person or the window lays upon them.

One seed gives one memory. Every request that is taken on the way is kept with what was sent.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from PIL import Image

from agent_magic.core.changes import NameChange
from agent_magic.core.edits import STEP_VIEWS
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, ImagePart, TokenUsage, ToolCall, ToolExample, ToolSchema
from agent_magic.core.request import ACT, ACT_SUMMARY, PLAN, PLAN_FULL, Projection, SentRequest
from agent_magic.core.short_form import FORMS
from agent_magic.core.steps import (
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanDiff,
    PlanningStep,
    RunStep,
    StateVariable,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import describe

PROJECTIONS: tuple[Projection, ...] = (
    ACT,
    ACT_SUMMARY,
    PLAN,
    PLAN_FULL,
    Projection(summary_mode=True, system=False),
    Projection(summary_mode=True, newest_plan=False),
)
_WORDS = (
    "look",
    "count",
    "Tromsø",
    "☀ 😀",
    "{curly} \\ 'quoted'",
    "two\nlines",
    "\ud83d\ude00 torn",
    "x" * 700,
    "",
)
_VALUES: tuple[Any, ...] = (
    None,
    3,
    2**70,
    1.5,
    float("inf"),
    "text",
    [1, [2]],
    {"a": None},
    (1, 2),
    {3, 1},
    b"\x00",
)
_FAULTS = ("ToolCallError", "ToolExecutionError", "Interrupted", "GenerationError", "FinalAnswerRejected")


class Walk:
    """A memory that goes on at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.memory = AgentMemory("You are an agent.")
        self.sent: list[tuple[SentRequest, list[ChatMessage]]] = []
        """Every request that was taken, with what was sent."""
        self._n = 0
        self._schemas = tuple(self._schema(name) for name in ("look", "count"))

    def go(self, n_acts: int) -> None:
        """Make `n_acts` things happen."""
        for _ in range(n_acts):
            self.append() if self.random.random() < 0.5 else self.change()
            if self.random.random() < 0.3:
                self.take_request()

    def append(self) -> RunStep:
        """Add a step, an action most of the time."""
        make: Callable[[], RunStep] = self.random.choice(
            [self._task, self._plan, self._answer, *[self._action] * 5]
        )
        step = make()
        self.memory.append(step)
        return step

    def change(self) -> None:
        """Change something that is there."""
        memory, chance = self.memory, self.random
        if chance.random() < 0.1:
            memory.set_system_prompt(chance.choice(["You are an agent.", "Be brief."]))
        if not len(memory):
            return
        place = chance.randrange(len(memory))
        chance.choice(
            [
                lambda: memory.set_view(place, chance.choice([*STEP_VIEWS, None])),
                lambda: memory.set_pinned(place, chance.random() < 0.5),
                lambda: memory.drop(place, chance.randrange(len(memory))),
                lambda: self._edit(memory.steps[place]),
                lambda: memory.forget_images(keep_last=chance.randrange(4)),
                memory.undo,
                self._shorten,
            ]
        )()

    def take_request(self) -> None:
        """Take a request as an agent does."""
        projection = self.random.choice(PROJECTIONS)
        head = () if projection.system else (ChatMessage(role="system", content="Make a plan."),)
        tail = (ChatMessage(role="user", content=self._text(), is_ours=True),) if self._coin() else ()
        messages, request = self.memory.take_request(
            run_id=f"run-{self.random.randrange(3)}",
            step_number=self._next(),
            kind=self.random.choice(("act", "plan", "final")),
            projection=projection,
            head=head,
            tail=tail,
            schemas=self.random.choice([(), self._schemas, (self._schema("look"),)]),
        )
        self.sent.append((request, messages))

    # -- steps -------------------------------------------------------------------------------

    def _task(self) -> TaskStep:
        variables = (StateVariable(name="prices", description=describe([1, 2])),)
        return TaskStep(
            task=f"task {self._text()}",
            images=self._images(),
            variables=variables if self._coin() else (),
            others=variables if self._coin() else (),
            n_others_left_out=self.random.choice([0, 1_950]),
            resumes=self.random.choice([None, None, "run-1"]),
            is_ours=self._coin(),
        )

    def _plan(self) -> PlanningStep:
        fault = Fault(kind="GenerationError", message="gone") if self.random.random() < 0.2 else None
        return PlanningStep(
            step_number=self._next(),
            timing=self._timing(),
            plan="" if fault else f"1. {self._text()}\n2. answer",
            handover="Now carry it out.",
            model_output=self._text(),
            reasoning=self._text(),
            is_first=self._coin(),
            diff=PlanDiff(added=("answer",), kept=(self._text(),)) if self._coin() else PlanDiff(),
            fault=fault,
            token_usage=self._usage(),
        )

    def _action(self) -> ActionStep:
        text = self._text()
        return ActionStep(
            step_number=self._next(),
            timing=self._timing(),
            model_output=text,
            reasoning=self._text(),
            calls_start=self.random.choice([None, None, len(text) // 2]),
            tool_results=tuple(self._result() for _ in range(self.random.choice([0, 1, 1, 1, 2, 4]))),
            fault=self._fault(),
            token_usage=self._usage(),
            is_final_answer=self._coin(),
            changes=(NameChange(name="n", kind="added", after="int: 3"),) if self._coin() else (),
        )

    def _result(self) -> ToolResult:
        fault = self._fault()
        return ToolResult(
            call=ToolCall(
                id=f"call_{self._next()}",
                name="look",
                arguments={"place": self._text(), "n": self._n, "": None},
            ),
            observation="" if fault else self._text(),
            output=self.random.choice(_VALUES),
            bound_to=self.random.choice([None, "look_1"]),
            kept_as=self.random.choice([None, "obs_1"]),
            images=self._images(),
            fault=fault,
            notes=("n read as 3",) if self._coin() else (),
            printed=self._text(),
            timing=self._timing() if self._coin() else None,
        )

    def _answer(self) -> FinalAnswerStep:
        return FinalAnswerStep(
            answer=self.random.choice(_VALUES),
            is_told=self._coin(),
            text=self._text() if self._coin() else None,
            request="Give the best answer." if self._coin() else None,
            token_usage=self._usage(),
        )

    # -- changes -----------------------------------------------------------------------------

    def _edit(self, step: RunStep) -> None:
        match step:
            case TaskStep():
                self.memory.edit(step, task=self._text(), **({"images": ()} if self._coin() else {}))
            case PlanningStep():
                self.memory.edit(step, plan=self._text())
            case ActionStep() if step.tool_results and self._coin():
                call_id = self.random.choice(step.tool_calls).id
                self.memory.edit(
                    step,
                    arguments={call_id: {"place": self._text()}},
                    observations={call_id: self._text()},
                    observations_images=None,
                )
            case ActionStep():
                self.memory.edit(step, model_output=self._text(), by="checker")
            case FinalAnswerStep():
                pass  # it cannot be edited

    def _shorten(self) -> None:
        entries = self.memory.entries
        places = self.random.sample(range(len(entries)), k=min(3, len(entries)))
        forms = {place: self.random.choice(FORMS) for place in places}
        steps = {place: entries[place].step for place in places}
        kept = {
            place: {call.id: f"obs_{self._next()}" for call in step.tool_calls}
            for place, step in steps.items()
            if isinstance(step, ActionStep)
        }
        self.memory.shorten(forms, kept)

    # -- small things ------------------------------------------------------------------------

    def _next(self) -> int:
        self._n += 1
        return self._n

    def _coin(self) -> bool:
        return self.random.random() < 0.5

    def _text(self) -> str:
        return f"{self.random.choice(_WORDS)} {self._n}"

    def _fault(self) -> Fault | None:
        kind = self.random.choice(_FAULTS)
        return Fault(kind=kind, message=f"{kind} {self._text()}") if self.random.random() < 0.25 else None

    def _images(self) -> tuple[ImagePart, ...]:
        if self.random.random() < 0.8:
            return ()
        mode = self.random.choice(["RGB", "RGBA", "P", "CMYK", "I;16", "1"])
        image = Image.new(mode, (3, 2), self.random.randrange(2))
        return (ImagePart(image=image, name=self.random.choice([None, "photo"])), ImagePart(image=image))

    def _timing(self) -> Timing:
        return Timing(start=1.7e9 + self._n, end=1.7e9 + self._n + 0.125)

    def _usage(self) -> TokenUsage | None:
        return TokenUsage(input_tokens=900, cost_usd=0.001) if self._coin() else None

    def _schema(self, name: str) -> ToolSchema:
        return ToolSchema(
            name=name,
            description=f"Does what {name} does.",
            parameters={"type": "object", "properties": {"place": {"type": "string"}}},
            examples=(ToolExample(task="Look.", arguments={"place": "Oslo"}),),
        )
