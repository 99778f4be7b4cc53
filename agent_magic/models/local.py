"""LocalModel: a small language model inside this process, for trying things without any key.

What it is asked is made up in `local_request`, where the policy stands; the text itself is the
engine's (`local_engine`). It must not serve as a pattern for other models: what it does is done
for this one alone, because it is too small to go without.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from agent_magic.core.errors import AgentError, GenerationError, OptionError
from agent_magic.core.messages import (
    ChatMessage,
    MessageDelta,
    RequestKind,
    ToolSchema,
)
from agent_magic.core.values import Value
from agent_magic.models.download import is_downloaded, weights_path
from agent_magic.models.local_engine import (
    WINDOW,
    EngineError,
    PromptTooLongError,
    engine_of,
    is_engine_installed,
)
from agent_magic.models.local_reply import CallReader, TextReader
from agent_magic.models.local_request import Attempt, Request, build_request
from agent_magic.models.local_schema import Schema
from agent_magic.models.model import Capabilities, Model, WireRequest
from agent_magic.models.response_format import read_schema
from agent_magic.models.retry import Failure
from agent_magic.models.tokens import estimate_tokens

MODEL_ID = "local/smollm2-135m"

_SMALLEST_WINDOW = 512
_REPLY_TOKENS = 256
_PLAN_TOKENS = 96


class LocalModel(Model):
    """The embedded model, SmolLM2-135M-Instruct: a demonstration, good for one call of one of two tools.

    All objects share one engine, which serves one request at a time on one thread.
    """

    model_id = MODEL_ID
    capabilities = Capabilities(tools=True, images=False, response_format=True, code=False)
    makes_own_prompt = True

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
        if "context_window" in options:
            raise OptionError(
                f"The embedded model has no option context_window. Write n_ctx={options['context_window']!r}."
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
        """Yield the reply in pieces: with tools exactly one call, without them, and as a plan, a text.

        What had to be left out of the request, to keep to the window, is told as reasoning first. A text
        is JSON by the schema of the option `response_format`, if that is given; a call has its own.

        Raises:
            OptionError: A `response_format` that holds no schema.
            GenerationError: The run under way does not fit into the window, or the engine failed.
        """
        request = build_request(messages, tools, stop, kind)
        options = {**self._defaults(kind), **options}
        schema = read_schema(options.pop("response_format", None))
        try:
            yield from self._reply(request, options, schema if request.schema is None else None)
        except PromptTooLongError as error:
            raise GenerationError(
                f"{MODEL_ID}: the task and what was done about it make {error.n_tokens:,} tokens; with its reply the "
                f"model holds {self._n_ctx:,}.\nShorten the task, or use a larger model: %%agent --model provider/name.",
                model_id=MODEL_ID,
            ) from error
        except EngineError as error:
            raise GenerationError(f"{MODEL_ID}: {error}", model_id=MODEL_ID) from error

    def to_wire(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSchema] = (), kind: RequestKind = "act"
    ) -> WireRequest:
        """The prompt that the engine goes on with, as one user message; the tools stand in it.

        Before the weights are loaded it is estimated, not counted, whether earlier runs must be
        left out, if that is a near thing.
        """
        request = build_request(messages, tools, (), kind)
        _, prompt, _ = self._fit(request, self._room(self._defaults(kind)), is_patient=False)
        return WireRequest(messages=[{"role": "user", "content": prompt}], tools=[])

    def count_tokens(self, text: str) -> int | None:
        """Tokens by the engine's own tokenizer; None until the model was asked once, or while it is busy."""
        return self._engine.count_tokens(text)

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Nothing: it runs on the person's own machine."""
        del input_tokens, output_tokens
        return 0.0

    def diagnose(self, error: Exception) -> Failure:
        """No failure of this model passes by itself: the same request would fail again."""
        if isinstance(error, AgentError):
            is_overflow = isinstance(error.__cause__, PromptTooLongError)
            return Failure(is_passing=False, message=error.message, is_overflow=is_overflow)
        return super().diagnose(error)

    def _defaults(self, kind: RequestKind) -> dict[str, Value]:
        max_tokens = _PLAN_TOKENS if kind == "plan" else _REPLY_TOKENS
        return {"temperature": 0, "max_tokens": max_tokens, **self._options}

    def _room(self, options: dict[str, Value]) -> int:
        """Tokens that a prompt may have."""
        return self._n_ctx - min(int(options["max_tokens"]), _REPLY_TOKENS)

    def _fit(self, request: Request, room: int, *, is_patient: bool) -> tuple[Attempt, str, int]:
        """The most that fits, or the least there is: what it leaves out, its prompt, the tokens of it at most."""
        attempt, prompt, n_tokens = request.attempts[-1], "", 0
        for attempt in request.attempts:
            prompt = request.build(attempt)
            n_tokens = len(prompt.encode())  # no token is shorter than a byte
            if n_tokens > room:
                n_counted = self._engine.count_tokens(prompt, is_patient=is_patient)
                n_tokens = estimate_tokens(prompt) if n_counted is None else n_counted
            if n_tokens <= room:
                break
        return attempt, prompt, n_tokens

    def _reply(
        self, request: Request, options: dict[str, Value], schema: Schema | None
    ) -> Iterator[MessageDelta | ChatMessage]:
        room = self._room(options)
        attempt, prompt, n_tokens = self._fit(request, room, is_patient=True)
        if n_tokens > room:
            raise PromptTooLongError(n_tokens)
        body = {"json_schema": schema} if schema else request.body
        pieces = self._engine.complete({**options, "prompt": prompt, **body})
        try:
            if left_out := attempt.note(self._n_ctx):
                yield MessageDelta(reasoning=left_out)
            reader = CallReader(request.answers) if request.schema else TextReader()
            for piece in pieces:
                if delta := reader.read(piece):
                    yield delta
            yield dataclasses.replace(reader.message(), reasoning=left_out or None)
        finally:
            pieces.close()
