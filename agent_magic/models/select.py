"""Which model runs, and why: the order in which models are looked for.

It must not show a key, nor ask any address but loopback.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.threads import start_thread
from agent_magic.core.values import Value
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.local import LocalModel
from agent_magic.models.model import Model
from agent_magic.models.rate import check_rate
from agent_magic.models.transformers import TransformersModel
from agent_magic.models.transformers_files import has_packages

VARIABLE = "AGENT_MAGIC_MODEL"

DEFAULT_IDS_AS_OF = "2026-11-29"
# Keys are looked at in this order; never HF_TOKEN or AWS_*, which are set for other ends.
DEFAULT_IDS = {
    "OPENAI_API_KEY": "openai/gpt-5.4-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-sonnet-5-5",
    "GEMINI_API_KEY": "gemini/gemini-flash-latest",
    "MISTRAL_API_KEY": "mistral/mistral-medium-latest",
    "GROQ_API_KEY": "groq/openai/gpt-oss-120b",
}
FURTHER_KEYS = {
    "AZURE_API_KEY": "azure",
    "AWS_ACCESS_KEY_ID": "bedrock",
    "AWS_BEARER_TOKEN_BEDROCK": "bedrock",
    "AWS_PROFILE": "bedrock",
    "CEREBRAS_API_KEY": "cerebras",
    "COHERE_API_KEY": "cohere_chat",
    "DASHSCOPE_API_KEY": "dashscope",
    "DEEPSEEK_API_KEY": "deepseek",
    "FIREWORKS_AI_API_KEY": "fireworks_ai",
    "GOOGLE_APPLICATION_CREDENTIALS": "vertex_ai",
    "HF_TOKEN": "huggingface",
    "MOONSHOT_API_KEY": "moonshot",
    "NVIDIA_NIM_API_KEY": "nvidia_nim",
    "OPENROUTER_API_KEY": "openrouter",
    "TOGETHERAI_API_KEY": "together_ai",
    "XAI_API_KEY": "xai",
}
"""Keys that no model is chosen for, but that one named by `--model` can use."""
LOOPBACK_PORTS = (11434, 1234, 8080, 8000)
"""Where Ollama, LM Studio, llama.cpp and vLLM serve by default."""
_LOOPBACK_WAIT_S = 0.2
_MAX_LISTING_BYTES = 1_000_000
_MAX_SERVED_SHOWN = 8
_LOCAL_IDS = ("local", LocalModel.model_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A chosen model."""

    model: Model
    reason: str
    """For the header of a run, such as `openai/gpt-4.1 because OPENAI_API_KEY is set`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One way to a model, for the table that is printed."""

    model_id: str
    why: str
    is_available: bool

    def __str__(self) -> str:
        return f"{'yes' if self.is_available else 'no':4} {self.model_id:32} {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """A server on loopback and what it serves."""

    api_base: str
    names: tuple[str, ...]
    """At least one."""

    @property
    def model_id(self) -> str:
        """Of its first model."""
        return f"openai/{self.names[0]}"

    @property
    def others(self) -> str:
        """The rest of what it serves, for a table."""
        others = self.names[1 : 1 + _MAX_SERVED_SHOWN]
        n_more = len(self.names) - 1 - len(others)
        more = f" and {n_more} more" if n_more else ""
        return f"; it serves {', '.join(others)}{more} too" if others else ""


def choose_model(
    explicit: str | Model | None = None,
    configured: str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    model_args: Mapping[str, Value] | None = None,
    ports: Sequence[int] = LOOPBACK_PORTS,
) -> Choice:
    """The model to run, and why it is this one.

    Looked for in this order: `explicit`, `configured`, `AGENT_MAGIC_MODEL`, a provider's key, a
    server on loopback, the embedded model.

    Args:
        explicit: A model id, or a model, which is taken as it is.
        configured: A model id from the configuration.
        environ: Environment variables; None for the process's own.
        model_args: Options of the model that is made; `requests_per_minute` is one of every kind.
        ports: Where servers on loopback are looked for.

    Raises:
        OptionError: An id that cannot be one, or no model in any of these ways.
    """
    environ = os.environ if environ is None else environ
    arguments = dict(model_args or {})
    if explicit is not None and not isinstance(explicit, str):
        return Choice(
            model=explicit, reason=f"{getattr(explicit, 'model_id', type(explicit).__name__)}, as given"
        )
    per_minute = arguments.pop("requests_per_minute", None)
    if per_minute is not None:
        check_rate(per_minute)
    choice = _look_for(explicit, configured, environ, arguments, ports)
    choice.model.requests_per_minute = per_minute
    return choice


def _look_for(
    explicit: str | None,
    configured: str | None,
    environ: Mapping[str, str],
    arguments: dict[str, Value],
    ports: Sequence[int],
) -> Choice:
    named = (
        (explicit, "as given"),
        (configured, "because %config AgentMagics.model names it"),
        (environ.get(VARIABLE), f"because {VARIABLE} names it"),
    )
    for model_id, why in named:
        if model_id:
            joint = ", " if why == "as given" else " "
            model = _build(model_id, arguments, environ, why)
            return Choice(model=model, reason=f"{model.model_id}{joint}{why}")
    for key, model_id in DEFAULT_IDS.items():
        if environ.get(key):
            return Choice(
                model=LiteLLMModel(model_id, **arguments), reason=f"{model_id} because {key} is set"
            )
    server = next(iter(_find_servers(ports)), None)
    if server is not None:
        model_id = server.model_id
        # The key is a word: one from the environment is for its own provider, not for this server.
        address: dict[str, Value] = {"api_base": server.api_base, "api_key": "not-needed", **arguments}
        return Choice(
            model=LiteLLMModel(model_id, **address),
            reason=f"{model_id} because a server at {server.api_base} answers",
        )
    if LocalModel.is_installed():
        return Choice(
            model=LocalModel(**arguments),
            reason=f"{LocalModel.model_id} because it is installed, and there is no key and no server on loopback",
        )
    raise OptionError(_no_model(ports))


def model_table(
    environ: Mapping[str, str] | None = None, *, ports: Sequence[int] = LOOPBACK_PORTS
) -> list[ModelRow]:
    """The ways to a model, in the order in which they are looked at, with what is there now.

    Of several servers on loopback each has its row; the first is the one that is chosen.
    """
    environ = os.environ if environ is None else environ
    named = environ.get(VARIABLE)
    servers = _find_servers(ports)
    listed = ", ".join(map(str, ports))
    no_server = ModelRow(
        model_id="-", why=f"a server on 127.0.0.1, port {listed}, answers", is_available=False
    )
    return [
        ModelRow(model_id=named or "-", why=f"{VARIABLE} names it", is_available=bool(named)),
        *(
            ModelRow(model_id=model_id, why=f"{key} is set", is_available=bool(environ.get(key)))
            for key, model_id in DEFAULT_IDS.items()
        ),
        *(
            ModelRow(
                model_id=server.model_id,
                why=f"a server at {server.api_base} answers{server.others}",
                is_available=True,
            )
            for server in servers
        ),
        *([] if servers else [no_server]),
        ModelRow(
            model_id="local",
            why="the embedded model is installed (python -m agent_magic download)",
            is_available=LocalModel.is_installed(),
        ),
    ]


def named_ways(environ: Mapping[str, str] | None = None) -> list[ModelRow]:
    """Ways that are taken only when `--model` names them: further keys that are set, and Transformers."""
    environ = os.environ if environ is None else environ
    return [
        *(
            ModelRow(model_id=f"{provider}/NAME", why=f"{key} is set", is_available=True)
            for key, provider in FURTHER_KEYS.items()
            if environ.get(key)
        ),
        ModelRow(
            model_id="transformers/PATH",
            why="a model in this process (pip install 'agent-magic[transformers]')",
            is_available=has_packages(),
        ),
    ]


def _build(model_id: str, arguments: dict[str, Value], environ: Mapping[str, str], why: str) -> Model:
    if model_id in _LOCAL_IDS:
        return LocalModel(**arguments)
    source = "" if why == "as given" else f" ({why.removeprefix('because ')})"
    provider, slash, name = model_id.partition("/")
    if provider == "local" and slash:
        raise OptionError(
            f"{model_id!r} is not an embedded model{source}. There is one: local, in full {LocalModel.model_id}.\n"
            f"Write local, or for a server of your own openai/{name or 'name'} with the model option `api_base`."
        )
    if provider == "transformers" and name.strip():
        return TransformersModel(name, **arguments)
    if not (provider and slash and name) or model_id != model_id.strip() or " " in model_id:
        allowed = [key.removesuffix("_API_KEY").lower() for key in DEFAULT_IDS if environ.get(key)]
        keys = f"your keys allow: {', '.join(allowed)}" if allowed else "no provider's key is set"
        raise OptionError(
            f"{model_id!r} is not a model id{source}. Write provider/name, e.g. openai/gpt-5.4-mini, "
            f"or local for the embedded model; {keys}."
        )
    return LiteLLMModel(model_id, **arguments)


def _find_servers(ports: Sequence[int]) -> list[_Server]:
    """The servers that answer in time, by the order of ports; all are asked at once."""
    found: dict[int, _Server] = {}
    looked: queue.SimpleQueue[tuple[int, _Server | None]] = queue.SimpleQueue()

    try:
        for port in ports:
            start_thread(lambda port=port: looked.put((port, _look(port))), "agent_magic_look")
    except RuntimeError:  # no thread can start here (Pyodide): then there is no server either
        return []
    deadline = time.monotonic() + _LOOPBACK_WAIT_S
    with contextlib.suppress(queue.Empty):
        for _ in ports:
            port, server = looked.get(timeout=max(0.0, deadline - time.monotonic()))
            if server is not None:
                found[port] = server
    return [found[port] for port in ports if port in found]


def _look(port: int) -> _Server | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LOOPBACK_WAIT_S)
    try:
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        if response.status != http.client.OK:
            return None
        listing: Any = json.loads(response.read(_MAX_LISTING_BYTES))
        models = cast("list[Any]", listing["data"] if isinstance(listing, dict) else [])
        ids = [model.get("id") for model in models if isinstance(model, dict)]
        names = [name for name in ids if isinstance(name, str) and name.isprintable()]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, RecursionError):
        return None
    finally:
        connection.close()
    return _Server(api_base=f"http://127.0.0.1:{port}/v1", names=tuple(names)) if names else None


def _no_model(ports: Sequence[int]) -> str:
    return (
        "No model was found. Give one in any of these ways:\n"
        "- in the cell: %%agent --model provider/name, or --model @m for a Model object m\n"
        f"- for all cells: %config AgentMagics.model = 'provider/name', or the environment variable {VARIABLE}\n"
        f"- a provider's key in the environment: {', '.join(DEFAULT_IDS)}\n"
        f"- an OpenAI-compatible server on 127.0.0.1, port {', '.join(map(str, ports))}\n"
        "- the embedded model: pip install 'agent-magic[local]', then python -m agent_magic download"
    )
