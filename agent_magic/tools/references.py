"""References in arguments become live values, and lenient forms the values that they mean.

It must not check types beyond what decides whether a text is a reference: that is the validation's.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass, field
from typing import cast

from agent_magic.core.state import AgentState, parse_reference
from agent_magic.core.values import MAX_DEPTH, Value, is_json
from agent_magic.tools.container_text import read_container
from agent_magic.tools.places import Place
from agent_magic.tools.wording import to_expected, to_path, to_short, with_article

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")
_MOST_NAMES = 8

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What is wrong with one argument."""

    text: str
    advice: str = ""
    """One thing to do; the right form of the call, if there is nothing better."""


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads the arguments of one call; what it did and what it could not do is kept here."""

    state: AgentState | None
    """None: nothing is a reference."""
    notes: list[str] = field(default_factory=list[str])
    flaws: list[Flaw] = field(default_factory=list[Flaw])
    live: set[Path] = field(default_factory=set[Path])
    """Where live values were put."""
    _is_in_text: bool = field(default=False, init=False)

    def read(self, value: Value, place: Place, path: Path) -> Value:
        """`value` with its references and lenient forms replaced; the given one is left as it is."""
        kind = cast("type[Value]", type(value))
        if kind is str:
            return self._read_text(value, place, path)
        if kind is list:
            return [self.read(item, place.child(at), (*path, at)) for at, item in enumerate(value)]
        if kind is dict:
            return {key: self.read(item, place.child(key), (*path, key)) for key, item in value.items()}
        if kind is float and place.takes_integer and not place.takes_number and value.is_integer():
            return int(value)
        return value

    def _read_text(self, text: str, place: Place, path: Path) -> Value:
        state = self.state
        if state is not None:
            if state.references == "exact" and state.is_open(text):
                return self._put(text, state.lookup(text), place, path)
            name = parse_reference(text)
            if name is not None:
                return self._read_reference(name, text, place, path, state)
            if (place.is_any or not place.takes_text) and state.is_open(text):
                value = state.lookup(text)
                if not is_json(value) and place.accepts(value):
                    return self._put(text, value, place, path)
        if place.is_by_reference:
            self._refuse_name(text, text, place, path)
            return text
        return text if place.takes_text else self._read_leniently(text, place, path)

    def _read_reference(self, name: str, text: str, place: Place, path: Path, state: AgentState) -> Value:
        if state.is_open(name):
            value = state.lookup(name)
            if place.accepts(value):
                return self._put(name, value, place, path)
            if not place.takes_text:
                self._refuse_name(name, text, place, path)
        elif place.is_any or not place.takes_text:
            self._refuse_name(name, text, place, path)
        return text

    def _put(self, name: str, value: Value, place: Place, path: Path) -> Value:
        self.notes.append(f"{to_path(path)} read as @{name}")
        self.live.add(path)
        if not (place.is_any or place.live or is_json(value)):
            # A number of a foreign library, where a plain one is declared.
            if place.takes_integer and isinstance(value, numbers.Integral):
                return int(value)
            if place.takes_number and isinstance(value, numbers.Real):
                return float(value)
        return value

    def _refuse_name(self, name: str, text: str, place: Place, path: Path) -> None:
        where, state = to_path(path), self.state
        fitting = (
            [other for other in state.open_names() if place.may_take(state.lookup(other))] if state else []
        )
        if state and state.is_open(name):
            self.flaws.append(
                Flaw(
                    text=f"argument {where!r} is @{name}, {with_article(state.lookup(name))}; expected {to_expected(place.schema)}",
                    advice=_advice([], fitting, place),
                )
            )
            return
        if state and state.is_lost(name):
            self.flaws.append(
                Flaw(
                    text=f"argument {where!r} is {to_short(text)}; that value is gone: the kernel that held it has ended",
                    advice=f"If a call gave {name}, make it again; else do without it.",
                )
            )
            return
        near = (
            [other for other in state.nearest(name) if place.may_take(state.lookup(other))] if state else []
        )
        self.flaws.append(
            Flaw(
                text=f"argument {where!r} is {to_short(text)}; no open variable has that name",
                advice=_advice(near, fitting, place),
            )
        )

    def _read_container(self, text: str, place: Place, path: Path) -> Value:
        """What the text is as JSON, if that is a list or an object and one may stand here; else the text."""
        # Inside such a text no other is looked for: each would add to the depth.
        if self._is_in_text or not (place.takes_array or place.takes_object):
            return text
        found = read_container(text, MAX_DEPTH + 1 - len(path))
        if found is None or not (place.takes_array if isinstance(found, list) else place.takes_object):
            return text
        self.notes.append(f"{to_path(path)}: text read as JSON")
        self._is_in_text = True
        try:
            return self.read(found, place, path)
        finally:
            self._is_in_text = False

    def _read_leniently(self, text: str, place: Place, path: Path) -> Value:
        trimmed = text.strip()
        read: Value = None
        if place.takes_integer and _INTEGER.fullmatch(trimmed):
            read = int(trimmed)
        elif (place.takes_integer or place.takes_number) and _NUMBER.fullmatch(trimmed):
            number = float(trimmed)
            if place.takes_number and math.isfinite(number):
                read = number
            elif not place.takes_number and number.is_integer():
                read = int(number)
        elif place.takes_boolean and trimmed.lower() in ("true", "false"):
            read = trimmed.lower() == "true"
        if read is None:
            return self._read_container(text, place, path)
        self.notes.append(f"{to_path(path)}: text {to_short(text)} read as {to_short(read)}")
        return read


def _advice(near: list[str], fitting: list[str], place: Place) -> str:
    as_text = ', or give text without "@"' if place.is_any else ""
    if near:
        return f'Nearest: {", ".join(near)}. Write "@{near[0]}"{as_text}.'
    if fitting:
        shown = ", ".join(fitting[:_MOST_NAMES]) + (", …" if len(fitting) > _MOST_NAMES else "")
        return f'Open: {shown}. Write one of them as "@name"{as_text}.'
    return ""
