"""AgentDefinition: what an agent is made of, before and between its runs.

It must not run anything, nor know a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike

from agent_magic.agents.calls.approving import CallApproval
from agent_magic.agents.calls.managed import Manageable, ManagedAgent, Started, tool_of
from agent_magic.agents.calls.reporting import report_variables, to_summary
from agent_magic.agents.calls.teams import check_managed, managed_in, refuse_team
from agent_magic.agents.calls.told_tools import told_tools
from agent_magic.agents.person.approvals import Approvals
from agent_magic.agents.person.checks import Checks, FinalAnswerCheck
from agent_magic.agents.person.hooks import Callbacks, StepCallbacks, check_signature
from agent_magic.agents.planning import PlanApproval
from agent_magic.agents.requests.moment import Moment
from agent_magic.agents.run.observation import observation_budget
from agent_magic.agents.run.run import Run
from agent_magic.core.approval import ApprovalPolicy
from agent_magic.core.errors import OptionError
from agent_magic.core.result import RunResult
from agent_magic.core.settings import AgentSettings, SummaryMode
from agent_magic.core.state import AgentState, DictState, State, is_usable_name
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.model import Model
from agent_magic.models.select import choose_model
from agent_magic.prompts.templates import PromptTemplates
from agent_magic.tools.builtin import FINAL_ANSWER, make_final_answer, make_peek
from agent_magic.tools.find_tools import (
    FIND_TOOLS,
    MOST_TOOLS,
    ToolFinder,
    make_find_tools,
    show_briefly,
    show_whole,
)
from agent_magic.tools.offering import OffersTool
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import Source, Toolbox


class AgentDefinition(OffersTool):
    """Tools, a model, settings, checks and prompts; each can be changed between two calls."""

    _prompt_file: str
    """The file of the prompts that this kind of agent uses."""

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
    ) -> None:
        """Define the agent; no model is asked.

        Args:
            tools: Functions, other callables, `Tool`s, and tools of smolagents or LangChain. One called
                `final_answer` stands in for ours: what it returns is the answer.
            model: A `Model`, a LiteLLM id `provider/name`, `"local"` for the embedded model, or
                None to choose one as the documentation says.
            name: An identifier.
            description: What the agent is for, in a line.
            instructions: Added to the system prompt.
            max_steps: Steps that a run may make, at least 1.
            planning_interval: A plan before steps 1, n + 1, 2 n + 1, …; None for none.
            summary_mode: Which requests read the summary view: those for a plan (`plan`), for the
                next action too (`all`), or none (`off`).
            final_answer_checks: Each `check(answer)`, with `agent` and `memory` as keywords if it
                names them; what is falsy, an exception, or `(False, "why")` refuses the answer.
            answer_type: What the answer must be: `float`, `list[str]`, `Literal[...]`, a dataclass,
                a pydantic model, …; None for anything.
            step_callbacks: Functions `callback(step)` or `callback(step, agent=agent)`, by the
                class of the step (`MemoryStep` for all), or a list for action steps.
            managed_agents: Other agents, which this one calls as tools: each has a model, tools and a
                memory of its own, and gives its answer. They may as well stand among `tools`.
            provide_run_summary: When a manager calls this agent, it is told what was done beside the answer.
            keep_memory: When a manager calls this agent again, it goes on with what it remembers; else
                each call begins afresh.
            approve: What waits for a person's word: nothing (`never`), tool calls (`tools`), or plans
                too (`all`). It is given at `agent.approvals`, from another thread.
            approve_call: `approve_call(call)` is asked of each tool call, whatever `approve` says: True
                or None lets it be made, a mapping has it made with these arguments, False or a
                text, which is the reason, refuses it.
            approve_plan: `approve_plan(plan)` is asked of each plan: True or None takes it, a text
                takes that text instead, False refuses it.
            max_time_s: A run ends before the model call that would pass so many seconds, and amid
                one that does, whether the model is silent or not; code and tools have limits of
                their own.
            max_cost_usd: A run ends before the model call that would pass so many US dollars.
            max_total_tokens: Likewise so many tokens, input and output together.
            max_tool_threads: Calls of one turn that run side by side, at least 1.
            prompt_templates: A mapping, or the path of a YAML file, that replaces prompts by key.
            state: Names that the model can refer to, with their live values.

        Raises:
            DefinitionError: A name, a limit, a function or a tool that cannot be.
        """
        if not is_usable_name(name):
            raise OptionError(
                f"{name!r} is no name for an agent. Give an identifier that is no keyword, such as 'analyst'."
            )
        if name == FINAL_ANSWER.name:
            raise OptionError(
                f"{name!r} is the tool by which every agent answers, so no agent can have that name. Give another, such as 'analyst'."
            )
        self.name = name
        self.description = description
        self.instructions = instructions
        self._settings = AgentSettings(
            max_steps=max_steps,
            planning_interval=planning_interval,
            summary_mode=summary_mode,
            max_time_s=max_time_s,
            max_cost_usd=max_cost_usd,
            max_total_tokens=max_total_tokens,
            approve=approve,
        )
        self._approvals = Approvals()
        self.max_tool_threads = at_least_one("max_tool_threads", max_tool_threads)
        self.final_answer_checks = final_answer_checks
        self.answer_type = answer_type
        self.approve_call = approve_call
        self.approve_plan = approve_plan
        self.prompt_templates = prompt_templates
        self.callbacks = Callbacks(step_callbacks)
        self._model: Model | None = None
        if model is not None:
            self.model = choose_model(model).model if isinstance(model, str) else model
        self.provide_run_summary = provide_run_summary
        self.keep_memory = keep_memory
        self._as_tools: dict[str, ManagedAgent] = {}
        self.toolbox = Toolbox(tools)
        for agent in check_managed(managed_agents):
            self.toolbox.add(agent)
        refuse_team(self)
        self._finder = ToolFinder()
        self.state = _to_agent_state(state)

    @property
    def model(self) -> Model:
        """The model; an agent that was given none chooses one when it is first needed."""
        if self._model is None:
            self._model = choose_model(None).model
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        self._model = _checked_model(model)

    @property
    def has_model(self) -> bool:
        """Whether a model was given or chosen yet."""
        return self._model is not None

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools as they are now, by name."""
        return self.toolbox.current()

    @property
    def managed_agents(self) -> dict[str, Manageable]:
        """The agents among its tools, by the name that it calls each by."""
        return {name: tool.agent for name, tool in managed_in(self.tools).items()}

    def to_tool(self, name: str | None = None) -> ManagedAgent:
        """This agent as a tool that a manager calls; the same object each time, as long as its description is the same.

        Args:
            name: The variable that holds it; None for its own name.
        """
        name = name or self.name
        known = self._as_tools.get(name)
        if known is None or not known.is_made_from(known.function):
            known = self._as_tools[name] = tool_of(self, name)
        return known

    @property
    def settings(self) -> AgentSettings:
        """What can be turned while a run goes on: `settings.update(summary_mode="all")`."""
        return self._settings

    @property
    def max_steps(self) -> int:
        """Steps that a run may make."""
        return self._settings.values.max_steps

    @max_steps.setter
    def max_steps(self, value: int) -> None:
        self._settings.update(max_steps=value)

    @property
    def planning_interval(self) -> int | None:
        """A plan before steps 1, n + 1, 2 n + 1, …; None for none."""
        return self._settings.values.planning_interval

    @planning_interval.setter
    def planning_interval(self, value: int | None) -> None:
        self._settings.update(planning_interval=value)

    @property
    def summary_mode(self) -> SummaryMode:
        """Which requests read the summary view."""
        return self._settings.values.summary_mode

    @summary_mode.setter
    def summary_mode(self, value: SummaryMode) -> None:
        self._settings.update(summary_mode=value)

    @property
    def final_answer_checks(self) -> tuple[FinalAnswerCheck, ...]:
        """The checks of answers, in order."""
        return self.checks.functions

    @final_answer_checks.setter
    def final_answer_checks(self, checks: Iterable[FinalAnswerCheck]) -> None:
        self.checks = Checks(checks)

    @property
    def answer_type(self) -> Value:
        """What the answer must be; None for anything."""
        return self._answer_type

    @answer_type.setter
    def answer_type(self, answer_type: Value) -> None:
        self._answer_tool = FINAL_ANSWER if answer_type is None else make_final_answer(answer_type)
        self._answer_type = answer_type

    @property
    def approve(self) -> ApprovalPolicy:
        """What waits for a person's word."""
        return self._settings.values.approve

    @approve.setter
    def approve(self, value: ApprovalPolicy) -> None:
        self._settings.update(approve=value)

    @property
    def approvals(self) -> Approvals:
        """What waits for a person's word now, and where it is given."""
        return self._approvals

    @property
    def approve_call(self) -> CallApproval | None:
        """The person's say in each tool call."""
        return self._approve_call

    @approve_call.setter
    def approve_call(self, approve_call: CallApproval | None) -> None:
        if approve_call is not None:
            check_signature("approve_call", approve_call, argument="call", keywords=("agent",))
        self._approve_call = approve_call

    @property
    def approve_plan(self) -> PlanApproval | None:
        """The person's say in each plan."""
        return self._approve_plan

    @approve_plan.setter
    def approve_plan(self, approve_plan: PlanApproval | None) -> None:
        if approve_plan is not None:
            check_signature("approve_plan", approve_plan, argument="plan", keywords=("agent",))
        self._approve_plan = approve_plan

    @property
    def prompt_templates(self) -> Mapping[str, str] | str | PathLike[str] | None:
        """What replaces prompts of the package."""
        return self._prompt_templates

    @prompt_templates.setter
    def prompt_templates(self, templates: Mapping[str, str] | str | PathLike[str] | None) -> None:
        prompts = PromptTemplates.load(self._prompt_file)
        self._prompts = prompts if templates is None else prompts.override(templates)
        self._prompt_templates = templates

    def report_of(self, tool: ManagedAgent, result: RunResult, answer: str, budget: int) -> str:
        """What this agent's model is told of a managed agent that has answered.

        Args:
            tool: The agent.
            result: Of its run.
            answer: As the model is told any result.
            budget: Characters of the summary, where the agent gives one.
        """
        summary = to_summary(result, budget) if tool.agent.provide_run_summary else ""
        return self._prompts.render("managed_report", report_variables(tool.name, result, answer, summary))

    def start_managed(self, task: str, additional_args: Mapping[str, Value], above: Run | None) -> Started:
        """A run for one call of a manager; see `MultiStepAgent`."""
        raise NotImplementedError  # what runs is built upon this class, and not known here

    def _offered(self, moment: Moment) -> dict[str, Tool]:
        """The tools as they are now, and our own: all that can be called.

        `peek` is offered from the moment that something was cut, at the end of the list, so that
        the part of a request that a provider has cached stays the same.
        """
        own = self.toolbox.current()
        tools = {**own}
        if self._answer_type is not None and FINAL_ANSWER.name in tools:
            raise OptionError(
                "answer_type is given, and so is a tool final_answer of your own, which has its own types. "
                "Leave out one of them."
            )
        tools.setdefault(FINAL_ANSWER.name, self._answer_tool)
        is_many = len(own) > MOST_TOOLS
        if is_many and FIND_TOOLS not in own:
            if FIND_TOOLS not in moment.own_tools:
                moment.own_tools[FIND_TOOLS] = self._make_find_tools(moment)
            tools[FIND_TOOLS] = moment.own_tools[FIND_TOOLS]
        # Of many tools the list grows at its end, so there it must stand from the beginning.
        if (moment.state.has_kept or is_many) and "peek" not in tools:
            if "peek" not in moment.own_tools:
                moment.own_tools["peek"] = make_peek(moment.state, observation_budget(moment.window))
            tools["peek"] = moment.own_tools["peek"]
        return tools

    def _told_tools(self, moment: Moment, tools: Mapping[str, Tool], *, is_fixed: bool) -> Mapping[str, Tool]:
        """Those of the offered tools that the model is told of: all, or of many the likely ones.

        Args:
            moment: Where the run is.
            tools: Those that are offered.
            is_fixed: They stand in the system prompt, which stays the same while a run goes on.
        """
        if len(tools) <= MOST_TOOLS:
            return tools
        ours = {id(self._answer_tool), *map(id, moment.own_tools.values())}
        own = {name: tool for name, tool in tools.items() if id(tool) not in ours}
        if len(own) <= MOST_TOOLS:
            return tools
        first, since = told_tools(self._finder, moment.memory.steps, own, is_fixed=is_fixed)
        always = [name for name in tools if name not in own or name in (FIND_TOOLS, FINAL_ANSWER.name)]
        return {name: tools[name] for name in dict.fromkeys((*first, *always, *since))}

    def _make_find_tools(self, moment: Moment) -> Tool:
        """`find_tools`, which shows what it finds as the model of this moment is told of tools."""
        show = show_briefly if moment.model.capabilities.tools else show_whole
        return make_find_tools(self.toolbox.current, self._finder, show)


def _checked_model(model: Value) -> Model:
    if isinstance(model, Model):
        return model
    given = safe_repr(model, 100)
    raise OptionError(
        f"model={given} is no model. Give an id such as 'openai/gpt-4.1' or 'local', or an object whose class is a Model."
    )


def _to_agent_state(state: State | Mapping[str, Value] | AgentState | None) -> AgentState:
    if isinstance(state, AgentState):
        return state
    if state is None:
        return AgentState()
    # Names that a person hands over in Python are given by name: all of them are open.
    if isinstance(state, Mapping) and not isinstance(state, DictState):
        state = DictState(state)
    if not all(hasattr(state, needed) for needed in ("__getitem__", "__iter__", "bind", "unbind")):
        given = safe_repr(state, 100)
        raise OptionError(
            f"state={given} is no State. Give a mapping from names to values, such as state={{'df': df}}."
        )
    return AgentState(state, scope="all")


def at_least_one(what: str, value: int) -> int:
    """The value, if it is a whole number of at least 1.

    Raises:
        OptionError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
        raise OptionError(f"{what}={value!r} is not allowed. Give a whole number of at least 1.")
    return value
