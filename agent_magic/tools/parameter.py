"""One parameter of a tool: what a model is told of it, and what is known to read its values by.

It must not look at functions.
"""

from __future__ import annotations

import enum
import inspect
import json
from dataclasses import dataclass
from typing import Literal

from agent_magic.core.values import Value, is_json
from agent_magic.tools.hints import LIVE, REFERENCE_TEXT, HintSchema, without_marks

MISSING = inspect.Parameter.empty
Star = Literal["*", "**"]
_LONGEST_DEFAULT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that a model may give; of one with stars, what each of its values is."""

    name: str
    hint: Value
    """`MISSING` if there is none."""
    hint_schema: HintSchema
    description: str = ""
    default: Value = MISSING
    is_positional_only: bool = False
    is_keyword_only: bool = False
    is_required: bool = True

    @property
    def is_by_reference(self) -> bool:
        """Whether only a state variable can be given, as JSON cannot hold the value."""
        return LIVE in self.hint_schema.schema

    def to_property(self) -> dict[str, Value]:
        """The parameter's JSON Schema for a model."""
        schema: dict[str, Value] = without_marks(self.hint_schema.schema, keep_string=True)
        own = str(schema.pop("description", ""))
        description = self.description or own
        if self.is_by_reference and self.description:
            description = f"{self.description.rstrip('.')}. {REFERENCE_TEXT}"
        if description:
            schema["description"] = description
        default = self.default.value if isinstance(self.default, enum.Enum) else self.default
        if (
            not self.is_by_reference
            and default is not MISSING
            and default is not None
            and is_json(default)
            and _is_short(default)
        ):
            schema["default"] = default
        return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Returns:
    """What a tool gives back."""

    hint: Value = MISSING
    description: str = ""


def _is_short(default: Value) -> bool:
    return len(json.dumps(default)) <= _LONGEST_DEFAULT
