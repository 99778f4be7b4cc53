"""Which model runs, and why."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.core.messages import ChatMessage
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.local import LocalModel
from agent_magic.models.scripted import ScriptedModel
from agent_magic.models.select import DEFAULT_IDS, LOOPBACK_PORTS, _no_model, choose_model, model_table
from tests.models.openai_server import OpenAIServer, reply, serve

KEYS = dict.fromkeys(DEFAULT_IDS, "a-secret-key")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serve(models=["tiny", "other"]) as running:
        yield running


def test_a_model_object_is_taken_as_it_is() -> None:
    model = ScriptedModel([], model_id="mine")
    choice = choose_model(model, "openai/x", KEYS)
    assert choice.model is model
    assert choice.reason == "mine, as given"


def test_an_explicit_id_goes_first() -> None:
    choice = choose_model("ollama_chat/qwen3", "openai/x", KEYS)
    assert choice.model.model_id == "ollama_chat/qwen3"
    assert choice.reason == "ollama_chat/qwen3, as given"


def test_the_configured_id_goes_before_the_variable() -> None:
    choice = choose_model(None, "openai/x", {**KEYS, "AGENT_MAGIC_MODEL": "openai/y"})
    assert choice.reason == "openai/x because %config AgentMagics.model names it"


def test_the_variable_goes_before_keys() -> None:
    choice = choose_model(None, None, {**KEYS, "AGENT_MAGIC_MODEL": "openai/y"})
    assert choice.reason == "openai/y because AGENT_MAGIC_MODEL names it"


def test_keys_are_looked_at_in_order() -> None:
    keys, reasons = dict(KEYS), []
    while keys:
        reasons.append(choose_model(environ=keys, ports=()).reason)
        del keys[next(iter(keys))]
    assert reasons == snapshot(
        [
            "openai/gpt-5.4-mini because OPENAI_API_KEY is set",
            "anthropic/claude-sonnet-5-5 because ANTHROPIC_API_KEY is set",
            "gemini/gemini-flash-latest because GEMINI_API_KEY is set",
            "mistral/mistral-medium-latest because MISTRAL_API_KEY is set",
            "groq/openai/gpt-oss-120b because GROQ_API_KEY is set",
        ]
    )


def test_an_empty_key_is_no_key() -> None:
    environ = {"OPENAI_API_KEY": "", "GROQ_API_KEY": "k", "HF_TOKEN": "k", "AWS_ACCESS_KEY_ID": "k"}
    assert choose_model(environ=environ).reason == "groq/openai/gpt-oss-120b because GROQ_API_KEY is set"


def test_a_server_on_loopback_is_found(server: OpenAIServer) -> None:
    choice = choose_model(environ={}, ports=(1, server.port))
    assert choice.model.model_id == "openai/tiny"
    assert choice.reason == f"openai/tiny because a server at {server.api_base} answers"


def test_of_several_servers_the_first_port_counts(server: OpenAIServer) -> None:
    with serve(models=["second"]) as second:
        assert choose_model(environ={}, ports=(second.port, server.port)).model.model_id == "openai/second"
        assert choose_model(environ={}, ports=(server.port, second.port)).model.model_id == "openai/tiny"


def test_a_server_that_does_not_answer_costs_no_more_than_its_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        begin = time.monotonic()
        assert all(not row.is_available for row in model_table({}, ports=(port,))[:-1])
        assert time.monotonic() - begin < 10


def test_a_server_without_models_is_none() -> None:
    with serve(models=[]) as empty:
        assert not model_table({}, ports=(empty.port,))[-2].is_available


def test_options_reach_the_model(server: OpenAIServer) -> None:
    server.play(reply("x"))
    choice = choose_model(environ={}, ports=(server.port,), model_args={"temperature": 0.25})
    choice.model.generate([ChatMessage(role="user", content="hi")])
    assert server.received[0].body["temperature"] == 0.25
    assert server.received[0].headers["authorization"] == "Bearer not-needed"


def test_a_window_given_as_an_option_reaches_the_model() -> None:
    choice = choose_model("openai/gpt-4.1", environ={}, model_args={"context_window": 8_000})
    assert choice.model.context_window == 8_000


def test_a_rate_is_an_option_of_every_model() -> None:
    choice = choose_model("openai/gpt-4.1", environ={}, model_args={"requests_per_minute": 12})
    assert choice.model.requests_per_minute == 12
    with pytest.raises(OptionError, match="is no rate"):
        choose_model("openai/gpt-4.1", environ={}, model_args={"requests_per_minute": 0})


@pytest.mark.parametrize("model_id", ["local", LocalModel.model_id])
def test_local_is_the_embedded_model(model_id: str) -> None:
    if LocalModel.is_installed():
        assert isinstance(choose_model(model_id, environ={}).model, LocalModel)
    else:
        with pytest.raises(OptionError, match="embedded model"):
            choose_model(model_id, environ={})


def test_without_key_and_server_it_is_the_embedded_model_or_a_list_of_ways() -> None:
    if LocalModel.is_installed():
        assert choose_model(environ={}, ports=()).reason == snapshot(
            "local/smollm2-135m because it is installed, and there is no key and no server on loopback"
        )
    else:
        with pytest.raises(OptionError) as caught:
            choose_model(environ={}, ports=())
        assert "No model was found" in caught.value.message


def test_no_model_lists_the_ways() -> None:
    assert _no_model(LOOPBACK_PORTS) == snapshot("""\
No model was found. Give one in any of these ways:
- in the cell: %%agent --model provider/name, or --model @m for a Model object m
- for all cells: %config AgentMagics.model = 'provider/name', or the environment variable AGENT_MAGIC_MODEL
- a provider's key in the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY, GROQ_API_KEY
- an OpenAI-compatible server on 127.0.0.1, port 11434, 1234, 8080, 8000
- the embedded model: pip install 'agent-magic[local]', then python -m agent_magic download\
""")


@pytest.mark.parametrize(
    ("environ", "fault"),
    [
        (
            {"OPENAI_API_KEY": "a-secret-key", "GROQ_API_KEY": "k"},
            snapshot(
                "'gpt5' is not a model id. Write provider/name, e.g. openai/gpt-5.4-mini, or local for the embedded model; your keys allow: openai, groq."
            ),
        ),
        (
            {},
            snapshot(
                "'gpt5' is not a model id. Write provider/name, e.g. openai/gpt-5.4-mini, or local for the embedded model; no provider's key is set."
            ),
        ),
    ],
)
def test_an_id_without_provider_is_refused(environ: dict[str, str], fault: str) -> None:
    with pytest.raises(OptionError) as caught:
        choose_model("gpt5", environ=environ)
    assert caught.value.message == fault


@pytest.mark.parametrize("model_id", ["openai/", "/gpt", "openai/gpt 5", " openai/gpt"])
def test_a_malformed_id_is_refused(model_id: str) -> None:
    with pytest.raises(OptionError, match="is not a model id"):
        choose_model(model_id, environ={})


def test_a_malformed_id_says_where_it_stands() -> None:
    with pytest.raises(OptionError) as caught:
        choose_model(environ={"AGENT_MAGIC_MODEL": "gpt5"})
    assert caught.value.message == snapshot(
        "'gpt5' is not a model id (AGENT_MAGIC_MODEL names it). Write provider/name, e.g. openai/gpt-5.4-mini, or local for the embedded model; no provider's key is set."
    )


@pytest.mark.parametrize(
    ("model_id", "fault"),
    [
        (
            "local/xx",
            snapshot("""\
'local/xx' is not an embedded model. There is one: local, in full local/smollm2-135m.
Write local, or for a server of your own openai/xx with the model option `api_base`.\
"""),
        ),
        (
            "local/",
            snapshot("""\
'local/' is not an embedded model. There is one: local, in full local/smollm2-135m.
Write local, or for a server of your own openai/name with the model option `api_base`.\
"""),
        ),
        (
            "local/smollm2",
            snapshot("""\
'local/smollm2' is not an embedded model. There is one: local, in full local/smollm2-135m.
Write local, or for a server of your own openai/smollm2 with the model option `api_base`.\
"""),
        ),
    ],
)
def test_an_embedded_model_that_is_not_there_names_the_one_that_is(model_id: str, fault: str) -> None:
    with pytest.raises(OptionError) as caught:
        choose_model(model_id, environ={})
    assert caught.value.message == fault


def test_an_embedded_model_that_is_not_there_says_where_it_stands() -> None:
    with pytest.raises(OptionError) as caught:
        choose_model(environ={"AGENT_MAGIC_MODEL": "local/xx"})
    assert caught.value.message == snapshot("""\
'local/xx' is not an embedded model (AGENT_MAGIC_MODEL names it). There is one: local, in full local/smollm2-135m.
Write local, or for a server of your own openai/xx with the model option `api_base`.\
""")


def test_choosing_loads_no_provider_library() -> None:
    code = (
        "import sys; from agent_magic.models.select import choose_model; choose_model('openai/x');"
        "print({'litellm', 'openai', 'httpx', 'xllamacpp', 'pandas', 'torch', 'transformers'} & set(sys.modules))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
        ).stdout
        == "set()\n"
    )


def test_the_table_lists_every_way_and_no_key(server: OpenAIServer) -> None:
    rows = model_table({"OPENAI_API_KEY": "a-secret-key"}, ports=(server.port,))
    shown = "\n".join(map(str, rows[:-1])).replace(str(server.port), "PORT")
    assert shown == snapshot("""\
no   -                                AGENT_MAGIC_MODEL names it
yes  openai/gpt-5.4-mini              OPENAI_API_KEY is set
no   anthropic/claude-sonnet-5-5      ANTHROPIC_API_KEY is set
no   gemini/gemini-flash-latest       GEMINI_API_KEY is set
no   mistral/mistral-medium-latest    MISTRAL_API_KEY is set
no   groq/openai/gpt-oss-120b         GROQ_API_KEY is set
yes  openai/tiny                      a server at http://127.0.0.1:PORT/v1 answers; it serves other too\
""")


def test_an_explicit_model_is_made_by_the_provider_library() -> None:
    assert isinstance(choose_model("openai/x", environ={}).model, LiteLLMModel)
