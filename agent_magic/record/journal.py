"""Journal: a run on disk while it goes on, written ahead of what it does.

```
{"format":"agent_magic.journal", …}   the first line: version, agent
run_start     the run, and the memory as it stands
step_start    a model is about to be asked
model_reply   the reply is whole; on disk before the first call of it is made
call_start    a tool's body, or code, is about to be entered; the first of a step waits for the disk
call_end      what became of it; `inside` is the id of the code that made the call
managed       a line of the run that a managed agent makes for the call `call_id`, see `journal_managed`
change, note  a view, a pin, an edit or a setting; news that the person should know
step_end      the step is in memory; waits for the disk
run_end       how the run ended; waits for the disk
capped        the file has reached its cap
```

Every line also has the rows that are new in the memory, see `core.form.increments`, so a step costs the
same however long the memory is. It must not fail a run: what goes wrong is in `warning`, and the run goes
on in memory alone. One thread at a time.
"""

from __future__ import annotations

import errno
import os
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_magic.core.events import (
    ApprovalGiven,
    ContextShortened,
    Event,
    ManagedEvent,
    ModelReplied,
    Notice,
    RunEnded,
    RunStarted,
    SettingChanged,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    ToolCallStarted,
)
from agent_magic.core.form.increments import MemoryWriter
from agent_magic.core.form.message import write_call, write_message
from agent_magic.core.form.run import write_run
from agent_magic.core.form.step import write_result
from agent_magic.core.form.value import write_text
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import RunStep, ToolResult
from agent_magic.core.version import __version__
from agent_magic.record.journal_file import JournalFile
from agent_magic.record.journal_folder import FIRST_LINE, open_folder, own_folder, prune
from agent_magic.record.journal_lines import (
    encode,
    shorten_inner,
    tell_earlier,
    to_inside,
    to_mode,
    to_start,
    to_told,
)
from agent_magic.record.journal_managed import to_managed_fields
from agent_magic.record.notes import to_managed_note, to_note
from agent_magic.record.schema import Json

VERSION = 1
LARGEST_OUTPUT = 1_000_000
"""About how many bytes of a tool's output, or of an answer, are written whole; see `ValueWriter`."""
_MAX_INNER = 1_000
"""Calls of one block of code that have lines; those after them stand in the line of their step alone."""


class Journal:
    """The file of one run, and of further runs of its agent.

    ```python
    journal = Journal.open(agent_name=agent.name, run_id=event.run_id, beside=folder)
    for event in events:
        journal.add(event, agent.memory)
    journal.close(result, agent.memory)
    ```
    """

    def __init__(self, file: JournalFile | None, *, warning: str | None = None) -> None:
        self.warning = warning
        """What the person should know, once; None if all is well."""
        self.path = file.path if file is not None else None
        """The file; None if there is none."""
        self._file = file
        self._is_on = file is not None
        self._writer = MemoryWriter(largest=LARGEST_OUTPUT)
        self._memory: AgentMemory | None = None
        """While a run goes on."""
        self._last_memory: weakref.ref[AgentMemory] | None = None
        """Of the run before: as long as it lives, what was written of it is known by its id."""
        self._begun = self._ended = ""
        """The id of the run that was written last, its beginning and its end."""
        self._are_calls_on_disk = False
        self._n_inner = 0
        """Calls that the code of this step made."""
        self._told: dict[str, Json] = {}
        """What the header of the run says that is about to start."""
        self._earlier: Sequence[RunResult] = ()

    @classmethod
    def open(
        cls,
        *,
        agent_name: str,
        run_id: str,
        beside: Path | None = None,
        after: Journal | None = None,
        reason: str | None = None,
        warnings: Sequence[str] = (),
        earlier: Sequence[RunResult] = (),
    ) -> Journal:
        """The journal of a run that is about to start; one that cannot be written has a `warning`.

        Args:
            agent_name: Stands in the file's name, like `run_id`.
            run_id: Of the run.
            beside: The notebook's folder, for a folder `.agent_magic` in it; None for the person's own.
            after: Of the agent's run before: the same file goes on, if it can.
            reason: Why this model was chosen.
            warnings: That stand in the run's header from its beginning.
            earlier: Runs whose steps the memory has: a file that begins with this run tells of them first.
        """
        told = to_told(reason, warnings)
        if after is not None and after._can_go_on:
            after._told, after._earlier = told, earlier
            return after
        folder: Path | None = None
        try:
            folder = open_folder(beside)
            prune(folder)
            file = JournalFile(folder, agent_name, run_id)
            journal = cls(file)
            journal._told, journal._earlier = told, earlier
            journal._append(
                {"version": VERSION, "agent_magic": __version__, "agent": write_text(agent_name)},
                is_first=True,
            )
        except OSError as error:
            return cls(None, warning=_tell(error, folder or own_folder()))
        return journal

    def add(self, event: Event, memory: AgentMemory) -> None:
        """Write what happened, before the run goes on; deltas and waits leave no line."""
        write = _WRITERS.get(type(event))
        if write is not None and self._is_on:
            self._guarded(lambda: write(self, event, memory))

    def keep_up(self, memory: AgentMemory) -> None:
        """Write what was changed in the memory since, such as an edit after the end of a run; mostly nothing."""
        if self._is_on and self._follows(memory):
            self._guarded(lambda: self._write("change", {}, memory, only_news=True))

    def close(self, result: RunResult | None, memory: AgentMemory) -> None:
        """Write how the run ended, if that is not written yet; None if it never began."""
        if result is not None and self._file is not None:
            self._guarded(lambda: self._end_run(result, memory))
        self._rest()

    @property
    def _can_go_on(self) -> bool:
        file = self._file
        return file is not None and self._is_on and self._memory is None and file.path.exists()

    # -- events ------------------------------------------------------------------------------

    def _start_run(self, event: RunStarted, memory: AgentMemory) -> None:
        fields: dict[str, Json] = {
            "run_id": write_text(event.run_id),
            "agent_name": write_text(event.agent_name),
            "model_id": write_text(event.model_id),
            "max_steps": event.max_steps,
            **to_mode(event.mode),
        }
        self._begin_run(event.run_id, fields, event.task, memory)

    def _begin_run(self, run_id: str, fields: dict[str, Json], task: RunStep, memory: AgentMemory) -> None:
        self._take_memory(memory)
        entries = memory.entries
        places = (place for place in range(len(entries) - 1, -1, -1) if entries[place].step is task)
        if not self._writer.has_kept:
            for kind, told in tell_earlier(self._earlier, memory, self._writer.tables):
                self._write(kind, told, memory)
        fields = {**fields, "n_before": next(places, len(entries)), **self._told}
        self._write("run_start", fields, memory)
        self._told, self._earlier = {}, ()
        self._begun = run_id

    def _start_step(self, event: StepStarted, memory: AgentMemory) -> None:
        self._are_calls_on_disk, self._n_inner = False, 0
        self._write("step_start", {"step_number": event.step_number, "step_kind": event.kind}, memory)

    def _take_reply(self, event: ModelReplied, memory: AgentMemory) -> None:
        message = write_message(event.message, self._writer.tables.values)
        self._write("model_reply", {"step_number": event.step_number, "message": message}, memory)

    def _start_call(self, event: ToolCallStarted, memory: AgentMemory) -> None:
        call = event.call
        if event.inside is not None:
            self._n_inner += 1
            if self._n_inner > _MAX_INNER:
                return
            call = shorten_inner(ToolResult(call=call)).call
        fields = {
            "step_number": event.step_number,
            **to_inside(event.inside),
            "call": write_call(call, self._writer.tables.values),
        }
        self._write("call_start", fields, memory)
        if not self._are_calls_on_disk:
            self._sync()
            self._are_calls_on_disk = True

    def _end_call(self, event: ToolCallEnded, memory: AgentMemory) -> None:
        result = replace(event.result, calls=(), run=None)  # they have lines of their own
        if event.inside is not None:
            if self._n_inner > _MAX_INNER:
                return
            result = shorten_inner(result)
        fields = {
            "step_number": event.step_number,
            **to_inside(event.inside),
            "result": write_result(result, self._writer.tables.values),
        }
        self._write("call_end", fields, memory)

    def _manage(self, event: ManagedEvent, memory: AgentMemory) -> None:
        if event.inside is not None and self._n_inner > _MAX_INNER:
            return
        note = to_managed_note(event)
        if note is not None:
            text = write_text(note["text"])
            self._write("note", {"step_number": event.step_number, **note, "text": text}, memory)
            return
        fields = to_managed_fields(event, self._writer.tables.values)
        if fields is not None:
            self._write("managed", {"step_number": event.step_number, **fields}, memory)

    def _note(
        self, event: SettingChanged | ContextShortened | Notice | ApprovalGiven, memory: AgentMemory
    ) -> None:
        note = to_note(event)
        fields = {"step_number": event.step_number, **note, "text": write_text(note["text"])}
        self._write("change" if isinstance(event, SettingChanged) else "note", fields, memory)

    def _end_step(self, event: StepEnded, memory: AgentMemory) -> None:
        self._write("step_end", {"step": self._writer.tables.steps.place(event.step)}, memory)
        self._sync()

    def _end(self, event: RunEnded, memory: AgentMemory) -> None:
        self._end_run(event.result, memory)

    def _end_run(self, result: RunResult, memory: AgentMemory) -> None:
        if self._ended == result.run_id:
            return
        if self._begun != result.run_id:  # Ctrl-C came before its beginning was written
            self._begin_run(result.run_id, to_start(result), result.steps[0], memory)
        self._take_memory(memory)
        run = write_run(result, self._writer.tables.steps.place, self._writer.tables.values)
        self._write("run_end", {"run": run}, memory)
        self._sync()
        self._ended = result.run_id
        self._rest()

    # -- inside ------------------------------------------------------------------------------

    def _take_memory(self, memory: AgentMemory) -> None:
        """Go on with this memory, from its beginning unless it goes on with the one before."""
        if not self._follows(memory):
            self._writer = MemoryWriter(largest=LARGEST_OUTPUT)
        self._memory = memory

    def _follows(self, memory: AgentMemory) -> bool:
        before = self._memory or (self._last_memory() if self._last_memory else None)
        return before is memory or (before is not None and self._writer.goes_on(before, memory))

    def _rest(self) -> None:
        if self._memory is not None:
            self._last_memory = weakref.ref(self._memory)
            self._memory = None

    def _write(
        self, kind: str, fields: dict[str, Json], memory: AgentMemory, *, only_news: bool = False
    ) -> None:
        is_new = not self._writer.has_kept
        rows = self._writer.take(memory)
        if only_news and not rows:
            return
        line: dict[str, Json] = {"kind": kind, "at": round(time.time(), 3), **fields}
        if is_new:
            line["is_new_memory"] = True
        if rows:
            line["rows"] = rows
        if self._append(line):
            self._writer.confirm()

    def _append(self, line: dict[str, Json], *, is_first: bool = False) -> bool:
        """Write a line; False if it does not fit any more."""
        file = self._file
        assert file is not None
        data = encode(line)
        if is_first:
            data = FIRST_LINE + data[1:]
        is_end = line.get("kind") == "run_end"
        if file.has_room(len(data)) and self._is_on:
            file.append(data)
            return True
        if self._is_on:
            self._is_on = False
            self.warning = (
                f"The journal {file.path.name} is full, so the rest of this run is not in it. "
                "The run goes on; its steps stand in the output."
            )
            file.append(encode({"kind": "capped", "at": round(time.time(), 3)}))
        if is_end:  # how it ended is told all the same
            line.pop("rows", None)
            data = encode(line)
            if file.has_room(len(data), is_last=True):
                file.append(data)
        return False

    def _sync(self) -> None:
        if self._file is not None:
            self._file.sync()

    def _guarded(self, write: Callable[[], None]) -> None:
        try:
            write()
        except Exception as error:  # noqa: BLE001 - whatever a disk or a value does, the run goes on
            self._is_on = False
            self._file = None
            self.warning = _tell(error, self.path)


def _tell(error: Exception, place: Path | None) -> str:
    """What went wrong, for the person."""
    if isinstance(error, OSError):
        why = os.strerror(error.errno) if error.errno else str(error)
        hint = "Free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Make it writable"
        return (
            f"The run is not kept on disk: {place}: {why}. It goes on, and stands in this output. "
            f"{hint}, and the next run is kept."
        )
    return (
        f"The run is not kept on disk from here on: {place}: {type(error).__name__}: {error}. "
        "It goes on, and stands in this output."
    )


_WRITERS: dict[type, Callable[[Journal, Any, AgentMemory], None]] = {
    RunStarted: Journal._start_run,
    StepStarted: Journal._start_step,
    ModelReplied: Journal._take_reply,
    ToolCallStarted: Journal._start_call,
    ToolCallEnded: Journal._end_call,
    ManagedEvent: Journal._manage,
    SettingChanged: Journal._note,
    ContextShortened: Journal._note,
    ApprovalGiven: Journal._note,
    Notice: Journal._note,
    StepEnded: Journal._end_step,
    RunEnded: Journal._end,
}
