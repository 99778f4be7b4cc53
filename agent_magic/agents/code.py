"""The code agent: how one step acts when the action is a block of Python.

Memory → messages → reply → code → executor → observation. It must not run code itself, nor know
how the executor guards it.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Self, cast

from agent_magic.agents.approving import CODE, CallApproval, approve_calls, may_ask
from agent_magic.agents.asking import ask_model
from agent_magic.agents.calling import Ready
from agent_magic.agents.checks import FinalAnswerCheck
from agent_magic.agents.code_calls import CodeCalls
from agent_magic.agents.code_observation import observe_answer, observe_code
from agent_magic.agents.composing import compose_final, compose_plan
from agent_magic.agents.definition import AgentDefinition
from agent_magic.agents.drafts import StepDraft
from agent_magic.agents.hooks import StepCallbacks
from agent_magic.agents.moment import Composed, Moment, projection_of
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.observation import observation_budget
from agent_magic.agents.planning import PlanApproval
from agent_magic.agents.run import Run
from agent_magic.agents.teams import managed_in
from agent_magic.core.approval import ApprovalPolicy
from agent_magic.core.errors import OptionError, ParsingError, ToolCallError
from agent_magic.core.events import Event, ToolCallEnded, ToolCallStarted
from agent_magic.core.messages import ChatMessage, ImagePart, RequestKind, ToolCall
from agent_magic.core.picture import why_broken
from agent_magic.core.redact import note_secrets
from agent_magic.core.result import AgentMode
from agent_magic.core.settings import SummaryMode
from agent_magic.core.state import AgentState, NamespaceState, State
from agent_magic.core.steps import CLOSING_TAG, CODE_CALL, Fault, Timing, ToolResult
from agent_magic.core.values import Value
from agent_magic.execution.blocks import FoundCode, find_code, read_structured
from agent_magic.execution.executor import CodeExecutor, DictExecutor, NamespaceExecutor
from agent_magic.execution.request import CodeOutcome, CodeStep, Guard, Writes
from agent_magic.models.model import Model
from agent_magic.tools.answer import parse_answer
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.code_prompt import to_code_prompt
from agent_magic.tools.find_tools import make_find_tools
from agent_magic.tools.tool import PreparedCall, Tool
from agent_magic.tools.toolbox import Source

STOP = (CLOSING_TAG, "Observation:")
"""Where a model that has written its code would begin to make up what comes of it."""
REPLACEMENT = "\ufffd"
_SHOWN_IMPORTS = (
    "numpy, pandas and the safe part of the standard library (math, statistics, random, re, json, csv, datetime, "
    "collections, itertools, functools, dataclasses, pathlib, …)"
)
_STRUCTURED: Mapping[str, Value] = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "step",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {
                    "thought": {"type": "string", "description": "What to do next, and why."},
                    "code": {"type": "string", "description": "The Python code of this step."},
                },
                "required": ["thought", "code"],
                "additionalProperties": False,
            },
        },
    }
}


def _python(code: str) -> Value:
    """Run a block of Python.

    Args:
        code: The whole block.
    """
    raise NotImplementedError(code)  # an executor runs it: this is for the schema of its argument alone


_CODE_TOOL = tool_from(_python, name=CODE_CALL)
"""Reads the arguments of code that a person changed; it is never called."""


class CodeAgent(MultiStepAgent):
    """An agent whose actions are blocks of Python, run on the State itself; tools are functions in it.

    ```python
    agent = CodeAgent(tools=[mean_price], model="openai/gpt-5", state={"df": df})
    result = agent.run("Which city has the highest mean price?")
    ```

    The code runs at native speed in this very process: that is full trust. The guard keeps from
    accidents; it is no security boundary.
    """

    _prompt_file = "code_agent.yaml"
    mode: AgentMode = "code"

    def __init__(
        self,
        tools: Iterable[Source] = (),
        model: Model | str | None = None,
        *,
        name: str = "agent",
        description: str = "",
        instructions: str = "",
        max_steps: int = 20,
        planning_interval: int | None = None,
        summary_mode: SummaryMode = "plan",
        final_answer_checks: Iterable[FinalAnswerCheck] = (),
        answer_type: Value = None,
        step_callbacks: StepCallbacks | None = None,
        managed_agents: Iterable[AgentDefinition] = (),
        provide_run_summary: bool = False,
        keep_memory: bool = False,
        approve: ApprovalPolicy = "never",
        approve_call: CallApproval | None = None,
        approve_plan: PlanApproval | None = None,
        max_time_s: float | None = None,
        max_cost_usd: float | None = None,
        max_total_tokens: int | None = None,
        max_tool_threads: int = 128,
        prompt_templates: Mapping[str, str] | str | PathLike[str] | None = None,
        state: State | Mapping[str, Value] | AgentState | None = None,
        executor: CodeExecutor | None = None,
        additional_authorized_imports: Iterable[str] = (),
        step_timeout_s: float | None = 30,
        writes: Writes = "new",
        protect: Iterable[str] | None = None,
        structured: bool = False,
    ) -> None:
        """Define the agent; no model is asked. What is not named here is as for `ToolCallingAgent`.

        Args:
            state: A dictionary, such as `globals()`, is the very one that code runs on.
            executor: Runs the code; None for one that runs it on the dictionary of the State.
            additional_authorized_imports: Modules that code may import beside the safe part of the
                standard library, numpy, pandas and what the notebook has imported; `"*"` for any.
            step_timeout_s: Seconds of the code's own time in one step; None for no limit.
            writes: `new`: code may bind new names and those that it made; `all`: any; `none`: what
                it binds stays in the agent's own layer.
            protect: Names that code may not change in place; None for all of the person's, `()` for none.
            structured: Ask for thought and code as JSON, where the model can be held to a schema.

        Raises:
            DefinitionError: A name, a limit, a function or a tool that cannot be.
        """
        if type(state) is dict:
            state = AgentState(NamespaceState(cast("dict[str, Value]", state)), scope="all")
        super().__init__(
            tools,
            model,
            name=name,
            description=description,
            instructions=instructions,
            max_steps=max_steps,
            planning_interval=planning_interval,
            summary_mode=summary_mode,
            final_answer_checks=final_answer_checks,
            answer_type=answer_type,
            step_callbacks=step_callbacks,
            managed_agents=managed_agents,
            provide_run_summary=provide_run_summary,
            keep_memory=keep_memory,
            approve=approve,
            approve_call=approve_call,
            approve_plan=approve_plan,
            max_time_s=max_time_s,
            max_cost_usd=max_cost_usd,
            max_total_tokens=max_total_tokens,
            max_tool_threads=max_tool_threads,
            prompt_templates=prompt_templates,
            state=state,
        )
        self.structured = structured
        self.executor = executor
        self.additional_authorized_imports = additional_authorized_imports
        self.step_timeout_s = step_timeout_s
        self.writes = writes
        self.protect = protect

    # -- what code may do ----------------------------------------------------------------------

    @property
    def executor(self) -> CodeExecutor | None:
        """What runs the code; None for the executor of the State's own dictionary."""
        return self._executor

    @executor.setter
    def executor(self, executor: CodeExecutor | None) -> None:
        self._executor = executor
        self._own_executor: tuple[State, DictExecutor] | None = None

    @property
    def additional_authorized_imports(self) -> tuple[str, ...]:
        """Modules that code may import beside the default ones."""
        return self._imports

    @additional_authorized_imports.setter
    def additional_authorized_imports(self, names: Iterable[str]) -> None:
        if isinstance(names, str):
            raise OptionError(
                f"additional_authorized_imports={names!r} is one text. Give a list: [{names!r}]."
            )
        self._imports = _texts("additional_authorized_imports", names)

    @property
    def step_timeout_s(self) -> float | None:
        """Seconds of the code's own time in one step; None for no limit."""
        return self._step_timeout_s

    @step_timeout_s.setter
    def step_timeout_s(self, seconds: float | None) -> None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and 0 < seconds < float("inf")):
            raise OptionError(
                f"step_timeout_s={seconds!r} is not allowed. Give a number over 0, or None for no limit."
            )
        self._step_timeout_s = seconds

    @property
    def writes(self) -> Writes:
        """Which names code may bind."""
        return self._writes

    @writes.setter
    def writes(self, writes: Writes) -> None:
        if writes not in ("new", "all", "none"):
            raise OptionError(f"writes={writes!r} is not allowed. Give one of: 'new', 'all', 'none'.")
        self._writes: Writes = writes

    @property
    def protect(self) -> tuple[str, ...] | None:
        """Names that code may not change in place; None for all of the person's, `()` for none.

        With `writes="all"` and None there are none.
        """
        return self._protect

    @protect.setter
    def protect(self, names: Iterable[str] | None) -> None:
        if isinstance(names, str):
            raise OptionError(f"protect={names!r} is one text. Give a list: [{names!r}].")
        self._protect = None if names is None else _texts("protect", names)

    @property
    def guard(self) -> Guard:
        """All of it, as an executor is told."""
        protect = self._protect
        if protect is None and self._writes == "all":
            protect = ()  # who lets code rebind all lets it change all, but for what is named
        return Guard(
            imports=self._imports, writes=self._writes, protect=protect, timeout_s=self._step_timeout_s
        )

    # -- requests ------------------------------------------------------------------------------

    def compose(self, moment: Moment, kind: RequestKind) -> Composed:
        """No request has schemas: the tools, of many the likely ones, stand in the system prompt, as Python functions."""
        tools = {
            # What was cut is a variable of its own here, so there is nothing to look into it with.
            name: tool
            for name, tool in self._offered(moment).items()
            if name != "peek" or moment.own_tools.get(name) is not tool
        }
        told = self._told_tools(moment, tools, is_fixed=True)
        match kind:
            case "plan":
                return compose_plan(moment, self._prompts, told, self.instructions)
            case "final":
                return compose_final(moment, self._prompts, tools)
            case "act":
                pass
        is_structured = self._is_structured(moment.model)
        moment.memory.set_system_prompt(self._system_prompt(told, is_structured=is_structured))
        return Composed(
            kind=kind,
            projection=projection_of(kind, moment.summary_mode),
            stop=() if is_structured else STOP,
            options=_STRUCTURED if is_structured else {},
            tools=tools,
        )

    def _make_find_tools(self, moment: Moment) -> Tool:
        del moment  # whatever the model, it is shown functions
        return make_find_tools(self.toolbox.current, self._finder, to_code_prompt, is_code=True)

    def _is_structured(self, model: Model) -> bool:
        return self.structured and model.capabilities.response_format

    def _system_prompt(self, tools: Mapping[str, Tool], *, is_structured: bool) -> str:
        return self._prompts.render(
            "system_prompt",
            {
                "tools": [to_code_prompt(tool) for tool in tools.values()],
                "managed_agents": list(managed_in(tools)),
                "authorized_imports": _to_shown(self._imports),
                "writes": self._writes,
                "structured": is_structured,
                "step_timeout_s": self._step_timeout_s,
                "custom_instructions": self.instructions,
            },
        )

    def read_last_answer(self, run: Run, message: ChatMessage) -> Value:
        """What the text of the reply says; no code of it is run."""
        text = message.content or ""
        try:
            return parse_answer(text, self._answer_tool, run.state) if text.strip() else None
        except ToolCallError as error:
            raise ToolCallError(
                f"The last answer is not of the type that was asked for: {error.message}"
            ) from error

    def check_model(self, model: Model) -> None:
        """Refuse a model that cannot write code.

        Raises:
            OptionError: It is one.
        """
        if not model.capabilities.code:
            raise OptionError(
                f"The model {model.model_id} cannot write code, only pick tools. "
                "Give a model that can (--model provider/name), or an agent of mode tools."
            )

    # -- one step ------------------------------------------------------------------------------

    def act(self, run: Run, moment: Moment, draft: StepDraft) -> Generator[Event, None, None]:
        """One reply of the model and the code in it."""
        reply = yield from ask_model(run, moment, draft, self, "act")
        found = self._find_code(reply.message, is_structured=bool(reply.composed.options))
        draft.text_pieces[:] = [found.mended]
        draft.calls_start = found.start
        call = ToolCall(id=run.call_ids.unique("code_1"), name=CODE_CALL, arguments={"code": found.code})
        draft.calls = (call,)
        prepared = PreparedCall(kwargs={"code": found.code})
        if may_ask(run, self):
            ready: Ready = {0: (_CODE_TOOL, prepared)}
            ready = yield from approve_calls(run, self, draft, ready, _prepare_edited, policies=CODE)
            if not ready:
                return
            prepared = ready[0][1]
        yield from self._run_code(run, moment, draft, prepared, reply.composed.tools)

    def _find_code(self, message: ChatMessage, *, is_structured: bool) -> FoundCode:
        text = message.content or ""
        read = read_structured if is_structured else find_code
        found = read(text, finish_reason=message.finish_reason)
        if REPLACEMENT in found.code:  # what cannot be encoded was replaced as it came in
            raise ParsingError(
                "The code has a character that cannot be encoded (a lone surrogate, or U+FFFD), and nothing ran. "
                "Write it as an escape, such as '\\ufffd', or leave it out."
            )
        return found

    def _run_code(
        self, run: Run, moment: Moment, draft: StepDraft, prepared: PreparedCall, tools: Mapping[str, Tool]
    ) -> Generator[Event, None, None]:
        call = draft.calls[0]
        budget = observation_budget(moment.window)
        calls = CodeCalls(
            run,
            self,
            tools,
            code_id=call.id,
            step_number=draft.step_number,
            report=lambda tool, result, answer: self.report_of(tool, result, answer, budget),
        )
        yield ToolCallStarted(step_number=draft.step_number, call=call)
        draft.entered.add(0)
        start = time.time()
        executor = self._executor_for(run)
        if not isinstance(executor, NamespaceExecutor):  # one of a person's need not know of turns
            draft.watch(run.state.base)
        note_secrets(_variables_of(executor, run.state.base))
        try:
            outcome = executor.execute(
                CodeStep(
                    code=prepared.kwargs["code"],
                    label=f"{run.agent_name} step {draft.step_number}",
                    functions=calls.functions,
                    lent=run.state.own,
                    handed=run.state.handed,
                    guard=self.guard,
                    is_interrupted=lambda: run.is_stopping,
                    on_interrupt=run.on_interrupt,
                    on_turn=lambda: draft.watch(run.state.base),
                    on_end=draft.settle,
                )
            )
        finally:
            calls.close()
            if 0 not in draft.results and calls.results:  # Ctrl-C: what was called by then is not lost
                draft.results[0] = ToolResult(
                    call=call,
                    fault=_INTERRUPTED,
                    calls=calls.results,
                    timing=Timing(start=start, end=time.time()),
                )
        result = ToolResult(
            call=call,
            notes=(*prepared.notes, *outcome.notes, *calls.notes),
            timing=Timing(start=start, end=time.time()),
            calls=calls.results,
            n_calls_left_out=calls.n_left_out,
        )
        draft.results[0] = self._told(run, draft, outcome, result, budget)
        yield from calls.take_events()
        if outcome.is_stopped:
            run.raise_if_interrupted()
            raise KeyboardInterrupt
        if calls.unanswered is not None:
            raise calls.unanswered
        if outcome.is_answered:
            draft.is_final_answer = True
            run.take_answer(outcome.answer, is_told=True)
        yield ToolCallEnded(step_number=draft.step_number, result=draft.results[0])

    def _told(
        self, run: Run, draft: StepDraft, outcome: CodeOutcome, result: ToolResult, budget: int
    ) -> ToolResult:
        """The result with what the model is told of the code."""
        run.state.keep_names(outcome.kept)
        seen = observe_code(outcome, run.state, budget, self._step_timeout_s)
        result = replace(
            result,
            observation=seen.text,
            output=outcome.value,
            kept_as=seen.kept_as,
            printed=seen.whole,
            images=tuple(
                ImagePart(image=picture.image, name=picture.name)
                for picture in outcome.pictures
                if not why_broken(picture.image)
            ),
            sounds=seen.sounds,
        )
        if outcome.is_stopped:
            return replace(result, fault=_INTERRUPTED)
        if outcome.is_answered:
            draft.told_before_answer = seen.text
            told = observe_answer(outcome.answer, seen.text, budget, self._step_timeout_s)
            return replace(result, observation=told, output=outcome.answer)
        if outcome.error is not None:
            fault = Fault(kind=type(outcome.error).__name__, message=outcome.error.message)
            return replace(result, fault=fault)
        return result

    def _apart(self) -> Self:
        # What it has made under its names stays its own from one call of a manager to the next.
        if self._executor is None and isinstance(self.state.base, dict | NamespaceState):
            self._executor_on(self.state.base)
        return super()._apart()

    def _executor_for(self, run: Run) -> CodeExecutor:
        if self._executor is not None:
            return self._executor
        return self._executor_on(run.state.base)

    def _executor_on(self, base: State) -> CodeExecutor:
        namespace = base.namespace if isinstance(base, NamespaceState) else base
        if not isinstance(namespace, dict):
            raise OptionError(
                f"Code cannot run on a State of type {type(base).__name__} without an executor. "
                "Give executor=…, or a dictionary as state."
            )
        if self._own_executor is None or self._own_executor[0] is not base:
            self._own_executor = (base, DictExecutor(namespace))
        return self._own_executor[1]


def _variables_of(executor: CodeExecutor, base: State) -> Mapping[str, Value]:
    if isinstance(executor, NamespaceExecutor):
        return executor.namespace
    return {name: base[name] for name in base if name in base}


_INTERRUPTED = Fault(
    kind="Interrupted", message="The code was interrupted before it ended; what it did so far holds."
)


def _prepare_edited(call: ToolCall) -> tuple[Tool, PreparedCall]:
    assert isinstance(call.arguments, Mapping)
    return _CODE_TOOL, _CODE_TOOL.definition.reader.prepare(call.arguments, None)


def _to_shown(imports: tuple[str, ...]) -> list[str]:
    """What the prompt says of imports; a refusal says it in full."""
    return ["*"] if "*" in imports else [*imports, _SHOWN_IMPORTS]


def _texts(what: str, names: Iterable[str]) -> tuple[str, ...]:
    found = tuple(names)
    for name in found:
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            raise OptionError(f"{what}: {name!r} is no name. Give a list of texts.")
    return found
