"""What an author says of the calls of a tool beside its arguments: is it something that can be kept.

It must not make a call.
"""

from __future__ import annotations

import math
from typing import cast

from agent_magic.core.values import Value
from agent_magic.tools.result_schema import fault_of_schema


def fault_of_rules(
    *, timeout_s: Value, approve: Value, main_thread: Value, output_schema: Value
) -> tuple[str, str] | None:
    """What cannot be, and what to write instead; None if all can."""
    if timeout_s is not None:
        is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
        if not is_number or not 0 < cast("float", timeout_s) < math.inf:
            return f"'timeout_s' is {timeout_s!r}, expected seconds, a number above 0", "timeout_s = 30"
        if main_thread:
            return (
                "it has 'timeout_s' and 'main_thread', and a call in the main thread cannot be given up",
                "one of the two",
            )
    if not isinstance(approve, bool):
        return f"'approve' is {approve!r}, expected True or False", "approve = True"
    if output_schema is not None and (fault := fault_of_schema(output_schema)):
        return (
            f"'output_schema' is {fault}",
            'output_schema = {"type": "object", "properties": {"price": {"type": "number"}}}',
        )
    return None
