"""The ids that LiteLLM knows, found by a text; its table changes, so what is asked for is old and stays."""

from __future__ import annotations

import datetime as dt

import pytest
from inline_snapshot import snapshot

from agent_magic.models.known import MOST_SHOWN, KnownModel, find_known

DAY = dt.date(2025, 1, 1)


def ids(text: str, **environ: str) -> list[str]:
    return [model.model_id for model in find_known(text, environ, today=DAY).models]


def test_an_id_is_found_by_words_in_any_case() -> None:
    assert ids("GPT-4.1 mini openai/")[0] == "openai/gpt-4.1-mini"


def test_ids_are_written_as_they_are_chosen() -> None:
    assert "anthropic/claude-sonnet-4-5" in ids("anthropic/claude-sonnet-4-5")
    assert "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0" in ids("bedrock/us. sonnet-4-5")
    assert "vertex_ai/claude-sonnet-4-5" in ids("vertex_ai/claude-sonnet-4-5")
    assert "gemini/gemini-2.5-flash" in ids("gemini/gemini-2.5-flash")


def test_those_with_a_key_come_first() -> None:
    without, with_key = (
        find_known("gpt-oss-120b", {}),
        find_known("gpt-oss-120b", {"GROQ_API_KEY": "a-secret"}),
    )
    assert not any(model.has_key for model in without.models)
    assert with_key.models[0].model_id == "groq/openai/gpt-oss-120b"
    assert with_key.models[0].has_key
    assert "a-secret" not in "".join(map(str, with_key.models))


def test_a_list_is_capped_and_says_how_many_there_are() -> None:
    found = find_known("gpt", {}, today=DAY)
    assert len(found.models) == MOST_SHOWN < found.n_found


def test_models_that_write_no_text_are_left_out() -> None:
    assert ids("dall-e") == []
    assert ids("text-embedding-3-small") == []


def test_a_model_whose_end_has_come_is_left_out() -> None:
    [first, *_] = find_known("openai/gpt-4.1-mini", {}, today=DAY).models
    assert first.retires is not None
    after = dt.date.fromisoformat(first.retires) + dt.timedelta(days=1)
    assert first.model_id not in [
        model.model_id for model in find_known("openai/gpt-4.1-mini", {}, today=after).models
    ]


@pytest.mark.parametrize(("text", "near"), [("clade", "claude"), ("gemni", "gemini")])
def test_a_slip_is_told_the_nearest(text: str, near: str) -> None:
    found = find_known(text, {}, today=DAY)
    assert (found.models, found.n_found) == ([], 0)
    assert near in found.nearest


def test_a_row_says_what_it_can_its_window_and_its_price() -> None:
    full = KnownModel(
        model_id="openai/gpt-4.1",
        tools=True,
        images=True,
        response_format=True,
        window=1_047_576,
        prices_usd=(2.0, 8.0),
        retires="2027-01-14",
        has_key=True,
    )
    bare = KnownModel(
        model_id="ollama/tiny",
        tools=False,
        images=False,
        response_format=False,
        window=None,
        prices_usd=None,
        retires=None,
        has_key=False,
    )
    assert f"{full}\n{bare}" == snapshot("""\
yes  openai/gpt-4.1                               tools vision json  1,047,576  $ 2 / 8  until 2027-01-14
     ollama/tiny                                                             ?  price unknown\
""")


def test_the_facts_of_a_model_are_litellms() -> None:
    [found] = [
        one for one in find_known("openai/gpt-4.1", {}, today=DAY).models if one.model_id == "openai/gpt-4.1"
    ]
    assert (found.tools, found.images, found.response_format) == (True, True, True)
    assert (found.window, found.prices_usd) == (1_047_576, (2.0, 8.0))
