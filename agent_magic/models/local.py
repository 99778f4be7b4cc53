"""LocalModel: a small language model inside this process, for trying things without any key.

It makes its own prompts (`local_prompt`) and narrows what may be written (`local_schema`); the
text itself is the engine's (`local_engine`). It must not serve as a pattern for other models: what
follows is done for this one alone, because it is too small to go without.

The policy, whole:

1. While a run has no result, one call of one of the tools is asked for, and `final_answer` is not
   among them (unless it is the only tool). Tool and arguments are the model's own choice; a text
   is chosen among the task's words, a number among its numbers (see `local_schema`).
2. After a result, `final_answer` alone is asked for, with the result, a line of it or a part
   between commas as its value; after an object, its `@name`.
3. After an error, the tools are asked for again.

So the first step shows what the model understood. The second is right almost by construction:
it shows that the loop works, not that the model is clever. A task that needs two calls is beyond it.
`peek` is never offered to it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from agent_magic.core.errors import AgentError, GenerationError, OptionError
from agent_magic.core.messages import (
    ChatMessage,
    MessageDelta,
    RequestKind,
    ToolSchema,
)
from agent_magic.core.text import replace_surrogates
from agent_magic.core.values import Value
from agent_magic.models.download import is_downloaded, weights_path
from agent_magic.models.local_engine import (
    WINDOW,
    EngineError,
    Piece,
    PromptTooLongError,
    engine_of,
    is_engine_installed,
)
from agent_magic.models.local_prompt import (
    FINAL_ANSWER,
    Run,
    build_answer_prompt,
    build_call_prompt,
    build_chat_prompt,
    split_runs,
)
from agent_magic.models.local_reply import CallReader, TextReader
from agent_magic.models.local_schema import Schema, build_answer_schema, build_call_schema, parse_task_words
from agent_magic.models.model import Capabilities, Model
from agent_magic.models.retry import Failure

MODEL_ID = "local/smollm2-135m"

_NEVER_OFFERED = ("peek",)
_SMALLEST_WINDOW = 512
_REPLY_TOKENS = 256
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


class LocalModel(Model):
    """The embedded model, SmolLM2-135M-Instruct: a demonstration, good for one call of one of two tools.

    All objects share one engine, which serves one request at a time on one thread.
    """

    model_id = MODEL_ID
    capabilities = Capabilities(tools=True, images=False)

    def __init__(self, *, n_ctx: int = WINDOW, **options: Value) -> None:
        """Make ready to ask it; nothing is loaded before the first request.

        Args:
            n_ctx: Tokens of a request and its reply together, from 512 to 4,096.
            options: For llama.cpp, such as `temperature` (0 if not given), `max_tokens`, `seed`.

        Raises:
            OptionError: The engine or the weights are missing, or `n_ctx` cannot be.
        """
        if not _SMALLEST_WINDOW <= n_ctx <= WINDOW:
            raise OptionError(
                f"n_ctx={n_ctx!r} is not allowed. Give {_SMALLEST_WINDOW} to {WINDOW:,} tokens."
            )
        if not is_engine_installed():
            raise OptionError(
                "The embedded model's engine is not installed. Run:  pip install 'agent-magic[local]'\n"
                "and, once:  python -m agent_magic download"
            )
        if not is_downloaded():
            raise OptionError(
                f"The embedded model's weights are not in {str(weights_path().parent)!r}.\n"
                "Fetch them, once (93 MB):  python -m agent_magic download"
            )
        self.context_window = n_ctx
        self._n_ctx = n_ctx
        self._options = options
        self._engine = engine_of(weights_path())

    @staticmethod
    def is_installed() -> bool:
        """Whether engine and weights are both there; neither is loaded."""
        return is_engine_installed() and is_downloaded()

    def generate(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> ChatMessage:
        """Ask once and return the whole reply; see `stream`."""
        *_, last = self.stream(messages, tools=tools, stop=stop, kind=kind, **options)
        assert isinstance(last, ChatMessage)
        return last

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> Iterator[MessageDelta | ChatMessage]:
        """Yield the reply in pieces: with tools exactly one call, without them a text.

        What had to be left out of the request, to keep to the window, is told as reasoning first.

        Raises:
            GenerationError: The run under way does not fit into the window, or the engine failed.
        """
        request = _build_request(messages, tools, stop, kind)
        options = {"temperature": 0, "max_tokens": _REPLY_TOKENS, **self._options, **options}
        try:
            yield from self._reply(request, options)
        except PromptTooLongError as error:
            raise GenerationError(
                f"{MODEL_ID}: the task and what was done about it make {error.n_tokens:,} tokens; with its reply the "
                f"model holds {self._n_ctx:,}.\nShorten the task, or use a larger model: %%agent --model provider/name.",
                model_id=MODEL_ID,
            ) from error
        except EngineError as error:
            raise GenerationError(f"{MODEL_ID}: {error}", model_id=MODEL_ID) from error

    def diagnose(self, error: Exception) -> Failure:
        """No failure of this model passes by itself: the same request would fail again."""
        if isinstance(error, AgentError):
            return Failure(is_passing=False, message=error.message)
        return super().diagnose(error)

    def _reply(self, request: _Request, options: dict[str, Value]) -> Iterator[MessageDelta | ChatMessage]:
        left_out, pieces = self._open(request, options)
        try:
            if left_out:
                yield MessageDelta(reasoning=left_out)
            reader = CallReader(request.answers) if request.schema else TextReader()
            for piece in pieces:
                if delta := reader.read(piece):
                    yield delta
            yield dataclasses.replace(reader.message(), reasoning=left_out or None)
        finally:
            pieces.close()

    def _open(self, request: _Request, options: dict[str, Value]) -> tuple[str, Generator[Piece]]:
        """Begin with the most that fits: what was left out, and the reply's pieces."""
        room = self._n_ctx - min(int(options["max_tokens"]), _REPLY_TOKENS)
        tokens_per_char = 0.0
        n_tokens = 0
        for attempt in request.attempts:
            prompt = request.build(attempt)
            if tokens_per_char * len(prompt) > room and attempt != request.attempts[-1]:
                continue
            body = {**options, "prompt": prompt, **request.body}
            pieces = self._engine.complete(body)
            try:
                # The first piece comes before the prompt is read, and tells its length.
                n_tokens = next(pieces).n_prompt_tokens or 0
            except PromptTooLongError as error:
                n_tokens = error.n_tokens
            if n_tokens <= room:
                return attempt.note(self._n_ctx), pieces
            pieces.close()
            tokens_per_char = n_tokens / max(len(prompt), 1)
        raise PromptTooLongError(n_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """How much of the memory is sent."""

    n_left_out: int
    """Earlier runs, the oldest first."""
    max_result_chars: int = _RESULT_CHARS

    def note(self, n_ctx: int) -> str:
        left_out = (
            [f"{self.n_left_out} earlier run{'s' if self.n_left_out > 1 else ''}"] if self.n_left_out else []
        )
        if self.max_result_chars < _RESULT_CHARS:
            left_out.append(f"all but {self.max_result_chars} characters of each result")
        if not left_out:
            return ""
        return f"(left out of the request: {' and '.join(left_out)}, to keep within {n_ctx:,} tokens)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    build: Callable[[_Attempt], str]
    attempts: Sequence[_Attempt]
    schema: Schema | None = None
    answers: Sequence[Value] = ()
    """What the answer may be, where the schema says so."""
    stop: Sequence[str] = ()

    @property
    def body(self) -> dict[str, Value]:
        # Words at which a text ends must not end a call in the middle of a string.
        return {"json_schema": self.schema} if self.schema else {"stop": list(self.stop)}


def _build_request(
    messages: Sequence[ChatMessage], tools: Sequence[ToolSchema], stop: Sequence[str], kind: RequestKind
) -> _Request:
    runs = split_runs(messages)
    own = [tool for tool in tools if tool.name != FINAL_ANSWER and tool.name not in _NEVER_OFFERED]
    run = runs[-1] if runs else Run(task="")
    schema = _choose_schema(run, own, tools)
    if schema is not None:
        return _Request(
            build=lambda attempt: build_call_prompt(
                own, runs[attempt.n_left_out :], max_result_chars=attempt.max_result_chars
            ),
            attempts=_attempts(len(runs) - 1),
            schema=schema,
            answers=find_answers(run.turns[-1].result) if _has_result(run) else (),
        )
    # At the step limit the last user message asks for an answer, and the run is the one before it.
    runs = runs[:-1] if kind == "final" and len(runs) > 1 else runs
    build = build_answer_prompt if runs and runs[-1].findings else build_chat_prompt
    return _Request(
        build=lambda attempt: build(runs[attempt.n_left_out :], max_result_chars=attempt.max_result_chars),
        attempts=_attempts(len(runs) - 1),
        stop=[*stop, "\n"] if build is build_answer_prompt else stop,
    )


def _attempts(n_earlier: int) -> list[_Attempt]:
    """From all earlier runs to none of them, then with short results."""
    n_earlier = max(n_earlier, 0)
    steps = [*range(0, n_earlier, _BLOCK), n_earlier]
    return [
        *(_Attempt(n_left_out=n) for n in steps),
        _Attempt(n_left_out=n_earlier, max_result_chars=_SHORT_RESULT_CHARS),
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
