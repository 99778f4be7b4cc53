"""What a failed model call means: worth another try, after how long, or a text for the person.

It must not sleep or ask again itself: the run does, so that an interrupt ends the waiting.
"""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tenacity import RetryCallState, Retrying, stop_after_attempt, wait_exponential, wait_random

from agent_magic.core.errors import AgentError
from agent_magic.core.redact import redact
from agent_magic.models.asked_wait import find_wait

MAX_MESSAGE_CHARS = 600
_MAX_WORDS_CHARS = 300
_MAX_OWN_WAIT_S = 8.0
_LEAST_WAIT_S = 0.5
_PASSING_STATUSES = frozenset({408, 409, 425, 429})
# Classes of HTTP libraries that mean a broken line, known by name so that none need be imported.
_PASSING_CLASSES = frozenset(
    {"TransportError", "APIConnectionError", "APITimeoutError", "Timeout", "IncompleteRead"}
)
_TIMEOUT_CLASSES = frozenset({"Timeout", "APITimeoutError", "TimeoutException", "TimeoutError"})
# As OpenAI, Anthropic, Gemini, Mistral, Bedrock, Cohere, vLLM, TGI, llama.cpp, LM Studio and Ollama say it.
_TOO_LONG = re.compile(
    r"""maximum\ (?:context|model|prompt)\ length | context_length_exceeded | exceed_context_size
    | exceed\w*\ (?:the\ )?(?:\w+[ '’]+){0,3}?(?:context[ _-]?(?:length|window|size|limit)|maximum\ number\ of\ tokens)
    | context[ _-]?(?:length|window|size|limit)[^.\n]{0,40}\ exceeded
    | (?:greater|longer|larger|more)\ than\ (?:the\ )?(?:\w+[ '’]+){0,3}?context[ _-]?(?:length|window|size)
    | input\ tokens\ exceed\ the\ configured\ limit
    | (?:prompt|input|request)\ (?:is\ )?too\ long | too\ many\ tokens
    | `inputs`\ tokens\ \+\ `max_new_tokens`\ must\ be | reduce\ the\ length\ of\ (?:the|your)\ (?:messages|input|prompt)""",
    re.IGNORECASE | re.VERBOSE,
)
# Some servers report it as a fault of their own, or amid a stream; a rate limit may speak of tokens too.
_NEVER_TOO_LONG = frozenset({401, 403, 404, 408, 429})
_KEY_NAMES = {
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK",
    "huggingface": "HF_TOKEN",
    "ollama_chat": "OLLAMA_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
}
"""Where it is not `<provider>_API_KEY`."""
_NO_PROVIDER = "LLM Provider NOT provided"
_NO_KEY = re.compile(
    r"missing credentials|api[_ ]key[^.]{0,60}must be set|missing[^.]{0,20}api[_ ]?key", re.IGNORECASE
)
_NO_LINE = re.compile(
    r"connection error|connection refused|name or service not known|name resolution|stream ended before",
    re.IGNORECASE,
)
# LiteLLM's words for a reply that is no chat completion; the status beside them is its own.
_UNREADABLE = re.compile(
    r"empty or invalid response from llm endpoint|unable to get json response|invalid response object"
    r"|provider returned (?:a response with no )?'choices'|error converting to valid response"
    r"|got unexpected response from",
    re.IGNORECASE,
)
_READING_ERRORS = (ValueError, TypeError, AttributeError, LookupError)
# `litellm.RateLimitError: RateLimitError: OpenAIException - ` says nothing to a person.
_PREFIXES = re.compile(r"^(?:(?:[\w.]+(?:Error|Exception|Timeout)|[\w.]+\.\w+)\s*(?::|-)\s*)+")


class BrokenReplyError(Exception):
    """The provider answered, but with no whole reply; asking again may give one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed model call, judged."""

    is_passing: bool
    """Another try may succeed: rate limit, server error, timeout, broken stream."""
    message: str
    """For the person: the model's id, what happened, what to look at. No secret."""
    retry_after_s: float | None = None
    """How long the provider asks to wait."""
    is_overflow: bool = False
    """The request is longer than the model's window: the same one would fail again, a shorter one may not."""


class RetryPolicy:
    """How often and after how long a passing failure is tried again.

    Args:
        max_retries: Tries after the first one.
        max_wait_s: Longest wait, whatever the provider asks for.
    """

    def __init__(self, max_retries: int = 3, max_wait_s: float = 60.0) -> None:
        self._max_wait_s = max_wait_s
        self._stop = stop_after_attempt(max_retries + 1)
        self._wait = wait_exponential(multiplier=0.5, max=min(8.0, max_wait_s)) + wait_random(0, 0.5)
        self._retrying = Retrying(stop=self._stop, wait=self._wait)

    def next_delay(self, attempt: int, failure: Failure) -> float | None:
        """Seconds to wait before the next try; None to give up.

        Args:
            attempt: The attempt that failed, counted from 1.
        """
        state = RetryCallState(retry_object=self._retrying, fn=None, args=(), kwargs={})
        state.attempt_number = attempt
        if not failure.is_passing or self._stop(state):
            return None
        own = min(self._wait(state), _MAX_OWN_WAIT_S)
        # Who asks for no wait is asked again at once; from then on a little later, for it was in vain.
        asked = failure.retry_after_s
        if asked == 0 and attempt > 1:
            asked = _LEAST_WAIT_S * 2.0 ** (attempt - 2)
        wanted = own if asked is None else asked
        return max(0.0, min(wanted, self._max_wait_s))


def diagnose(error: Exception, model_id: str, *, secrets: Iterable[str] = ()) -> Failure:
    """Judge an exception out of a model call.

    Args:
        secrets: Texts that must not be shown, besides those that `redact` knows.
    """
    if isinstance(error, AgentError):
        return Failure(is_passing=False, message=_shorten(_clean(error.message, secrets), MAX_MESSAGE_CHARS))
    error = _inner(error)
    status = _status(error)
    words = _clean(_words(error), secrets)
    if _NO_KEY.search(words):  # the library says so with any status, for nothing was asked
        name = _key_name(model_id)
        return Failure(
            is_passing=False,
            # Not the model option: a key that is written into a cell is saved with the notebook.
            message=f"{model_id} has no key. Set the environment variable {name} before Jupyter starts, "
            f"or with getpass: os.environ[{name!r}] = getpass.getpass()",
        )
    if _is_unreadable(error, words):
        message = f"{model_id} gave a reply that could not be read. Look at the model's server, or at what stands before it."
        fault = f" The fault: {_shorten(words, _MAX_WORDS_CHARS)}" if words else ""
        return Failure(is_passing=True, message=_shorten(message + fault, MAX_MESSAGE_CHARS))
    is_overflow = _is_too_long(error, words)
    is_passing = not is_overflow and _is_passing(error, status)
    message = _explain(error, status, model_id, words, is_passing=is_passing, is_overflow=is_overflow)
    if words and _NO_PROVIDER not in words:
        message += f" It says: {_shorten(words, _MAX_WORDS_CHARS)}"
    return Failure(
        is_passing=is_passing,
        message=_shorten(message, MAX_MESSAGE_CHARS),
        retry_after_s=find_wait(error) if is_passing else None,
        is_overflow=is_overflow,
    )


def _key_name(model_id: str) -> str:
    """The environment variable in which a provider's key is looked for."""
    provider = model_id.partition("/")[0]
    return _KEY_NAMES.get(provider) or f"{re.sub(r'[^A-Za-z0-9]+', '_', provider).upper()}_API_KEY"


def _explain(
    error: Exception, status: int | None, model_id: str, words: str, *, is_passing: bool, is_overflow: bool
) -> str:
    if is_overflow:
        return f"{model_id}: the request is longer than the model's context window. Begin afresh, or give the task less to read."
    if _names(error) & _TIMEOUT_CLASSES or status == 408:
        return f"{model_id} did not answer in time. Allow it more with the model option `timeout_s`, or look at its server."
    if isinstance(error, BrokenReplyError):
        return f"{model_id} gave no whole reply."
    if _NO_PROVIDER in words:
        return (
            f"{model_id} names no provider that LiteLLM knows. Write provider/name, such as openai/gpt-4.1, "
            "or local for the embedded model."
        )
    # Where nobody answered, the status is the library's own.
    if status is not None and not (is_passing and _NO_LINE.search(words)):
        return _explain_status(status, model_id, is_passing=is_passing)
    if _is_broken_off(error):
        return f"{model_id}: its server broke the reply off with an error."
    if is_passing:
        return (
            f"{model_id}: the connection failed or broke off. Look at the network, or at the model's server."
        )
    return f"{model_id} could not be asked ({type(error).__name__})."


def _explain_status(status: int, model_id: str, *, is_passing: bool) -> str:
    match status:
        case 401 | 403:
            return (
                f"{model_id} refused the key ({status}). Look at the environment variable {_key_name(model_id)}, "
                "or at the model option `api_key`."
            )
        case 404:
            return (
                f"{model_id} was not found (404). Look at the model id, which is provider/name, such as openai/gpt-4.1, "
                "and at the model option `api_base`."
            )
        case 429:
            return f"{model_id}: too many requests for now, or the account's quota is used up (429)."
        case _ if is_passing:
            return f"{model_id}: its server failed ({status})."
        case _:
            return f"{model_id} refused the request ({status}). Look at the model options and the tools' schemas."


def _is_passing(error: Exception, status: int | None) -> bool:
    if status is not None:
        return status in _PASSING_STATUSES or 500 <= status <= 599
    if isinstance(error, BrokenReplyError | TimeoutError | ConnectionError | http.client.HTTPException):
        return True
    return bool(_names(error) & _PASSING_CLASSES) or _is_broken_off(error)


def _is_broken_off(error: Exception) -> bool:
    """Whether the server told an error, without a status, amid a reply."""
    return any(type(link).__name__ == "APIError" for link in _chain(error))


def _is_too_long(error: Exception, words: str) -> bool:
    if (
        "ContextWindowExceededError" in _names(error)
        or getattr(error, "code", None) == "context_length_exceeded"
    ):
        return True
    return _status(error) not in _NEVER_TOO_LONG and _TOO_LONG.search(words) is not None


def _is_unreadable(error: Exception, words: str) -> bool:
    if _UNREADABLE.search(words):
        return True
    # LiteLLM calls whatever it cannot place a failed connection; what led to it tells them apart.
    names = _names(error)
    if "APIConnectionError" not in names or names & _TIMEOUT_CLASSES or _NO_LINE.search(words):
        return False
    chain = _chain(error)
    is_line = any(isinstance(link, OSError) or "TransportError" in _names(link) for link in chain)
    return not is_line and any(isinstance(link, _READING_ERRORS) for link in chain)


def _inner(error: Exception) -> Exception:
    """The error that LiteLLM wraps when it comes amid a stream."""
    inner: Any = getattr(error, "original_exception", None)
    return inner if isinstance(inner, Exception) else error


def _chain(error: BaseException) -> list[BaseException]:
    """The error and those that led to it."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return chain


def _names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _status(error: Exception) -> int | None:
    if "APIConnectionError" in _names(error):  # nobody answered with it: LiteLLM writes one there
        return None
    status: Any = getattr(error, "status_code", None)
    if isinstance(status, str) and status.isdecimal():
        status = int(status)
    return status if isinstance(status, int) and not isinstance(status, bool) else None


def _words(error: Exception) -> str:
    """What the provider wrote, without class names in front of it and HTML in it."""
    text = str(error)
    # LiteLLM repeats the error inside, and appends its own traceback.
    text = re.split(
        r"\s*(?:Original exception:|Error_str:|Traceback \(most recent call last\)|received_args=)",
        text,
        maxsplit=1,
    )[0]
    text = _PREFIXES.sub("", text.strip())
    if "<html" in text.lower():
        text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    return " ".join(text.split())


def _clean(text: str, secrets: Iterable[str]) -> str:
    # Before any cutting: half a key is a secret that no pattern finds.
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[redacted]")
    return redact(text)


def _shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"
