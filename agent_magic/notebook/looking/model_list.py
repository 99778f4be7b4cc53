"""What `%agent models` says: the ways to a model that are here, or the ids that LiteLLM knows.

It must not choose a model, nor show a key.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence

from agent_magic.models.known import find_known
from agent_magic.models.select import DEFAULT_IDS_AS_OF, LOOPBACK_PORTS, model_table, named_ways
from agent_magic.view.words import count


def model_lines(
    text: str, configured: str | None, environ: Mapping[str, str], *, ports: Sequence[int] = LOOPBACK_PORTS
) -> list[str]:
    """The lines to print.

    Args:
        text: What ids are searched for; empty for the ways to a model.
        configured: The id of `%config AgentMagics.model`.
        ports: Where servers on loopback are looked for.
    """
    if text:
        return _known_lines(text, environ)
    lines = [
        f"Looked for from the top; the first that is there is taken (default ids of {DEFAULT_IDS_AS_OF}):"
    ]
    lines += map(str, model_table(environ, ports=ports))
    if configured:
        lines.append(f"%config AgentMagics.model = {configured!r} goes before all of these.")
    lines.append("Taken only when --model names them:")
    lines += map(str, named_ways(environ))
    lines.append("%agent models TEXT lists the ids that hold TEXT, such as %agent models gpt mini.")
    return lines


def _known_lines(text: str, environ: Mapping[str, str]) -> list[str]:
    found = find_known(text, environ)
    table = f"LiteLLM {importlib.metadata.version('litellm')}"
    if not found.models:
        near = f" Nearest: {', '.join(found.nearest)}." if found.nearest else ""
        return [
            f"No id that {table} knows holds {text!r}.{near}",
            "Its table lies on this disk and may be older than a model: --model provider/name works all the same.",
        ]
    shown = "" if found.n_found == len(found.models) else f", the first {len(found.models)}"
    legend = "yes: a key is set; window in tokens; USD per million tokens, in / out"
    return [
        f"{count(found.n_found, 'id')} of {table} with {text!r}{shown} ({legend}):",
        *map(str, found.models),
    ]
