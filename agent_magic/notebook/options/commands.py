"""The commands of `%agent`: one table for parser, help and completion.

It must not look into the namespace: whether a name exists is for whoever carries a command out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from agent_magic.core.errors import OptionError
from agent_magic.core.messages import RequestKind
from agent_magic.core.settings import SUMMARY_MODES, SummaryMode
from agent_magic.core.values import Value
from agent_magic.notebook.options.values import (
    Word,
    nearest_option,
    nearest_part,
    parse_choice,
    parse_name,
    shown,
    split_words,
)

REQUEST_KINDS: tuple[RequestKind, ...] = get_args(RequestKind)
Part = Literal["agent", "variable", "step", "kind", "text"]
"""What a word of a command can be."""

_NUMBER = re.compile(r"[-–—]?\d+")  # editors turn a dash into a longer one
_FIRST_WORD = re.compile(r"\s*(\S*)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a `%agent` line says; None where it was not given."""

    name: str
    agent: str | None = None
    """The variable that holds the agent."""
    variable: str | None = None
    step: int | None = None
    kind: RequestKind | None = None
    summary_mode: SummaryMode | None = None
    is_json: bool = False
    text: str = ""
    """The rest of the line, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOption:
    """An option that a command has of its own."""

    flag: str
    field: str
    choices: tuple[str, ...] = ()
    """Its values; none for the number of a step."""
    is_flag: bool = False
    """It has no value."""

    @property
    def value(self) -> str:
        """What stands for the value in the help."""
        return "" if self.is_flag else "|".join(self.choices) or "N"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCommand:
    """One command of `%agent`."""

    name: str
    help: str
    parts: tuple[Part, ...] = ()
    """What may follow; all but a variable may be left out."""
    options: tuple[CommandOption, ...] = ()

    @property
    def form(self) -> str:
        """How it is written."""
        options = [f"[{f'{option.flag} {option.value}'.rstrip()}]" for option in self.options]
        return " ".join(["%agent", self.name, *(_FORMS[part] for part in self.parts), *options])


_FORMS: Mapping[Part, str] = {
    "agent": "[NAME]",
    "variable": "VAR",
    "step": "[STEP]",
    "kind": f"[{'|'.join(REQUEST_KINDS)}]",
    "text": "[TEXT]",
}
_SUMMARY_MODE = CommandOption(flag="--summary-mode", field="summary_mode", choices=SUMMARY_MODES)
_STEP = CommandOption(flag="--step", field="step")
_JSON = CommandOption(flag="--json", field="is_json", is_flag=True)

LINE_COMMANDS: Mapping[str, LineCommand] = {
    command.name: command
    for command in (
        LineCommand(name="list", help="the agents of this notebook"),
        LineCommand(name="tools", parts=("agent",), help="what an agent may call; of one function what models are told of it, and what is weak"),
        LineCommand(name="preview", parts=("agent", "step", "kind"), options=(_SUMMARY_MODE,),
                    help="what the model will be sent next, or was sent in that step of the last run"),
        LineCommand(name="steps", parts=("agent",), help="what an agent remembers, step by step"),
        LineCommand(name="undo", parts=("agent",), options=(_STEP,),
                    help="take back what the last run, or one step of it, made of your variables"),
        LineCommand(name="blame", parts=("variable", "agent"), help="which runs and steps last changed a variable"),
        LineCommand(name="resume", parts=("agent", "text"), help="go on with a run that was not answered; TEXT corrects it"),
        LineCommand(name="retry", parts=("agent",), help="do the last task again from its beginning"),
        LineCommand(name="reset", parts=("agent",), help="forget an agent's memory; its options and tools stay"),
        LineCommand(name="models", parts=("text",), help="which models can run here, and why one is chosen; the ids with TEXT in them"),
        LineCommand(name="doctor", options=(_JSON,),
                    help="what works here and what does not, with the fix for each fault; asks no address but loopback"),
        LineCommand(name="help", help="this text"),
    )
}  # fmt: skip


def parse_command(line: str) -> Command:
    """The command on a `%agent` line and its arguments; `help` if the line is empty.

    Raises:
        OptionError: There is no such command, or a word does not belong to it.
    """
    match = _FIRST_WORD.match(line)
    name = match[1] if match else ""
    rest = line[match.end() :] if match else ""
    if not name:
        return Command(name="help")
    command = LINE_COMMANDS.get(name)
    if command is None:
        near = nearest_part(name.lower(), LINE_COMMANDS)
        raise OptionError(
            f"%agent: unknown command {shown(name)}.{near} Commands: {', '.join(LINE_COMMANDS)}.\n"
            "To give an agent a task, write %%agent NAME (two %) with the task on the lines below."
        )
    if "text" in command.parts:
        return Command(name=name, text=rest.strip())
    values = _parse_words(command, split_words(rest))
    if "variable" in command.parts and "variable" not in values:
        raise OptionError(f"%agent {name}: the name of the variable is missing. Write {command.form}.")
    return Command(name=name, **values)


def open_parts(command: LineCommand, words: Iterable[Word]) -> tuple[tuple[Part, ...], CommandOption | None]:
    """What may follow the words of a command: parts not given yet, or the option whose value is due."""
    parts = list(command.parts)
    due: CommandOption | None = None
    for word in words:
        if due is not None:
            due = None
        elif word.is_option and not _NUMBER.fullmatch(word.raw):
            option = _find(command, word.raw.partition("=")[0])
            due = None if option.is_flag or "=" in word.raw else option
        elif part := _part_of(parts, word.text):
            parts.remove(part)
    return tuple(parts), due


def _parse_words(command: LineCommand, words: list[Word]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    parts = list(command.parts)
    left = iter(words)
    for word in left:
        if word.is_option and not _NUMBER.fullmatch(word.raw):
            flag, equals, value = word.raw.partition("=")
            option = _find(command, flag)
            if option.is_flag:
                if equals:
                    raise OptionError(f"%agent {command.name} {flag}: it has no value. Write {flag}.")
                values[option.field] = True
                continue
            given = Word(raw=value) if equals else next(left, None)
            values[option.field] = _parse_option(command, option, given)
            continue
        part = _part_of(parts, word.text)
        if part is None:
            kinds = REQUEST_KINDS if "kind" in parts else ()
            near = nearest_part(word.text.lower(), kinds)
            raise OptionError(
                f"%agent {command.name}: {shown(word.text)} is one word too many.{near} Write {command.form}."
            )
        parts.remove(part)
        values[part] = _parse_part(command, part, word)
    return values


def _part_of(parts: Iterable[Part], word: str) -> Part | None:
    """Which of the parts that are still open a word is."""
    parts = list(parts)
    if "step" in parts and _NUMBER.fullmatch(word):
        return "step"
    if "kind" in parts and word in REQUEST_KINDS:
        return "kind"
    return next((part for part in parts if part in ("agent", "variable")), None)


def _parse_part(command: LineCommand, part: Part, word: Word) -> Value:
    if part == "step":
        return _parse_step(command, word)
    if part == "agent" and _STEP in command.options and _NUMBER.fullmatch(word.text):
        raise OptionError(
            f"%agent {command.name}: {shown(word.text)} is no agent. If it is a step, write --step {word.text}."
        )
    text = word.text.removeprefix("@")
    return parse_name(f"%agent {command.name}", Word(raw=text)) if part == "variable" else text


def _parse_step(command: LineCommand, word: Word) -> int:
    if not word.text.isdecimal() or int(word.text) < 1:
        raise OptionError(
            f"%agent {command.name}: {shown(word.text)} is no step. Steps are counted from 1; write {command.form}."
        )
    return int(word.text)


def _parse_option(command: LineCommand, option: CommandOption, word: Word | None) -> Value:
    head = f"%agent {command.name} {option.flag}"
    if word is None or not word.raw:
        raise OptionError(f"{head}: its value is missing. Write {option.flag} {option.value}.")
    if option.field == "step":
        return _parse_step(command, word)
    return parse_choice(head, word, option.choices)


def _find(command: LineCommand, flag: str) -> CommandOption:
    for option in command.options:
        if option.flag == flag:
            return option
    near = nearest_option(flag, [option.flag for option in command.options])
    raise OptionError(f"%agent {command.name}: unknown option {shown(flag)}.{near} Write {command.form}.")
