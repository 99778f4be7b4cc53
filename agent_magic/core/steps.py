"""The steps of a memory, what a model is shown of each, and the run that made them.

Steps are frozen records; `to_messages` is a pure choice of their fields, in two views:

| record | normal view | summary view |
|---|---|---|
| system prompt | sent | left out |
| task, its images | sent | sent |
| plan | assistant: the plan; then user: carry it out | left out |
| action: model's text | sent | left out |
| action: tool calls, observations, their images, error | sent | sent |
| action: code | inside the model's text | the code alone |
| action: reasoning, what is signed of it | beside native calls, for a provider that wants it back | the same |
| final answer | for a native call its tool result; else assistant text; never both | the same |

Tasks, plans and system prompts have files of their own, and can be imported from here too. It must not
ask a model, nor change a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent_magic.core.changes import NameChange
from agent_magic.core.memory_step import MemoryStep, SystemPromptStep, frozen
from agent_magic.core.messages import ChatMessage, ImagePart, TokenUsage, ToolCall
from agent_magic.core.outcome import AgentMode, CheckResult, Fault, RunStatus, Timing, Verified
from agent_magic.core.plan import PlanDiff, PlanningStep
from agent_magic.core.sound import Sound
from agent_magic.core.task import StateVariable, TaskStep
from agent_magic.core.values import Value, to_text

__all__ = [
    "ACCEPTED",
    "ANSWER_GIVEN",
    "CLOSING_TAG",
    "CODE_CALL",
    "NOTHING_TOLD",
    "OPENING_TAG",
    "ActionStep",
    "Fault",
    "FinalAnswerStep",
    "MemoryStep",
    "PlanDiff",
    "PlanningStep",
    "RunResult",
    "RunStep",
    "StateVariable",
    "SystemPromptStep",
    "TaskStep",
    "Timing",
    "ToolResult",
    "to_code",
]

ACCEPTED = "accepted"
"""The tool result of a `final_answer` call that was taken."""
CODE_CALL = "python"
"""The name of the call that a block of code is; its one argument is `code`."""
NOTHING_TOLD = "The code ran. It printed nothing, and its last line has no value."
"""The observation of code that has none to give."""
ANSWER_GIVEN = "The answer was given: "
"""How the line begins that tells, in the observation of code, which answer it gave."""
OPENING_TAG, CLOSING_TAG = "<code>", "</code>"
"""Between these a model writes its code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What became of one tool call."""

    call: ToolCall
    """The call as it was run: arguments as a mapping, as the model wrote them."""
    observation: str = ""
    """What the model is told; empty if the call failed."""
    output: Value = None
    """The live value that the tool returned, by reference."""
    bound_to: str | None = None
    """The variable that holds `output`, if it is an object."""
    kept_as: str | None = None
    """The `obs_N` that holds the whole, if the observation is cut."""
    images: tuple[ImagePart, ...] = ()
    """Shown to a model that sees, beside the observation."""
    sounds: tuple[Sound, ...] = ()
    """For the person to play."""
    fault: Fault | None = None
    notes: tuple[str, ...] = ()
    """How arguments were read, such as `message read as @top10`."""
    printed: str = ""
    """What the tool's body printed."""
    timing: Timing | None = None
    """None if the body was not entered."""
    calls: tuple[ToolResult, ...] = ()
    """Of code: the calls of tools that it made, in the order of their starts; their arguments are live values."""
    n_calls_left_out: int = 0
    """Of thousands of calls that code made, so many in the middle are not kept."""
    run: RunResult | None = None
    """The run that a managed agent made for this call."""

    def to_text(self) -> str:
        """The text of the tool message: notes, then the observation or the error.

        Of code that failed, both: what it had printed before, and the error.
        """
        body = self.fault.message if self.fault else self.observation
        if self.fault and self.observation:
            body = f"{self.observation}\n{body}"
        return "\n".join([*(f"({note})" for note in self.notes), body]) if self.notes else body


@frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStep(MemoryStep):
    """One turn of the loop: what the model said, what was called or run, what came of it."""

    step_number: int
    """1 for the first step of a run."""
    timing: Timing
    model_output: str = ""
    reasoning: str = ""
    calls_start: int | None = None
    """Where in `model_output` the calls or the code begin, if they were read from text and not given natively."""
    tool_results: tuple[ToolResult, ...] = ()
    """One for each call, in the order asked; for a block of code its own one alone."""
    is_code: bool = False
    """Its action is a block of code; `tool_results` has what became of it, if one could be read."""
    fault: Fault | None = None
    """What was wrong with the step as a whole."""
    token_usage: TokenUsage | None = None
    is_final_answer: bool = False
    changes: tuple[NameChange, ...] = ()
    """What became of the namespace while its calls ran."""
    model_input_digest: str = ""
    """Of the request, see `core.digest`."""
    signed: Mapping[str, Value] | None = None
    """Of the reply, see `ChatMessage.signed`."""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, in the order asked."""
        return tuple(result.call for result in self.tool_results)

    @property
    def code_action(self) -> str | None:
        """The code that was to be run, as the model wrote it; None in a step without any."""
        if not self.is_code or not self.tool_results:
            return None
        return to_code(self.tool_results[0].call)

    @property
    def observations(self) -> str:
        """All that the model is told of the calls, a paragraph each."""
        return "\n\n".join(result.to_text() for result in self.tool_results)

    @property
    def observations_images(self) -> tuple[ImagePart, ...]:
        """The images that came with the observations."""
        return tuple(image for result in self.tool_results for image in result.images)

    @property
    def action_output(self) -> Value:
        """The value returned by the last call that succeeded, by reference."""
        return next((r.output for r in reversed(self.tool_results) if not r.fault), None)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The step's fault and those of its calls."""
        own = () if self.fault is None else (self.fault,)
        return own + tuple(result.fault for result in self.tool_results if result.fault)

    @property
    def is_interrupted(self) -> bool:
        """Whether the person stopped it."""
        return self.fault is not None and self.fault.kind == "Interrupted"

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """Text and calls as the assistant's, a tool message for each call, the step's error.

        Of a text that calls were read from, the part before them is its thought; the calls stand
        in `tool_calls`, and a model without native calls gets them back as text. Code is text to
        every model: it stands in the assistant's own, and what came of it in a user message.
        """
        if self.is_code:
            return self._to_code_messages(summary_mode=summary_mode)
        messages: list[ChatMessage] = []
        text = "" if summary_mode else self.model_output[: self.calls_start].rstrip()
        if text or self.tool_results:
            is_native = self.calls_start is None and bool(self.tool_results)
            messages.append(
                ChatMessage(
                    role="assistant",
                    content=text or None,
                    tool_calls=self.tool_calls,
                    reasoning=(self.reasoning or None) if is_native else None,
                    signed=self.signed if is_native else None,
                )
            )
        for result in self.tool_results:  # no generator: every step of a run comes by here
            message = ChatMessage(
                role="tool",
                content=result.to_text(),
                images=result.images,
                tool_call_id=result.call.id,
                is_error=result.fault is not None,
            )
            messages.append(message)
        if self.fault and self.fault.is_for_model:
            messages.append(_to_error(self.fault))
        return tuple(messages)

    def _to_code_messages(self, *, summary_mode: bool) -> tuple[ChatMessage, ...]:
        messages: list[ChatMessage] = []
        code = self.code_action
        text = self.model_output.rstrip()
        if summary_mode:
            text = "" if code is None else f"{OPENING_TAG}\n{code}\n{CLOSING_TAG}"
        if text:
            messages.append(ChatMessage(role="assistant", content=text))
        for result in self.tool_results:
            message = ChatMessage(
                role="user",
                content=f"Observation:\n{result.to_text()}",
                images=result.images,
                is_error=result.fault is not None,
                is_ours=True,
            )
            messages.append(message)
        if self.fault and self.fault.is_for_model:
            messages.append(_to_error(self.fault))
        return tuple(messages)


def to_code(call: ToolCall) -> str | None:
    """The code of a `CODE_CALL`; None for a call that has none."""
    code = call.arguments.get("code") if isinstance(call.arguments, Mapping) else None
    return code if isinstance(code, str) else None


def _to_error(fault: Fault) -> ChatMessage:
    return ChatMessage(role="user", content=fault.message, is_error=True, is_ours=True)


@frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class FinalAnswerStep(MemoryStep):
    """The answer of a run."""

    answer: Value
    """The object itself, by reference."""
    is_told: bool = True
    """The action step before it shows the answer already, as tool result or as text."""
    text: str | None = None
    """As the model wrote it, where it is not told yet; `answer` may change, what was told does not."""
    request: str | None = None
    """At the step limit: the message that asked for an answer."""
    token_usage: TokenUsage | None = None
    """Of the call that was made for this answer alone, at the step limit."""

    @property
    def _told(self) -> str:
        return to_text(self.answer) if self.text is None else self.text

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """Nothing if the action step told it; else the request and the answer as assistant text."""
        del summary_mode
        if self.is_told:
            return ()
        asked = (
            () if self.request is None else (ChatMessage(role="user", content=self.request, is_ours=True),)
        )
        return (*asked, ChatMessage(role="assistant", content=self._told))


RunStep = TaskStep | PlanningStep | ActionStep | FinalAnswerStep
"""What a run adds to a memory."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class RunResult:
    """The outcome of one run, with every step that was made."""

    run_id: str
    agent_name: str
    model_id: str
    task: str
    value: Value
    """The answer: the object itself. None as well if there is none, so look at `status`."""
    status: RunStatus
    max_steps: int
    steps: tuple[RunStep, ...]
    """This run's own steps: the task, the actions, the final answer."""
    usage: TokenUsage
    """All model calls of the run added up, those of its managed agents' runs too."""
    timing: Timing
    error: Fault | None = None
    """Why it failed or was interrupted, or which budget was used up."""
    verified: Verified = "unchecked"
    checks: tuple[CheckResult, ...] = ()
    """Of the answer in `value`, in the order of the checks."""
    resumed_from: str | None = None
    """The id of the run that this one went on with."""
    mode: AgentMode = "tools"

    @property
    def actions(self) -> tuple[ActionStep, ...]:
        """The action steps alone."""
        return tuple(step for step in self.steps if isinstance(step, ActionStep))

    @property
    def plans(self) -> tuple[PlanningStep, ...]:
        """The planning steps alone."""
        return tuple(step for step in self.steps if isinstance(step, PlanningStep))
