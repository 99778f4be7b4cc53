"""Runs with one text in every field, as they stand in records and go over the wire, and harmless twins.

They are made by hand, as somebody would who wants to do harm: nothing has cleaned them. It must not
drive a browser.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

TEXTS: list[str] = json.loads(
    (Path(__file__).resolve().parents[1] / "view/xss.json").read_text(encoding="utf-8")
)
"""Strings that try to become markup."""

# Quotes and backslashes stay: JSON writes each with two signs, and what is long is folded.
_SIGNS = re.compile(r"[^\w\s\"\\\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def twin_of(text: str) -> str:
    """A text of the same form that is not markup, nor a link, nor code."""
    return _SIGNS.sub("x", text)


def whole_signs(data: Any) -> Any:
    """JSON without halves of signs, which neither a file nor a kernel's message can hold."""
    halves = re.compile(r"\\ud[89ab]\w\w(?!\\ud[c-f]\w\w)|(?<!\\ud[89ab]\w\w)\\ud[c-f]\w\w", re.IGNORECASE)
    return json.loads(halves.sub("?", json.dumps(data)))


def run_full_of(text: str, run_id: str = "run_1", *, status: str = "answered") -> dict[str, Any]:
    """A record with `text` wherever a record holds text, and a step of every kind."""
    return {
        "version": 1,
        "agent_magic": text,
        "run_id": run_id,
        "agent": text,
        "model": text,
        "why": text,
        "mode": text,
        "status": status,
        "max_steps": 20,
        "n_steps": 2,
        "started": text,
        "duration_s": 1.0,
        "usage": _USAGE,
        "task": text,
        "images": [text],
        "variables": [{"name": text, "description": text}],
        "warnings": [text],
        "task_laid_on": _laid_on(text),
        "resumed_from": text,
        "steps": steps_full_of(text),
        "steps_left_out": 0,
        "answer": {"type": text, "shape": text, "text": text},
        "verified": "no",
        "checks": [{"name": text, "passed": True}, {"name": text, "passed": False, "reason": text}],
        "error": _error(text),
        "memory": text,
        "journal": text,
    }


def steps_full_of(text: str, first: int = 1) -> list[dict[str, Any]]:
    """An action, one of code, a plan, a plan that failed, and an answer, full of a text."""
    around = {
        "duration_s": 1.0,
        "usage": _USAGE,
        "notes": [{"text": text}, {"text": text, "is_warning": True}],
        "laid_on": _laid_on(text),
    }
    action = {
        "step_number": first,
        "thought": text,
        "reasoning": text,
        "calls": _calls(text),
        "calls_left_out": 3,
        "changes": [f"+ {text}", text],
        "changes_left_out": 2,
        "error": _error(text),
    }
    code = {
        "step_number": first,
        "thought": text,
        "calls": [_code_call(text)],
        "changes": [f"added {text}", text],
        "error": _error(text),
    }
    plan = {
        "kind": "plan",
        "step_number": first,
        "plan": text,
        "original": f"not {text}",
        "reasoning": text,
        "n_items": 2,
        "diff": {
            "n_added": 1,
            "n_dropped": 1,
            "n_kept": 1,
            "added": [text],
            "dropped": [text],
            "kept": [text],
        },
    }
    failed = {"kind": "plan", "step_number": first, "plan": "", "error": _error(text)}
    answer = {"step_number": first + 1, "calls": _calls(text)[:1], "is_final_answer": True}
    return [around | action, around | code, around | plan, around | failed, around | answer]


def nows_full_of(text: str) -> list[dict[str, Any]]:
    """What may happen at a moment of a run, full of a text."""
    items = [
        {"id": text, "digest": text, "kind": "call", "name": text, "arguments": {text: text}},
        {
            "id": f"{text}2",
            "digest": text,
            "kind": "call",
            "name": text,
            "arguments": text,
            "is_partial": True,
        },
        {"id": f"{text}3", "digest": text, "kind": "plan", "plan": text, "verdict": "edited"},
        {"id": f"{text}4", "digest": text, "kind": "call", "name": text, "code": text},
    ]
    writing = {
        "thought": text,
        "reasoning": text,
        "plan": text,
        "code": text,
        "writing": [{"name": text, "arguments": text}],
    }
    wait = {"reason": text, "delay_s": 4.0, "attempt": 1}
    notes = {"step_number": 3, "notes": [{"text": text}]}
    return [
        {"doing": "waiting", "waiting": wait, **writing, **notes},
        {
            "doing": "asking",
            "calls": [*_calls(text), _code_call(text)],
            "running": [text, f"{text}code", f"{text}inside"],
            "asked": {"id": text, "items": items},
            **notes,
        },
    ]


def messages_full_of(text: str, run_id: str, *, first: int) -> list[dict[str, Any]]:
    """All that a kernel tells of a run that goes on, full of a text."""
    run = run_full_of(text, run_id, status="running")
    head = {key: value for key, value in run.items() if key not in ("steps", "answer", "error")}
    pending = {"summary_mode": text, "planning_interval": text, "max_steps": text, "approve": text}
    settings = {
        "summary_mode": "all",
        "planning_interval": 3,
        "is_paused": False,
        "max_steps": 20,
        "approve": "tools",
        "pending": pending,
    }
    told: list[dict[str, Any]] = [
        {"kind": "head", "head": {**head, "answer": None, "error": None}},
        *({"kind": "step", "place": place, "step": step} for place, step in enumerate(run["steps"])),
        {"kind": "totals", "n_steps": 2, "duration_s": 2.0, "usage": _USAGE},
        {"kind": "settings", "settings": settings},
        {"kind": "now", "now": {"step_number": 3, "doing": "thinking"}},
        *(
            {"kind": "text", "field": field, "at": 0, "add": text}
            for field in ("reasoning", "thought", "code")
        ),
        {"kind": "text", "field": "arguments", "at": 0, "add": text, "call": 0, "name": text},
        {"kind": "now", "now": {"step_number": 3, "doing": "planning"}},
        {"kind": "text", "field": "plan", "at": 0, "add": text},
        *({"kind": "now", "now": now} for now in nows_full_of(text)),
    ]
    return [{"v": 1, "n": first + i, **message} for i, message in enumerate(told)]


_USAGE = {
    "input_tokens": 500,
    "output_tokens": 40,
    "cached_tokens": 0,
    "reasoning_tokens": None,
    "cost_usd": None,
}


def _laid_on(text: str) -> dict[str, Any]:
    return {"view": "summary", "is_pinned": True, "form": "line", "edited_by": text, "edited_at": text}


def _error(text: str) -> dict[str, str]:
    return {"kind": text, "message": text}


def _calls(text: str) -> list[dict[str, Any]]:
    output = {"type": text, "shape": text, "preview": text}
    whole = {
        "id": text,
        "name": text,
        "arguments": {text: text, "list": [text, {text: [text]}]},
        "observation": text,
        "notes": [text],
        "printed": text,
        "bound_to": text,
        "output": output,
        "images": [text],
    }
    return [
        whole,
        {"id": f"{text}2", "name": "raw", "arguments": text, "error": _error(text)},
        {"id": f"{text}3", "name": "kept", "arguments": {}, "output": output, **_beside(text)},
    ]


def _beside(text: str) -> dict[str, Any]:
    """A sound, and the run of a managed agent."""
    asked = {"id": text, "name": text, "arguments": text, "observation": text, "error": _error(text)}
    lane = {
        "run_id": text,
        "agent": text,
        "model": text,
        "mode": text,
        "status": "failed",
        "max_steps": 3,
        "n_steps": 1,
        "duration_s": 1.0,
        "usage": _USAGE,
        "steps": [{"step_number": 1, "duration_s": 1.0, "thought": text, "calls": [asked]}],
        "steps_left_out": 2,
        "answer": {"type": text, "text": text},
        "error": _error(text),
    }
    return {"sounds": [{"words": text, "url": text}, {"words": text}], "run": lane}


def _code_call(text: str) -> dict[str, Any]:
    """A block of code with two calls that it made: one that ended, one that may be running."""
    whole, *_ = _calls(text)
    other = {"id": f"{text}inside", "name": text, "arguments": {text: text, "object": f"<{text}, {text}>"}}
    return whole | {
        "id": f"{text}code",
        "name": "python",
        "arguments": {},
        "code": f"{text}\nx",  # never without a letter, whatever is cleaned away
        "notes": [text, f"the person changed the arguments to this code:\n{text}\nx"],
        "is_edited": True,
        "calls": [whole, other],
        "calls_left_out": 5,
        "error": _error(text),
    }
