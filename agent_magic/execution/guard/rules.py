"""Rules: what code may bind, import and reach, checked on its syntax tree before any of it runs.

It must not run, import or change anything of what it checks. A guard against accidents, not a boundary.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from agent_magic.core.errors import CodeRefused
from agent_magic.core.redact import redact
from agent_magic.core.text import strip_control
from agent_magic.core.values import Value
from agent_magic.execution.guard.imports import AuthorizedImports

_MAX_FAULTS = 5
_MAX_SOURCE_CHARS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one block of code is checked against."""

    imports: AuthorizedImports
    tool_names: AbstractSet[str] = frozenset()
    """Names of the tools: functions that code calls and may not rebind."""
    final_name: str = "final_answer"
    users: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Names that code may not rebind or delete, with their values; empty where it may."""
    namespace: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """What the code will run in: which names are modules, and which names are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing in the code that is refused."""

    node: ast.AST
    what: str
    """What is refused, as a sentence."""
    instead: str
    """One thing to do, as a sentence."""


def to_refusal(faults: list[Fault], code: str) -> CodeRefused:
    """The error that tells the model all that was refused, the first fault in full."""
    lines = code.split("\n")
    ordered = sorted(faults, key=_line)
    first = ordered[0]
    text = [
        f"Line {_line(first)} is refused, and nothing ran: `{_source(first, lines)}`",
        f"{first.what} {first.instead}",
    ]
    told = {(first.what, first.instead)}
    for fault in ordered[1:]:
        if (fault.what, fault.instead) in told:
            continue
        if len(told) == _MAX_FAULTS:
            text.append("There is more of the kind; mend all of it.")
            break
        told.add((fault.what, fault.instead))
        text.append(f"Line {_line(fault)}, too: `{_source(fault, lines)}` {fault.what} {fault.instead}")
    return CodeRefused(redact("\n".join(text)))


def _line(fault: Fault) -> int:
    return getattr(fault.node, "lineno", 1)


def _source(fault: Fault, lines: list[str]) -> str:
    number = _line(fault)
    line = strip_control(lines[number - 1]).strip() if number <= len(lines) else ""
    return line if len(line) <= _MAX_SOURCE_CHARS else line[: _MAX_SOURCE_CHARS - 1] + "…"
