"""The code agent: how one step acts when the action is a block of Python.

Memory → messages → reply → code → executor → observation. It must not run code itself, nor know
how the executor guards it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from os import PathLike
from typing import Self, cast

from agent_magic.agents.calls.approving import CODE, CallApproval, approve_calls, may_ask
from agent_magic.agents.calls.calling import Ready
from agent_magic.agents.calls.teams import managed_in
from agent_magic.agents.coding.running import run_code
from agent_magic.agents.coding.settings import CodeSettings
from agent_magic.agents.composing import compose_final, compose_plan
from agent_magic.agents.definition import AgentDefinition
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.person.checks import FinalAnswerCheck
from agent_magic.agents.person.hooks import StepCallbacks
from agent_magic.agents.planning import PlanApproval
from agent_magic.agents.requests.asking import ask_model
from agent_magic.agents.requests.moment import Composed, Moment, projection_of
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.run import Run
from agent_magic.core.approval import ApprovalPolicy
from agent_magic.core.errors import OptionError, ParsingError, ToolCallError
from agent_magic.core.events import Event
from agent_magic.core.messages import ChatMessage, RequestKind, ToolCall
from agent_magic.core.result import AgentMode
from agent_magic.core.settings import SummaryMode
from agent_magic.core.state import AgentState, NamespaceState, State
from agent_magic.core.steps import CLOSING_TAG, CODE_CALL
from agent_magic.core.values import Value
from agent_magic.execution.executor import CodeExecutor
from agent_magic.execution.reply.blocks import FoundCode, find_code, read_structured
from agent_magic.execution.request import Writes
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


class CodeAgent(CodeSettings, MultiStepAgent):
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
                "authorized_imports": _to_shown(self.additional_authorized_imports),
                "writes": self.writes,
                "structured": is_structured,
                "step_timeout_s": self.step_timeout_s,
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
        yield from run_code(run, self, draft, prepared, reply.composed.tools, window=moment.window)

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

    def _apart(self) -> Self:
        # What it has made under its names stays its own from one call of a manager to the next.
        if self._executor is None and isinstance(self.state.base, dict | NamespaceState):
            self._executor_on(self.state.base)
        return super()._apart()


def _prepare_edited(call: ToolCall) -> tuple[Tool, PreparedCall]:
    assert isinstance(call.arguments, Mapping)
    return _CODE_TOOL, _CODE_TOOL.definition.reader.prepare(call.arguments, None)


def _to_shown(imports: tuple[str, ...]) -> list[str]:
    """What the prompt says of imports; a refusal says it in full."""
    return ["*"] if "*" in imports else [*imports, _SHOWN_IMPORTS]
