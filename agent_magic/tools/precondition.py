"""Precondition: the function of a tool's author that says whether a call may be made, asked right before it.

It must not change the call, nor know who makes it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from agent_magic.core.errors import ToolCallError, ToolDefinitionError, ToolError
from agent_magic.core.redact import redact
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.arguments import PreparedCall
from agent_magic.tools.parameter import MISSING, Parameter
from agent_magic.tools.wording import to_bounded

_LONGEST_REASON = 1_000
_Kind = inspect.Parameter


class Precondition:
    """Asked before each call of one tool.

    The function is given those of the call's arguments that it has parameters for, as the body
    would get them. It says no by what is falsy, by `(False, "why")` or by an exception.
    """

    def __init__(
        self, function: Callable[..., Value], tool_name: str, parameters: Sequence[Parameter]
    ) -> None:
        """Get ready to ask it.

        Raises:
            ToolDefinitionError: It could not be asked.
        """
        self._function = function
        self._tool_name = tool_name
        self._parameters = parameters
        if not callable(function):
            self._refuse(
                f"is {safe_repr(function, 80)}, which cannot be called", "requires=fn, the function itself"
            )
        if inspect.iscoroutinefunction(function):
            self._refuse("is async, so it could not be asked before the call", "it with def alone")
        self._names, self._takes_all = self._read_names()

    def check(self, prepared: PreparedCall) -> None:
        """Ask whether this call may be made.

        Raises:
            ToolCallError: It may not; the text says why. The body is not to be entered.
        """
        arguments = self._arguments_of(prepared)
        if not self._takes_all:
            arguments = {name: value for name, value in arguments.items() if name in self._names}
        try:
            reason = self._reason(self._function(**arguments))
        except (ToolError, ToolCallError) as told:
            reason = f"its condition{self._name} does not hold: {told.message}"
        except Exception as error:  # noqa: BLE001 - the author's function may raise anything, and that is a no
            reason = f"its condition{self._name} raised {to_bounded(f'{type(error).__name__}: {error}')}"
        if reason:
            reason = truncate(redact(reason), _LONGEST_REASON).rstrip().rstrip(".")
            raise ToolCallError(
                f"{self._tool_name} was not called, as {reason}. "
                "See to it that the condition holds, or do without this call."
            )

    def _reason(self, verdict: Value) -> str:
        """Why the call may not be made; empty if it may."""
        if inspect.isawaitable(verdict):
            if inspect.iscoroutine(verdict):
                verdict.close()
            return f"its condition{self._name} is async, and cannot be asked before a call"
        said: Value = ""
        if isinstance(verdict, tuple) and len(pair := cast("tuple[Value, ...]", verdict)) == 2:
            verdict, said = pair
        if verdict:
            return ""
        meant = " ".join((inspect.getdoc(self._function) or "").partition("\n\n")[0].split())
        told = f": {said}" if said else f" ({meant.rstrip('.')})" if meant else ""
        return f"its condition{self._name} does not hold{told}"

    def _arguments_of(self, prepared: PreparedCall) -> Mapping[str, Value]:
        """The arguments by name, those that were left out too."""
        by_position = [one for one in self._parameters if not one.is_keyword_only]
        return {
            **{one.name: one.default for one in self._parameters if one.default is not MISSING},
            **{one.name: value for one, value in zip(by_position, prepared.args, strict=False)},
            **prepared.kwargs,
        }

    @property
    def _name(self) -> str:
        name = getattr(self._function, "__name__", "")
        return f" {name!r}" if isinstance(name, str) and name.isidentifier() and name != "requires" else ""

    def _read_names(self) -> tuple[frozenset[str], bool]:
        try:
            wanted = inspect.signature(self._function).parameters.values()
        except (ValueError, TypeError):  # of some built-ins Python knows no signature
            return frozenset(), False
        known = [one.name for one in self._parameters]
        named = [one for one in wanted if one.kind not in (_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD)]
        for one in named:
            if one.kind is _Kind.POSITIONAL_ONLY and one.default is MISSING:
                self._refuse(f"takes {one.name!r} by position only", "its parameters without the /")
            if one.default is MISSING and one.name not in known:
                near = difflib.get_close_matches(one.name, known, n=1, cutoff=0.3)
                self._refuse(
                    f"takes {one.name!r}, which is no parameter of the tool ({', '.join(known) or 'it has none'})",
                    f"{near[0]!r} in its place" if near else "it without that parameter",
                )
        return frozenset(one.name for one in named), any(one.kind is _Kind.VAR_KEYWORD for one in wanted)

    def _refuse(self, what: str, fix: str) -> None:
        raise ToolDefinitionError(f"Tool {self._tool_name!r}: its 'requires' {what}.\nWrite {fix}")


def requires_of(tool: Value) -> Callable[..., Value] | None:
    """What a tool says under `requires`; a function that was put there, and is no method, as it is."""
    held = inspect.getattr_static(tool, "requires", None)
    if inspect.isfunction(held) and next(iter(inspect.signature(held).parameters), None) != "self":
        return held
    return tool.requires
