"""LiteLLMModel: any provider that LiteLLM knows, and any OpenAI-compatible address.

The one file that knows the provider library, which takes seconds to import and is therefore
imported at the first use. It must not try again after a failure: the run decides that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
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
from agent_magic.models.cache_markers import MARKERS, refuses_markers, wants_markers, with_markers
from agent_magic.models.completion import complete
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.litellm_facts import (
    Tokenizer,
    cost_of,
    estimate_reasoning,
    find_tokenizer,
    is_window,
)
from agent_magic.models.litellm_reply import (
    NotStreamedError,
    check_end,
    find_refused_parameter,
    holds_anything,
    misses_reasoning,
    refuses_stream,
    to_delta,
    to_message,
    to_usage,
)
from agent_magic.models.litellm_request import asked_id, build_request, with_messages_as_they_are
from agent_magic.models.litellm_stream import ProviderStream
from agent_magic.models.model import Capabilities, Model, WireRequest
from agent_magic.models.provider_form import to_provider_messages, to_provider_tools
from agent_magic.models.rate import check_rate
from agent_magic.models.response_format import knows_schemas
from agent_magic.models.retry import BrokenReplyError, Failure, diagnose
from agent_magic.models.signed import SignedParts
from agent_magic.models.stops import cut_at, find_stop
from agent_magic.models.thinking import ThinkingSplitter

_SECRET_OPTION = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)
_LOCK = threading.Lock()
_KEPT_OPEN = 10
"""How many times as long as a silent stream one is waited for that is kept open: models that think may take minutes."""


def _is_wait(timeout_s: Value) -> bool:
    return isinstance(timeout_s, int | float) and timeout_s is not True and 0 < timeout_s < math.inf


def _is_headers(name: str, value: Value) -> bool:
    return name.endswith("headers") and isinstance(value, Mapping)


class LiteLLMModel(Model):
    """A model that is asked through LiteLLM.

    What the provider cannot take is asked of LiteLLM, and corrected once by what the provider
    itself answers.

    Args:
        model_id: As LiteLLM spells it, `provider/name`, such as `openai/gpt-4.1`.
        api_base: Address of an OpenAI-compatible server, `http://127.0.0.1:8000/v1`.
        api_key: Instead of the provider's environment variable. It is never shown.
        timeout_s: How long the provider may be silent, in seconds. Of a stream that it only keeps open
            (with comments, as some do while a model thinks) a piece has to come in ten times as long.
            A call that takes longer has failed, and is tried again.
        context_window: Tokens of a request and its reply together, where LiteLLM does not know
            them or the server allows fewer.
        native_tools: Whether tools are called natively; None asks LiteLLM.
        images: Whether it sees images; None asks LiteLLM.
        stream: False for servers that cannot stream: each reply comes in one piece. Most of them
            are found out, at the price of one request.
        reasoning_back: Whether the model's thinking goes back to it beside its calls, as
            `reasoning_content`; None: from when the provider refuses a request without. What a
            provider has signed always goes back.
        structured: Whether replies can be held to a JSON Schema; None asks LiteLLM.
        cache_markers: Whether requests say up to where the provider is to keep what it has read;
            None where it keeps nothing otherwise.
        requests_per_minute: How many requests all runs together may make in any minute.
        options: Go to the provider as they are (`temperature`, `max_tokens`, …); those of a
            single call go over them.
    """

    may_be_silent = True

    def __init__(
        self,
        model_id: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        context_window: int | None = None,
        native_tools: bool | None = None,
        images: bool | None = None,
        stream: bool = True,
        reasoning_back: bool | None = None,
        structured: bool | None = None,
        cache_markers: bool | None = None,
        requests_per_minute: float | None = None,
        **options: Value,
    ) -> None:
        if not _is_wait(timeout_s):
            raise OptionError(
                f"timeout_s={timeout_s!r} is no time to wait. Give seconds above 0, such as timeout_s=60."
            )
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
        self._images = images
        self._streams = stream
        self._reasoning_back = reasoning_back
        self._structured = structured
        self._cache_markers = cache_markers
        if requests_per_minute is not None:
            check_rate(requests_per_minute)
        self.requests_per_minute = requests_per_minute
        self._options = options
        self._refused: set[str] = set()

    def __repr__(self) -> str:
        return f"LiteLLMModel({self.model_id!r})"

    @property
    def capabilities(self) -> Capabilities:  # pyright: ignore[reportIncompatibleVariableOverride] - LiteLLM is asked, which takes seconds to import
        """What LiteLLM knows, or the provider has answered; of an unknown model, that it calls tools."""
        known = self._info.get("supports_function_calling")
        tools = known is not False if self._native_tools is None else self._native_tools
        known = self._info.get("supports_response_schema") is True or knows_schemas(self.model_id)
        formats = known if self._structured is None else self._structured
        return Capabilities(
            tools=tools and "tools" not in self._refused,
            images=self._info.get("supports_vision") is True if self._images is None else self._images,
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
        message = to_message(choice)
        usage = self._to_usage(getattr(response, "usage", None), message.reasoning)
        builder = MessageBuilder()
        builder.add(dataclasses.replace(message, usage=usage))
        signed = SignedParts()
        signed.add(choice.message)
        return cut_at(signed.sign(builder.build(), self.model_id), stop)

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
        builder, splitter, signed = MessageBuilder(), ThinkingSplitter(), SignedParts()
        stream: ProviderStream | None = None
        # Beside native calls a stop text ends the text alone: the calls come after it.
        is_text_only = not (tools and self.capabilities.tools)
        try:
            stream = cast("ProviderStream", self._ask(messages, tools, stop, kind, options, is_stream=True))
            for chunk in stream:
                delta = to_delta(chunk)
                if delta is None:
                    continue
                if delta.text or delta.reasoning or delta.tool_calls or delta.finish_reason:
                    stream.note_piece()
                builder.add(delta)
                signed.add(chunk.choices[0].delta)
                yield from splitter.feed(delta.text)
                if delta.reasoning or delta.tool_calls:
                    yield dataclasses.replace(delta, text="", finish_reason=None)
                if is_text_only and find_stop(builder.text_so_far, stop) is not None:
                    break
            else:
                check_end(stream, builder.build())
            yield from splitter.flush()
            whole = builder.build()
            usage = self._to_usage(stream.reported_usage, whole.reasoning)
            whole = dataclasses.replace(whole, usage=usage)
            yield cut_at(signed.sign(whole, self.model_id), stop)
        except Exception as error:  # raised again, but for a server that does not stream
            if not holds_anything(builder.build()) and refuses_stream(error):
                raise NotStreamedError from error
            raise
        finally:
            if stream is not None:
                stream.close()

    def to_wire(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSchema] = (), kind: RequestKind = "act"
    ) -> WireRequest:
        """As of any model, and with the thinking that this provider wants to see again."""
        del kind
        able = self.capabilities
        return WireRequest(
            messages=to_provider_messages(
                messages,
                native_tools=able.tools,
                images=able.images,
                signed_by=self.model_id,
                reasoning=self._reasoning_back is True,
            ),
            tools=to_provider_tools(tools) if able.tools else [],
        )

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
            # Of headers the names alone: any of them may be a key.
            name: dict.fromkeys(cast("Mapping[str, Value]", value), "[redacted]")
            if _is_headers(name, value)
            else value
            for name, value in self._options.items()
            if not _SECRET_OPTION.fullmatch(name.split("_")[-1])
        }

    def diagnose(self, error: Exception) -> Failure:
        """Say what an exception means, without the keys that this model was given."""
        values = {"api_key": self._address["api_key"], **self._options}
        secrets = [str(value) for name, value in values.items() if value and _SECRET_OPTION.search(name)]
        for name, value in values.items():
            if _is_headers(name, value):
                secrets += map(str, cast("Mapping[str, Value]", value).values())
        return diagnose(error, self.model_id, secrets=[secret for secret in secrets if len(secret) > 3])

    @cached_property
    def _info(self) -> Mapping[str, Value]:
        # The address is for Ollama, whose server is asked; of an unknown model LiteLLM raises a bare Exception.
        with contextlib.suppress(Exception):
            info = _load().get_model_info(asked_id(self.model_id), **self._given_address)
            return cast("Mapping[str, Value]", info)
        return {}

    @property
    def _sets_markers(self) -> bool:
        wanted = self._cache_markers
        if wanted is None:
            wanted = wants_markers(self.model_id, self._info)
        return wanted and MARKERS not in self._refused

    @property
    def _given_address(self) -> Mapping[str, Value]:
        return {name: value for name, value in self._address.items() if value}

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
        """Make the request; once more for each parameter that the provider does not take, or misses."""
        litellm = _load()
        left_out: set[str] = set()  # by this request; others may run at the same time
        while True:
            request = build_request(
                self.model_id,
                self.to_wire(messages, tools, kind),
                stop,
                is_stream=is_stream,
                refused=self._refused,
                own={"timeout": self._timeout_s, **self._given_address, **self._options},
                options=options,
            )
            if self._sets_markers:
                request = with_markers(request, self.model_id, kind)
            try:
                request_as_is = with_messages_as_they_are(request, mode=self._info.get("mode"))
                return complete(litellm, request_as_is, patience_s=_KEPT_OPEN * self._timeout_s)
            except Exception as error:  # raised again, but for what can be put right
                if self._reasoning_back is not False and misses_reasoning(error, request, messages):
                    self._reasoning_back = True
                    continue
                if refuses_markers(error, request) and self._sets_markers:
                    self._refused.add(MARKERS)
                    continue
                refused = find_refused_parameter(error, request)
                # "No tools in a stream" is mended without the stream; the tools stay.
                is_stream_at_fault = is_stream and refused != "stream_options" and refuses_stream(error)
                if refused is None or refused in left_out or is_stream_at_fault:
                    raise
                left_out.add(refused)
                self._refused.add(refused)

    def _to_usage(self, usage: Any, reasoning: str | None) -> TokenUsage | None:
        if not usage:
            return None
        made_up = estimate_reasoning(_load(), self.model_id, reasoning, usage.completion_tokens)
        return to_usage(usage, cost_of(_load(), self.model_id, usage_object=usage), made_up=made_up)


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
