"""Sinks: what a body printed, bounded, and which of them are open."""

from __future__ import annotations

import threading

from inline_snapshot import snapshot

from agent_magic.execution.prints.sinks import CURRENT_SINK, CodeSink, Sink, open_sinks, printing_into


def test_sink_keeps_what_is_written() -> None:
    sink = Sink()
    for text in ("a", "", "b\n", "漢字"):
        sink.write(text)
    assert sink.text == "ab\n漢字"


def test_sink_keeps_head_and_tail_of_much() -> None:
    sink = Sink()
    sink.write("h" * 4_000)
    sink.write("m" * 1_000_000)
    sink.write("t" * 4_000)
    assert sink.text == "h" * 4_000 + "\n… 1,000,000 characters cut …\n" + "t" * 4_000


def test_sink_cuts_alike_in_small_pieces() -> None:
    sink, once = Sink(), Sink()
    text = "".join(str(n % 10) for n in range(12_345))
    once.write(text)
    for start in range(0, len(text), 7):
        sink.write(text[start : start + 7])
    assert sink.text == once.text
    assert sink.text[4_000:4_034] == snapshot("""\

… 4,345 characters cut …
56789012\
""")


def test_sink_takes_writes_from_threads() -> None:
    sink = Sink()
    threads = [threading.Thread(target=lambda: [sink.write("x") for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sink.text == "x" * 4_000


def test_printing_into_makes_a_sink_current_and_open_for_its_body_alone() -> None:
    outer, inner = Sink(), Sink()
    with printing_into(outer):
        assert CURRENT_SINK.get() is outer
        with printing_into(inner):
            assert CURRENT_SINK.get() is inner
            assert open_sinks() == [outer, inner]
        assert CURRENT_SINK.get() is outer
    assert CURRENT_SINK.get() is None
    assert open_sinks() == []


def test_threads_that_a_body_starts_have_no_current_sink() -> None:
    seen: list[Sink | None] = []
    with printing_into(Sink()):
        thread = threading.Thread(target=lambda: seen.append(CURRENT_SINK.get()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_code_sink_keeps_the_last_state_of_a_line_that_is_overwritten() -> None:
    sink = CodeSink(1_000)
    sink.write("start\n")
    for n in range(20_000):
        sink.write(f"\r{n:5} of 20000 |{'#' * (n % 50)}")
    sink.write("\nend\r\n")
    assert sink.text == "start\n19999 of 20000 |" + "#" * 49 + "\nend\n"


def test_code_sink_lets_a_line_that_is_not_over_be_overwritten_after_it_was_read() -> None:
    sink = CodeSink(1_000)
    sink.write("10 %\r")
    assert sink.text == "10 %"
    sink.write("20 %")
    assert sink.text == "20 %"


def test_code_sink_keeps_head_and_tail_in_all() -> None:
    sink = CodeSink(900)
    for n in range(100_000):
        sink.write(f"{n:9}\n")
    assert sink.text == "".join(f"{n:9}\n" for n in range(60)) + "\n… 999,100 characters cut …\n" + "".join(
        f"{n:9}\n" for n in range(99_970, 100_000)
    )


def test_code_sink_bounds_a_line_without_end() -> None:
    sink = CodeSink(900)
    for _ in range(1_000):
        sink.write("x" * 10_000)
    assert len(sink.text) < 950
    assert len(sink._line) + sink._n_unread < 200_000


def test_code_sink_drops_control_characters() -> None:
    sink = CodeSink(900)
    sink.write("\x1b[31mred\x1b[0m\x07\n")
    assert sink.text == "red\n"
