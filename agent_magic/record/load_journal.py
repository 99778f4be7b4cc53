"""A journal read back: its runs and the memory they shared.

It must not raise for what somebody did to the file beyond its first line: what cannot be read is told in
a warning. Nothing in it is run or imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.form.image import LazyImages
from agent_magic.core.form.increments import MemoryRows
from agent_magic.core.form.keys import (
    need_text,
    read_count,
    read_each,
    read_flag,
    read_moment,
    read_name,
    to_text,
)
from agent_magic.core.form.run import by_place, read_run
from agent_magic.core.form.value import UnreadableError, ValueReader
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import (
    FinalAnswerStep,
)
from agent_magic.core.values import safe_repr
from agent_magic.record.journal import VERSION
from agent_magic.record.load_step import begin_step, take_news
from agent_magic.record.rebuild import Rebuilt, rebuild
from agent_magic.record.schema import Json, NoteRecord
from agent_magic.record.shown import Beside
from agent_magic.record.unfinished import CAPPED, GOES_ON, KERNEL_ENDED
from agent_magic.record.written import (
    WrittenRun,
    steps_of,
    to_last_step,
    to_unfinished,
)

FORMAT = "agent_magic.journal"
UPGRADE = "Upgrade: pip install -U agent-magic"
_MAX_WARNINGS = 20


@dataclass(slots=True, kw_only=True)
class JournalContent:
    """What a journal holds."""

    runs: list[RunResult] = field(default_factory=list[RunResult])
    memory: AgentMemory | None = None
    """Of the last run."""
    memories: list[AgentMemory] = field(default_factory=list[AgentMemory])
    """Of each run."""
    beside: list[Beside] = field(default_factory=list[Beside])
    """Of each run."""
    warnings: list[str] = field(default_factory=list[str])


def read_journal(lines: Iterable[bytes], name: str, *, is_in_use: bool = False) -> JournalContent:
    """The runs in the lines of a journal.

    Args:
        name: Of the file.
        is_in_use: Its kernel lives and may write on.

    Raises:
        OptionError: It is no journal, or only a newer version reads it.
    """
    reader = _Reader(name)
    for line in lines:
        reader.take(line)
    return reader.finish(is_in_use=is_in_use)


class _Reader:
    """Takes a journal line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts = [MemoryRows()]
        self._runs: list[WrittenRun] = []
        self._warnings: list[str] = []
        self._n_lines = 0
        self._torn: int | None = None
        """The number of a line that could not be read; the last one may be so."""
        self._is_known = False

    def take(self, line: bytes) -> None:
        self._n_lines += 1
        if not line.strip():
            return
        if self._torn is not None:
            self._warn(f"Line {self._torn:,} of {self._name} could not be read, and was left out.")
            self._torn = None
        try:
            form = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
            if type(form) is not dict:
                raise ValueError  # noqa: TRY301 - a line that was cut may be any JSON
        except (ValueError, RecursionError):
            self._torn = self._n_lines
            return
        if not self._is_known:
            self._check_head(form)
            if "kind" not in form:
                return
        try:
            self._take_line(form)
        except UnreadableError as error:
            where = f"{error.path} is {safe_repr(error.found, 80)}, and not {error.expected}"
            self._warn(f"Line {self._n_lines:,} of {self._name} could not be read whole: {where}.")

    def _check_head(self, form: Json) -> None:
        version = form.get("version")
        if form.get("format") == FORMAT and type(version) is int and version > VERSION:
            raise OptionError(
                f"{self._name} was written by a newer agent_magic: it has version {version}, and this one "
                f"reads up to {VERSION}.\n{UPGRADE}"
            )
        if form.get("format") != FORMAT:
            if type(form.get("kind")) is not str or "at" not in form:
                raise OptionError(
                    f"{self._name} is no journal of agent_magic: its first line has format "
                    f"{safe_repr(form.get('format'), 80)}, and not {FORMAT!r}.\n"
                    "Give a journal (.jsonl) out of a folder .agent_magic, or a saved notebook (.ipynb)."
                )
            self._warn(f"The first line of {self._name} is missing.")
        self._is_known = True

    # -- lines -------------------------------------------------------------------------------

    def _take_line(self, form: Json) -> None:
        if form.get("is_new_memory") is True and any(
            self._parts[-1].n(name) for name in ("entries", "steps")
        ):
            self._parts.append(MemoryRows())
        fault: UnreadableError | None = None
        if "rows" in form:
            try:
                self._parts[-1].add(form["rows"])
            except UnreadableError as error:  # the line itself may say more
                fault = error.within("rows")
        self._take_event(form)
        if fault is not None:
            raise fault

    def _take_event(self, form: Json) -> None:
        kind = form.get("kind")
        at = read_moment(form, "at")
        if kind == "run_start":
            start = self._read_start(form, at)
            if self._runs and self._runs[-1].run_id == start.run_id:  # it was written twice
                self._runs.pop()
            self._runs.append(start)
            return
        if not self._runs:
            return
        run = self._runs[-1]
        run.end = max(run.end, at)
        match kind:
            case "step_start" | "step_end":
                _turn(run, form, at, kind)
            case "note" | "change":
                _take_note(run, form)
            case "run_end":
                outcome = form.get("run")
                if type(outcome) is not dict:
                    raise UnreadableError(outcome, "a dict", "run")
                run.outcome, run.part = cast("Json", outcome), len(self._parts) - 1
            case "capped":
                run.is_capped = True
            case _:
                if run.step is not None:
                    reader = ValueReader(LazyImages(self._parts[-1].to_rows("images")))
                    take_news(run.step, form, at, reader)

    def _read_start(self, form: Json, at: float) -> WrittenRun:
        return WrittenRun(
            run_id=need_text(form, "run_id"),
            agent_name=need_text(form, "agent_name"),
            model_id=need_text(form, "model_id"),
            max_steps=read_count(form, "max_steps"),
            mode="code" if form.get("mode") == "code" else "tools",
            n_before=read_count(form, "n_before"),
            start=at,
            end=at,
            part=len(self._parts) - 1,
            reason=read_name(form, "why"),
            warnings=read_each(form, "warnings", to_text),
        )

    # -- the whole ---------------------------------------------------------------------------

    def finish(self, *, is_in_use: bool) -> JournalContent:
        if self._n_lines and not self._is_known and self._torn is not None:
            raise OptionError(
                f"{self._name} is no journal of agent_magic: its first line cannot be read as JSON.\n"
                "Give a journal (.jsonl) out of a folder .agent_magic, or a saved notebook (.ipynb)."
            )
        if not self._runs:
            self._warn(f"{self._name} holds no run.")
        n_missing = sum(rows.n_missing for rows in self._parts)
        if n_missing:
            self._warn(f"{n_missing:,} rows of {self._name} are missing.")
        rebuilt: dict[int, Rebuilt] = {}
        content = JournalContent(warnings=self._warnings)
        for place, run in enumerate(self._runs):
            if run.part not in rebuilt:
                rebuilt[run.part] = rebuild(self._parts[run.part].to_form())
                for warning in rebuilt[run.part].warnings:
                    self._warn(warning)
            following = self._runs[place + 1] if place + 1 < len(self._runs) else None
            n_after = following.n_before if following and following.part == run.part else None
            content.runs.append(
                self._to_result(run, rebuilt[run.part], n_after, content, is_in_use=is_in_use)
            )
            content.memory = rebuilt[run.part].memory
            content.memories.append(rebuilt[run.part].memory)
            content.beside.append(run.to_beside(content.runs[-1].steps))
        return content

    def _to_result(
        self,
        run: WrittenRun,
        rebuilt: Rebuilt,
        n_after: int | None,
        content: JournalContent,
        *,
        is_in_use: bool,
    ) -> RunResult:
        if run.outcome is not None:
            reader = ValueReader(LazyImages(self._parts[run.part].to_rows("images")))
            try:
                result = read_run(run.outcome, by_place(rebuilt.find_step), reader)
            except UnreadableError as error:
                self._warn(
                    f"How run {run.run_id} ended could not be read: {error.path} is "
                    f"{safe_repr(error.found, 80)}, and not {error.expected}."
                )
            else:
                if run.is_capped:
                    self._warn(CAPPED)
                return result
        reason = CAPPED if run.is_capped else GOES_ON if is_in_use and n_after is None else KERNEL_ENDED
        steps = steps_of(run, rebuilt, n_after)
        last = steps[-1] if steps else None
        if n_after is None and not isinstance(last, FinalAnswerStep):
            step = to_last_step(run, rebuilt.memory, steps, reason)
            rebuilt.memory.append(step)
            steps.append(step)
        return to_unfinished(run, steps, reason, content.runs)

    def _warn(self, text: str) -> None:
        if len(self._warnings) < _MAX_WARNINGS and text not in self._warnings:
            self._warnings.append(text)


def _turn(run: WrittenRun, form: Json, at: float, kind: str) -> None:
    """A step begins or ends."""
    if kind == "step_start":
        run.step = begin_step(form, at, run.mode)
        return
    if run.step is not None:
        run.notes.end_step(run.step.step_number, is_plan=run.step.is_plan)
    run.step = None


def _take_note(run: WrittenRun, form: Json) -> None:
    """News beside a step; an edit after the end has no text."""
    if "text" not in form:
        return
    note = NoteRecord(text=need_text(form, "text"))
    if read_flag(form, "is_warning"):
        note["is_warning"] = True
    run.notes.add(note, read_count(form, "step_number"))


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(constant)
