"""TransformersModel: a model of the Hugging Face library Transformers, inside this process.

The weights and the generation are the engine's (`transformers_engine`). It must not ask any address,
unless it was made with `download=True`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property

from agent_magic.core.errors import AgentError, GenerationError, OptionError
from agent_magic.core.messages import ChatMessage, MessageDelta, RequestKind, TokenUsage, ToolSchema
from agent_magic.core.values import Value
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.model import Capabilities, Model
from agent_magic.models.retry import Failure
from agent_magic.models.thinking import ThinkingSplitter
from agent_magic.models.transformers_engine import (
    Engine,
    EngineError,
    Generation,
    Source,
    engine_of,
)
from agent_magic.models.transformers_files import find_model, read_window, refuse_missing_packages
from agent_magic.models.transformers_reply import StopReader, with_calls
from agent_magic.models.transformers_sampling import Sampling
from agent_magic.models.transformers_template import ChatTemplate

_REPLY_TOKENS = 4_096
_LEAST_REPLY_TOKENS = 16
"""That must fit beside the prompt."""
_THINKING_BEGINS = "<think>"


class PromptTooLongError(GenerationError):
    """The request is longer than the model's window."""


class TransformersModel(Model):
    """A causal language model of Transformers, in this process; nothing is loaded before it is asked.

    ```python
    model = TransformersModel("models/Qwen3-4B-Instruct", temperature=0.2)
    ```

    Objects for one folder on one device share the weights, which write one reply at a time. A request
    that begins as the one before is read from there on only.

    Args:
        name: A folder that `save_pretrained` wrote, or a name on the hub of which a copy lies on this disk.
        download: Let a model that is not on this disk be fetched from the hub. Code that comes with a
            model is never run.
        device: As PyTorch spells it, `cpu`, `cuda:1`; None for the best one here.
        dtype: Of the weights, `float32`, `bfloat16`; `auto` as they are stored.
        context_window: Tokens of a request and its reply together, where they should be fewer than
            the model was made for.
        native_tools: Whether tools go to the chat template; None looks whether it has a place for them.
        chat_template: A Jinja template instead of the tokenizer's own.
        chat_template_kwargs: What the template is given beside messages and tools, such as
            `{"enable_thinking": False}`.
        options: `temperature`, `top_p`, `top_k`, `max_tokens` (4,096 if not given), `seed`, and fields of
            Transformers' `GenerationConfig`; those of a single call go over them.

    Raises:
        OptionError: A package or the model is not here, or an option cannot be.
    """

    def __init__(
        self,
        name: str,
        *,
        download: bool = False,
        device: str | None = None,
        dtype: str = "auto",
        context_window: int | None = None,
        native_tools: bool | None = None,
        chat_template: str | None = None,
        chat_template_kwargs: Mapping[str, Value] | None = None,
        **options: Value,
    ) -> None:
        refuse_missing_packages()
        self._split_options(options)
        folder = find_model(name, download=download)
        window = read_window(folder)
        if context_window is not None and not _is_count(context_window):
            raise OptionError(
                f"context_window={context_window!r} is no number of tokens. Give a whole number from 1."
            )
        self.model_id = f"transformers/{name}"
        self.context_window = min(filter(None, (context_window, window)), default=None)
        self._native_tools = native_tools
        self._template_options = {
            **({"chat_template": chat_template} if chat_template else {}),
            **(chat_template_kwargs or {}),
        }
        self._options = options
        # A folder by its whole path: the kernel's working folder may change before it is loaded.
        place = str(folder.resolve()) if folder and not download else name
        self._engine: Engine = engine_of(Source(place, device, dtype, download))

    def __repr__(self) -> str:
        return f"TransformersModel({self.model_id.removeprefix('transformers/')!r})"

    @property
    def capabilities(self) -> Capabilities:  # pyright: ignore[reportIncompatibleVariableOverride] - the template is asked, for which the tokenizer is loaded
        """Native tools where the chat template has a place for them; of a model that cannot be loaded, none."""
        return Capabilities(tools=self._takes_tools if self._native_tools is None else self._native_tools)

    @property
    def shown_options(self) -> Mapping[str, Value]:
        """The options of every call."""
        return dict(self._options)

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
    ) -> Generator[MessageDelta | ChatMessage, None, None]:
        """Yield the reply in pieces, at the end the whole; closing it ends the generation with its next token.

        An empty piece comes every tenth of a second in which nothing else does, while the weights are
        loaded too: an interrupt is noticed there.

        Raises:
            GenerationError: The request is longer than the window, or the model cannot be loaded or failed.
        """
        sampling, max_tokens = self._split_options({**self._options, **options})
        try:
            wire = self.to_wire(messages, tools, kind)
            prompt = self._chat_template.render(wire.messages, wire.tools)
            generation = self._prepare(prompt, sampling, max_tokens)
            yield from self._write(generation, stop, prompt, has_tools=bool(wire.tools))
        except EngineError as error:
            raise GenerationError(f"{self.model_id}: {error}", model_id=self.model_id) from error

    def count_tokens(self, text: str) -> int | None:
        """Tokens by the model's own tokenizer, which is loaded for it."""
        return len(self._engine.encode(text))

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Nothing: it runs on the person's own machine."""
        del input_tokens, output_tokens
        return 0.0

    def diagnose(self, error: Exception) -> Failure:
        """No failure of this model passes by itself: the same request would fail again."""
        if isinstance(error, AgentError):
            return Failure(
                is_passing=False, message=error.message, is_overflow=isinstance(error, PromptTooLongError)
            )
        return super().diagnose(error)

    @cached_property
    def _takes_tools(self) -> bool:
        try:
            return self._chat_template.takes_tools()
        except (EngineError, GenerationError):  # told when it is asked
            return False

    @cached_property
    def _chat_template(self) -> ChatTemplate:
        tokenizer = self._engine.tokenizer
        if not (tokenizer.chat_template or "chat_template" in self._template_options):
            raise GenerationError(
                f"{self.model_id} has no chat template: it was not trained to answer, or the file is missing.\n"
                "Take a model whose name says Instruct or Chat, or give one by the model option chat_template.",
                model_id=self.model_id,
            )
        return ChatTemplate(tokenizer, self.model_id, self._template_options)

    def _split_options(self, options: Mapping[str, Value]) -> tuple[Sampling, int]:
        """The options that are ours, checked, and those for the library."""
        further = dict(options)
        temperature, top_p, top_k, seed, max_tokens = (
            further.pop(name, None) for name in ("temperature", "top_p", "top_k", "seed", "max_tokens")
        )
        further.pop("response_format", None)  # it cannot be held to one; see `capabilities`
        for name, value, fits, wanted in (
            ("temperature", temperature, _is_number(temperature, 0, 100), "a number from 0"),
            ("top_p", top_p, _is_number(top_p, 0, 1), "a number from 0 to 1"),
            ("top_k", top_k, _is_count(top_k), "a whole number from 1"),
            ("seed", seed, isinstance(seed, int), "a whole number"),
            ("max_tokens", max_tokens, _is_count(max_tokens), "a whole number from 1"),
        ):
            if value is not None and not fits:
                raise OptionError(f"{name}={value!r} is not allowed. Give {wanted}.")
        sampling = Sampling(temperature=temperature, top_p=top_p, top_k=top_k, seed=seed, further=further)
        return sampling, max_tokens or _REPLY_TOKENS

    def _prepare(self, prompt: str, sampling: Sampling, max_tokens: int) -> Generation:
        tokens = self._engine.encode(prompt)
        if self.context_window is not None:
            room = self.context_window - len(tokens)
            if room < min(max_tokens, _LEAST_REPLY_TOKENS):
                raise PromptTooLongError(
                    f"{self.model_id}: the request has {len(tokens):,} tokens; with its reply the model holds "
                    f"{self.context_window:,}.\nShorten the task, or use a model with a larger window.",
                    model_id=self.model_id,
                )
            max_tokens = min(max_tokens, room)
        return Generation(prompt=tokens, max_tokens=max_tokens, sampling=sampling)

    def _write(
        self, generation: Generation, stop: Sequence[str], prompt: str, *, has_tools: bool
    ) -> Generator[MessageDelta | ChatMessage, None, None]:
        builder, splitter, reader = MessageBuilder(), ThinkingSplitter(), StopReader(stop)
        # Some templates begin the thinking themselves, so the model writes but its end.
        begin = _THINKING_BEGINS if prompt.rstrip().endswith(_THINKING_BEGINS) else ""
        pieces = self._engine.write(generation)
        try:
            yield from reader.read(splitter.feed(begin), builder)
            for piece in pieces:
                if not piece:
                    yield MessageDelta()
                yield from reader.read(splitter.feed(piece), builder)
                if reader.is_at_end:
                    break
            else:
                yield from reader.read(splitter.flush(), builder)
                yield from reader.flush(builder)
        finally:
            pieces.close()
        finish_reason = "length" if generation.is_at_limit and not reader.is_at_end else "stop"
        usage = TokenUsage(
            input_tokens=len(generation.prompt),
            output_tokens=generation.n_written,
            cached_tokens=generation.n_cached,
            cost_usd=0.0,
        )
        whole = dataclasses.replace(builder.build(), usage=usage, finish_reason=finish_reason)
        yield with_calls(whole) if has_tools else whole


def _is_count(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_number(value: Value, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
