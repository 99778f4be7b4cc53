"""Arguments of one tool: from a model's JSON to what the function is called with, or an error that teaches.

It must not call the tool.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState
from agent_magic.core.values import Value
from agent_magic.tools.parameter import Parameter, Star
from agent_magic.tools.references import Flaw, Reader
from agent_magic.tools.slot import Slot
from agent_magic.tools.wording import to_short
from agent_magic.tools.words import JSON, PYTHON, Words

_MOST_FLAWS = 3
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call that can be made as it is."""

    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value]
    notes: tuple[str, ...] = ()
    """What was read otherwise than it was written, for the model and the person."""


class ArgumentReader:
    """Reads arguments for the parameters of one tool; validators are made once."""

    def __init__(
        self,
        tool_name: str,
        parameters: Sequence[Parameter],
        stars: Mapping[Star, Parameter] = MappingProxyType({}),
    ) -> None:
        self._tool_name = tool_name
        self._parameters = tuple(parameters)
        self._stars = stars
        self._slots = {parameter.name: Slot(parameter) for parameter in parameters}
        self._star_slots: dict[Star, Slot] = {star: Slot(parameter) for star, parameter in stars.items()}

    def prepare(self, arguments: Mapping[str, Value], state: AgentState | None) -> PreparedCall:
        """References replaced, checked against the schema, converted to the declared types.

        Args:
            arguments: By name, as the model gave them; they stay as they are. Code may give more:
                `"*parts"` a tuple and `"**options"` a mapping, for a parameter with stars.
            state: None: code calls. The values are live already, no text is a reference or read as
                a number, and error texts speak Python.

        Raises:
            ToolCallError: It names the argument, its value, what was expected and the right form.
        """
        reader = Reader(state=state)
        values: dict[str, Value] = {}
        more: dict[Star, Value] = {}
        if state is None and self._stars:
            arguments, more = self._split_stars(arguments, reader)
        for name, slot in self._slots.items():
            if name not in arguments:
                if slot.parameter.is_required:
                    reader.flaws.append(Flaw(text=f"argument {name!r} is missing"))
                continue
            value = arguments[name]
            if value is None and slot.parameter.default is None:
                continue  # null says the same as leaving it out
            values[name] = slot.read(value, reader)
        for name in arguments:
            if name not in self._slots:
                near = difflib.get_close_matches(name[:_LONGEST_NAME], list(self._slots), n=1, cutoff=0.5)
                nearest = f"; nearest: {near[0]!r}" if near else ""
                reader.flaws.append(Flaw(text=f"there is no argument {to_short(name)}{nearest}"))
        if reader.flaws:
            raise ToolCallError(self._to_text(reader.flaws, PYTHON if state is None else JSON))
        positional = more.get("*", ())
        args = (*self._positional(values, is_followed=bool(positional)), *positional)
        return PreparedCall(args=args, kwargs={**values, **more.get("**", {})}, notes=tuple(reader.notes))

    def _split_stars(
        self, arguments: Mapping[str, Value], reader: Reader
    ) -> tuple[dict[str, Value], dict[Star, Value]]:
        """The arguments without those for parameters with stars, and the values of these, each read."""
        rest = dict(arguments)
        more: dict[Star, Value] = {}
        for star, slot in self._star_slots.items():
            given = rest.pop(f"{star}{slot.parameter.name}", None)
            if given and star == "*":
                more[star] = tuple(slot.read(value, reader) for value in given)
            elif given:
                more[star] = {name: slot.read(value, reader) for name, value in given.items()}
        return rest, more

    def _positional(self, values: dict[str, Value], *, is_followed: bool) -> Iterator[Value]:
        """Takes out of `values` what can be given by position only, as all that stands before more values is."""
        slots = [
            slot.parameter
            for slot in self._slots.values()
            if slot.parameter.is_positional_only or (is_followed and not slot.parameter.is_keyword_only)
        ]
        last = max((at for at, parameter in enumerate(slots) if parameter.name in values), default=-1)
        for parameter in slots[: last + 1]:
            yield values.pop(parameter.name, parameter.default)

    def _to_text(self, flaws: Sequence[Flaw], words: Words) -> str:
        texts = [flaw.text for flaw in flaws[:_MOST_FLAWS]]
        if len(flaws) > _MOST_FLAWS:
            texts.append(f"and {len(flaws) - _MOST_FLAWS} more faults")
        advice = flaws[0].advice if len(flaws) == 1 else ""
        return f"{self._tool_name}: {'; '.join(texts)}. {advice or self.to_call_form(words)}"

    def to_call_form(self, words: Words) -> str:
        """How the tool is called: `Call order with {"n": <integer>}` or `Call order(n=<int>)`, say."""
        return words.to_call_form(self._tool_name, self._parameters, self._stars)
