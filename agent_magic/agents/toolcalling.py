"""The tool-calling agent: how one step acts when actions are tool calls.

Memory → messages → reply → calls → results → observations. It must not own the life of a run
(that is `multistep`), nor know how a tool is made.
"""

from __future__ import annotations

import difflib
from collections.abc import Generator, Mapping, Sequence

from agent_magic.agents.calls.approving import approve_calls, may_ask
from agent_magic.agents.calls.calling import Body, CallOutcome, Ready, call_tools
from agent_magic.agents.calls.managed import ManagedAgent, ManagedCall
from agent_magic.agents.calls.teams import managed_in
from agent_magic.agents.composing import compose_final, compose_plan
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.requests.asking import ask_model
from agent_magic.agents.requests.moment import Composed, Moment, projection_of
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.observation import observation_budget, observe
from agent_magic.agents.run.run import Run
from agent_magic.core.errors import ParsingError, StepError, ToolCallError
from agent_magic.core.events import Event, ToolCallEnded, ToolCallStarted
from agent_magic.core.messages import ChatMessage, RequestKind, ToolCall
from agent_magic.core.redact import redact
from agent_magic.core.steps import ACCEPTED, Fault, ToolResult
from agent_magic.core.text import replace_surrogates, truncate
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.parsing import has_call_mark, parse_tool_calls, read_arguments
from agent_magic.tools.answer import parse_answer
from agent_magic.tools.builtin import FINAL_ANSWER
from agent_magic.tools.find_tools import listed
from agent_magic.tools.tool import PreparedCall, Tool

STOP = ("Observation:", "Calling tools:")
"""Where a model that writes its calls as text would begin to make up their results."""
_MAX_RAW_ARGUMENTS = 2_000
_MAX_NAME = 200
"""Characters of a call's name that are kept; no tool has one so long."""
_FINAL_FORM = 'final_answer with {"answer": <the answer>}'


class ToolCallingAgent(MultiStepAgent):
    """An agent whose actions are calls of the person's functions.

    ```python
    agent = ToolCallingAgent(tools=[mean_price], model="local")
    result = agent.run("What is the mean price in Oslo?")
    result.value, result.status
    ```
    """

    _prompt_file = "toolcalling_agent.yaml"

    def compose(self, moment: Moment, kind: RequestKind) -> Composed:
        """An action's request has the schemas of the tools, of many the likely ones; one for a plan or the last answer none."""
        tools = self._offered(moment)
        native_tools = moment.model.capabilities.tools
        told = self._told_tools(moment, tools, is_fixed=not native_tools)
        match kind:
            case "plan":
                return compose_plan(moment, self._prompts, told, self.instructions)
            case "final":
                return compose_final(moment, self._prompts, tools)
            case "act":
                pass
        if moment.is_first_request or not native_tools:
            moment.memory.set_system_prompt(self._system_prompt(told, native_tools=native_tools))
        return Composed(
            kind=kind,
            projection=projection_of(kind, moment.summary_mode),
            schemas=tuple([tool.to_schema() for tool in told.values()]),
            stop=STOP,
            tools={**told, **tools},  # one that it is not told of can be called by its name all the same
        )

    def _system_prompt(self, tools: Mapping[str, Tool], *, native_tools: bool) -> str:
        return self._prompts.render(
            "system_prompt",
            {
                # A model with native calls reads the tools in the request's own place for them;
                # so a tool that changes does not change the prompt's text.
                "tools": [] if native_tools else [tool.to_schema() for tool in tools.values()],
                "managed_agents": list(managed_in(tools)),
                "native_tools": native_tools,
                "custom_instructions": self.instructions,
            },
        )

    def read_last_answer(self, run: Run, message: ChatMessage) -> Value:
        """What the text of the reply says; of a `final_answer` that it calls all the same, the argument."""
        try:
            return self._read_last_answer(message, run)
        except ToolCallError as error:
            raise ToolCallError(_for_person(error.message, self._answer_tool)) from error

    def _read_last_answer(self, message: ChatMessage, run: Run) -> Value:
        calls, text, tool = message.tool_calls, message.content or "", self._answer_tool
        try:
            if not calls and has_call_mark(text):
                calls = parse_tool_calls(text).calls
            for call in calls:
                arguments = read_arguments(call.arguments)
                if call.name.strip() == FINAL_ANSWER.name and "answer" in arguments:
                    return tool.invoke(tool.prepare(arguments, run.state))
        except ParsingError:
            pass  # no call then: the text is the answer
        return parse_answer(text, tool, run.state) if text.strip() else None

    def act(self, run: Run, moment: Moment, draft: StepDraft) -> Generator[Event, None, None]:
        """One reply of the model and the tool calls in it."""
        reply = yield from ask_model(run, moment, draft, self, "act")
        tools = reply.composed.tools
        if not self._read_calls(run, draft, reply.message, tools):
            return
        if refused := _refuse_final_answers(draft.calls):
            draft.results.update(enumerate(refused))
            return
        if draft.calls[0].name == FINAL_ANSWER.name:
            self._take_final_answer(run, draft, tools[FINAL_ANSWER.name])
            return
        yield from self._run_calls(run, moment, draft, tools)

    # -- the reply ---------------------------------------------------------------------------

    def _read_calls(
        self, run: Run, draft: StepDraft, message: ChatMessage, tools: Mapping[str, Tool]
    ) -> bool:
        """Put the reply's calls into the draft; False if there is none to run."""
        text = message.content or ""
        if message.tool_calls:
            draft.calls = self._name_calls(run, draft, message.tool_calls)
            return True
        if message.finish_reason == "length":
            raise ParsingError(
                "The reply was cut off by its length limit before a tool call was whole. "
                "Write the tool call first, with less text before it."
            )
        if has_call_mark(text):
            parsed = parse_tool_calls(text)
            draft.calls_start = parsed.start
            draft.calls = self._name_calls(run, draft, parsed.calls)
            return True
        names = listed(tools)
        if not text.strip():
            reason = f" (finish_reason {message.finish_reason!r})" if message.finish_reason else ""
            raise ParsingError(f"The reply was empty{reason}. Call one of: {names}.")
        if run.was_nudged and not run.model.capabilities.tools:
            # It was told how to call and answered in prose again: this model answers so.
            run.take_answer(text.strip(), is_told=True)
            draft.is_final_answer = True
            return False
        run.was_nudged = True
        raise ParsingError(
            f"There is no tool call in the reply. Tools: {names}. "
            f"To go on, call one; if the text is the answer, call {_FINAL_FORM}."
        )

    def _name_calls(self, run: Run, draft: StepDraft, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls with ids unique in this memory and arguments read; unreadable ones get a fault."""
        named: list[ToolCall] = []
        for place, call in enumerate(calls):
            call_id = run.call_ids.unique(replace_surrogates(call.id))
            name = replace_surrogates(call.name.strip())[:_MAX_NAME]
            try:
                arguments: Mapping[str, Value] | str = read_arguments(call.arguments)
            except ParsingError as error:
                raw = call.arguments  # a mapping may be too deep or hold too large a number for `str`
                arguments = truncate(raw if isinstance(raw, str) else safe_repr(raw), _MAX_RAW_ARGUMENTS)
                draft.results[place] = ToolResult(
                    call=ToolCall(id=call_id, name=name, arguments=arguments), fault=_fault(error)
                )
            named.append(ToolCall(id=call_id, name=name, arguments=arguments))
        return tuple(named)

    # -- the answer --------------------------------------------------------------------------

    def _take_final_answer(self, run: Run, draft: StepDraft, final_answer: Tool) -> None:
        call = draft.calls[0]
        if 0 in draft.results:  # its arguments could not be read
            return
        try:
            prepared = _prepare(final_answer, call, run)
        except StepError as error:
            draft.results[0] = ToolResult(call=call, fault=_fault(error))
            return
        value = final_answer.invoke(prepared)
        draft.results[0] = ToolResult(call=call, observation=ACCEPTED, output=value, notes=prepared.notes)
        draft.is_final_answer = True
        run.take_answer(value, is_told=True)

    # -- the calls ---------------------------------------------------------------------------

    def _run_calls(
        self, run: Run, moment: Moment, draft: StepDraft, tools: Mapping[str, Tool]
    ) -> Generator[Event, None, None]:
        ready = yield from self._prepare_calls(run, draft, tools)
        if ready and may_ask(run, self, [tool for tool, _ in ready.values()]):
            ready = yield from approve_calls(
                run, self, draft, ready, lambda call: _look_up(call, self._offered(moment), run)
            )
        if ready:
            draft.begin_watch(run.state.base, run.as_maker())
        budget = observation_budget(moment.window)
        bodies: dict[int, Body] = {}

        def manage(place: int, tool: ManagedAgent, prepared: PreparedCall) -> ManagedCall:
            call_id = draft.calls[place].id
            managed = ManagedCall(tool, prepared, run, step_number=draft.step_number, call_id=call_id)
            draft.going_on[place] = managed
            return managed

        try:
            for outcome in call_tools(ready, run, self.max_tool_threads, bodies, manage):
                call = draft.calls[outcome.place]
                if outcome.event is not None:
                    yield outcome.event
                    continue
                if not outcome.is_over:
                    draft.entered.add(outcome.place)
                    yield ToolCallStarted(step_number=draft.step_number, call=call)
                    continue
                managed = bodies[outcome.place].managed
                draft.results[outcome.place] = result = self._to_result(run, call, outcome, budget, managed)
                yield ToolCallEnded(step_number=draft.step_number, result=result)
        finally:
            # Where an interrupt came before the news of a call that had ended: what it gave is not lost.
            for place, body in list(bodies.items()):
                if place not in draft.results and body.has_returned:
                    call, outcome = draft.calls[place], body.to_outcome(place)
                    draft.results[place] = self._to_result(run, call, outcome, budget, body.managed)

    def _prepare_calls(
        self, run: Run, draft: StepDraft, tools: Mapping[str, Tool]
    ) -> Generator[Event, None, Ready]:
        ready: dict[int, tuple[Tool, PreparedCall]] = {}
        for place, call in enumerate(draft.calls):
            if place not in draft.results:
                try:
                    ready[place] = _look_up(call, tools, run)
                except StepError as error:
                    draft.results[place] = ToolResult(call=call, fault=_fault(error))
            if place in draft.results:
                yield ToolCallEnded(step_number=draft.step_number, result=draft.results[place])
        return ready

    def _to_result(
        self, run: Run, call: ToolCall, outcome: CallOutcome, budget: int, managed: ManagedCall | None
    ) -> ToolResult:
        notes = outcome.prepared.notes
        made = managed.result if managed else None
        if outcome.error is not None:
            return ToolResult(
                call=call,
                fault=_fault(outcome.error),
                notes=notes,
                printed=outcome.printed,
                timing=outcome.timing,
                run=made,
            )
        tool = outcome.tool
        seen = observe(outcome.output, tool.name, run.state, budget, is_image=tool.gives_images)
        return ToolResult(
            call=call,
            observation=self.report_of(tool, made, seen.text, budget)
            if made is not None and isinstance(tool, ManagedAgent)
            else seen.text,
            output=outcome.output,
            bound_to=seen.bound_to,
            kept_as=seen.kept_as,
            images=seen.images,
            sounds=seen.sounds,
            notes=notes,
            printed=outcome.printed,
            timing=outcome.timing,
            run=made,
        )


def _refuse_final_answers(calls: Sequence[ToolCall]) -> list[ToolResult]:
    """Results that refuse every call of a turn, if `final_answer` is not alone in it."""
    n_final = sum(call.name == FINAL_ANSWER.name for call in calls)
    if n_final == 0 or len(calls) == 1:
        return []
    if n_final == len(calls):
        text = f"final_answer was called {n_final} times in one turn; it must be called once and alone. Call {_FINAL_FORM} once."
        return [_refused(call, text) for call in calls]
    final = (
        "final_answer must be called alone, after the results of other calls are known; "
        "no call of this turn was run. Make the other calls first."
    )
    other = (
        "{0} was not run, because final_answer stood in the same turn. "
        "Call {0} again, and final_answer later, alone."
    )
    return [
        _refused(call, final if call.name == FINAL_ANSWER.name else other.format(call.name)) for call in calls
    ]


def _refused(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call=call, fault=Fault(kind=ToolCallError.__name__, message=text))


def _look_up(call: ToolCall, tools: Mapping[str, Tool], run: Run) -> tuple[Tool, PreparedCall]:
    tool = _find_tool(call.name, tools)
    return tool, _prepare(tool, call, run)


def _find_tool(name: str, tools: Mapping[str, Tool]) -> Tool:
    if name in tools:
        return tools[name]
    if name.strip() in tools:
        return tools[name.strip()]
    shown = truncate(redact(safe_repr(name)), 200)  # half a secret is not known as one
    near = difflib.get_close_matches(name, tools, n=1)
    if near:
        raise ToolCallError(f"No tool {shown}. Tools: {listed(tools)}. {tools[near[0]].call_form}")
    raise ToolCallError(f"No tool {shown}. Tools: {listed(tools)}. Call one of these.")


def _prepare(tool: Tool, call: ToolCall, run: Run) -> PreparedCall:
    arguments = call.arguments
    if not isinstance(arguments, Mapping):
        raise ToolCallError(f"{tool.name}: the arguments are no JSON object. {tool.call_form}")
    return tool.prepare(arguments, run.state)


def _for_person(text: str, answer_tool: Tool) -> str:
    """A refusal of the last answer without what it tells a model to do: no call can be made any more."""
    found = text.removeprefix(f"{answer_tool.name}: ").removesuffix(answer_tool.call_form)
    found = found.partition(" Write ")[0].replace("argument 'answer", "'answer").strip()
    return f"The last answer is not of the type that was asked for: {found} Resume the run to give the model more steps."


def _fault(error: StepError) -> Fault:
    return Fault(kind=type(error).__name__, message=error.message)
