"""The lines of a journal that tell of a run inside a run: one for a call, by a managed agent.

It must not write to a file. The lines are those of a run of its own, each whole by itself, since the
steps of a managed agent are in no memory that outlives the call.
"""

from __future__ import annotations

from dataclasses import replace

from agent_magic.core.events import (
    Event,
    ManagedEvent,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    ToolCallStarted,
)
from agent_magic.core.form.message import write_call, write_message
from agent_magic.core.form.run import write_run
from agent_magic.core.form.step import write_result, write_step
from agent_magic.core.form.value import ValueWriter, write_text
from agent_magic.record.journal_lines import to_inside, to_mode
from agent_magic.record.schema import Json


def to_managed_fields(event: ManagedEvent, values: ValueWriter) -> dict[str, Json] | None:
    """What the line of an event inside a run holds; None if it has no line, such as a delta.

    A finished step is in it whole. Of calls that code made inside of it the step alone tells.
    """
    line = _to_line(event.event, values)
    if line is None:
        return None
    return {"call_id": write_text(event.call_id), **to_inside(event.inside), "line": line}


def _to_line(event: Event, values: ValueWriter) -> dict[str, Json] | None:
    match event:
        case ManagedEvent():
            fields = to_managed_fields(event, values)
            return None if fields is None else {"kind": "managed", **fields}
        case RunStarted():
            return _to_start(event, values)
        case StepStarted():
            return {"kind": "step_start", "step_number": event.step_number, "step_kind": event.kind}
        case ModelReplied():
            return {"kind": "model_reply", "message": write_message(event.message, values)}
        case ToolCallStarted(inside=None):
            return {"kind": "call_start", "call": write_call(event.call, values)}
        case ToolCallEnded(inside=None):
            result = replace(event.result, calls=(), run=None)  # a run inside has lines of its own
            return {"kind": "call_end", "result": write_result(result, values)}
        case StepEnded():
            return {"kind": "step_end", "step": write_step(event.step, values)}
        case RunEnded():
            result = replace(event.result, steps=())  # they have lines already
            return {"kind": "run_end", "run": write_run(result, _no_step, values)}
        case _:
            return None


def _to_start(event: RunStarted, values: ValueWriter) -> dict[str, Json]:
    names = ("run_id", "agent_name", "model_id")
    return {
        "kind": "run_start",
        **{name: write_text(getattr(event, name)) for name in names},
        "max_steps": event.max_steps,
        **to_mode(event.mode),
        "task": write_step(event.task, values),
    }


def _no_step(step: object) -> None:
    del step
