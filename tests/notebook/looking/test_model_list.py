"""What `%agent models` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot
from IPython.core.completer import provisionalcompleter

from agent_magic.notebook import magics
from agent_magic.notebook.looking.model_list import model_lines
from tests.models.openai_server import OpenAIServer, serve


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve(models=["tiny", "small", "large"]) as running:
        yield running


def test_the_ways_to_a_model_without_any_key(server: OpenAIServer) -> None:
    environ = {
        "OPENAI_API_KEY": "a-secret-key",
        "OPENROUTER_API_KEY": "a-secret-key",
        "HF_TOKEN": "a-secret-key",
    }
    lines = model_lines("", "mistral/tiny", environ, ports=(server.port,))
    shown = [line for line in lines if "embedded" not in line and "in this process" not in line]
    assert "\n".join(shown).replace(str(server.port), "PORT") == snapshot("""\
Looked for from the top; the first that is there is taken (default ids of 2026-11-29):
no   -                                AGENT_MAGIC_MODEL names it
yes  openai/gpt-5.4-mini              OPENAI_API_KEY is set
no   anthropic/claude-sonnet-5-5      ANTHROPIC_API_KEY is set
no   gemini/gemini-flash-latest       GEMINI_API_KEY is set
no   mistral/mistral-medium-latest    MISTRAL_API_KEY is set
no   groq/openai/gpt-oss-120b         GROQ_API_KEY is set
yes  openai/tiny                      a server at http://127.0.0.1:PORT/v1 answers; it serves small, large too
%config AgentMagics.model = 'mistral/tiny' goes before all of these.
Taken only when --model names them:
yes  huggingface/NAME                 HF_TOKEN is set
yes  openrouter/NAME                  OPENROUTER_API_KEY is set
%agent models TEXT lists the ids that hold TEXT, such as %agent models gpt mini.\
""")


def test_every_server_has_its_row(server: OpenAIServer) -> None:
    with serve(models=[f"m{n}" for n in range(12)]) as second:
        lines = model_lines("", None, {}, ports=(server.port, second.port))
    rows = [line.replace(str(server.port), "FIRST").replace(str(second.port), "SECOND") for line in lines]
    assert "\n".join(row for row in rows if "a server" in row) == snapshot("""\
yes  openai/tiny                      a server at http://127.0.0.1:FIRST/v1 answers; it serves small, large too
yes  openai/m0                        a server at http://127.0.0.1:SECOND/v1 answers; it serves m1, m2, m3, m4, m5, m6, m7, m8 and 3 more too\
""")


def test_a_text_lists_the_ids_with_it() -> None:
    lines = model_lines("openai/gpt-4.1", None, {"OPENAI_API_KEY": "a-secret-key"})
    assert "with 'openai/gpt-4.1'" in lines[0]
    assert any("openai/gpt-4.1 " in line and line.startswith("yes") for line in lines[1:])
    assert "a-secret-key" not in "".join(lines)


def test_a_long_list_says_that_it_is_cut() -> None:
    lines = model_lines("gpt", None, {})
    assert ", the first 30 (" in lines[0]
    assert len(lines) == 31


def test_a_text_that_no_id_holds_names_the_nearest() -> None:
    lines = model_lines("clade-sonet", None, {})
    assert lines[0].startswith("No id that LiteLLM ")
    assert lines[1] == snapshot(
        "Its table lies on this disk and may be older than a model: --model provider/name works all the same."
    )


def test_tab_offers_the_ids_that_are_listed(shell: Any) -> None:
    magics.load(shell)
    first, *listed = model_lines("gpt-4.1 mini", None, {})
    assert "gpt-4.1 mini" in first
    line = "%agent models gpt-4.1 mini"
    with provisionalcompleter():
        offered = [one.text for one in shell.Completer.completions(line, len(line))]
    assert len(offered) > 1
    assert [row.split()[0] for row in listed] == offered
