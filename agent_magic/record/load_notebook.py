"""The runs in a saved notebook: each from what its record keeps, from its journal, or from the record alone.

It must not raise for what somebody did to a record: what is missing is told in a warning.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.form.entry import EntryRecord
from agent_magic.core.form.memory import MemoryRecord, MemoryTables, write_memory
from agent_magic.core.form.part import Part, join_part, read_part, read_record
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import FinalAnswerStep, RunStep, SystemPromptStep
from agent_magic.record.from_record import from_record
from agent_magic.record.load_journal import JournalContent
from agent_magic.record.rebuild import rebuild
from agent_magic.record.saved import SavedRuns
from agent_magic.record.schema import RUN_MIME, VERSION, Json
from agent_magic.record.shown import beside_in, put_loaded

FindJournal = Callable[[str], JournalContent | None]
"""Reads the journal of a name, None if there is none such."""
_UPGRADE = "Upgrade: pip install -U agent-magic"


@dataclass(slots=True, kw_only=True)
class _Chain:
    """The memory of one agent, run by run."""

    record: MemoryRecord | None = None
    results: dict[str, RunResult] = field(default_factory=dict[str, RunResult])
    """Of the runs that are in it already, from a journal."""


def read_notebook(text: str, name: str, find_journal: FindJournal) -> SavedRuns:
    """The runs in the text of a notebook file.

    Raises:
        OptionError: It is no notebook, or holds no run that this version reads.
    """
    warnings: list[str] = []
    records = _find_records(text, name, warnings)
    loading = _Loading(name, find_journal, warnings)
    for record in records:
        loading.add(record)
    return loading.finish()


class _Loading:
    """Takes records, oldest first."""

    def __init__(self, name: str, find_journal: FindJournal, warnings: list[str]) -> None:
        self._name = name
        self._find_journal = find_journal
        self._warnings = warnings
        self._results: list[RunResult] = []
        self._chains: dict[str, _Chain] = {}
        self._records: dict[str, Mapping[str, Json]] = {}

    def add(self, record: Mapping[str, Json]) -> None:
        """Take one run in."""
        run_id, agent_name = record.get("run_id"), record.get("agent")
        if type(run_id) is not str or type(agent_name) is not str:
            self._warnings.append(f"A record in {self._name} names no run and no agent, and was left out.")
            return
        self._records[run_id] = record
        chain = self._chains.setdefault(agent_name, _Chain())
        if run_id in chain.results:  # its memory came with a journal
            self._results.append(chain.results[run_id])
            return
        part = self._read_part(record, run_id)
        if part is not None and part.result.run_id == run_id:
            self._results.append(part.result)
            joined = join_part(chain.record, part)
            if joined is not None:
                chain.record = joined
                return
        if self._take_journal(record, run_id, chain, has_result=part is not None):
            return
        if part is None:
            result = from_record(record)
            self._results.append(result)
            self._warnings.append(
                f"Run {run_id} of {agent_name}: its texts are those of the notebook, which are cut; what the "
                "models were sent in it cannot be shown again."
            )
            chain.record = _put_after(chain.record, result)
        else:
            self._warnings.append(
                f"Run {run_id} of {agent_name}: a run before it is not in the notebook; what the models were "
                "sent up to it cannot be shown again."
            )
            chain.record = _put_after(chain.record, part.result)

    def finish(self) -> SavedRuns:
        """All that was found."""
        memories: dict[str, AgentMemory] = {}
        results = self._results
        for agent_name, chain in self._chains.items():
            if chain.record is not None:
                memories[agent_name], results = _build(chain.record, results, agent_name, self._warnings)
        for result in results:
            beside = beside_in(self._records.get(result.run_id, {}), result)
            put_loaded(result, beside, memories.get(result.agent_name))
        return SavedRuns(
            source=self._name,
            runs=tuple(results),
            memories=memories,
            warnings=tuple(dict.fromkeys(self._warnings)),
        )

    def _read_part(self, record: Mapping[str, Json], run_id: str) -> Part | None:
        text = record.get("memory")
        if text is None:
            return None
        try:
            if type(text) is not str:
                raise OptionError("it is no text")  # noqa: TRY301 - told as any other fault in it
            return read_part(json.loads(text, parse_constant=_refuse_constant))
        except (OptionError, ValueError, RecursionError) as error:
            why = error.message if isinstance(error, OptionError) else "it is no JSON"
            self._warnings.append(f"What run {run_id} keeps of its memory cannot be read: {why}")
            return None

    def _take_journal(
        self, record: Mapping[str, Json], run_id: str, chain: _Chain, *, has_result: bool
    ) -> bool:
        """Take the memory, and the result if there is none yet, from the journal that is named."""
        name = record.get("journal")
        if type(name) is not str:
            return False
        content = self._find_journal(name)
        found = next((run for run in content.runs if run.run_id == run_id), None) if content else None
        if content is None or found is None or content.memory is None:
            self._warnings.append(f"The journal {name} of run {run_id} was not found.")
            return False
        self._warnings += content.warnings
        chain.record = read_record(content.memory)
        chain.results = {run.run_id: run for run in content.runs}
        self._results = [chain.results.get(run.run_id, run) for run in self._results]
        if not has_result:
            self._results.append(found)
        return True


def _put_after(before: MemoryRecord | None, result: RunResult) -> MemoryRecord:
    """A memory with the steps of a run after what is known, and nothing of what was sent."""
    return MemoryRecord(
        system_prompts=[(0, before.system_prompts[-1][1] if before else SystemPromptStep(text=""))],
        entries=[*(before.entries if before else ()), *(EntryRecord(step=step) for step in result.steps)],
        changes=(),
        undoable=(),
        requests=(),
        revision=0,
    )


def _build(
    record: MemoryRecord, results: list[RunResult], agent_name: str, warnings: list[str]
) -> tuple[AgentMemory, list[RunResult]]:
    """The memory, and the results with the very steps that stand in it."""
    tables = MemoryTables()
    form = write_memory(record, tables)
    places = [
        [tables.steps.place(step) for step in result.steps] if result.agent_name == agent_name else None
        for result in results
    ]
    rebuilt = rebuild(form)
    warnings += rebuilt.warnings
    return rebuilt.memory, [
        result if own is None else _with_steps(result, [rebuilt.find_step(place) for place in own])
        for result, own in zip(results, places, strict=True)
    ]


def _with_steps(result: RunResult, found: list[RunStep | None]) -> RunResult:
    steps = tuple(step or old for step, old in zip(found, result.steps, strict=True))
    last, before = (steps[-1], result.steps[-1]) if steps else (None, None)
    if (
        isinstance(last, FinalAnswerStep)
        and isinstance(before, FinalAnswerStep)
        and before.answer is result.value
    ):
        return dataclasses.replace(result, steps=steps, value=last.answer)
    return dataclasses.replace(result, steps=steps)


# -- the file --------------------------------------------------------------------------------


def _find_records(text: str, name: str, warnings: list[str]) -> list[dict[str, Json]]:
    """The records in the outputs, oldest first, each run once."""
    try:
        notebook = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        found = list(_search_records(text))
        if not found:
            raise OptionError(
                f"{name} cannot be read as a notebook: it is no JSON, or only a part of it ({error}).\n"
                "Give a saved notebook (.ipynb), or a journal (.jsonl) out of the folder .agent_magic beside it."
            ) from error
        warnings.append(
            f"{name} is damaged, or only a part of it; it has {_count_runs(found)} that can be read."
        )
    else:
        found = list(_records_in(notebook))
    newer = [record for record in found if _is_newer(record)]
    readable = [record for record in found if repr(record.get("version")) == repr(VERSION)]
    if newer and not readable:
        raise OptionError(
            f"The runs in {name} were made by a newer agent_magic: they have version "
            f"{newer[0]['version']}, and this one reads up to {VERSION}.\n{_UPGRADE}"
        )
    if newer:
        warnings.append(f"{name} has {_count_runs(newer)} of a newer agent_magic. {_UPGRADE}")
    if not readable:
        raise OptionError(
            f"{name} holds no run of agent_magic in its outputs.\n"
            "Give a notebook that was saved after a %%agent cell, or a journal (.jsonl) out of the folder "
            ".agent_magic beside it."
        )
    by_id: dict[str, dict[str, Json]] = {}
    for place, record in enumerate(readable):
        run_id = record.get("run_id")
        key = run_id if type(run_id) is str else f"\x00{place}"
        # A run may be shown in several cells; the first that keeps its memory is as good as any.
        if key not in by_id or ("memory" in record and "memory" not in by_id[key]):
            by_id[key] = record
    return sorted(by_id.values(), key=_to_start)


def _records_in(notebook: Json) -> Iterator[dict[str, Json]]:
    for cell in _list(notebook, "cells"):
        for output in _list(cell, "outputs"):
            data = output.get("data") if type(output) is dict else None
            record = data.get(RUN_MIME) if type(data) is dict else None
            if type(record) is dict:
                yield cast("dict[str, Json]", record)


def _search_records(text: str) -> Iterator[dict[str, Json]]:
    """The records in a text that is no JSON any more, such as half a notebook."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    key = json.dumps(RUN_MIME) + ":"
    at = text.find(key)
    while at >= 0:
        start = at + len(key)
        while text[start : start + 1].isspace():
            start += 1
        try:
            record, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            record = None
        if type(record) is dict:
            yield cast("dict[str, Json]", record)
        at = text.find(key, start)


def _count_runs(records: list[dict[str, Json]]) -> str:
    return f"{len(records)} {'run' if len(records) == 1 else 'runs'}"


def _is_newer(record: Mapping[str, Json]) -> bool:
    version = record.get("version")
    return type(version) is int and version > VERSION


def _to_start(record: Mapping[str, Json]) -> str:
    start = record.get("started")
    return start if type(start) is str else ""


def _list(form: Json, key: str) -> list[Json]:
    part = form.get(key) if type(form) is dict else None
    return cast("list[Json]", part) if type(part) is list else []


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(constant)
