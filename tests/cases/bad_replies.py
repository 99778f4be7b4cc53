"""The malformed and hostile replies that a model can give, and the forms in which each of them can come.

It must not run anything.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Raw = dict[str, Any]
"""A case as the file has it."""

_FILE = yaml.safe_load((Path(__file__).parent / "bad_model_outputs.yaml").read_text(encoding="utf-8"))
SETUP: Raw = _FILE["setup"]
FORMS = {
    "text": False,
    "text beside native calls": True,
    "native": True,
    "raw arguments": True,
    "written out": False,
}
"""Of a reply to an agent that calls tools, and whether the model of each calls natively."""
# The one call of a text, for the raw form of its arguments.
_ONE_CALL = re.compile(r'\{"name": "(\w+)", "arguments": (.*?),?\}\s*', re.DOTALL)
_MAX_LITERAL = 100_000


def cases_of(kind: str, *, is_provider: bool) -> list[Raw]:
    """The cases of `code` or of `tool` in which a model replies, or a provider does something else."""
    return [
        case
        for case in _FILE["cases"]
        if case.get("kind", "code") == kind and ("provider" in case) == is_provider
    ]


def forms_of(case: Raw) -> list[str]:
    """The forms in which a case can come."""
    if "tool_calls" in case or "tool_calls_repeat" in case:
        return ["native", "written out"]
    texts = ["text", "text beside native calls"]
    return [*texts, "raw arguments"] if _ONE_CALL.fullmatch(text_of(case)) else texts


def text_of(case: Raw) -> str:
    """Of a case that is a text."""
    return case["output"] if "output" in case else _joined(case["id"])


@cache
def _joined(case_id: str) -> str:
    (case,) = (case for case in _FILE["cases"] if case["id"] == case_id)
    return "".join(part["text"] * part["times"] for part in case["output_parts"])


def calls_of(case: Raw) -> list[dict[str, Any]]:
    """Of a case that is native calls."""
    if "tool_calls" in case:
        return case["tool_calls"]
    repeat = case["tool_calls_repeat"]
    return [{"id": f"c{number}", **repeat["call"]} for number in range(1, repeat["times"] + 1)]


def reply_of(case: Raw, form: str) -> Any:
    """The first reply, as a script has it."""
    match form:
        case "text" | "text beside native calls":
            return text_of(case)
        case "raw arguments":
            name, arguments = _ONE_CALL.fullmatch(text_of(case)).groups()
            return {"tool_calls": [{"id": "c1", "name": name, "arguments": arguments}]}
        case "native":
            return {"content": case.get("content"), "tool_calls": calls_of(case)}
        case "written out":
            written = [json.dumps(call, ensure_ascii=False) for call in calls_of(case)]
            return "\n".join([*filter(None, [case.get("content")]), *written])
        case _:
            raise AssertionError(form)


def write_reply(case: Raw, form: str) -> str:
    """The first reply as an expression; a long text is made where it is needed."""
    text = json.dumps(reply_of(case, form))
    if len(text) < _MAX_LITERAL:
        return f"json.loads({text!r})"
    parts = "''.join(p['text'] * p['times'] for p in " + repr(case["output_parts"]) + ")"
    if form != "raw arguments":
        return parts
    name = _ONE_CALL.fullmatch(text_of(case))[1]
    head = f'{{"name": "{name}", "arguments": '
    return f"{{'tool_calls': [{{'id': 'c1', 'name': {name!r}, 'arguments': {parts}[{len(head)}:-1]}}]}}"
