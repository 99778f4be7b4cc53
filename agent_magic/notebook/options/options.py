"""The options of `%%agent`: one table for parser, help and completion.

It must not look into the namespace: whether a name exists is for whoever uses the options to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from agent_magic.core.approval import APPROVAL_POLICIES, ApprovalPolicy
from agent_magic.core.errors import OptionError
from agent_magic.core.outcome import AgentMode
from agent_magic.core.settings import SUMMARY_MODES, SummaryMode
from agent_magic.core.state import Scope
from agent_magic.core.values import Value
from agent_magic.notebook.kernel.state import is_kernel_internal
from agent_magic.notebook.options.commands import LINE_COMMANDS
from agent_magic.notebook.options.values import (
    OFF,
    Off,
    Word,
    is_unfinished_type,
    nearest_option,
    parse_amount,
    parse_choice,
    parse_model,
    parse_modules,
    parse_name,
    parse_names,
    parse_settings,
    parse_text,
    parse_type_text,
    parse_whole_number,
    shown,
    split_words,
)

if TYPE_CHECKING:  # loading the extension imports nothing that runs
    from agent_magic.execution.request import Writes

DEFAULT_NAME = "agent"
"""The agent that is asked where no NAME is given."""

ImageSetting = Literal["auto", "none"]
MODES: tuple[AgentMode, ...] = get_args(AgentMode)
WRITES: tuple[Writes, ...] = ("new", "all", "none")
_Kind = Literal[
    "flag", "text", "number", "amount", "choice", "model", "modules", "name", "names", "settings", "type"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What stands on one `%%agent` line; None, or False for a switch, where it was not given."""

    name: str | None = None
    tools: tuple[str, ...] | None = None
    """Without the `@`."""
    state: Scope | None = None
    model: str | None = None
    """`provider/name`, `local`, or `@m` for the live Model object m."""
    model_args: Mapping[str, Value] | None = None
    mode: AgentMode | None = None
    max_steps: int | None = None
    max_tool_threads: int | None = None
    planning_interval: int | Off | None = None
    summary_mode: SummaryMode | None = None
    final_answer_checks: tuple[str, ...] | Off | None = None
    """Names of functions, without the `@`."""
    answer_type: str | Off | None = None
    """As Python writes it."""
    approve: ApprovalPolicy | None = None
    writes: Writes | None = None
    protect: tuple[str, ...] | Off | None = None
    """Names of variables, without the `@`."""
    imports: tuple[str, ...] | Off | None = None
    """Names of modules, or `*`."""
    step_timeout_s: float | Off | None = None
    max_time_s: float | Off | None = None
    max_cost_usd: float | Off | None = None
    max_total_tokens: int | Off | None = None
    prompt_templates: str | Off | None = None
    """A file."""
    images: ImageSetting | None = None
    as_name: str | None = None
    new: bool = False
    define: bool = False
    resume: bool = False
    description: str | None = None
    instructions: str | None = None
    raises: bool | None = None
    """True for `--raise`, False for `--no-raise`."""
    quiet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, as the parser, the help and the completion need it."""

    flag: str
    field: str
    """The field of `AgentOptions` that it fills."""
    kind: _Kind
    help: str
    value: str = ""
    """What stands for the value in the help; empty for a switch."""
    default: str = ""
    """As a person reads it; empty if there is none."""
    choices: tuple[str, ...] = ()
    off: str = ""
    """The word that takes back what it set; empty if there is none."""
    unit: str = ""
    """Of an amount."""
    switch_value: bool = True
    is_one_cell: bool = False
    """It holds for one cell only; any other stays the agent's until given again."""


OPTIONS: tuple[Option, ...] = (
    Option(flag="--tools", field="tools", kind="names", value="NAME…", help="functions it may call, variables it may use; given again, they replace these"),
    Option(flag="--state", field="state", kind="choice", value="named|all", choices=("named", "all"), default="named",
           help="named: only names handed over; all: every variable of the notebook"),
    Option(flag="--model", field="model", kind="model", value="ID", default="see %agent models", help="provider/name, local, or @m for a Model object m"),
    Option(flag="--model-args", field="model_args", kind="settings", value="k=v,…", help="passed to the model, such as temperature=0"),
    Option(flag="--mode", field="mode", kind="choice", value="tools|code", choices=MODES, default="tools",
           help="tools: it calls functions; code: it writes Python that runs in this notebook; another mode needs --new"),
    Option(flag="--max-steps", field="max_steps", kind="number", value="N", default="20", help="steps of one run; then it must answer"),
    Option(flag="--max-tool-threads", field="max_tool_threads", kind="number", value="N", default="128", help="tool calls that may run side by side"),
    Option(flag="--plan", field="planning_interval", kind="number", value="N|off", off="off", default="off", help="plan before step 1 and again every N steps"),
    Option(flag="--summary-mode", field="summary_mode", kind="choice", value="plan|all|off", choices=SUMMARY_MODES, default="plan",
           help="which calls see the history without old plans and thoughts: those for a plan, all, or none"),
    Option(flag="--check", field="final_answer_checks", kind="names", value="FUNC…|none", off="none", default="none",
           help="functions that every answer must pass: False or an exception refuses it; given again, they replace these"),
    Option(flag="--answer-type", field="answer_type", kind="type", value="TYPE|any", off="any", default="any",
           help="what the answer must be: float, list[str], Literal['a', 'b'], a dataclass or pydantic model"),
    Option(flag="--approve", field="approve", kind="choice", value="never|code|tools|all", choices=APPROVAL_POLICIES, default="never",
           help="what waits for your word before it counts: nothing, code, tool calls (those in code too), or code, calls and plans"),
    Option(flag="--writes", field="writes", kind="choice", value="new|all|none", choices=WRITES, default="new",
           help="code may bind new names, your names too, or none"),
    Option(flag="--protect", field="protect", kind="names", value="NAME…|none", off="none", default="all of yours",
           help="variables that code may not change; given again, they replace these"),
    Option(flag="--imports", field="imports", kind="modules", value="MODULE…|none", off="none", default="none",
           help="modules that code may import beside the safe ones and yours; * for all; given again, they replace these"),
    Option(flag="--step-timeout", field="step_timeout_s", kind="amount", value="SECONDS|none", unit="seconds", off="none", default="30",
           help="code is stopped after so many seconds of its own"),
    Option(flag="--max-time", field="max_time_s", kind="amount", value="SECONDS|none", unit="seconds", off="none", default="none",
           help="a run ends before the call that would pass so many seconds, or amid it"),
    Option(flag="--max-cost", field="max_cost_usd", kind="amount", value="USD|none", unit="US dollars", off="none", default="none",
           help="a run ends before the call that would pass so many US dollars"),
    Option(flag="--max-total-tokens", field="max_total_tokens", kind="number", value="N|none", off="none", default="none",
           help="likewise so many tokens, input and output together"),
    Option(flag="--prompts", field="prompt_templates", kind="text", value="FILE|none", off="none", default="none",
           help="a YAML file whose texts replace those of the built-in prompts"),
    Option(flag="--images", field="images", kind="choice", value="auto|none", choices=("auto", "none"), default="auto",
           help="auto: a model that sees is sent the images you mention"),
    Option(flag="--as", field="as_name", kind="name", value="NAME", is_one_cell=True, help="bind the answer to this variable"),
    Option(flag="--new", field="new", kind="flag", is_one_cell=True, help="start afresh: forget memory, options and tools"),
    Option(flag="--define", field="define", kind="flag", is_one_cell=True, help="make or change the agent, run nothing; the body is its instructions"),
    Option(flag="--resume", field="resume", kind="flag", is_one_cell=True, help="go on with the last run, which was not answered; the body, if any, corrects it"),
    Option(flag="--description", field="description", kind="text", value="TEXT", help="what this agent is for"),
    Option(flag="--instructions", field="instructions", kind="text", value="TEXT", help="how it should work, for every task"),
    Option(flag="--raise", field="raises", kind="flag", is_one_cell=True, default="on where the front end takes no input",
           help="a run without an answer is an error of the cell"),
    Option(flag="--no-raise", field="raises", kind="flag", switch_value=False, is_one_cell=True, help="a run without an answer is no error"),
    Option(flag="--quiet", field="quiet", kind="flag", is_one_cell=True, help="show the header and the answer only"),
)  # fmt: skip
_LISTS = {"names": parse_names, "modules": parse_modules}
"""Kinds of options that take several words, with what reads them."""
_BY_FLAG: Mapping[str, Option] = {option.flag: option for option in OPTIONS}

STICKY: tuple[str, ...] = tuple(option.field for option in OPTIONS if not option.is_one_cell)
"""Fields that stay the agent's until given again or `--new`."""
ONE_CELL: tuple[str, ...] = tuple(dict.fromkeys(option.field for option in OPTIONS if option.is_one_cell))
"""Fields that hold for one cell only."""


def flag_of(field_name: str) -> str:
    """The option that fills a field of `AgentOptions`."""
    return next(option.flag for option in OPTIONS if option.field == field_name)


def parse_line(line: str) -> AgentOptions:
    """What a `%%agent` line says.

    Raises:
        OptionError: Something on it cannot be; the text is whole, for a `UsageError`.
    """
    values: dict[str, Value] = {}
    for group in group_words(split_words(line)):
        if group.option is None:
            values["name"] = _parse_agent_name(group.words[0], values.get("name"))
        else:
            _enter(values, group.option, group.words)
    options = AgentOptions(**values)
    _check_together(options)
    return options


@dataclass(frozen=True, slots=True, kw_only=True)
class WordGroup:
    """An option with the words that belong to it, or one word that belongs to none."""

    option: Option | None
    words: list[Word] = field(default_factory=list)

    @property
    def wants_value(self) -> bool:
        """Whether the next word belongs here, unless it is an option."""
        if self.option is None or self.option.kind == "flag":
            return False
        return self.option.kind in _LISTS or not self.words


def group_words(words: Iterable[Word]) -> list[WordGroup]:
    """The words of a line, each with the option it belongs to.

    Raises:
        OptionError: There is no such option.
    """
    groups: list[WordGroup] = []
    for word in words:
        last = groups[-1] if groups else None
        # A single value may begin with one dash, as -1 does; to begin with two it needs quotes.
        is_value = not word.is_option or (
            last is not None and not last.words and not word.raw.startswith("--")
        )
        if last is not None and is_value and (last.wants_value or _continues(last, word)):
            last.words.append(word)
        elif word.is_option:
            flag, equals, value = word.raw.partition("=")
            groups.append(WordGroup(option=_find_option(flag), words=[Word(raw=value)] if equals else []))
        else:
            groups.append(WordGroup(option=None, words=[word]))
    return groups


def _continues(group: WordGroup, word: Word) -> bool:
    """Whether a type with spaces, such as `int | None`, goes on with this word."""
    if group.option is None or group.option.kind != "type":
        return False
    return is_unfinished_type(group.words) or word.raw.startswith("|")


def _find_option(flag: str) -> Option:
    if flag not in _BY_FLAG:
        near = nearest_option(flag, _BY_FLAG)
        raise OptionError(f"%%agent: unknown option {shown(flag)}.{near} %agent help lists all.")
    return _BY_FLAG[flag]


def _enter(values: dict[str, Value], option: Option, words: list[Word]) -> None:
    """Put what an option says into `values`."""
    flag, key = option.flag, option.field
    if option.kind == "flag":
        if words:
            raise OptionError(
                f"%%agent {flag}: it takes no value, but has {shown(words[0].text)}. Write {flag} alone."
            )
        if values.get(key, option.switch_value) != option.switch_value:
            raise OptionError("%%agent: --raise and --no-raise are given together. Write one of them.")
        values[key] = option.switch_value
        return
    if not words or not words[0].raw:
        raise OptionError(f"%%agent {flag}: its value is missing. Write {flag} {option.value}.")
    if option.off and [word.text for word in words] == [option.off]:
        values[key] = OFF
        return
    value = _parse_value(option, words)
    earlier: Value = values.get(key, OFF)
    if option.kind in _LISTS and earlier != OFF:
        value = tuple(dict.fromkeys([*earlier, *value]))
    elif option.kind == "settings" and earlier != OFF:
        value = {**earlier, **value}
    values[key] = value


def _parse_value(option: Option, words: list[Word]) -> Value:
    flag, word = option.flag, words[0]
    match option.kind:
        case "names" | "modules":
            return _LISTS[option.kind](flag, words)
        case "type":
            return parse_type_text(words)
        case "amount":
            return parse_amount(flag, word, unit=option.unit, off=option.off)
        case "settings":
            return parse_settings(flag, word)
        case "number":
            return parse_whole_number(flag, word, off=option.off)
        case "choice":
            return parse_choice(f"%%agent {flag}", word, option.choices)
        case "model":
            return parse_model(flag, word)
        case "name":
            return parse_name(f"%%agent {flag}", word)
        case "text" | "flag":
            return parse_text(flag, word)


def _parse_agent_name(word: Word, earlier: str | None) -> str:
    if earlier is not None:
        flag = f"--{word.text}"
        if flag in _BY_FLAG:
            raise OptionError(f"%%agent: {shown(word.text)} is one word too many. As an option it is {flag}.")
        raise OptionError(
            f"%%agent: {shown(word.text)} is one word too many after the name {earlier!r}. "
            "The task goes on the lines below; a value with spaces goes in quotes."
        )
    name = parse_name("%%agent", word)
    if name in LINE_COMMANDS:
        raise OptionError(
            f"%%agent: {name!r} is a command of %agent, so no agent can have this name. Choose another; "
            f"for the command write %agent {name} (one %)."
        )
    if is_kernel_internal(name):
        raise OptionError(
            f"%%agent: {name!r} belongs to Python and IPython. Choose another name, such as analyst."
        )
    return name


def _check_together(options: AgentOptions) -> None:
    """Refuse what no cell can mean."""
    name = options.name or DEFAULT_NAME
    if name in (options.tools or ()):
        raise OptionError(
            f"%%agent --tools: {name!r} is the agent itself. Give the agent or the tool another name."
        )
    for flag, is_given in (("--new", options.new), ("--define", options.define)):
        if options.resume and is_given:
            raise OptionError(
                f"%%agent: --resume goes on with the agent's last run, and {flag} "
                f"{'forgets it' if options.new else 'runs nothing'}. Leave out one of them."
            )
    if options.as_name is None:
        return
    if options.as_name == name:
        raise OptionError(f"%%agent --as: {name!r} is the agent itself. Choose another name for the answer.")
    if is_kernel_internal(options.as_name):
        raise OptionError(
            f"%%agent --as: {options.as_name!r} belongs to Python and IPython. Choose another name."
        )
    if options.define:
        raise OptionError(
            "%%agent: --as binds an answer, and with --define nothing is run. Leave out one of them."
        )
