"""What a failed model call means, and how long to wait."""

from __future__ import annotations

import email.utils
import math
import time

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import GenerationError
from agent_magic.models.asked_wait import find_wait
from agent_magic.models.retry import MAX_MESSAGE_CHARS, BrokenReplyError, Failure, RetryPolicy, diagnose


class StatusError(Exception):
    """As HTTP libraries raise it."""

    def __init__(self, status_code: int, text: str = "no", **headers: str) -> None:
        super().__init__(text)
        self.status_code = status_code
        self.response = type(
            "Response", (), {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}
        )


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_passing_status_is_passing(status: int) -> None:
    assert diagnose(StatusError(status), "p/m").is_passing


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_final_status_is_final(status: int) -> None:
    assert not diagnose(StatusError(status), "p/m").is_passing


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionResetError(), BrokenReplyError("half")])
def test_a_broken_line_is_passing(error: Exception) -> None:
    assert diagnose(error, "p/m").is_passing


@pytest.mark.parametrize("error", [ValueError("x"), GenerationError("x"), KeyError("x")])
def test_any_other_exception_is_final(error: Exception) -> None:
    assert not diagnose(error, "p/m").is_passing


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            StatusError(
                401,
                "litellm.AuthenticationError: OpenAIException - Incorrect API key provided: sk-test-000000000000000000000000",
            ),
            snapshot(
                "open-ai/gpt refused the key (401). Look at the environment variable OPEN_AI_API_KEY, or at the model option `api_key`. It says: Incorrect API key provided: [redacted]"
            ),
        ),
        (
            StatusError(404, "The model `gtp-5` does not exist"),
            snapshot(
                "open-ai/gpt was not found (404). Look at the model id, which is provider/name, such as openai/gpt-4.1, and at the model option `api_base`. It says: The model `gtp-5` does not exist"
            ),
        ),
        (
            StatusError(400, "This model's maximum context length is 8192 tokens"),
            snapshot(
                "open-ai/gpt: the request is longer than the model's context window. Begin afresh, or give the task less to read. It says: This model's maximum context length is 8192 tokens"
            ),
        ),
        (
            StatusError(400, "Invalid schema for function 'f'"),
            snapshot(
                "open-ai/gpt refused the request (400). Look at the model options and the tools' schemas. It says: Invalid schema for function 'f'"
            ),
        ),
        (
            StatusError(429, "Rate limit reached"),
            snapshot(
                "open-ai/gpt: too many requests for now, or the account's quota is used up (429). It says: Rate limit reached"
            ),
        ),
        (
            StatusError(503, "<html><head><style>x</style></head><body><h1>Bad\n gateway</h1></body></html>"),
            snapshot("open-ai/gpt: its server failed (503). It says: Bad gateway"),
        ),
        (
            StatusError(400, "litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider"),
            snapshot(
                "open-ai/gpt names no provider that LiteLLM knows. Write provider/name, such as openai/gpt-4.1, or local for the embedded model."
            ),
        ),
        (
            TimeoutError("timed out"),
            snapshot(
                "open-ai/gpt did not answer in time. Allow it more with the model option `timeout_s`, or look at its server. It says: timed out"
            ),
        ),
        (
            ConnectionRefusedError("[Errno 111] Connection refused"),
            snapshot(
                "open-ai/gpt: the connection failed or broke off. Look at the network, or at the model's server. It says: [Errno 111] Connection refused"
            ),
        ),
        (
            BrokenReplyError("The stream ended before the reply was whole."),
            snapshot(
                "open-ai/gpt gave no whole reply. It says: The stream ended before the reply was whole."
            ),
        ),
        (
            ValueError("bad option"),
            snapshot("open-ai/gpt could not be asked (ValueError). It says: bad option"),
        ),
        (GenerationError("The script has 1 reply."), snapshot("The script has 1 reply.")),
    ],
)
def test_the_message_says_what_happened_and_where_to_look(error: Exception, message: str) -> None:
    assert diagnose(error, "open-ai/gpt").message == message


def test_a_message_is_bounded() -> None:
    assert len(diagnose(StatusError(400, "x" * 10_000), "p/" + "m" * 500).message) == MAX_MESSAGE_CHARS


def test_a_secret_is_gone_even_where_the_text_is_cut() -> None:
    message = diagnose(
        StatusError(400, "x" * 290 + "my-own-key-123456789"), "p/m", secrets=["my-own-key-123456789"]
    ).message
    assert "my-own" not in message


def test_a_traceback_inside_the_text_is_not_told() -> None:
    message = diagnose(
        StatusError(500, 'Invalid object Traceback (most recent call last):\n  File "x"'), "p/m"
    ).message
    assert message == "p/m: its server failed (500). It says: Invalid object"


def test_retry_after_is_read_in_seconds() -> None:
    assert diagnose(StatusError(429, Retry_After="7"), "p/m").retry_after_s == 7.0


def test_retry_after_is_read_as_a_date() -> None:
    date = email.utils.formatdate(time.time() + 20, usegmt=True)
    wait = diagnose(StatusError(503, retry_after=date), "p/m").retry_after_s
    assert wait is not None
    assert 17 < wait <= 20


@pytest.mark.parametrize("value", ["soon", "-5"])
def test_a_senseless_retry_after_is_harmless(value: str) -> None:
    assert not diagnose(StatusError(429, retry_after=value), "p/m").retry_after_s


PASSING = Failure(is_passing=True, message="x")


def test_waits_grow_with_jitter_and_end_after_three_retries() -> None:
    policy = RetryPolicy()
    delays = [policy.next_delay(attempt, PASSING) for attempt in range(1, 5)]
    assert delays[3] is None
    for delay, least in zip(delays[:3], [0.5, 1.0, 2.0], strict=True):
        assert delay is not None
        assert least <= delay <= least + 0.5


def test_waits_are_capped_at_eight_seconds() -> None:
    assert RetryPolicy(max_retries=100).next_delay(50, PASSING) == 8.0


@pytest.mark.parametrize(("asked", "waited"), [(1.0, 1.0), (0.0, 0.0), (45.0, 45.0), (3600.0, 60.0)])
def test_retry_after_is_honoured_up_to_the_cap(asked: float, waited: float) -> None:
    failure = Failure(is_passing=True, message="x", retry_after_s=asked)
    assert RetryPolicy().next_delay(1, failure) == waited


def test_a_final_failure_is_not_tried_again() -> None:
    assert RetryPolicy().next_delay(1, Failure(is_passing=False, message="x")) is None


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Your input exceeds the context window of this model. Adjust your input and try again.",
    "Input tokens exceed the configured limit of 272000 tokens.",
    "prompt is too long: 208310 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 197000 + 21333 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "the request exceeds the available context size (4096 tokens), try increasing it",
    "input length exceeds the context length",
    "prompt too long; exceeded max context length by 12 tokens",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "Input is too long for requested model.",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
]
"""As OpenAI, Anthropic, Gemini, Mistral, vLLM, llama.cpp, Ollama, LM Studio, TGI, Bedrock, Cohere and xAI say it."""


@pytest.mark.parametrize("status", [400, 413, 422, 500])
@pytest.mark.parametrize("words", OVERFLOWS)
def test_a_request_over_the_window_is_an_overflow_and_not_passing(words: str, status: int) -> None:
    failure = diagnose(StatusError(status, words), "p/m")
    assert (failure.is_overflow, failure.is_passing) == (True, False)


def test_an_overflow_is_known_by_its_class_and_by_its_code() -> None:
    class ContextWindowExceededError(Exception):
        pass

    coded = StatusError(400, "no")
    coded.code = "context_length_exceeded"  # type: ignore[attr-defined]
    assert [diagnose(one, "p/m").is_overflow for one in (ContextWindowExceededError("no"), coded)] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "Request too large: too many tokens per minute"),
        (413, "Payload too large"),
        (400, "Unknown option context_window"),
        (400, "Invalid value for context_length: it must be a number"),
        (500, "internal error"),
        (404, "The model `long-context-window` does not exist"),
    ],
)
def test_what_only_speaks_of_tokens_or_windows_is_no_overflow(status: int, words: str) -> None:
    assert not diagnose(StatusError(status, words), "p/m").is_overflow


def test_a_wait_that_is_asked_for_in_the_body_is_honoured() -> None:
    details = (
        '{"error": {"code": 429, "details": [{"@type": "…/google.rpc.RetryInfo", "retryDelay": "3.5s"}]}}'
    )
    assert diagnose(StatusError(429, details), "p/m").retry_after_s == 3.5
    assert diagnose(StatusError(429, f"b'{details}'", retry_after="2"), "p/m").retry_after_s == 2.0
    assert diagnose(StatusError(429, '"retryDelay": "1.2.3s"'), "p/m").retry_after_s is None


@pytest.mark.parametrize(
    ("model_id", "variable"),
    [
        ("bedrock/m", "AWS_BEARER_TOKEN_BEDROCK"),
        ("huggingface/o/m", "HF_TOKEN"),
        ("together_ai/m", "TOGETHERAI_API_KEY"),
        ("open-ai/m", "OPEN_AI_API_KEY"),
    ],
)
def test_a_wrong_key_names_the_variable_of_its_provider(model_id: str, variable: str) -> None:
    assert f"the environment variable {variable}," in diagnose(StatusError(401), model_id).message


class APIError(Exception):
    """As the provider library names an error that came amid a stream."""


def test_an_error_amid_a_stream_is_passing() -> None:
    failure = diagnose(APIError("overloaded"), "p/m")
    assert failure == Failure(
        is_passing=True,
        message="p/m: its server broke the reply off with an error. It says: overloaded",
    )


def test_who_asks_for_no_wait_again_and_again_is_given_some() -> None:
    busy = Failure(is_passing=True, message="busy", retry_after_s=0.0)
    policy = RetryPolicy()
    assert [policy.next_delay(attempt, busy) for attempt in range(1, 5)] == [0.0, 0.5, 1.0, None]


@pytest.mark.parametrize(("asked", "wait_s"), [("nan", None), ("-5", 0.0), ("inf", math.inf), ("soon", None)])
def test_wait_that_cannot_be_is_none(asked: str, wait_s: float | None) -> None:
    error = ConnectionError("busy")
    error.headers = {"Retry-After": asked}  # type: ignore[attr-defined]
    assert find_wait(error) == wait_s
