"""What the embedded model is asked: prompts (`local_prompt`) and the limits of the reply (`local_schema`).

It must not ask the engine.

The policy, whole:

1. While a run has no result, one call of one of the tools is asked for, and `final_answer` is not
   among them (unless it is the only tool). Tool and arguments are the model's own choice; a text
   is chosen among the task's words, a number among its numbers (see `local_schema`).
2. After a result, `final_answer` alone is asked for, with the result, a line of it or a part
   between commas as its value; after an object, its `@name`.
3. After an error, the tools are asked for again.
4. A plan is a text of at most three numbered lines, after the pattern of others; it binds nothing.

So the first step shows what the model understood. The second is right almost by construction:
it shows that the loop works, not that the model is clever. A task that needs two calls is beyond it.
`peek` is never offered to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.text import replace_surrogates
from agent_magic.core.values import Value
from agent_magic.models.local_prompt import (
    FINAL_ANSWER,
    Run,
    build_answer_prompt,
    build_call_prompt,
    build_chat_prompt,
    build_plan_prompt,
    split_runs,
)
from agent_magic.models.local_schema import Schema, build_answer_schema, build_call_schema, parse_task_words

_NEVER_OFFERED = ("peek",)
# Earlier runs are left out in blocks: what is sent begins the same for several runs running, and
# the engine need not read it again.
_BLOCK = 4
_RESULT_CHARS = 1_000
_SHORT_RESULT_CHARS = 120
_LONGEST_ANSWER = 600
_MOST_ANSWERS = 40
_NOTE = re.compile(r"\A(?:\([^\n]*\)\n)+")
_BOUND = re.compile(r'"(@[^\W\d]\w*)"')
_KEPT = re.compile(r'peek\(name="(\w+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How much of the memory is sent."""

    n_left_out: int
    """Earlier runs, the oldest first."""
    max_result_chars: int = _RESULT_CHARS

    def note(self, n_ctx: int) -> str:
        """What is left out, for the person; empty if nothing is."""
        left_out = (
            [f"{self.n_left_out} earlier run{'s' if self.n_left_out > 1 else ''}"] if self.n_left_out else []
        )
        if self.max_result_chars < _RESULT_CHARS:
            left_out.append(f"all but {self.max_result_chars} characters of each result")
        if not left_out:
            return ""
        return f"(left out of the request: {' and '.join(left_out)}, to keep within {n_ctx:,} tokens)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked, in as many lengths as there are attempts."""

    build: Callable[[Attempt], str]
    """The prompt of an attempt."""
    attempts: Sequence[Attempt]
    """From the longest to the shortest."""
    schema: Schema | None = None
    """What may be written; None for a text."""
    answers: Sequence[Value] = ()
    """What the answer may be, where the schema says so."""
    stop: Sequence[str] = ()

    @property
    def body(self) -> dict[str, Value]:
        """What limits the reply, as the engine takes it."""
        # Words at which a text ends must not end a call in the middle of a string.
        return {"json_schema": self.schema} if self.schema else {"stop": list(self.stop)}


def build_request(
    messages: Sequence[ChatMessage], tools: Sequence[ToolSchema], stop: Sequence[str], kind: RequestKind
) -> Request:
    """What to ask, by the policy."""
    runs = split_runs(messages)
    if kind == "plan":
        runs = runs or [Run(task=next((one.content or "" for one in reversed(messages)), ""))]
        return _of_text(build_plan_prompt, runs, [*stop, "\n\n", "\n4."])
    own = [tool for tool in tools if tool.name != FINAL_ANSWER and tool.name not in _NEVER_OFFERED]
    run = runs[-1] if runs else Run(task="")
    schema = _choose_schema(run, own, tools)
    if schema is not None:
        return Request(
            build=lambda attempt: build_call_prompt(
                own, runs[attempt.n_left_out :], max_result_chars=attempt.max_result_chars
            ),
            attempts=_attempts(len(runs) - 1),
            schema=schema,
            answers=find_answers(run.turns[-1].result) if _has_result(run) else (),
        )
    # At the step limit the last user message asks for an answer, and the run is the one before it.
    is_asked_anew = kind == "final" and len(runs) > 1 and not messages[-1].is_ours
    runs = runs[:-1] if is_asked_anew else runs
    if runs and runs[-1].findings:
        return _of_text(build_answer_prompt, runs, [*stop, "\n"])
    return _of_text(build_chat_prompt, runs, stop)


def _of_text(build: Callable[..., str], runs: Sequence[Run], stop: Sequence[str]) -> Request:
    return Request(
        build=lambda attempt: build(runs[attempt.n_left_out :], max_result_chars=attempt.max_result_chars),
        attempts=_attempts(len(runs) - 1),
        stop=stop,
    )


def _attempts(n_earlier: int) -> list[Attempt]:
    """From all earlier runs to none of them, then with short results."""
    n_earlier = max(n_earlier, 0)
    steps = [*range(0, n_earlier, _BLOCK), n_earlier]
    return [
        *(Attempt(n_left_out=n) for n in steps),
        Attempt(n_left_out=n_earlier, max_result_chars=_SHORT_RESULT_CHARS),
    ]


# -- the policy ------------------------------------------------------------------------------


def _choose_schema(run: Run, own: Sequence[ToolSchema], tools: Sequence[ToolSchema]) -> Schema | None:
    """What may be written next, as the policy has it; None for a plain text."""
    final = next((tool for tool in tools if tool.name == FINAL_ANSWER), None)
    if _has_result(run):
        # Without a `final_answer`, as a plain chat client asks, the answer is a text.
        return build_answer_schema(final, find_answers(run.turns[-1].result)) if final else None
    offered = own or ([final] if final else [])
    if not offered:
        return None
    words = parse_task_words(run.task, run.names) if own else parse_task_words("")
    return build_call_schema(offered, words)


def _has_result(run: Run) -> bool:
    return bool(run.turns) and not run.turns[-1].is_error


def find_answers(result: str) -> list[Value]:
    """What may be the answer after a result: see the policy, 2."""
    result = replace_surrogates(_NOTE.sub("", result))
    if names := [*_BOUND.findall(result), *(f"@{name}" for name in _KEPT.findall(result))]:
        return list(dict.fromkeys(names))
    whole = _value(result.strip())
    parts: list[Value] = [whole] if len(result) <= _LONGEST_ANSWER else []
    if isinstance(whole, list):
        parts += whole
    elif isinstance(whole, str):
        lines = whole.splitlines()
        parts += [
            _value(part.strip()) for line in lines for part in (line, *line.split(", ")) if part.strip()
        ]
    short = [part for part in parts if len(str(part)) <= _LONGEST_ANSWER]
    return [part for n, part in enumerate(short) if part not in short[:n]][:_MOST_ANSWERS] or [
        whole[:_LONGEST_ANSWER]
    ]


def _value(text: str) -> Value:
    """A number, list or other JSON as the value that it is; any other text as itself."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(word: str) -> Value:
    raise ValueError(word)
