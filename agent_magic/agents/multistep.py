"""MultiStepAgent: an agent as people use it, and how its runs are started and steered.

It must not draw, print or log; a run yields events, and never from a `finally`.
"""

from __future__ import annotations

import copy
from abc import ABC
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from typing import Self

from agent_magic.agents import async_runs
from agent_magic.agents.calls.managed import Started
from agent_magic.agents.past.history import RunHistory
from agent_magic.agents.run.pictures import to_image
from agent_magic.agents.run.run import BY_PERSON, Run
from agent_magic.agents.running import RunningAgent, ended
from agent_magic.core.events import Event
from agent_magic.core.messages import ImagePart
from agent_magic.core.result import RunResult
from agent_magic.core.settings import SettingChange
from agent_magic.core.values import Value


class MultiStepAgent(RunningAgent, ABC):
    """An agent: tools, a model and settings. Each `run` is an object of its own.

    Runs of one agent may overlap, from threads too: each works on the memory as it stood at its
    start, and they are joined in, whole, in order of ending.
    """

    _wakers: list[Callable[[], None]]

    def __new__(cls, *_args: Value, **_options: Value) -> Self:
        """An agent that nobody listens to yet; how it is defined is `AgentDefinition`'s business."""
        agent = super().__new__(cls)
        agent._wakers = []
        return agent

    # -- running -------------------------------------------------------------------------------

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
        return self._finish(run)

    def stream(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
        variables: Mapping[str, Value] | None = None,
        listen: Callable[[Event], object] | None = None,
    ) -> Generator[Event, None, RunResult]:
        """The events of a run, as they happen; the arguments are those of `run`.

        Closing the generator ends the run as `interrupted`: memory stays valid and the agent usable.

        Args:
            variables: Names of the State that the task mentions; the model is told of them.
            listen: Takes the events that arise while the model's code runs, in the moment and the
                thread of the run; they are not yielded then. Without it they come after the code.
        """
        run = self._start(
            task,
            reset=reset,
            images=images,
            additional_args=additional_args,
            max_steps=max_steps,
            variables=variables,
        )
        run.listen = listen
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
        await async_runs.finish(
            run, lambda: self._drive(run), lambda reason: self._history.close(run, reason, self.state)
        )
        return ended(run)

    def astream(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> AsyncGenerator[Event, None]:
        """`stream` for asynchronous code: `async for event in agent.astream(task)`.

        The run goes on as its events are asked for; leaving the loop early ends it as
        `interrupted`. Where tools run is as for `arun`.
        """
        run = self._start(
            task, reset=reset, images=images, additional_args=additional_args, max_steps=max_steps
        )
        return async_runs.follow(
            run, lambda: self._drive(run), lambda reason: self._history.close(run, reason, self.state)
        )

    def resume(
        self,
        correction: str | None = None,
        *,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> RunResult:
        """Go on with the last run, which ended without an answer; what was done is not done again.

        It gets as many steps, and the same budgets, again.

        Args:
            correction: What the model is told; None for a word to go on.
            images: As for `run`.
            additional_args: As for `run`.
            max_steps: How many more steps, instead of the agent's own limit.

        Raises:
            KeyboardInterrupt: As from `run`.
            OptionError: There is no run to resume, or it was answered.
        """
        return self._finish(
            self._restart(correction, images=images, additional_args=additional_args, max_steps=max_steps)
        )

    def stream_resume(
        self,
        correction: str | None = None,
        *,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
        variables: Mapping[str, Value] | None = None,
        listen: Callable[[Event], object] | None = None,
    ) -> Generator[Event, None, RunResult]:
        """The events of a resumed run; the arguments are those of `resume` and `stream`."""
        run = self._restart(
            correction,
            images=images,
            additional_args=additional_args,
            max_steps=max_steps,
            variables=variables,
        )
        run.listen = listen
        return self._drive(run)

    def retry(self, *, max_steps: int | None = None) -> RunResult:
        """Do the last task anew, as if its run had not been; its steps are dropped, `memory.undo()` brings them back.

        Raises:
            KeyboardInterrupt: As from `run`.
            OptionError: There is no run.
        """
        return self._finish(self._again(max_steps))

    def stream_retry(
        self, *, max_steps: int | None = None, listen: Callable[[Event], object] | None = None
    ) -> Generator[Event, None, RunResult]:
        """The events of a retried run; `listen` is that of `stream`."""
        run = self._again(max_steps)
        run.listen = listen
        return self._drive(run)

    # -- as a managed agent --------------------------------------------------------------------

    def start_managed(self, task: str, additional_args: Mapping[str, Value], above: Run | None) -> Started:
        """A run for one call of a manager, which is `above`; its events have it go on.

        It knows nothing of other runs, and is in no memory but its manager's, unless `keep_memory`
        is set: then it goes on with this agent's own.

        Raises:
            DefinitionError: None can be started.
        """
        agent = self if self.keep_memory else self._apart()
        images = []
        if agent.model.capabilities.images:
            drawn = ((name, to_image(value)) for name, value in additional_args.items())
            images = [ImagePart(image=image, name=name) for name, image in drawn if image is not None]
        run = agent._start(task, reset=False, images=images, additional_args=additional_args, max_steps=None)
        run.above = above
        run.loop = above.loop if above else None
        return Started(
            run=run,
            events=agent._drive(run),
            close=lambda reason: agent._history.close(run, reason, agent.state),
        )

    def _apart(self) -> Self:
        """This agent with a memory and names of its own; what it is made of is the same."""
        twin = copy.copy(self)
        twin._history = RunHistory(self._history.active)
        twin.state = self.state.apart()
        return twin

    # -- steering ------------------------------------------------------------------------------

    def interrupt(self, reason: str = BY_PERSON) -> None:
        """End all active runs of this agent, from any thread; their status is `interrupted`.

        What goes on is not waited for: code is stopped, a provider is hung up on, async tools are
        cancelled, and tools in threads are left behind. Where another thread calls this, a tool or a
        model that works in the main thread, in `run` or a `%%agent` cell, is broken off as by Ctrl-C.

        Waited for is only a tool or a model that works in the thread of whoever takes the events of
        `stream`, or in a thread of yours that called `run`: give such a tool a `timeout_s`, or make it
        async. An interrupt of a managed agent alone waits likewise. Under `arun` a tool with `main_thread`
        works in the thread of its event loop, so an interrupt takes effect when that tool has ended.
        """
        active = list(self._history.active)
        for run in active:
            run.interrupt(reason)
        for wake in list(self._wakers) if active else ():
            wake()

    def on_interrupt(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake`, in any thread, when active runs are interrupted; returns what takes it off again."""
        self._wakers.append(wake)
        return lambda: self._wakers.remove(wake)

    def note_interrupt(self) -> None:
        """As `interrupt`, for a signal handler: only a flag is set, and nothing that waits is woken."""
        for run in self._history.active:
            run.is_signalled = True

    def pause(self) -> None:
        """Let runs wait before their next call, until `unpause`."""
        self._settings.update(is_paused=True)

    def unpause(self) -> None:
        """Let runs go on."""
        self._settings.update(is_paused=False)

    def replan_now(self) -> None:
        """Have a plan made before the next step of the runs that go on, whatever the interval."""
        self._settings.note(SettingChange(name="replan_now", old=False, new=True))
