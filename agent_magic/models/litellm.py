"""LiteLLMModel: any provider that LiteLLM knows, and any OpenAI-compatible address.

The one file that knows the provider library, which takes seconds to import and is therefore
imported at the first use. It must not try again after a failure: the run decides that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import re
import threading
import warnings
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.messages import (
    ChatMessage,
    MessageDelta,
    RequestKind,
    TokenUsage,
    ToolSchema,
)
from agent_magic.core.values import Value
from agent_magic.models.content_parts import complete, split_content
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.litellm_facts import Tokenizer, cost_of, find_tokenizer, is_window
from agent_magic.models.litellm_reply import (
    NotStreamedError,
    check_end,
    find_refused_parameter,
    holds_anything,
    refuses_stream,
    reported_usage,
    to_call,
    to_delta,
    to_usage,
)
from agent_magic.models.model import Capabilities, Model
from agent_magic.models.retry import BrokenReplyError, Failure, diagnose
from agent_magic.models.stops import cut_at, find_stop
from agent_magic.models.thinking import ThinkingSplitter

_COMPATIBLE = frozenset({"openai", "hosted_vllm", "lm_studio"})
"""Providers whose requests are OpenAI's own form, whatever server stands behind them."""
_SECRET_OPTION = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)
_LOCK = threading.Lock()


class LiteLLMModel(Model):
    """A model that is asked through LiteLLM.

    What the provider cannot take is asked of LiteLLM, and corrected once by what the provider
    itself answers.

    Args:
        model_id: As LiteLLM spells it, `provider/name`, such as `openai/gpt-4.1`.
        api_base: Address of an OpenAI-compatible server, `http://127.0.0.1:8000/v1`.
        api_key: Instead of the provider's environment variable. It is never shown.
        timeout_s: How long the provider may be silent, in seconds.
        context_window: Tokens of a request and its reply together, where LiteLLM does not know
            them or the server allows fewer.
        native_tools: Whether tools are called natively; None asks LiteLLM.
        stream: False for servers that cannot stream: each reply comes in one piece. Most of them
            are found out, at the price of one request.
        options: Go to the provider as they are (`temperature`, `max_tokens`, …); those of a
            single call go over them.
    """

    def __init__(
        self,
        model_id: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        context_window: int | None = None,
        native_tools: bool | None = None,
        stream: bool = True,
        **options: Value,
    ) -> None:
        if context_window is not None and not is_window(context_window):
            raise OptionError(
                f"context_window={context_window!r} is no number of tokens.\n"
                "Give a whole number from 1, such as context_window=8000, or leave it out to ask LiteLLM."
            )
        self.model_id = model_id
        self._context_window = context_window
        self._address = {"api_base": api_base, "api_key": api_key}
        self._timeout_s = timeout_s
        self._native_tools = native_tools
        self._streams = stream
        self._options = options
        self._refused: set[str] = set()

    def __repr__(self) -> str:
        return f"LiteLLMModel({self.model_id!r})"

    @property
    def capabilities(self) -> Capabilities:  # pyright: ignore[reportIncompatibleVariableOverride] - LiteLLM is asked, which takes seconds to import
        """What LiteLLM knows, or the provider has answered; of an unknown model, that it calls tools."""
        known = self._info.get("supports_function_calling")
        tools = known is not False if self._native_tools is None else self._native_tools
        formats = self._info.get("supports_response_schema") is True
        return Capabilities(
            tools=tools and "tools" not in self._refused,
            images=self._info.get("supports_vision") is True,
            response_format=formats and "response_format" not in self._refused,
        )

    @property
    def context_window(self) -> int | None:  # pyright: ignore[reportIncompatibleVariableOverride] - as above
        """In tokens, as it was given, or else as LiteLLM knows it."""
        if self._context_window is not None:
            return self._context_window
        return self._info.get("max_input_tokens") or self._info.get("max_tokens")

    def generate(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> ChatMessage:
        """Ask once and return the whole reply."""
        response = self._ask(messages, tools, stop, kind, options, is_stream=False)
        if not response.choices:
            raise BrokenReplyError("The provider's reply holds no choice.")
        choice = response.choices[0]
        message, usage = choice.message, getattr(response, "usage", None)
        text, thinking = split_content(message.content)
        builder = MessageBuilder()
        builder.add(
            ChatMessage(
                role="assistant",
                content=text,
                reasoning=(getattr(message, "reasoning_content", None) or thinking) or None,
                tool_calls=tuple(to_call(call) for call in message.tool_calls or ()),
                usage=self._to_usage(usage),
                finish_reason=choice.finish_reason,
            )
        )
        return cut_at(builder.build(), stop)

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> Generator[MessageDelta | ChatMessage, None, None]:
        """Ask once and yield the reply in pieces, at the end the whole; closing it ends the request.

        Of a provider that does not stream, the whole alone.
        """
        if self._streams:
            try:
                yield from self._stream(messages, tools, stop, kind, options)
            except NotStreamedError:
                pass  # what is asked next stands for itself, its failure too
            else:
                return
        whole = self.generate(messages, tools=tools, stop=stop, kind=kind, **options)
        self._streams = False  # remembered only now: without a stream it did answer
        yield whole

    def _stream(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema],
        stop: Sequence[str],
        kind: RequestKind,
        options: Mapping[str, Value],
    ) -> Generator[MessageDelta | ChatMessage, None, None]:
        builder, splitter = MessageBuilder(), ThinkingSplitter()
        stream: Any = None
        # Beside native calls a stop text ends the text alone: the calls come after it.
        is_text_only = not (tools and self.capabilities.tools)
        try:
            stream = self._ask(messages, tools, stop, kind, options, is_stream=True)
            for chunk in stream:
                delta = to_delta(chunk)
                if delta is None:
                    continue
                builder.add(delta)
                yield from splitter.feed(delta.text)
                if delta.reasoning or delta.tool_calls:
                    yield dataclasses.replace(delta, text="", finish_reason=None)
                if is_text_only and find_stop(builder.text_so_far, stop) is not None:
                    break
            else:
                check_end(stream, builder.build())
            yield from splitter.flush()
            whole = dataclasses.replace(builder.build(), usage=self._to_usage(reported_usage(stream)))
            yield cut_at(whole, stop)
        except Exception as error:  # raised again, but for a server that does not stream
            if not holds_anything(builder.build()) and refuses_stream(error):
                raise NotStreamedError from error
            raise
        finally:
            if stream is not None:
                stream.close()

    def count_tokens(self, text: str) -> int | None:
        """Tokens by the model's own tokenizer, where LiteLLM brings it along (OpenAI's models); else None."""
        return self._tokenizer.count(text) if self._tokenizer else None

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """By LiteLLM's table; None for a model that is not in it."""
        return cost_of(_load(), self.model_id, prompt_tokens=input_tokens, completion_tokens=output_tokens)

    @property
    def shown_options(self) -> Mapping[str, Value]:
        """The options that every call takes with it; what looks like a secret is left out."""
        return {
            name: value
            for name, value in self._options.items()
            if not _SECRET_OPTION.fullmatch(name.split("_")[-1])
        }

    def diagnose(self, error: Exception) -> Failure:
        """Say what an exception means, without the keys that this model was given."""
        values = {"api_key": self._address["api_key"], **self._options}
        secrets = [str(value) for name, value in values.items() if value and _SECRET_OPTION.search(name)]
        return diagnose(error, self.model_id, secrets=[secret for secret in secrets if len(secret) > 3])

    @cached_property
    def _info(self) -> Mapping[str, Value]:
        with contextlib.suppress(
            Exception
        ):  # LiteLLM raises a bare Exception for a model that it does not know
            return cast("Mapping[str, Value]", _load().get_model_info(self.model_id))
        return {}

    @cached_property
    def _tokenizer(self) -> Tokenizer | None:
        return find_tokenizer(_load(), self.model_id)

    def _ask(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema],
        stop: Sequence[str],
        kind: RequestKind,
        options: Mapping[str, Value],
        *,
        is_stream: bool,
    ) -> Any:
        """Make the request; once more for each parameter that the provider says it does not take."""
        litellm = _load()
        left_out: set[str] = set()  # by this request; others may run at the same time
        while True:
            request = self._build_request(messages, tools, stop, kind, options, is_stream=is_stream)
            try:
                return complete(litellm, request)
            except Exception as error:  # raised again, but for a parameter that the provider refuses
                refused = find_refused_parameter(error, request)
                # "No tools in a stream" is mended without the stream; the tools stay.
                is_stream_at_fault = is_stream and refused != "stream_options" and refuses_stream(error)
                if refused is None or refused in left_out or is_stream_at_fault:
                    raise
                left_out.add(refused)
                self._refused.add(refused)

    def _build_request(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema],
        stop: Sequence[str],
        kind: RequestKind,
        options: Mapping[str, Value],
        *,
        is_stream: bool,
    ) -> dict[str, Value]:
        wire = self.to_wire(messages, tools, kind)
        request: dict[str, Value] = {
            "model": self.model_id,
            "messages": wire.messages,
            "timeout": self._timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            **{name: value for name, value in self._address.items() if value},
        }
        if is_stream and "stream_options" not in self._refused:
            request["stream_options"] = {"include_usage": True}
        if wire.tools:
            request.update(tools=wire.tools, tool_choice="auto")
        if stop and "stop" not in self._refused:
            request["stop"] = list(stop)
        request.update(self._options)
        # One of the person's own is not left out: they are told that it is refused.
        is_format_refused = "response_format" in self._refused
        request.update(
            (name, value)
            for name, value in options.items()
            if not (name == "response_format" and is_format_refused)
        )
        request["stream"] = is_stream
        return self._with_null_contents(request)

    def _with_null_contents(self, request: dict[str, Value]) -> dict[str, Value]:
        """The request with its messages also where LiteLLM leaves them alone.

        LiteLLM takes out the null content of a message that has tool calls only, and some
        OpenAI-compatible servers refuse a message without the key.
        """
        speaks_chat = self._info.get("mode") in (None, "chat") and "reasoning_effort" not in request
        if not (speaks_chat and self.model_id.partition("/")[0] in _COMPATIBLE):
            return request
        if all(message["content"] is not None for message in request["messages"]):
            return request
        return {**request, "extra_body": {"messages": request["messages"], **request.get("extra_body", {})}}

    def _to_usage(self, usage: Any) -> TokenUsage | None:
        return to_usage(usage, cost_of(_load(), self.model_id, usage_object=usage)) if usage else None


def _load() -> Any:
    """LiteLLM, silenced: no banner, no log lines, no look at the network for prices."""
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm as library  # noqa: PLC0415 - takes 2 to 6 seconds

        litellm = cast("Any", library)
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.disable_streaming_logging = True
        if "LITELLM_LOG" not in os.environ:
            for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
    # Its own classes make pydantic warn, at the first call and at each reply with an unforeseen detail.
    for message in ("Pydantic serializer warnings", "Items? .* on TypedDict class"):
        warnings.filterwarnings("ignore", message=message, category=UserWarning)
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"(litellm|openai|pydantic)\b")
    return litellm
