"""What a run asks its person, answered at a prompt; and what becomes of it where nobody can answer.

It must not decide when to ask at a prompt: whoever takes the run's events does.
"""

from __future__ import annotations

import builtins
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.error import StdinNotImplementedError

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.approval import ApprovalPolicy, Item, Question
from agent_magic.core.errors import OptionError, StepError
from agent_magic.core.messages import ToolCall
from agent_magic.core.redact import redact
from agent_magic.core.steps import CODE_CALL, to_code
from agent_magic.core.text import to_display, truncate
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.parsing import read_arguments
from agent_magic.notebook.cell.answers import takes_input

Read = Callable[[str], str]
"""Shows a prompt and gives the line that is typed."""
_BY = "the person at the prompt"
_RULE = "AgentMagics.unattended = 'approve'"
_LINE_CHARS = 300
_END = "."
"""Ends code that is typed: in code, a blank line ends nothing."""
_SHOWN_CHARS = 8_000


def refuse_unattended(magics: Any, name: str, approve: ApprovalPolicy) -> None:
    """Refuse what would wait for a person where none can answer, unless a rule answers.

    Raises:
        OptionError: It would.
    """
    if approve == "never" or magics.unattended == "approve" or takes_input(magics.shell):
        return
    raise OptionError(
        f"%%agent {name}: --approve {approve} waits for a person's word, and nobody can give it in this front end. "
        'Nothing was run. Write --approve never, or %config AgentMagics.unattended = "approve" to let all be done '
        "where nobody can answer."
    )


def unattended_rule(magics: Any, agent: MultiStepAgent) -> contextlib.AbstractContextManager[None]:
    """As long as it is open, `AgentMagics.unattended` answers where no person can."""
    if magics.unattended == "approve" and not takes_input(magics.shell):
        return agent.approvals.approving_all(_RULE)
    return contextlib.nullcontext()


def ask_by_input(agent: MultiStepAgent, question: Question, read: Read | None = None) -> None:
    """Ask for each item of a question at a prompt, in the main thread, and answer the agent.

    Returns when each is answered, here or elsewhere. Where nothing can be read, the rest is refused.

    Args:
        read: None for `input`, as the front end has it now.

    Raises:
        KeyboardInterrupt: Ctrl-C at the prompt.
    """
    read = read or builtins.input
    asker = " → ".join(question.agents) if question.agent_name not in ("", agent.name) else ""
    approve_rest = False
    for place, item in enumerate(question.items):
        while agent.approvals.is_open(item.id):
            try:
                if approve_rest:
                    agent.approvals.answer(item.id, "approve", digest=item.digest, by=_BY)
                else:
                    approve_rest = _ask(agent, item, asker, len(question.items) - place, read)
            except OptionError as error:  # arguments that do not fit, or it was answered elsewhere by now
                print(to_display(redact(error.message)))
            except (EOFError, StdinNotImplementedError):
                _refuse_rest(agent, question)
                return


def _ask(agent: MultiStepAgent, item: Item, asker: str, n_left: int, read: Read) -> bool:
    """Ask once for one item; whether all that follow are approved too.

    Args:
        asker: The way to the agent that wants it; empty if it is the one that was given the task.
    """
    desk = agent.approvals
    also = ", [a]ll of this step" if n_left > 1 else ""
    said = read(f"{_question(item, asker)} [y]es, [n]o, [e]dit{also}: ").strip().lower()
    match said:
        case "y" | "yes" | "a" | "all" if said[0] == "y" or also:
            desk.answer(item.id, "approve", digest=item.digest, by=_BY)
            return said[0] == "a"
        case "n" | "no":
            desk.answer(
                item.id, "reject", digest=item.digest, reason=read("Why, for the model to read: "), by=_BY
            )
        case "e" | "edit":
            changed = _read_change(item, read)
            if changed:
                desk.answer(item.id, "edit", digest=item.digest, by=_BY, **changed)
        case _:
            print(f"Write y, n{', e or a' if also else ' or e'}.")
    return False


def _question(item: Item, asker: str) -> str:
    if item.call is None:
        print(to_display(redact(truncate(item.plan or "", _SHOWN_CHARS))))
        return f"{asker} wants to go by this plan." if asker else "Take this plan?"
    code = _code_of(item)
    if code is not None:
        print(to_display(redact(truncate(code, _SHOWN_CHARS))))
        return f"{asker} wants to run this code." if asker else "Run this code?"
    arguments = item.call.arguments
    given = arguments if isinstance(arguments, Mapping) else {}
    inside = ", ".join(f"{name}={safe_repr(value, _SHOWN_CHARS)}" for name, value in given.items())
    call = " ".join(to_display(redact(f"{item.call.name}({inside})")).split())
    if len(call) <= _LINE_CHARS:
        return f"{asker} wants to call {call}." if asker else f"Call {call}?"
    print(truncate(call, _SHOWN_CHARS))
    return f"{asker} wants to call {item.call.name} so." if asker else f"Call {item.call.name} so?"


def _code_of(item: Item) -> str | None:
    """The code that is asked about; None for a call of a tool, or a plan."""
    call = item.call
    if (
        call is None
        or call.name != CODE_CALL
        or not isinstance(call.arguments, Mapping)
        or len(call.arguments) != 1
    ):
        return None  # a tool of the person's may have this name too
    return to_code(call)


def _read_change(item: Item, read: Read) -> dict[str, Value]:
    """What is typed in the place of a plan, of code or of arguments; empty to go back."""
    if item.call is None:
        return _read_plan(read)
    if _code_of(item) is not None:
        return _read_code(read)
    return _read_arguments(item.call, read)


def _read_code(read: Read) -> dict[str, Value]:
    lines: list[str] = []
    prompt = f"The code, line by line; a line with {_END} alone ends it (nothing before it: back):\n"
    while (line := read("" if lines else prompt)).strip() != _END:
        lines.append(line)
    code = "\n".join(lines)
    return {"arguments": {"code": code}} if code.strip() else {}


def _read_arguments(call: ToolCall, read: Read) -> dict[str, Value]:
    """The arguments that are typed, by the name of the parameter they are for; empty to go back."""
    print(f"Now: {to_display(redact(json.dumps(call.arguments, ensure_ascii=False, default=safe_repr)))}")
    text = read("Arguments as JSON, all of them (empty: back): ").strip()
    if not text:
        return {}
    try:
        return {"arguments": read_arguments(text)}
    except StepError as error:
        raise OptionError(error.message) from error


def _read_plan(read: Read) -> dict[str, Value]:
    """The plan that is typed; empty to go back."""
    lines: list[str] = []
    while line := read("" if lines else "The plan, line by line; an empty line ends it:\n").rstrip():
        lines.append(line)
    return {"plan": "\n".join(lines)} if lines else {}


def _refuse_rest(agent: MultiStepAgent, question: Question) -> None:
    for item in question.items:
        with contextlib.suppress(OptionError):  # it was answered meanwhile
            agent.approvals.answer(item.id, "reject", digest=item.digest, reason="Nobody answered.", by=_BY)
