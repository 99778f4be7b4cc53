"""Validators of JSON Schema, of a library that is loaded when the first of them is needed.

It must not say in words what was refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_magic.core.values import Value

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, SchemaError


def make_validator(schema: Mapping[str, Value]) -> Draft202012Validator:
    """What checks values by this schema."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes a second with its extras, which Jupyter brings

    return Draft202012Validator(dict(schema))


def fault_in_schema(schema: Mapping[str, Value]) -> SchemaError | None:
    """Why it is no JSON Schema; None if it is one."""
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - as above

    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        return error
    return None
