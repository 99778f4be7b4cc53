"""The words and figures that all forms of a request share.

It must not write markup: what it gives is plain text, not yet escaped.
"""

from __future__ import annotations

from agent_magic.core.text import first_line
from agent_magic.record.preview_schema import MessageRecord, PreviewRecord, SentToolRecord
from agent_magic.view import words

_PURPOSES = {"act": "for an action", "plan": "for a plan", "final": "for a last answer"}
_TASK_PLACES = {
    "act": "of a new run: its task, once it is given, stands at the end",
    "plan": "of a new run: its task, once it is given, stands before the last message",
    "final": "of a new run: its task, once it is given, stands before the last message",
}
_FIRST_CHARS = 110


def title(preview: PreviewRecord) -> str:
    """`Sent for an action, step 4`, `To be sent …`, `Not sent …`."""
    call = f"{_PURPOSES[preview['kind']]}, step {preview['step_number']}"
    if preview["is_other_view"]:
        return (
            f"Not {'sent' if preview['is_past'] else 'to be sent'} {call}: the same moment in the other view"
        )
    return f"{'Sent' if preview['is_past'] else 'To be sent'} {call}"


def view(preview: PreviewRecord) -> str:
    """Which view of the history it is."""
    return "summary view" if preview["summary_mode"] else "normal view"


def figures(preview: PreviewRecord) -> str:
    """Messages, tokens, and their part of the window."""
    parts = [words.count(preview["n_messages"], "message")]
    n_tokens, window = preview["tokens"], preview["window"]
    if n_tokens is None:
        parts.append("tokens unknown")
    else:
        parts.append(tokens(n_tokens, is_estimate=preview["is_estimate"]))
    if window is not None:
        of = "" if n_tokens is None or window <= 0 else f"{100 * n_tokens / window:.0f}% of "
        parts.append(f"{of}a window of {window:,}")
    return " · ".join(parts)


def difference(preview: PreviewRecord) -> str:
    """What is new since the call before of this kind."""
    n_before, n_kept = preview["n_before"], preview["n_kept"]
    if n_before is None:
        return "the first call of its kind"
    parts = [f"{n_kept:,} as in the call before", f"{preview['n_messages'] - n_kept:,} new"]
    if n_before > n_kept:
        parts.append(f"{n_before - n_kept:,} of that call changed or gone")
    return ", ".join(parts)


def warnings(preview: PreviewRecord) -> list[str]:
    """What must be known before it is taken for what is sent."""
    lines: list[str] = []
    if preview["is_exact"] is False:
        lines.append("This is not quite what was sent: rebuilt from the memory, it has another digest.")
    redacted = [*preview["messages"], *preview["tools"]]
    if any("is_redacted" in record for record in redacted):
        lines.append("What is sent holds secrets: here they are shown as [redacted].")
    return lines


def remarks(preview: PreviewRecord) -> list[str]:
    """What run it is of, how sure it is, and what else goes to the provider."""
    new_run = [_TASK_PLACES[preview["kind"]]] if preview["is_new_run"] else []
    exact = ["rebuilt, and the same as what was sent"] if preview["is_exact"] else []
    options = [
        f"{words.one_line(name, 80)} {words.one_line(words.argument_text(value))}"
        for name, value in preview["options"].items()
    ]
    # Where it has no schemas, what may be called or used in code stands in its messages.
    is_bare = preview["kind"] == "act" and not preview["tools"]
    schemas = ["no schemas of tools: those it may use stand in the messages"] if is_bare else []
    return [*new_run, *exact, *schemas, *([f"options: {' · '.join(options)}"] if options else [])]


def tokens(number: int, *, is_estimate: bool) -> str:
    """`312 tokens`, `≈ 1 token`."""
    return ("≈ " if is_estimate else "") + words.count(number, "token")


def message_tokens(message: MessageRecord) -> str:
    """Tokens of a message; empty if unknown."""
    if "tokens" not in message:
        return ""
    return ("≈ " if "is_estimate" in message else "") + f"{message['tokens']:,}"


def message_labels(message: MessageRecord, *, is_only_here: bool) -> list[str]:
    """What is special about a message."""
    return [
        *(["new"] if "is_new" in message else []),
        *(["in this view only"] if is_only_here else []),
        *(["redacted"] if "is_redacted" in message else []),
    ]


def first_words(message: MessageRecord) -> str:
    """A message on one line: how its text begins, else what it calls."""
    said = [first_line(part["text"], _FIRST_CHARS) for part in message["parts"] if part["text"].strip()]
    calls = [words.one_line(call["name"], 60) for call in message.get("calls", [])]
    called = [f"calls {', '.join(dict.fromkeys(calls))}"] if calls else []
    return words.one_line(" · ".join([*said[:1], *called]) or "empty", _FIRST_CHARS)


def tools_title(preview: PreviewRecord) -> str:
    """How many tools, and their tokens."""
    n_tokens = preview["tools_tokens"]
    n_tools = len(preview["tools"]) + preview["tools_left_out"]
    counted = [] if n_tokens is None else [tokens(n_tokens, is_estimate=preview["is_tools_estimate"])]
    return " · ".join([words.count(n_tools, "tool"), *counted])


def tool_line(tool: SentToolRecord) -> str:
    """How the description begins."""
    return words.one_line(first_line(tool["description"], _FIRST_CHARS), _FIRST_CHARS)


def only_here(preview: PreviewRecord, other: PreviewRecord | None) -> set[int]:
    """The numbers of the messages that another view has not, or has in another form."""
    if other is None:
        return set()
    theirs = {_identity(message) for message in other["messages"]}
    return {message["number"] for message in preview["messages"] if _identity(message) not in theirs}


def _identity(message: MessageRecord) -> tuple[object, ...]:
    parts = tuple(part["text"] for part in message["parts"])
    calls = tuple((call["id"], call["arguments"]) for call in message.get("calls", []))
    return (message["role"], parts, calls, message.get("call_id"))
