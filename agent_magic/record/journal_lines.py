"""The lines of a journal that tell of whole runs, and how any line is written.

It must not write to a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_magic.core.form.memory import MemoryTables
from agent_magic.core.form.run import write_run
from agent_magic.core.form.value import write_text
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import AgentMode, RunResult
from agent_magic.core.steps import PlanningStep, ToolResult
from agent_magic.record.call import finish_call, to_inner_call
from agent_magic.record.clean import cut_text
from agent_magic.record.laid_on import places_of
from agent_magic.record.limits import Limits
from agent_magic.record.redact_form import redact_form
from agent_magic.record.schema import Json
from agent_magic.record.shown import beside_of

_INNER_LIMITS = Limits(chars=600)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(line: dict[str, Json]) -> bytes:
    """A line without secrets."""
    return (_ENCODER.encode(redact_form(line)) + "\n").encode("utf-8")


def to_start(result: RunResult) -> dict[str, Json]:
    """What is known of a run from its beginning."""
    names = ("run_id", "agent_name", "model_id")
    texts = {name: write_text(getattr(result, name)) for name in names}
    return {**texts, "max_steps": result.max_steps, **to_mode(result.mode)}


def to_mode(mode: AgentMode) -> dict[str, Json]:
    """How the run's steps act, if not by calling tools."""
    return {} if mode == "tools" else {"mode": mode}


def to_inside(code_id: str | None) -> dict[str, Json]:
    """Of a call that code made: which code."""
    return {} if code_id is None else {"inside": write_text(code_id)}


def shorten_inner(result: ToolResult) -> ToolResult:
    """A call that code made, as its own line tells of it: code may make thousands, of any size.

    The whole stands in the line of its step.
    """
    short = finish_call(to_inner_call(result), _INNER_LIMITS)
    fault = result.fault
    if fault is not None:
        fault = replace(fault, message=cut_text(fault.message, _INNER_LIMITS.chars))
    return replace(
        result,
        call=replace(result.call, arguments=short["arguments"]),
        observation=short.get("observation", ""),
        output=None,
        images=(),
        sounds=(),
        run=None,
        fault=fault,
        notes=tuple(short.get("notes", ())),
        printed=short.get("printed", ""),
    )


def to_told(reason: str | None, warnings: Sequence[str]) -> dict[str, Json]:
    """What a run's header says."""
    told: dict[str, Json] = {}
    if reason:
        told["why"] = write_text(reason)
    if warnings:
        told["warnings"] = [write_text(warning) for warning in warnings]
    return told


def tell_earlier(
    runs: Sequence[RunResult], memory: AgentMemory, tables: MemoryTables
) -> Iterator[tuple[str, dict[str, Json]]]:
    """Runs that ended before the journal began, and whose steps `memory` has: the kinds and fields of lines."""
    places = places_of(memory)
    for run in runs:
        n_before = places.get(id(run.steps[0])) if run.steps else None
        if n_before is None:
            continue
        beside = beside_of(run)
        yield (
            "run_start",
            {**to_start(run), "n_before": n_before, **to_told(beside.reason, beside.warnings)},
        )
        for place, notes in beside.notes.items():
            step = run.steps[place]
            number = {"step_number": getattr(step, "step_number", 0)}
            kind = "plan" if isinstance(step, PlanningStep) else "act"
            yield "step_start", {**number, "step_kind": kind}
            for note in notes:
                yield "note", {**number, **note, "text": write_text(note["text"])}
            yield "step_end", {"step": tables.steps.place(step)}
        yield "run_end", {"run": write_run(run, tables.steps.place, tables.values)}
