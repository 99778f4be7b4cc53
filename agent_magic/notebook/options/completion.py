"""Completion by Tab in `%%agent` cells and on `%agent` lines, as a matcher of IPython's completer.

It must not import what runs agents, nor complete anything in other cells.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from agent_magic.core.errors import OptionError
from agent_magic.core.state import State
from agent_magic.core.values import Value
from agent_magic.notebook.kernel.shell import Shell
from agent_magic.notebook.kernel.state import KernelState
from agent_magic.notebook.options.commands import LINE_COMMANDS, REQUEST_KINDS, open_parts
from agent_magic.notebook.options.mentions import unfinished_mention
from agent_magic.notebook.options.options import OPTIONS, Option, group_words
from agent_magic.notebook.options.values import split_words
from agent_magic.tools.default_tools import DEFAULT_TOOLS

_IDENTIFIER = "agent_magic"
_PRIORITY = 1_000
"""Above IPython's own matchers, so that they are not even asked where this one has an answer."""
_CELL = re.compile(r"\s*%%agent(?=\s|\Z)")
_LINE = re.compile(r"(?:^|=)\s*%agent\s+(?P<arguments>.*)\Z")
_LAST_WORD = re.compile(r"\S*\Z")
_LAST_NAME = re.compile(r"@?\w*\Z")
_LAST_TYPE = re.compile(r"\w*\Z")
_TYPES = ("float", "int", "str", "bool", "list", "dict", "list[str]", "list[float]", "Literal[")
_PROMPT_FILES = (".yaml", ".yml")

Names = Callable[[], Iterable[str]]
Search = Callable[[str], Iterable[str] | None]


def install(
    shell: Shell, *, agents: Names | None = None, model_ids: Names = tuple, find_ids: Search | None = None
) -> None:
    """Complete `%%agent` cells in `shell`; installed again, the newer one replaces the older.

    Args:
        shell: Where.
        agents: Names of living agents; without it, those of the notebook's variables.
        model_ids: Ids to offer after `--model`, besides `local`.
        find_ids: Gives the ids that hold all words of a text, to offer after `%agent models`; where it is
            missing or gives None, those of `model_ids` are searched.
    """
    uninstall(shell)
    state = KernelState(shell)

    @context_matcher(priority=_PRIORITY, identifier=_IDENTIFIER)  # pyright: ignore[reportArgumentType] - its stub asks for attributes that it adds itself
    def complete(context: CompletionContext) -> SimpleMatcherResult:
        return _complete(context, _Known(state, agents, model_ids, find_ids))

    shell.Completer.custom_matchers.append(complete)


def uninstall(shell: Shell) -> None:
    """Take the completion off `shell`, also one that an earlier copy of this module put there."""
    matchers = shell.Completer.custom_matchers
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", None) != _IDENTIFIER]


class _Known:
    """What there is to offer, looked up only when asked for."""

    def __init__(self, state: State, agents: Names | None, model_ids: Names, find_ids: Search | None) -> None:
        self._state = state
        self._agents = agents
        self._model_ids = model_ids
        self._find_ids = find_ids

    def variables(self) -> list[str]:
        """All names of the notebook."""
        return list(self._state)

    def tools(self) -> list[str]:
        """Names of what can be handed over as a tool, agents too."""
        return [name for name in self._state if _is_tool(value := self._state[name]) or _is_agent(value)]

    def functions(self) -> list[str]:
        """Names of what can be called."""
        return [name for name in self._state if callable(self._state[name])]

    def default_tools(self) -> list[str]:
        """Names of the tools that come with the package, those left out that the notebook has too."""
        return [name for name in DEFAULT_TOOLS if name not in self._state]

    def agents(self) -> list[str]:
        """Names of living agents."""
        if self._agents is not None:
            return list(self._agents())
        return [name for name in self._state if _is_agent(self._state[name])]

    def types(self) -> list[str]:
        """Names of the notebook's classes, and the commonest types."""
        return [*(name for name in self._state if isinstance(self._state[name], type)), *_TYPES]

    def modules(self) -> list[str]:
        """Names of modules that can be imported, packages above all."""
        found = {module.name for module in pkgutil.iter_modules()}
        return sorted((name for name in found if not name.startswith("_")), key=str.casefold)

    def models(self) -> list[str]:
        """What may stand after `--model`."""
        return ["local", *self._model_ids()]

    def models_with(self, text: str) -> list[str]:
        """What `%agent models` may be asked for: the ids that hold all words of a text."""
        words = text.casefold().split()
        found = self._find_ids(text) if words and self._find_ids else None
        if found is not None:
            return list(found)
        return [one for one in self._model_ids() if all(word in one.casefold() for word in words)]


def _complete(context: CompletionContext, known: _Known) -> SimpleMatcherResult:
    lines = context.full_text.split("\n")
    before = lines[context.cursor_line][: context.cursor_position]
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    cell = _CELL.match(lines[first])
    if cell and context.cursor_line > first:
        body = "\n".join([*lines[first + 1 : context.cursor_line], before])
        return _complete_body(body, known)
    if cell and context.cursor_line == first and cell.end() < len(before):
        return _complete_options(before[cell.end() :], known)
    if not cell and (line := _LINE.search(before)):
        return _complete_command(line["arguments"], known)
    return _result("", ())


def _complete_body(before: str, known: _Known) -> SimpleMatcherResult:
    name = unfinished_mention(before)
    if name is None:
        return _result("", ())
    return _result(f"@{name}", (f"@{variable}" for variable in known.variables()))


def _complete_options(line: str, known: _Known) -> SimpleMatcherResult:
    """Offers for the end of the option line: a value, where one is due, else options and names."""
    fragment = _last(_LAST_WORD, line)
    try:
        groups = group_words(split_words(line[: len(line) - len(fragment)]))
    except OptionError:
        return _result("", ())
    given = {
        group.option.field
        for group in groups
        if group.option and group.option.kind not in ("names", "modules", "settings")
    }
    flags = [option.flag for option in OPTIONS if option.field not in given]
    if fragment.startswith("--"):
        flag, equals, value = fragment.partition("=")
        option = next((option for option in OPTIONS if option.flag == flag), None)
        return _complete_value(option, value, known) if equals and option else _result(fragment, flags)
    if groups and groups[-1].wants_value and (option := groups[-1].option):
        taken = {part.strip("@") for word in groups[-1].words for part in word.text.split(",")}
        return _complete_value(option, fragment, known, taken)
    has_name = any(group.option is None for group in groups)
    return _result(fragment, flags if has_name else [*known.agents(), *flags])


def _complete_value(
    option: Option, fragment: str, known: _Known, taken: Container[str] = ()
) -> SimpleMatcherResult:
    if option.choices:
        return _result(fragment, option.choices)
    off = [option.off] if option.off and not taken else []
    if option.kind in ("number", "amount"):
        return _result(fragment, off)
    if option.kind == "type":
        name = _last(_LAST_TYPE, fragment)  # inside brackets the next one begins anew
        return _result(name, [*(off if name == fragment else ()), *known.types()])
    if option.field == "prompt_templates":
        return _result(fragment, [*off, *_files(fragment)])
    if option.kind == "modules":
        earlier = {part.strip() for part in fragment.split(",")[:-1]}
        fragment = _last(_LAST_TYPE, fragment)
        offers = [*off, *known.modules()] if not earlier else known.modules()
        return _result(fragment, [name for name in offers if name not in taken and name not in earlier])
    if option.kind == "names":
        earlier = {part.strip("@") for part in fragment.split(",")[:-1]}
        fragment = _last(_LAST_NAME, fragment)  # commas may join names to one word
        at = "@" if fragment.startswith("@") else ""
        offered = {"protect": known.variables, "tools": known.tools}
        names = offered.get(option.field, known.functions)()
        if option.field == "tools" and not at:
            names += known.default_tools()
        return _result(
            fragment,
            [
                *(at + name for name in names if name not in taken and name not in earlier),
                *(off if not at and not earlier else ()),
            ],
        )
    if option.kind == "model":
        at_names = (f"@{name}" for name in known.variables())
        return _result(fragment, at_names if fragment.startswith("@") else known.models())
    return _result("", ())


def _complete_command(line: str, known: _Known) -> SimpleMatcherResult:
    fragment = _last(_LAST_WORD, line)
    try:
        words = split_words(line[: len(line) - len(fragment)])
        if not words:
            return _result(fragment, LINE_COMMANDS)
        command = LINE_COMMANDS.get(words[0].text)
        if command is None:
            return _result("", ())
        if command.name == "models":  # a text that may stand anywhere in an id
            text = " ".join([*(word.text for word in words[1:]), fragment])
            return _found(fragment, known.models_with(text))
        parts, due = open_parts(command, words[1:])
    except OptionError:
        return _result("", ())
    if due is not None:
        return _result(fragment, due.choices)
    at = fragment[:1] == "@"
    if "variable" in parts:
        return _result(fragment, (f"@{name}" if at else name for name in known.variables()))
    offers = known.agents() if "agent" in parts else []
    if command.name == "tools" and offers:
        offers = [*offers, *known.tools(), *known.default_tools()]
    kinds = REQUEST_KINDS if "kind" in parts else ()
    given = {word.raw.partition("=")[0] for word in words}
    flags = [option.flag for option in command.options if option.flag not in given]
    return _result(fragment, [*offers, *kinds, *flags])


def _files(fragment: str) -> list[str]:
    """Folders and YAML files whose path begins so."""
    head = fragment[: fragment.rfind("/") + 1]
    try:
        found = sorted(Path(head).iterdir())
        return [
            f"{head}{path.name}/" if path.is_dir() else f"{head}{path.name}"
            for path in found
            if not path.name.startswith(".") and (path.suffix in _PROMPT_FILES or path.is_dir())
        ]
    except OSError:
        return []


def _result(fragment: str, offers: Iterable[str]) -> SimpleMatcherResult:
    """What fits of `offers`, in their order; nothing of other matchers is mixed in."""
    folded = fragment.casefold()
    return _found(fragment, [offer for offer in dict.fromkeys(offers) if offer.casefold().startswith(folded)])


def _found(fragment: str, fitting: Sequence[str]) -> SimpleMatcherResult:
    """Offers that take the place of `fragment`."""
    return {
        "completions": [SimpleCompletion(text=text, type=_kind(text)) for text in fitting],
        "matched_fragment": fragment if fitting else "",
        "suppress": bool(fitting),
        "ordered": True,
    }


def _kind(text: str) -> str:
    return "keyword" if text.startswith("--") else "instance" if text.startswith("@") else "text"


def _last(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[0] if match else ""


def _is_tool(value: Value) -> bool:
    if callable(value):
        return True
    room = sys.modules.get("agent_magic.tools.adapt")  # as below
    return room is not None and room.is_foreign_tool(value)


def _is_agent(value: Value) -> bool:
    # Looked up, not imported: that room is loaded by the first cell that asks an agent.
    room = sys.modules.get("agent_magic.agents.multistep")
    return room is not None and isinstance(value, room.MultiStepAgent)
