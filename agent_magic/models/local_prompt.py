"""The embedded model's own prompts: one for a call, one for a plain text.

It is shown tools, worked examples and the run's tasks, calls and results as lines of a pattern
that it goes on with; the agent's system prompt is too much for it and is not sent. It must not
choose a tool, an argument or an answer.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_magic.core.messages import ChatMessage, ToolCall, ToolExample, ToolSchema
from agent_magic.core.text import first_line, replace_surrogates, truncate
from agent_magic.core.values import Value
from agent_magic.models.local_schema import describe_type, is_by_reference

FINAL_ANSWER = "final_answer"

_VARIABLES = re.compile(r"\n\n(?:State|Other) variables:\n")
_VARIABLE = re.compile(r"^- @([^\W\d]\w*):", re.MULTILINE)
_ANSWER_EXAMPLE = (
    "Task: What colour is grass?",
    'Call: {"name": "final_answer", "arguments": {"answer": "Grass is green."}}',
    "",
)
_ANSWERED_EXAMPLES = (
    "Task: What does tea cost?",
    "Result of price(item=tea): 3.2",
    "Answer: Tea costs 3.2.",
    "",
    "Task: List the towns on the coast.",
    "Result of find_towns(place=coast): Visby, Umea",
    "Answer: The towns on the coast are Visby and Umea.",
    "",
)
_PLANNED_EXAMPLES = (
    "Task: What does tea cost?",
    "Plan:",
    "1. Look up the price of tea.",
    "2. Give the price as the answer.",
    "",
    "Task: What does tea cost?",
    "Result of price(item=tea): 3.2",
    "Plan:",
    "1. Give 3.2 as the answer.",
    "",
    "Task: Which town on the coast is the warmest?",
    "Plan:",
    "1. Look up the towns on the coast.",
    "2. Give the warmest town as the answer.",
    "",
)
_MADE_EXAMPLES = 2
_WORDS = ("Larkspur", "Obsidian", "Quillwort", "Tamarack", "Vermilion", "Zephyr", "Juniper", "Marigold")
_NUMBERS = (7, 12, 25, 38, 64, 91)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One call and what came of it."""

    call: ToolCall
    result: str = ""
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One task with what was done about it so far."""

    task: str
    """As the person wrote it, without the list of variables."""
    names: tuple[str, ...] = ()
    """The variables that the task mentions."""
    turns: tuple[Turn, ...] = ()
    answer: str | None = None
    """An answer given as text."""

    @property
    def findings(self) -> tuple[Turn, ...]:
        """The calls that gave a result."""
        return tuple(turn for turn in self.turns if not turn.is_error and turn.call.name != FINAL_ANSWER)


def split_runs(messages: Sequence[ChatMessage]) -> list[Run]:
    """The runs that the messages tell of, oldest first; the last one is under way.

    A person's message begins a run. Of the others, an assistant's text before one is no answer
    but a plan, or a text that was refused. The system prompt is left out.
    """
    runs: list[Run] = []
    for message in messages:
        match message.role:
            case "user" if message.is_ours or (runs and message.is_error):
                if runs and runs[-1].answer is not None:
                    runs[-1] = dataclasses.replace(runs[-1], answer=None)
            case "user":
                runs.append(_start_run(message.content or ""))
            case "assistant" if runs:
                runs[-1] = _add_reply(runs[-1], message)
            case "tool" if runs:
                runs[-1] = _add_result(runs[-1], message)
            case _:
                pass
    return runs


def build_call_prompt(tools: Sequence[ToolSchema], runs: Sequence[Run], *, max_result_chars: int) -> str:
    """The prompt whose continuation is the next call of the last of `runs`.

    Args:
        tools: All tools of the run but `final_answer`.
        runs: Oldest first.
        max_result_chars: Results are cut to this length.
    """
    runs = runs or [Run(task="")]
    task = runs[-1].task
    lines = ["Tools:", *map(_tool_line, tools), ""] if tools else [*_ANSWER_EXAMPLE]
    for number, (tool, example) in enumerate(_examples(tools, task)):
        lines += _example_lines(tool.name, example, with_result=number == 0)
    for run in runs:
        lines += _run_lines(run, max_result_chars)
    return "\n".join([*lines[:-1], "Call:"])


def build_answer_prompt(runs: Sequence[Run], *, max_result_chars: int) -> str:
    """The prompt whose continuation, up to the line's end, says in words what the last of `runs` found.

    Args:
        runs: Oldest first.
        max_result_chars: Results are cut to this length.
    """
    lines = [*_ANSWERED_EXAMPLES]
    for run in runs:
        lines.append(f"Task: {_one_line(run.task)}")
        lines += [_result_line(turn, max_result_chars) for turn in run.findings]
        lines += [f"Answer: {_one_line(truncate(_answer(run), max_result_chars))}", ""]
    return "\n".join([*lines[:-2], "Answer:"])


def build_plan_prompt(runs: Sequence[Run], *, max_result_chars: int) -> str:
    """The prompt whose continuation, up to an empty line, is a plan for the rest of the last of `runs`.

    Args:
        runs: Oldest first; the earlier ones are not shown, for their plans are not known.
        max_result_chars: Results are cut to this length.
    """
    run = runs[-1]
    lines = [*_PLANNED_EXAMPLES, f"Task: {_one_line(run.task)}"]
    lines += [_result_line(turn, max_result_chars) for turn in run.findings]
    return "\n".join([*lines, "Plan:"])


def build_chat_prompt(runs: Sequence[Run], *, max_result_chars: int) -> str:
    """The ChatML prompt whose continuation is a plain text answer to the last of `runs`.

    Args:
        runs: Oldest first.
        max_result_chars: Earlier answers are cut to this length.
    """
    parts: list[str] = []
    for run in runs[:-1]:
        parts.append(_turn("user", run.task))
        parts.append(_turn("assistant", truncate(_answer(run), max_result_chars)))
    return "".join([*parts, _turn("user", runs[-1].task if runs else ""), "<|im_start|>assistant\n"])


def defuse(text: str) -> str:
    """`text` with nothing in it that the engine would read as the mark of a role."""
    return replace_surrogates(text).replace("<|", "< |")


def _start_run(content: str) -> Run:
    task, *variables = _VARIABLES.split(content, maxsplit=1)
    return Run(task=task, names=tuple(_VARIABLE.findall("\n".join(variables))))


def _add_reply(run: Run, message: ChatMessage) -> Run:
    turns = tuple(Turn(call=call) for call in message.tool_calls)
    answer = run.answer if turns else message.content
    return dataclasses.replace(run, turns=run.turns + turns, answer=answer)


def _add_result(run: Run, message: ChatMessage) -> Run:
    def told(turn: Turn) -> Turn:
        if turn.call.id != message.tool_call_id:
            return turn
        return Turn(call=turn.call, result=message.content or "", is_error=message.is_error)

    return dataclasses.replace(run, turns=tuple(map(told, run.turns)))


def _tool_line(tool: ToolSchema) -> str:
    properties: Mapping[str, Mapping[str, Value]] = tool.parameters.get("properties") or {}
    parameters = ", ".join(f"{name}: {describe_type(schema)}" for name, schema in properties.items())
    return defuse(f"- {tool.name}({parameters}): {first_line(tool.description, 200)}")


def _examples(tools: Sequence[ToolSchema], task: str) -> list[tuple[ToolSchema, ToolExample]]:
    """Every tool's examples, in turns, so that no tool has the last word."""
    columns = [
        [(tool, example) for example in tool.examples or _make_examples(tool, number, task)]
        for number, tool in enumerate(tools)
    ]
    return [pair for row in itertools.zip_longest(*columns) for pair in row if pair is not None]


def _make_examples(tool: ToolSchema, number: int, task: str) -> list[ToolExample]:
    """Examples out of the signature, with values that are not in the task."""
    properties: Mapping[str, Mapping[str, Value]] = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required") or ()
    words = itertools.cycle([word for word in _WORDS if word.lower() not in task.lower()] or ["Quux"])
    numbers = itertools.cycle([n for n in _NUMBERS if str(n) not in task] or [1_001])
    purpose = first_line(tool.description, 100).rstrip(".:") or tool.name.replace("_", " ")
    examples: list[ToolExample] = []
    pools = (itertools.islice(words, number * _MADE_EXAMPLES, None), numbers)
    for _ in range(_MADE_EXAMPLES if required else 1):
        arguments = {name: _made_value(properties[name], *pools) for name in required if name in properties}
        values = " and ".join(
            value if isinstance(value, str) else json.dumps(value) for value in arguments.values()
        )
        examples.append(ToolExample(task=f"{purpose}: {values}" if values else purpose, arguments=arguments))
    return examples


def _made_value(
    schema: Mapping[str, Value], words: itertools.islice[str], numbers: itertools.cycle[int]
) -> Value:
    if is_by_reference(schema):
        return f"@{next(words).lower()}"
    if schema.get("enum"):
        return schema["enum"][-1]
    match schema.get("type"):
        case "integer" | "number":
            return next(numbers)
        case "boolean":
            return True
        case "array":
            return [_made_value(schema.get("items") or {}, words, numbers)]
        case "object":
            return {}
        case _:
            return next(words)


def _example_lines(name: str, example: ToolExample, *, with_result: bool) -> list[str]:
    lines = [f"Task: {_one_line(example.task)}", f"Call: {_call_json(name, example.arguments)}"]
    if with_result:
        lines += ["Result: 12.5", f"Call: {_call_json(FINAL_ANSWER, {'answer': 12.5})}"]
    return [*lines, ""]


def _run_lines(run: Run, max_result_chars: int) -> list[str]:
    lines = [f"Task: {_one_line(run.task)}"]
    for turn in run.turns:
        lines.append(f"Call: {_call_json(turn.call.name, turn.call.arguments)}")
        if turn.call.name != FINAL_ANSWER:
            lines.append(f"Result: {_one_line(truncate(turn.result, max_result_chars))}")
    if run.answer is not None:
        lines.append(f"Call: {_call_json(FINAL_ANSWER, {'answer': truncate(run.answer, max_result_chars)})}")
    return [*lines, ""]


def _answer(run: Run) -> str:
    """What an earlier run came to."""
    for turn in reversed(run.turns):
        arguments = turn.call.arguments
        if turn.call.name == FINAL_ANSWER and isinstance(arguments, Mapping):
            return ", ".join(map(str, arguments.values()))
    return run.answer or next((turn.result for turn in reversed(run.findings)), "")


def _result_line(turn: Turn, max_result_chars: int) -> str:
    arguments = turn.call.arguments
    if isinstance(arguments, Mapping):
        arguments = ", ".join(f"{name}={value}" for name, value in arguments.items())
    result = _one_line(truncate(turn.result, max_result_chars))
    return defuse(f"Result of {turn.call.name}({arguments or ''}): {result}")


def _call_json(name: str, arguments: Mapping[str, Value] | str | None) -> str:
    if isinstance(arguments, Mapping):
        arguments = json.dumps(dict(arguments), ensure_ascii=False, default=str)
    return defuse(f'{{"name": {json.dumps(name)}, "arguments": {arguments or "{}"}}}')


def _one_line(text: str) -> str:
    return defuse(" ".join(text.split()))


def _turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{defuse(text)}<|im_end|>\n"
