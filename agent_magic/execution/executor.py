"""Executors: one block of code, run by Python itself in a living namespace, and all put in order after it.

It must not know IPython: a notebook's executor is a `NamespaceExecutor` of its own (see there).
"""

from __future__ import annotations

import contextlib
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Protocol

from agent_magic.core.errors import CodeExecutionError, CodeRefused, ParsingError, StepError
from agent_magic.core.values import Value
from agent_magic.execution.displaying import Show, figures_shown
from agent_magic.execution.guard.compiling import Compiled, compile_code
from agent_magic.execution.guard.imports import AuthorizedImports
from agent_magic.execution.guard.rules import Rules
from agent_magic.execution.prints.sinks import printing_into
from agent_magic.execution.prints.streams import routed
from agent_magic.execution.request import CodeOutcome, CodeStep, Picture
from agent_magic.execution.step import audit
from agent_magic.execution.step.awaiting import no_visible_loop, run_awaiting
from agent_magic.execution.step.course import BOUNDARIES, FILENAMES, Running
from agent_magic.execution.step.running import HERE, LIVE
from agent_magic.execution.step.turns import TurnIsHeld, turns_of
from agent_magic.execution.step.writing import Internal, Ledger, persons_names
from agent_magic.execution.telling.ending import Ending, to_error, to_notes
from agent_magic.execution.values.interpreter import Interpreter
from agent_magic.execution.values.protecting import Protection

_numbers: dict[str, int] = {}


class CodeExecutor(Protocol):
    """Runs the code of a step; what a person may put in the place of ours."""

    def execute(self, step: CodeStep) -> CodeOutcome:
        """Run it; whatever the code does, this returns.

        Raises:
            KeyboardInterrupt: Ctrl-C came before the code was entered, or after it was left.
        """
        ...


class NamespaceExecutor:
    """Runs code in a living namespace: functions that it defines go on working there.

    What differs between plain Python and a notebook is in the methods `is_internal` and `capturing`.

    Args:
        namespace: Functions of the person's and of the code have it as their globals. The executor knows
            which of its names are of its own making; all others are the person's.
    """

    def __init__(self, namespace: dict[str, Value]) -> None:
        self.namespace = namespace
        self._turns = turns_of(namespace)
        self._made: dict[str, Value] = {}
        self._internal = Internal(self.is_internal)

    def take_over(self, other: NamespaceExecutor) -> None:
        """Count what the code of another executor has made here as of one's own making."""
        if other.namespace is self.namespace:
            self._made = {**other._made, **self._made}

    # -- what a notebook's executor overrides --------------------------------------------------

    def is_internal(self, name: str) -> bool:
        """Whether nobody but the kernel itself binds this name, so that it is neither person's nor code's.

        It is asked once for each name: the answer must not change.
        """
        return name.startswith("__") and name.endswith("__")

    def capturing(self, code: str, show: Show) -> contextlib.AbstractContextManager[None]:
        """Entered round the code: what it displays is given to `show`, as text or `Picture`, when it does.

        Left while the code still counts as running, so that the time limit holds for what it does then.
        A module with an own implementation adds its `__name__` to `course.QUIET`: nothing is raised into it.
        """
        del code, show
        return contextlib.nullcontext()

    # ------------------------------------------------------------------------------------------

    def execute(self, step: CodeStep) -> CodeOutcome:
        """Run it; whatever the code does, this returns.

        Raises:
            KeyboardInterrupt: Ctrl-C came before the code was entered, or after it was left.
        """
        audit.install()
        running = Running(step, self.namespace, filename=_new_filename(step.label), parent=HERE.running)
        outcome = self._execute_in_turn(running)
        # Ctrl-C that came too late to end the code, such as after an answer, is not lost.
        return replace(outcome, is_stopped=True) if running.is_signalled else outcome

    def _execute_in_turn(self, running: Running) -> CodeOutcome:
        step, parent = running.step, running.parent
        has_begun = False
        own = [name for name in ("__builtins__", "__name__") if name not in self.namespace]
        try:
            running.start()
            # Code that calls an agent on this very namespace waits for it, so its turn is lent.
            running.needs_turn = parent is None or parent.namespace is not self.namespace
            if running.needs_turn:
                running.has_turn = self._turns.take(
                    running, lambda: running.reason is not None or step.is_interrupted()
                )
                if not running.has_turn:
                    return CodeOutcome(is_stopped=True)
            has_begun = True
            step.on_turn()
            HERE.running = None
            self.namespace.setdefault("__name__", "__main__")
            LIVE.append(running)
            if running.loop_before is None:
                return self._execute(running)
            with no_visible_loop():
                return self._execute(running)
        except TurnIsHeld as held:
            return CodeOutcome(error=CodeExecutionError(held.to_text("run")))
        finally:
            HERE.running = parent
            if running in LIVE:
                LIVE.remove(running)
            for name in own:  # for the code alone; functions and classes hold their own
                self.namespace.pop(name, None)
            if has_begun:
                step.on_end()
            if running.has_turn:
                self._turns.hand_on()
            running.finish()

    def _execute(self, running: Running) -> CodeOutcome:
        step = running.step
        guard = step.guard
        get = self.namespace.get
        for name in [name for name, value in self._made.items() if get(name) is not value]:
            del self._made[name]
        persons = persons_names(self.namespace, self._made, self._internal)
        lent = {**step.lent, **step.functions}
        kept_open: AbstractSet[str] = frozenset()
        if guard.writes == "all":
            kept_open = persons.keys() - set(guard.protect or ())
        closed = persons
        if kept_open or not persons.keys().isdisjoint(lent):
            closed = {n: v for n, v in persons.items() if n not in lent and n not in kept_open}
        try:
            compiled = compile_code(
                step.code,
                filename=running.filename,
                rules=Rules(
                    imports=AuthorizedImports.of(guard.imports, self.namespace),
                    tool_names=step.functions.keys() - {"final_answer"},
                    users=closed,
                    namespace=self.namespace,
                ),
            )
        except (ParsingError, CodeRefused) as refused:
            return CodeOutcome(error=refused)
        FILENAMES.add(running.filename)
        room = _Room(self, running, compiled, persons=persons, lent=lent, kept_open=kept_open)
        ending = room.run()
        return room.to_outcome(ending)


class DictExecutor(NamespaceExecutor):
    """Runs code in a dictionary, for use outside a notebook."""

    def capturing(self, code: str, show: Show) -> contextlib.AbstractContextManager[None]:
        """Figures of matplotlib that it shows or leaves open are shown and closed."""
        return figures_shown(code, self.namespace, show)


class _Room:
    """One block of code in its namespace, made ready before it and put in order after it."""

    def __init__(
        self,
        executor: NamespaceExecutor,
        running: Running,
        compiled: Compiled,
        *,
        persons: dict[str, Value],
        lent: dict[str, Value],
        kept_open: AbstractSet[str],
    ) -> None:
        self._executor = executor
        self._running = running
        self._compiled = compiled
        self._persons = persons
        self._kept_open = kept_open
        self._protection = Protection()
        self._pictures: list[Picture] = []
        self._ledger = Ledger(
            executor.namespace,
            persons=persons,
            lent=lent,
            fixed=running.step.functions.keys(),
            internal=executor._internal,
        )
        self._at_leaving = executor.namespace
        self._made_by_leaving: dict[str, Value] = {}
        self._has_lost_turn = False
        self._notes: list[str] = []
        self._kept: dict[str, Value] = {}

    def run(self) -> Ending:
        """Run the code; afterwards names and values are as they are to be."""
        running = self._running
        with routed(), printing_into(running.sink):
            interpreter = Interpreter(running.step.code, lambda: running.stopper.schedule(0))
            running.on_leave, running.on_return = self._leave, self._come_back
            try:
                self._protect()
                self._ledger.lend()
                running.resume_clock()
                value, error = self._enter()
            finally:
                running.stop_clock()
                if running.reason is not None and running.threads:
                    running.stop_threads()
                changed = interpreter.put_back()
                self._ledger.take_back()
                self._notes += self._protection.end()
                self._settle()
        if changed:
            self._notes.append(f"{', '.join(changed)} put back: code may not change the interpreter.")
        return Ending(value=value, error=error)

    def to_outcome(self, ending: Ending) -> CodeOutcome:
        """What came of it."""
        running = self._running
        is_stopped = running.reason == "interrupted" and not running.is_answered
        error: StepError | None = None
        if not running.is_answered and not is_stopped:
            error = to_error(running, ending)
        return CodeOutcome(
            printed=running.sink.text,
            value=ending.value,
            has_value=ending.value is not None,
            is_answered=running.is_answered,
            answer=running.answer,
            error=error,
            notes=(*self._compiled.notes, *self._notes, *to_notes(running, error)),
            pictures=tuple(self._pictures),
            kept={**self._ledger.rebound, **self._kept},
            is_stopped=is_stopped,
        )

    # -- round the code ------------------------------------------------------------------------

    def _enter(self) -> tuple[Value, BaseException | None]:
        """Run the body, then the last expression, and give its value and what was raised.

        It is the one function below which signals are raised, so it calls nothing outside of its `try`:
        what is raised there would leave the step, and be taken for the end of the process.
        """
        running = self._running
        compiled, namespace = self._compiled, self._executor.namespace
        value: Value = None
        try:
            with self._executor.capturing(running.step.code, self._show):
                HERE.running = running
                try:
                    if compiled.is_async:
                        blocks = [code for code in (compiled.code, compiled.last) if code is not None]
                        value = run_awaiting(blocks, namespace, running.notes, running.stopper)
                        value = value if compiled.last is not None else None
                    else:
                        exec(compiled.code, namespace)  # noqa: S102 - it is what the room is for
                        if compiled.last is not None:
                            value = eval(compiled.last, namespace)  # noqa: S307 - as above
                finally:
                    HERE.running = None
        except BaseException as error:  # noqa: BLE001 - code may raise anything, SystemExit included
            return None, error
        return value, None

    def _show(self, shown: str | Picture) -> None:
        if isinstance(shown, str):
            self._running.sink.write(shown)
        else:
            self._pictures.append(shown)

    def _protect(self) -> None:
        guard = self._running.step.guard
        handed = self._running.step.handed
        values = self._persons
        if guard.protect is not None:
            known = {**handed, **values}
            values = {name: known[name] for name in guard.protect if name in known}
            ids = {id(value) for value in values.values()}
            handed = {name: value for name, value in handed.items() if id(value) in ids}
        elif guard.writes == "all":
            values, handed = {}, {}
        if handed:  # under the names that the code was given them by
            ids = {id(value) for value in handed.values()}
            values = {**{name: value for name, value in values.items() if id(value) not in ids}, **handed}
        if values:
            self._protection.begin(values)

    def _leave(self) -> None:
        """A person's code is about to run inside the step."""
        if self._has_lost_turn:
            return
        self._notes += self._protection.end()
        # Its other threads go on with the names that they know.
        if not any(thread.is_alive() for thread in self._running.threads):
            self._ledger.take_back()
        self._made_by_leaving = self._put_back_names()
        self._at_leaving = self._executor.namespace.copy()
        self._running.step.on_leave()
        if self._running.has_turn:
            self._running.has_turn = False
            self._executor._turns.hand_on()

    def _come_back(self) -> None:
        running = self._running
        if running.needs_turn:
            try:
                running.has_turn = self._executor._turns.take(running, lambda: running.reason is not None)
            except TurnIsHeld as held:
                running.held_by = held.to_text("go on")
                running.stop("held")
            if not running.has_turn:  # it is to end now, and the names are another's
                self._has_lost_turn = True
                return
        running.step.on_return()
        self._ledger.come_back(self._at_leaving)
        self._protect()

    def _put_back_names(self) -> dict[str, Value]:
        """Mend the person's names; gives the others that code has bound."""
        changed = self._ledger.changed()
        for name in self._ledger.put_back(changed, self._kept_open):
            changed.pop(name, None)
            self._notes.append(f"{name} was put back: it is the person's name. Use another one.")
        return changed

    def _settle(self) -> None:
        """Names of the person's mean what they meant; the others that were bound are of the code's making."""
        namespace, made = self._executor.namespace, self._executor._made
        if self._has_lost_turn:
            made.update(self._made_by_leaving)
            return
        for name, value in self._put_back_names().items():
            if self._running.step.guard.writes == "none" and name not in self._persons:
                self._kept[name] = value
                del namespace[name]
            else:
                made[name] = value


BOUNDARIES.add(_Room._enter.__code__)


def _new_filename(label: str) -> str:
    """Of this code alone: functions that it defines are to show its lines for as long as they live."""
    number = _numbers[label] = _numbers.get(label, 0) + 1
    return f"<{label}>" if number == 1 else f"<{label} ({number})>"
