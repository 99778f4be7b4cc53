from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded.weights import need_weights
from inline_snapshot import snapshot

from agent_magic.models.download import weights_path
from agent_magic.models.local_engine import (
    Engine,
    EngineError,
    Piece,
    PromptTooLongError,
    _Request,
    engine_of,
)

pytestmark = pytest.mark.embedded

LONG = "The quick brown fox jumps over the lazy dog. " * 300


@pytest.fixture
def engine() -> Engine:
    """The engine of this process, which other tests use too."""
    need_weights()
    return engine_of(weights_path())


@pytest.fixture
def own_engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine whose weights are broken."""
    need_weights()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF nothing")
    engine = Engine(broken)
    yield engine
    engine.close()


def test_first_piece_comes_before_the_prompt_is_read(engine: Engine):
    start = time.monotonic()
    pieces = engine.complete({"prompt": LONG, "max_tokens": 1})
    first = next(pieces)
    pieces.close()
    assert (first.text, first.n_prompt_tokens) == ("", 3_001)
    assert time.monotonic() - start < 15


def test_last_piece_has_the_usage(engine: Engine):
    *_, last = engine.complete({"prompt": "One two three", "max_tokens": 2, "temperature": 0})
    assert isinstance(last, Piece)
    assert last.usage is not None
    assert (last.finish_reason, last.usage["prompt_tokens"], last.usage["completion_tokens"]) == (
        "length",
        3,
        2,
    )


def test_prompt_over_the_window_is_refused_with_its_length(engine: Engine):
    with pytest.raises(PromptTooLongError) as caught:
        list(engine.complete({"prompt": LONG * 2}))
    assert caught.value.n_tokens == snapshot(6001)


@pytest.mark.parametrize(
    ("text", "n_tokens"),
    [
        ("", 0),
        ("One two three", 3),
        ("<|im_start|>user\nHi<|im_end|>\n", 6),
        (LONG, 3_001),
        (LONG * 2, 6_001),
    ],
)
def test_count_is_what_a_request_would_have(engine: Engine, text: str, n_tokens: int):
    assert engine.count_tokens(text, is_patient=True) == n_tokens


def test_count_leaves_what_was_read_in_the_cache(engine: Engine):
    list(engine.complete({"prompt": "One two three four", "max_tokens": 1}))
    engine.count_tokens("Something else altogether", is_patient=True)
    *_, last = engine.complete({"prompt": "One two three four five", "max_tokens": 1})
    assert last.usage is not None
    assert last.usage["prompt_tokens_details"]["cached_tokens"] >= 3


def test_count_is_unknown_before_the_weights_are_loaded_and_loads_nothing(tmp_path: Path):
    engine = Engine(tmp_path / "none.gguf")
    assert engine.count_tokens("x") is None
    assert not engine._is_started


def test_count_is_unknown_while_the_engine_is_busy(engine: Engine):
    engine.count_tokens("x", is_patient=True)
    pieces = engine.complete({"prompt": LONG, "max_tokens": 400})
    next(pieces)
    start = time.monotonic()
    assert engine.count_tokens("x") is None
    assert time.monotonic() - start < 15
    pieces.close()
    assert engine.count_tokens("x", is_patient=True) == 1


def test_count_with_broken_weights_is_told(own_engine: Engine):
    with pytest.raises(EngineError):
        own_engine.count_tokens("x", is_patient=True)


def test_request_that_was_given_up_while_it_waited_is_skipped(engine: Engine):
    given_up = _Request({"prompt": LONG, "stream": True})
    given_up.is_cancelled.set()
    engine._requests.put(given_up)
    list(engine.complete({"prompt": "x", "max_tokens": 1}))
    assert given_up.replies.empty()


def test_weights_that_are_broken_are_told_with_the_command(own_engine: Engine):
    with pytest.raises(EngineError) as caught:
        list(own_engine.complete({"prompt": "x"}))
    assert str(caught.value).replace(str(own_engine.weights), "FILE") == snapshot(
        "the engine cannot load 'FILE': Failed to init server, please check the input params. Check it: python -m agent_magic download"
    )


def test_engine_serves_on_after_a_failure(own_engine: Engine):
    for _ in range(2):
        with pytest.raises(EngineError):
            list(own_engine.complete({"prompt": "x"}))


def test_process_that_was_forked_has_an_engine_of_its_own():
    code = """
        import os, signal
        from agent_magic.models.download import weights_path
        from agent_magic.models.local_engine import engine_of

        def ask():
            return "".join(p.text for p in engine_of(weights_path()).complete({"prompt": "One two", "max_tokens": 2}))

        ask()
        pid = os.fork()
        if pid == 0:
            signal.alarm(30)
            os._exit(0 if ask() else 1)
        print(os.waitpid(pid, 0)[1])
    """
    need_weights()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "0\n"
