"""What an author says of the calls of a tool beside its arguments: is it something that can be kept.

It must not make a call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from agent_magic.core.messages import ToolExample
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.result_schema import fault_of_schema


def fault_of_rules(
    *,
    timeout_s: Value,
    approve: Value,
    sequential: Value,
    main_thread: Value,
    output_schema: Value,
    examples: Value,
) -> tuple[str, str] | None:
    """What cannot be, and what to write instead; None if all can."""
    for name, value in (("approve", approve), ("sequential", sequential), ("main_thread", main_thread)):
        if not isinstance(value, bool):
            return f"{name!r} is {value!r}, expected True or False", f"{name} = True"
    if timeout_s is not None:
        is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
        if not is_number or not 0 < cast("float", timeout_s) < math.inf:
            return f"'timeout_s' is {timeout_s!r}, expected seconds, a number above 0", "timeout_s = 30"
        if main_thread:
            return (
                "it has 'timeout_s' and 'main_thread', and a call in the main thread cannot be given up",
                "one of the two",
            )
    if output_schema is not None and (fault := fault_of_schema(output_schema)):
        return (
            f"'output_schema' is {fault}",
            'output_schema = {"type": "object", "properties": {"price": {"type": "number"}}}',
        )
    are_listed = isinstance(examples, Sequence) and not isinstance(examples, str | bytes)
    if not are_listed or not all(
        isinstance(one, str | ToolExample) for one in cast("Sequence[Value]", examples)
    ):
        return (
            f"'examples' is {safe_repr(examples, 200)}, expected a list of texts",
            "examples = [\"the mean of a column -> mean(column='price')\"]",
        )
    return None
