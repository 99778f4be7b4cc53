"""The life of a run: steps, limits, interrupts and the end, whatever one step does.

It must not draw, print or log; it yields events, and never from a `finally`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence

from agent_magic.agents.loop import take_steps
from agent_magic.agents.run import BY_PERSON, CallIds, Run, StepDraft
from agent_magic.agents.side_by_side import THREADS
from agent_magic.agents.task import build_task
from agent_magic.core.errors import OptionError
from agent_magic.core.events import Event, RunEnded, RunStarted
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage
from agent_magic.core.result import RunResult
from agent_magic.core.state import AgentState, DictState, State, is_usable_name
from agent_magic.core.steps import Fault, RunStep
from agent_magic.core.values import Value
from agent_magic.models.model import Model
from agent_magic.models.select import choose_model
from agent_magic.tools.builtin import FINAL_ANSWER, make_peek
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import Source, Toolbox


class MultiStepAgent(ABC):
    """An agent: tools, a model and settings. Each `run` is an object of its own.

    Runs of one agent may overlap, from threads too: each works on the memory as it stood at its
    start, and they are joined in, whole, in order of ending.
    """

    def __init__(
        self,
        tools: Iterable[Source] = (),
        model: Model | str | None = None,
        *,
        name: str = "agent",
        description: str = "",
        instructions: str = "",
        max_steps: int = 20,
        max_tool_threads: int = 128,
        state: State | Mapping[str, Value] | AgentState | None = None,
    ) -> None:
        """Define the agent; no model is asked.

        Args:
            tools: Functions, other callables and `Tool`s.
            model: A `Model`, a LiteLLM id `provider/name`, `"local"` for the embedded model, or
                None to choose one as the documentation says.
            name: An identifier.
            description: What the agent is for, in a line.
            instructions: Added to the system prompt.
            max_steps: Steps that a run may make, at least 1.
            max_tool_threads: Calls of one turn that run side by side, at least 1.
            state: Names that the model can refer to, with their live values.

        Raises:
            DefinitionError: A name, a limit or a tool that cannot be.
        """
        if not is_usable_name(name):
            raise OptionError(
                f"{name!r} is no name for an agent. Give an identifier that is no keyword, such as 'analyst'."
            )
        self.name = name
        self.description = description
        self.instructions = instructions
        self.max_steps = _at_least_one("max_steps", max_steps)
        self.max_tool_threads = _at_least_one("max_tool_threads", max_tool_threads)
        self._model: Model | None = None
        if model is not None:
            self.model = model if isinstance(model, Model) else choose_model(model).model
        self.toolbox = Toolbox(tools)
        self.state = _to_agent_state(state)
        self.runs: list[RunResult] = []
        """Results of the runs in memory, in order of ending."""
        self._memory = AgentMemory()
        self._history: list[RunStep] = []
        self._active: list[Run] = []
        self._last: Run | None = None
        self._call_ids = CallIds()
        self._n_changes = 0  # of the history; a run that ends finds out by it whether others joined in
        self._lock = threading.RLock()

    # -- what each kind of agent fills in ------------------------------------------------------

    @abstractmethod
    def act(self, run: Run, draft: StepDraft) -> Generator[Event, None, None]:
        """One step: ask the model, do what it says, put all of it into `draft`."""

    @abstractmethod
    def final_request(self, run: Run) -> str:
        """The message that asks for an answer when the steps are used up."""

    @abstractmethod
    def read_last_answer(self, message: ChatMessage) -> Value:
        """The answer in the reply to that message; None if there is none."""

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.name!r}: {len(self.tools)} tools, {len(self.runs)} runs in memory>"
        )

    # -- running ------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model; an agent that was given none chooses one when it is first needed."""
        if self._model is None:
            self._model = choose_model(None).model
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        self._model = model

    @property
    def has_model(self) -> bool:
        """Whether a model was given or chosen yet."""
        return self._model is not None

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools as they are now, by name."""
        return self.toolbox.current()

    @property
    def memory(self) -> AgentMemory:
        """The memory of the run started last; after its end, of all runs joined in."""
        return self._memory

    @property
    def result(self) -> RunResult | None:
        """The result of the run that ended last."""
        return self.runs[-1] if self.runs else None

    def run(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> RunResult:
        """Do a task to its end and return what came of it.

        Args:
            task: What is asked.
            reset: Forget earlier runs first; variables stay.
            images: PIL images that stand beside the task.
            additional_args: Names that the model can refer to in this run, with their values.
            max_steps: Instead of the agent's own limit.

        Raises:
            KeyboardInterrupt: Ctrl-C, after the run was recorded as `interrupted`.
            OptionError: A limit under 1 or a task that is blank; before any model call.
        """
        run = self._start(
            task, reset=reset, images=images, additional_args=additional_args, max_steps=max_steps
        )
        # Ctrl-C between two events reaches this line, not the generator: closing tells it.
        with contextlib.closing(self._drive(run)) as events:
            for _ in events:
                pass
        return _ended(run)

    def stream(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
        variables: Mapping[str, Value] | None = None,
    ) -> Generator[Event, None, RunResult]:
        """The events of a run, as they happen; the arguments are those of `run`.

        Closing the generator ends the run as `interrupted`: memory stays valid and the agent usable.

        Args:
            variables: Names of the State that the task mentions; the model is told of them.
        """
        run = self._start(
            task,
            reset=reset,
            images=images,
            additional_args=additional_args,
            max_steps=max_steps,
            variables=variables,
        )
        return self._drive(run)

    async def arun(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> RunResult:
        """`run` for asynchronous code: the loop stays free; cancelling interrupts the run.

        The run works in a thread. Async tools, and tools marked `main_thread`, run in the
        caller's event loop.
        """
        run = self._start(
            task, reset=reset, images=images, additional_args=additional_args, max_steps=max_steps
        )
        loop = asyncio.get_running_loop()
        run.loop = loop
        done: asyncio.Future[None] = loop.create_future()

        def work() -> None:
            error: BaseException | None = None
            try:
                for _ in self._drive(run):
                    pass
            except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
                error = raised
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, done, error)

        context = contextvars.copy_context()
        THREADS.start(lambda: context.run(work))
        try:
            await done
        except asyncio.CancelledError:
            reason = "The task that awaited the run was cancelled."
            run.interrupt(reason)
            # A model or a tool that cannot be stopped ends behind; its results are not used.
            self._close(run, reason)
            raise
        return _ended(run)

    def interrupt(self, reason: str = BY_PERSON) -> None:
        """End all active runs of this agent, from any thread; their status is `interrupted`."""
        for run in list(self._active):
            run.interrupt(reason)

    def note_interrupt(self) -> None:
        """As `interrupt`, for a signal handler: only a flag is set, and nothing that waits is woken."""
        for run in self._active:
            run.is_signalled = True

    def reset(self) -> None:
        """Forget all runs; variables and tools stay."""
        with self._lock:
            self._n_changes += 1
            if not self._active:  # the calls of a run that goes on will stand beside those of later ones
                self._call_ids = CallIds()
            self._history.clear()
            self.runs.clear()
            self._memory = AgentMemory(self._memory.system_prompt.text)
            self.state.close_names()

    # -- the life of a run --------------------------------------------------------------------

    def _start(
        self,
        task: str,
        *,
        reset: bool,
        images: Sequence[Value] | None,
        additional_args: Mapping[str, Value] | None,
        max_steps: int | None,
        variables: Mapping[str, Value] | None = None,
    ) -> Run:
        limit = self.max_steps if max_steps is None else _at_least_one("max_steps", max_steps)
        if not isinstance(task, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            raise OptionError(f"The task is of type {type(task).__name__}. Give it as text.")
        if not task.strip():
            raise OptionError("The task is empty. Say what the agent is to find out or do.")
        with self._lock:
            if reset:
                self.reset()
            state = self.state.fork(extra=additional_args, opened=variables or ())
            step = build_task(task, images, {**(variables or {}), **(additional_args or {})}, state)
            # The system prompt depends on what the model can do, and finding out may take seconds:
            # the first step puts it in, when the run is on the screen already.
            memory = AgentMemory(self._memory.system_prompt.text, self._history)
            run = Run(
                agent_name=self.name,
                model=self.model,
                memory=memory,
                state=state,
                task=step,
                max_steps=limit,
                call_ids=self._call_ids,
            )
            run.n_changes = self._n_changes
            self._memory = memory
            self._last = run
        return run

    def _drive(self, run: Run) -> Generator[Event, None, RunResult]:
        with self._lock:
            self._active.append(run)
        try:
            run.add(run.task)
            yield RunStarted(
                run_id=run.run_id,
                agent_name=self.name,
                model_id=run.model.model_id,
                max_steps=run.max_steps,
                task=run.task,
            )
            yield from take_steps(run, self)
        except (GeneratorExit, KeyboardInterrupt):
            self._close(run, BY_PERSON)
            raise
        except BaseException as bug:  # whatever it is: recorded, then raised with its traceback
            run.end(
                "failed",
                error=Fault(kind=type(bug).__name__, message=f"A fault of agent_magic itself: {bug!r}"),
            )
            raise
        finally:
            self._join(run)
        result = _ended(run)
        yield RunEnded(result=result)
        return result

    def _close(self, run: Run, reason: str) -> None:
        run.interrupt(reason)  # whatever still runs behind learns that nobody waits for it
        run.end_interrupted(reason)
        self._join(run)

    def _join(self, run: Run) -> None:
        """Take an ended run's steps into the agent's memory, once."""
        with self._lock:
            if run not in self._active:
                return
            if run.result is None:  # a second Ctrl-C came while the first was being recorded
                run.end_interrupted(BY_PERSON)
            self._active.remove(run)
            overlapped = run is not self._last or run.n_changes != self._n_changes
            self._n_changes += 1
            self._history.extend(run.steps)
            self.runs.append(_ended(run))
            self.state.join(run.state)
            if overlapped and self._last is not None and self._last.result is not None:
                self._memory = AgentMemory(run.memory.system_prompt.text, self._history)

    def _offered(self, state: AgentState) -> dict[str, Tool]:
        """The tools as they are now, and the two of our own.

        `peek` is offered from the moment that something was cut, at the end of the list, so that
        the part of a request that a provider has cached stays the same.
        """
        tools = {**self.toolbox.current()}
        tools.setdefault(FINAL_ANSWER.name, FINAL_ANSWER)
        if state.has_kept and "peek" not in tools:
            tools["peek"] = make_peek(state)
        return tools


def _to_agent_state(state: State | Mapping[str, Value] | AgentState | None) -> AgentState:
    if isinstance(state, AgentState):
        return state
    if state is None:
        return AgentState()
    # Names that a person hands over in Python are given by name: all of them are open.
    if isinstance(state, Mapping) and not isinstance(state, DictState):
        state = DictState(state)
    return AgentState(state, scope="all")


def _at_least_one(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
        raise OptionError(f"{what}={value!r} is not allowed. Give a whole number of at least 1.")
    return value


def _ended(run: Run) -> RunResult:
    assert run.result is not None
    return run.result


def _settle(done: asyncio.Future[None], error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
