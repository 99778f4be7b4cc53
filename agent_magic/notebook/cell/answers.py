"""The value of a cell: how an answer becomes `Out`, whole in memory and bounded on the page.

It must not change the answer.
"""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any, cast

from agent_magic.core.redact import redact
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, is_endless, safe_repr

MAX_SHOWN = 100_000
"""Characters of one form of an answer in the notebook's file."""
_DEEPEST = 150
_MOST_LOOKED_AT = 1_000
"""Containers of one depth, and items of one of them."""
_CONTAINERS = (list, tuple, dict, set, frozenset)
_CAN_BE_HUGE = (str, bytes, list, tuple, dict, set, frozenset)


def show_answer(shell: Any, value: Value) -> Value:
    """The cell's value: `value` itself, or None once it was shown here, huge or with a secret in it.

    It becomes `Out[n]` whole as well; only what the page holds of it is cut, with a note, and redacted.
    """
    hook = shell.displayhook
    if is_endless(value) and sys.displayhook is hook:
        return _show(hook, value, {"text/plain": safe_repr(value)}, {})
    if not isinstance(value, _CAN_BE_HUGE) or sys.displayhook is not hook:
        return value
    if isinstance(value, bytes) and len(value) <= MAX_SHOWN // 4:
        return value  # its repr has at most four times the characters
    if isinstance(value, str) and len(value) <= MAX_SHOWN // 4 and redact(value) == value:
        return value
    if isinstance(value, _CONTAINERS) and _is_too_deep(
        value
    ):  # IPython would show its own formatters' errors in the place of the value
        return _show(hook, value, {"text/plain": safe_repr(value)}, {})
    forms, metadata = hook.compute_format_data(value)
    texts = [text for text in cast("dict[str, Any]", forms).values() if isinstance(text, str)]
    if all(len(text) <= MAX_SHOWN and redact(text) == text for text in texts):
        return value
    shown = {mime: _shortened(text) for mime, text in cast("dict[str, Any]", forms).items()}
    return _show(hook, value, shown, metadata)


def _is_too_deep(value: Value) -> bool:
    """Whether containers are nested in it deeper than Python's own `repr` can follow."""
    level: list[Value] = [value]
    seen: set[int] = set()
    for _ in range(_DEEPEST):
        inner: list[Value] = []
        for container in level[:_MOST_LOOKED_AT]:
            if id(container) in seen:  # it holds itself, which `repr` knows of
                continue
            seen.add(id(container))
            items = container.values() if isinstance(container, dict) else container
            inner += [item for item in islice(items, _MOST_LOOKED_AT) if isinstance(item, _CONTAINERS)]
        if not inner:
            return False
        level = inner
    return True


def _show(hook: Any, value: Value, shown: dict[str, Any], metadata: dict[str, Any]) -> None:
    # The steps of IPython's own display hook, with the shortened forms in the place of the whole.
    hook.check_for_underscore()
    hook.start_displayhook()
    hook.write_output_prompt()
    hook.update_user_ns(value)
    hook.fill_exec_result(value)
    hook.write_format_data(shown, metadata)
    hook.log_output(shown)
    hook.finish_displayhook()


def takes_input(shell: Any) -> bool:
    """Whether a person can type into this front end: nbclient, papermill and nbconvert take nothing."""
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        return bool(getattr(kernel, "_allow_stdin", False))
    return sys.stdin is not None and sys.stdin.isatty()


def _shortened(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    text = redact(text)
    if len(text) <= MAX_SHOWN:
        return text
    return truncate(text, MAX_SHOWN // 4, hint="; the value itself is whole")
