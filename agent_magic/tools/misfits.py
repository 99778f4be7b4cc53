"""What JSON Schema refused of a value, in words: the place, the value, what was expected.

It must not decide what is done about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agent_magic.core.values import Value
from agent_magic.tools.references import Path
from agent_magic.tools.wording import LIMITS, to_path, to_short
from agent_magic.tools.words import Words

if TYPE_CHECKING:  # it loads slowly
    from jsonschema import ValidationError


def tell_misfit(error: ValidationError, path: Path, words: Words) -> str:
    """One refusal: `'rows[0].price' is 'x'; expected a number`.

    Args:
        error: As jsonschema has it.
        path: Where the whole value stands.
        words: Whether it is said as JSON or as Python.
    """
    error = _deepest(error)
    where = to_path((*path, *error.absolute_path))
    limit, value, schema = cast(
        "tuple[Value, Value, Value]", (error.validator_value, error.instance, error.schema)
    )
    if error.validator == "required":
        return f"{where!r} lacks {next(key for key in limit if key not in value)!r}"
    if error.validator == "additionalProperties" and limit is False:
        known = schema.get("properties", {})
        unknown = next(key for key in value if key not in known)
        return f"{where!r} has no place for {to_short(unknown)}; expected {', '.join(known) or 'nothing'}"
    if error.validator == "items" and "prefixItems" in schema:
        limit = len(schema["prefixItems"])
    limited = LIMITS.get(cast("str", error.validator))
    expected = limited.format(limit) if limited else words.to_expected(schema)
    is_of_length = "minItems" in schema and schema["minItems"] == schema.get("maxItems")
    if is_of_length and error.validator in ("items", "minItems", "maxItems"):
        expected = f"exactly {schema['minItems']} items"
    return f"{where!r} is {to_short(value)}; expected {expected}"


def _deepest(error: ValidationError) -> ValidationError:
    """Of a refused union, the error inside the member that fits best, if one fits at the top."""
    while error.context:
        inner = [
            found
            for found in error.context
            if found.relative_path or found.validator not in ("type", "const", "enum")
        ]
        if len(inner) != 1:
            break
        error = inner[0]
    return error
