"""What a test asks from inside a kernel: an agent's steps, the soundness of its memory, claims about the namespace.

It must not leave a name in the namespace, nor change what it looks at.
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, ToolResult

SECRET = "sk-canary-5d1c0e7f9a2b4c6d"
PROTECTED = ("user_list", "user_df", "user_arr")
_MAX_JSON = 10_000
_THREADS_END_S = 5.0
_OF_THE_KERNEL = {"_", "input"}
"""Built-in names that a kernel sets anew in each cell."""

_before: dict[str, Any] = {}
_process: dict[str, Any] = {}


# -- an agent's runs -----------------------------------------------------------------------------


def print_runs(ns: Mapping[str, Any], name: str = "bot") -> None:
    """Print all runs of an agent as JSON: status, answer, steps with what the model was told of each.

    Without such an agent there are none.
    """
    agent = ns.get(name)
    if agent is None:
        print("[]")
        return
    assert isinstance(agent, MultiStepAgent)
    print(json.dumps([to_plain(result) for result in agent.runs]))


def to_plain(result: RunResult) -> dict[str, Any]:
    """A run as plain data."""
    return {
        "status": result.status,
        "error": result.error and str(result.error),
        "answer": _value(result.value),
        "steps": [_step(step) for step in result.actions],
    }


def _step(step: ActionStep) -> dict[str, Any]:
    # Of code that was stopped or refused there is a result as well; without code there is none.
    timing = step.tool_results[0].timing if step.tool_results else None
    return {
        "code": step.code_action,
        "faults": [{"kind": fault.kind, "message": fault.message} for fault in step.faults],
        "is_final": step.is_final_answer,
        "seconds": (timing or step.timing).duration_s,
        "told": "\n".join(m.content or "" for m in step.to_messages() if m.role != "assistant"),
        "notes": [note for result in step.tool_results for note in result.notes],
        "value": _value(step.action_output),
        "calls": [_call(call) for result in step.tool_results for call in result.calls],
        "results": [] if step.is_code else [_result(result) for result in step.tool_results],
    }


def _result(result: ToolResult) -> dict[str, Any]:
    return _call(result) | {
        "id": result.call.id,
        "has_run": result.timing is not None,
        "notes": list(result.notes),
        "told": result.to_text(),
    }


def _call(result: ToolResult) -> dict[str, Any]:
    arguments = result.call.arguments
    named = (
        {name: _value(value) for name, value in arguments.items()} if isinstance(arguments, Mapping) else {}
    )
    return {"name": result.call.name, "arguments": named, "fault": result.fault and result.fault.message}


def _value(value: Any) -> dict[str, Any]:
    """The type, and the value itself if JSON can hold it and it is short."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = ""
    is_held = text and len(text) < _MAX_JSON and json.loads(text) == value
    return {"type": type(value).__name__, "is_held": bool(is_held), "value": value if is_held else None}


def check_memory(ns: Mapping[str, Any], name: str = "bot") -> None:
    """Fail unless an agent's memory can be saved and loaded, and each code in it has one result."""
    memory = ns[name].memory
    assert isinstance(memory, AgentMemory)
    check_saving(memory)
    results = [r for s in memory.steps if isinstance(s, ActionStep) for r in s.tool_results]
    ids = [each.call.id for result in results for each in (result, *result.calls)]
    assert len(set(ids)) == len(ids), ids
    for step in memory.steps:
        if isinstance(step, ActionStep):
            assert step.is_code or (step.is_interrupted and not step.model_output)
            assert len(step.tool_results) == (step.code_action is not None)
            roles = [message.role for message in step.to_messages()]
            is_for_person = step.fault is not None and not step.fault.is_for_model
            if step.tool_results and step.is_interrupted:
                assert roles == [
                    "assistant",
                    "user",
                    "user",
                ]  # the second says that the person stopped the run
                continue
            assert roles in (["assistant", "user"], ["assistant"], ["user"], []), roles
            assert "user" in roles or step.is_final_answer or is_for_person, step
    assert not any(message.tool_calls for message in memory.to_messages())


def check_calls(ns: Mapping[str, Any], name: str = "bot") -> None:
    """Fail unless an agent's memory can be saved and loaded, and each call in it is answered once, by its id."""
    memory = ns[name].memory
    assert isinstance(memory, AgentMemory)
    check_saving(memory)
    waiting: list[str] = []
    ids: list[str] = []
    for message in memory.to_messages():
        if message.role == "tool":
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert not waiting
        waiting = [call.id for call in message.tool_calls]
        ids += waiting
    assert not waiting
    assert ids == [
        call.id for step in memory.steps if isinstance(step, ActionStep) for call in step.tool_calls
    ]
    assert len(set(ids)) == len(ids), ids


def check_saving(memory: AgentMemory) -> None:
    """Fail unless a memory can be saved as JSON, in UTF-8, and loaded again as it was."""
    text = json.dumps(memory.to_dict(), ensure_ascii=False)
    text.encode("utf-8")
    saved = json.loads(text)
    again = AgentMemory.from_dict(saved)
    assert json.loads(json.dumps(again.to_dict())) == saved
    assert [m.content for m in again.to_messages()] == [m.content for m in memory.to_messages()]


def keep_process() -> None:
    """Remember what the process is set to."""
    _process.update(_settings())


def check_process(ns: Mapping[str, Any]) -> None:
    """Fail unless the process is set as it was, and no name of the code's machinery is left."""
    assert _settings() == _process
    assert "final_answer" not in ns


def _settings() -> dict[str, Any]:
    return {
        "SIGINT": signal.getsignal(signal.SIGINT),
        "SIGALRM": signal.getsignal(signal.SIGALRM),
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "streams": (sys.stdout, sys.stderr),
        "trace": sys.gettrace(),
        "recursion": sys.getrecursionlimit(),
        "showwarning": warnings.showwarning,
        "displayhook": sys.displayhook,
    }


# -- claims --------------------------------------------------------------------------------------


def forget(shell: Any) -> None:
    """Empty the namespace; the extension stays."""
    for name in list(shell.user_ns):
        if name not in shell.user_ns_hidden:
            del shell.user_ns[name]


def prepare(ns: dict[str, Any]) -> None:
    """Make the file and the folder, and remember the namespace as it is before a case."""
    folder = Path(tempfile.mkdtemp(prefix="case-"))
    (folder / "keep.txt").write_text("keep")
    os.environ["AGENT_CANARY"] = SECRET
    ns.update(
        MARKER=str(folder / "marker.txt"),
        MARKER_DIR=str(folder),
        KEEP=str(folder / "keep.txt"),
        SECRET=SECRET,
    )
    _before.clear()
    _before.update(
        held={name: ns[name] for name in (*PROTECTED, "add")},
        list=list(ns["user_list"]),
        df=ns["user_df"].copy(deep=True),
        arr=ns["user_arr"].copy(),
        builtins=dict(vars(builtins)),
        ns_builtins=ns["__builtins__"],
        threads=set(threading.enumerate()),
        streams=(sys.stdout, sys.stderr),
        trace=sys.gettrace(),
    )


def changed(ns: Mapping[str, Any]) -> list[str]:
    """What of the person's is not as it was: protected names, tools, builtins, streams."""
    found = [name for name, value in _before["held"].items() if ns.get(name) is not value]
    if ns.get("user_list") != _before["list"]:
        found.append("values of user_list")
    if not ns["user_df"].equals(_before["df"]):
        found.append("values of user_df")
    if not (ns["user_arr"] == _before["arr"]).all() or not ns["user_arr"].flags.writeable:
        found.append("values of user_arr")
    if "final_answer" in ns:
        found.append("final_answer")
    if ns["__builtins__"] is not _before["ns_builtins"]:
        found.append("__builtins__")
    now = vars(builtins)
    found += [
        f"builtins.{name}"
        for name, value in _before["builtins"].items()
        if now.get(name) is not value and name not in _OF_THE_KERNEL
    ]
    if sys.gettrace() is not _before["trace"]:
        found.append("the trace function")
    return found


def print_claims(ns: dict[str, Any], claims: Sequence[str], facts: Mapping[str, Any]) -> None:
    """Print as JSON what is changed, and for each claim whether it holds, or the error that it raised.

    Args:
        ns: The namespace.
        claims: Python expressions.
        facts: Other names for them: `out`, `saved`, `seconds` and the stored `rendered`.
    """
    ns["_rendered"] = facts["rendered"]
    names = {
        "ns": ns,
        "marker": Path(ns["MARKER"]).exists(),
        "keep": Path(ns["KEEP"]).exists() and Path(ns["KEEP"]).read_text() == "keep",
        "final": ns["bot"].runs[0].value,
        "threads": _threads_left() if any("threads" in claim for claim in claims) else [],
        **{name: facts[name] for name in ("out", "saved", "seconds")},
    }
    told: list[bool | str] = []
    for claim in claims:
        try:
            told.append(bool(eval(claim, names)))
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    print(json.dumps({"changed": changed(ns), "claims": told}))


def _threads_left() -> list[str]:
    end = time.monotonic() + _THREADS_END_S
    while True:
        left = [each.name for each in threading.enumerate() if each not in _before["threads"]]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.05)
