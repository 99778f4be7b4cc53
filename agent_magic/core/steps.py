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

It must not ask a model, nor change a record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from agent_magic.core.changes import NameChange
from agent_magic.core.messages import ChatMessage, ImagePart, TokenUsage, ToolCall
from agent_magic.core.outcome import AgentMode, CheckResult, Fault, RunStatus, Timing, Verified
from agent_magic.core.sound import Sound
from agent_magic.core.values import Description, Value, to_text

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
_Class = TypeVar("_Class", bound=type)


def _frozen(cls: _Class) -> _Class:
    """Let an assignment to a step say how a step is changed."""

    def refuse(self: object, name: str, value: object = None) -> NoReturn:
        del value
        raise dataclasses.FrozenInstanceError(
            f"{type(self).__name__}.{name} cannot be assigned: a step is a record of what happened. "
            f"Write agent.memory.edit(step, {name}=…): the original is kept, and agent.memory.undo() brings it back."
        )

    cls.__setattr__ = refuse  # pyright: ignore[reportAttributeAccessIssue] - over the one that dataclass made
    return cls


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStep:
    """The root of all steps: a callback registered for it hears of every kind."""

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """What a model is shown of this step, in the normal or the summary view."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVariable:
    """A variable that a task mentions, as the model is told of it."""

    name: str
    description: Description

    def __str__(self) -> str:
        return f"@{self.name}: {self.description}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDiff:
    """How a plan differs from the one before it, in its lines."""

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


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


@_frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPromptStep(MemoryStep):
    """The system prompt of a memory."""

    text: str

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """One system message; nothing in the summary view."""
        return () if summary_mode else (ChatMessage(role="system", content=self.text),)


@_frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep(MemoryStep):
    """A task as the person gave it."""

    task: str
    """The text, byte for byte (a mention `\\@name` stands here as `@name`)."""
    images: tuple[ImagePart, ...] = ()
    variables: tuple[StateVariable, ...] = ()
    """Those that it mentions, with a preview of each."""
    others: tuple[StateVariable, ...] = ()
    """Others that are open to it, without previews."""
    n_others_left_out: int = 0
    resumes: str | None = None
    """The id of the run that this one goes on with; `task` is then the correction, or a word to go on."""
    is_ours: bool = False
    """The text is the runtime's: the run was resumed without a correction."""
    undone: tuple[str, ...] = ()
    """What the person took back of earlier steps' changes before this task, a line each."""

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """One user message: the task, the variables it mentions, its images; alike in both views."""
        del summary_mode
        text = self.task
        if self.variables:
            text += "\n\nState variables:\n" + "\n".join(f"- {variable}" for variable in self.variables)
        if self.others:
            text += "\n\nOther variables:\n" + "\n".join(f"- {variable}" for variable in self.others)
            if self.n_others_left_out:
                text += f"\n- and {self.n_others_left_out:,} more"
        if self.undone:
            text += "\n\nThe person has taken back what earlier steps made:\n" + "\n".join(
                f"- {line}" for line in self.undone
            )
        return (ChatMessage(role="user", content=text, images=self.images, is_ours=self.is_ours),)


@_frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningStep(MemoryStep):
    """A plan, or the failure to make one."""

    step_number: int
    """Of the action step before which it was made."""
    timing: Timing
    plan: str = ""
    """The text that counts, as the person approved it; empty if there is none."""
    handover: str = ""
    """The user message that hands the turn back to acting."""
    model_output: str = ""
    """As the model wrote it."""
    reasoning: str = ""
    is_first: bool = True
    """The first plan of its run."""
    diff: PlanDiff = PlanDiff()
    """Against the plan before it in the same run."""
    fault: Fault | None = None
    """Why there is no plan: the call failed, was interrupted, or the person refused it."""
    token_usage: TokenUsage | None = None
    model_input_digest: str = ""
    """Of the request, see `core.digest`."""

    @property
    def is_interrupted(self) -> bool:
        """Whether the person stopped it."""
        return self.fault is not None and self.fault.kind == "Interrupted"

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """The plan as the assistant's and the user message after it; nothing in the summary view."""
        if summary_mode or self.fault or not self.plan:
            return ()
        return (
            ChatMessage(role="assistant", content=self.plan),
            ChatMessage(role="user", content=self.handover, is_ours=True),
        )


@_frozen
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


@_frozen
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
