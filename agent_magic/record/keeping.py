"""Puts into a run's record what it takes to go on from it: what the run added to the memory, if it fits.

It must not write to a disk, nor let a record grow beyond what one may take.
"""

from __future__ import annotations

import json
import re

from agent_magic.core.form.part import write_part
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.record.clean import stored_size
from agent_magic.record.redact_form import redact_form
from agent_magic.record.run import MAX_BYTES, fit_record
from agent_magic.record.schema import RunRecord

MAX_MEMORY_BYTES = 150_000
"""Of `memory` in a record."""
_LARGEST_OUTPUT = 20_000
_MAX_INNER = 1_000
"""Calls that code made; so many take more than there is room for, however little each says."""
_KEY_BYTES = 200
# Signs that are no text, or turn it around: what is kept is never drawn, but it stands in a notebook file.
_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def with_memory(
    record: RunRecord, memory: AgentMemory, result: RunResult, *, journal: str | None = None
) -> RunRecord:
    """The record with what the run added to `memory`, or else with where that is.

    Args:
        memory: That the run worked on.
        result: Of the run, as it ended.
        journal: The name of its journal.
    """
    kept = record.copy()
    n_inner = sum(len(one.calls) for step in result.actions for one in step.tool_results)
    part = None if n_inner > _MAX_INNER else write_part(memory, result, largest=_LARGEST_OUTPUT)
    if part is not None:
        text = _UNSEEN.sub(_escape, _ENCODER.encode(redact_form(part)))
        n_bytes = stored_size(text)
        if n_bytes <= MAX_MEMORY_BYTES:
            if stored_size(record) + n_bytes + _KEY_BYTES > MAX_BYTES:
                kept = fit_record(record, MAX_BYTES - n_bytes - _KEY_BYTES)
            kept["memory"] = text
            return kept
    if journal is not None:
        kept["journal"] = journal
    return kept


def _escape(sign: re.Match[str]) -> str:
    return f"\\u{ord(sign[0]):04x}"
