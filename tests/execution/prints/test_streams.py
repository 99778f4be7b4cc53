from __future__ import annotations

import asyncio
import contextvars
import io
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from IPython.utils.capture import capture_output

from agent_magic.execution.prints.sinks import CURRENT_SINK, Sink, open_sinks, printing_into
from agent_magic.execution.prints.streams import PrintRouter


def own_streams(monkeypatch) -> tuple[io.StringIO, io.StringIO]:
    """Streams of the test's own for `sys.stdout` and `sys.stderr`; pytest resets what a fixture sets."""
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return out, err


def router() -> PrintRouter:
    return PrintRouter(CURRENT_SINK, open_sinks)


def in_thread(work) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_router_sends_prints_of_a_call_to_its_sink(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()
    with router(), printing_into(sink):
        print("out", 1, end="!")
        print("err", file=sys.stderr)
        sys.stdout.writelines(["a", "b"])
    assert sink.text == "out 1!err\nab"
    assert [stream.getvalue() for stream in streams] == ["", ""]


def test_router_gives_prints_of_other_threads_to_no_call_that_was_left_behind(monkeypatch):
    streams = own_streams(monkeypatch)
    first, left = Sink(), Sink()
    left.is_left = True
    with router(), printing_into(left):
        in_thread(lambda: print("nobody's"))
        print("its own")
        with printing_into(first):
            in_thread(lambda: print("the other's"))
    assert (left.text, first.text) == ("its own\n", "the other's\n")
    assert streams[0].getvalue() == "nobody's\n"


def test_router_lets_prints_outside_of_calls_pass(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()
    with router():
        print("before")
        with printing_into(sink):
            print("in")
        print("after")
        in_thread(lambda: print("thread"))
    print("end")
    assert sink.text == "in\n"
    assert streams[0].getvalue() == "before\nafter\nthread\nend\n"


def test_router_gives_back_the_very_streams(monkeypatch):
    streams = own_streams(monkeypatch)
    with router():
        assert sys.stdout is not streams[0]
    assert (sys.stdout, sys.stderr) == streams
    assert sys.stdout is streams[0]


def test_router_gives_back_the_streams_when_the_run_raises(monkeypatch):
    streams = own_streams(monkeypatch)
    with pytest.raises(KeyboardInterrupt), router():
        raise KeyboardInterrupt
    assert sys.stdout is streams[0]


def test_router_keeps_parallel_calls_apart(monkeypatch):
    streams = own_streams(monkeypatch)
    n = 8
    sinks = [Sink() for _ in range(n)]
    together = threading.Barrier(n)

    def call(number: int) -> None:
        with printing_into(sinks[number]):
            together.wait(10)
            for turn in range(50):
                print(number, turn)

    with router(), ThreadPoolExecutor(n) as pool:
        list(pool.map(call, range(n)))
    for number, sink in enumerate(sinks):
        assert sink.text == "".join(f"{number} {turn}\n" for turn in range(50))
    assert streams[0].getvalue() == ""


def test_router_sends_prints_of_threads_that_a_tool_started_to_its_call(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()

    def fan(n: int) -> None:
        threads = [threading.Thread(target=lambda i=i: print("T", i)) for i in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with router(), printing_into(sink):
        fan(4)
    print("NEXT")
    assert sorted(word for word in sink.text.split() if word != "T") == ["0", "1", "2", "3"]
    assert streams[0].getvalue() == "NEXT\n"


def test_router_sends_prints_of_a_stray_thread_to_the_call_that_began_last(monkeypatch):
    own_streams(monkeypatch)
    first, second = Sink(), Sink()
    with router(), printing_into(first), printing_into(second):
        in_thread(lambda: print("stray"))
    assert (first.text, second.text) == ("", "stray\n")


def test_router_lets_the_main_thread_pass_while_a_call_runs_elsewhere(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()
    running, done = threading.Event(), threading.Event()

    def call() -> None:
        with printing_into(sink):
            running.set()
            done.wait(10)

    thread = threading.Thread(target=call)
    with router():
        thread.start()
        running.wait(10)
        print("main")
        done.set()
        thread.join()
    assert (sink.text, streams[0].getvalue()) == ("", "main\n")


def test_router_sends_prints_of_an_async_tool_to_its_call_after_an_await(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()

    async def talk() -> None:
        print("before")
        await asyncio.sleep(0.01)
        await asyncio.to_thread(print, "aside")
        print("after")

    with router(), printing_into(sink):
        asyncio.run(talk())
    assert (sink.text, streams[0].getvalue()) == ("before\naside\nafter\n", "")


def test_router_lets_prints_pass_of_a_task_that_outlived_its_call(monkeypatch):
    streams = own_streams(monkeypatch)
    old, new = Sink(), Sink()
    with router():
        with printing_into(old):
            context = contextvars.copy_context()
        with printing_into(new):
            context.run(print, "late")
    assert (old.text, new.text, streams[0].getvalue()) == ("", "", "late\n")


def test_router_leaves_prints_to_a_redirection_inside_the_tool(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()
    with router(), printing_into(sink):
        with capture_output() as captured:
            print("inner")
        print("outer")
    assert (captured.stdout, sink.text, streams[0].getvalue()) == ("inner\n", "outer\n", "")
    assert sys.stdout is streams[0]


def test_router_gives_back_the_streams_when_tools_redirected_across_each_other(monkeypatch):
    """Each of two overlapping redirections restores what the other had put there."""
    streams = own_streams(monkeypatch)
    with router():
        first, second = capture_output(), capture_output()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
    assert sys.stdout is streams[0]
    assert sys.stderr is streams[1]


def test_router_in_a_thread_leaves_a_redirection_of_the_main_thread_alone(monkeypatch):
    streams = own_streams(monkeypatch)
    entered, leave = threading.Event(), threading.Event()

    def run() -> None:
        with router():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=run)
    thread.start()
    entered.wait(10)
    with capture_output() as captured:
        leave.set()
        thread.join()
        print("mine")
    print("later")
    assert (captured.stdout, streams[0].getvalue()) == ("mine\n", "later\n")
    sink = Sink()
    with router(), printing_into(sink):
        print("again")
    assert sink.text == "again\n"
    assert sys.stdout is streams[0]


def test_router_inside_a_redirection_gives_that_one_back(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()
    with capture_output() as captured:
        with router(), printing_into(sink):
            print("in")
        print("cell")
    assert (captured.stdout, sink.text) == ("cell\n", "in\n")
    assert sys.stdout is streams[0]


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_routers_of_two_runs_share_the_streams(monkeypatch, first_to_end):
    streams = own_streams(monkeypatch)
    sinks = [Sink(), Sink()]
    ends = [threading.Event(), threading.Event()]
    started = threading.Barrier(3)

    def run(number: int) -> None:
        with router(), printing_into(sinks[number]):
            started.wait(10)
            ends[number].wait(10)
            print("run", number)

    threads = [threading.Thread(target=run, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    started.wait(10)
    for number in (first_to_end, 1 - first_to_end):
        ends[number].set()
        threads[number].join()
    assert [sink.text for sink in sinks] == ["run 0\n", "run 1\n"]
    assert sys.stdout is streams[0]


def test_router_inside_a_run_goes_back_to_the_outer_one(monkeypatch):
    streams = own_streams(monkeypatch)
    outer, inner = Sink(), Sink()
    with router(), printing_into(outer):
        with router(), printing_into(inner):
            print("inner")
        print("outer")
    assert (outer.text, inner.text) == ("outer\n", "inner\n")
    assert sys.stdout is streams[0]


def test_stream_kept_from_a_run_goes_on_to_the_stream_before(monkeypatch):
    streams = own_streams(monkeypatch)
    with router(), printing_into(Sink()):
        kept = sys.stdout
    kept.write("kept")
    kept.flush()
    assert streams[0].getvalue() == "kept"


def test_stream_of_a_run_is_the_stream_before_in_all_else(monkeypatch):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1", errors="replace")
    monkeypatch.setattr(sys, "stdout", stream)
    with router(), printing_into(Sink()):
        assert (sys.stdout.encoding, sys.stdout.errors) == ("latin-1", "replace")
        assert sys.stdout.buffer is stream.buffer
        assert sys.stdout.isatty() is False
        assert sys.stdout.writable()
        assert repr(sys.stdout) == repr(stream)
        with pytest.raises(TypeError, match="must be str, not bytes"):
            sys.stdout.write(b"x")
        with pytest.raises(io.UnsupportedOperation):
            sys.stdout.fileno()


def test_router_takes_what_a_logger_of_the_tool_says(monkeypatch):
    streams = own_streams(monkeypatch)
    sink = Sink()
    with router(), printing_into(sink):
        handler = logging.StreamHandler()
        handler.emit(logging.LogRecord("tool", logging.INFO, "", 1, "said %s", ("so",), None))
    assert (sink.text, streams[1].getvalue()) == ("said so\n", "")


def test_router_takes_a_progress_bar(monkeypatch):
    streams = own_streams(monkeypatch)
    tqdm = pytest.importorskip("tqdm")
    sink = Sink()
    with router(), printing_into(sink):
        for _ in tqdm.tqdm(range(20), mininterval=0):
            pass
    assert "20/20" in sink.text
    assert streams[1].getvalue() == ""


KERNEL_RUN = """
import io, sys, threading, logging
from agent_magic.execution.prints.sinks import CURRENT_SINK, Sink, open_sinks, printing_into
from agent_magic.execution.prints.streams import PrintRouter

def run(*tools):
    "One run with a step for each tool, each in a thread of its own, as agents call them."
    texts = []
    def call(tool):
        sink = Sink()
        with printing_into(sink):
            tool()
        texts.append(sink.text)
    with PrintRouter(CURRENT_SINK, open_sinks):
        for tool in tools:
            thread = threading.Thread(target=call, args=(tool,))
            thread.start()
            thread.join()
    return texts
kept = sys.stdout
"""


@pytest.fixture
def notebook(kernel):
    done = kernel.execute(KERNEL_RUN)
    assert done.error is None
    return kernel


@pytest.mark.kernel
def test_router_in_a_kernel_shows_nothing_of_tools_in_the_cell(notebook):
    done = notebook.execute(
        "def tool():\n"
        "    print('said'); print('warned', file=sys.stderr, flush=True)\n"
        "    logging.getLogger('x').warning('logged')\n"
        "print('before')\n"
        "texts = run(tool)\n"
        "print('after', sys.stdout is kept)"
    )
    assert (done.error, done.stdout, done.stderr) == (None, "before\nafter True\n", "")
    assert notebook.execute("texts").result == "['said\\nwarned\\nlogged\\n']"


@pytest.mark.kernel
def test_router_in_a_kernel_leaves_an_output_widget_to_the_tool(notebook):
    done = notebook.execute(
        "import ipywidgets\n"
        "area = ipywidgets.Output()\n"
        "sent = []\n"
        "area.observe(lambda change: sent.append(change['new']), 'msg_id')\n"
        "def tool():\n"
        "    print('first')\n"
        "    with area:\n"
        "        print('inner')\n"
        "    print('outer')\n"
        "run(tool, lambda: print('later'))"
    )
    # The front end puts into the area what the kernel sends for this cell between the two changes.
    assert (done.error, done.stdout) == (None, "inner\n")
    assert done.result == "['first\\nouter\\n', 'later\\n']"
    assert notebook.execute("len(sent), sent[-1], sys.stdout is kept").result == "(2, '', True)"


@pytest.mark.kernel
def test_router_in_a_kernel_keeps_prints_of_tools_when_the_cell_itself_has_a_widget(notebook):
    done = notebook.execute(
        "import ipywidgets\n"
        "area = ipywidgets.Output()\n"
        "with area:\n"
        "    texts = run(lambda: print('tool'))\n"
        "    print('cell')"
    )
    assert (done.error, done.stdout) == (None, "cell\n")
    assert notebook.execute("texts").result == "['tool\\n']"


@pytest.mark.kernel
def test_router_in_a_kernel_works_under_a_capturing_cell(notebook):
    done = notebook.execute("%%capture held\nprint('cell')\ntexts = run(lambda: print('tool'))")
    assert (done.error, done.stdout) == (None, "")
    assert (
        notebook.execute("held.stdout, texts, sys.stdout is kept").result == "('cell\\n', ['tool\\n'], True)"
    )


@pytest.mark.kernel
def test_router_in_a_kernel_does_not_break_input(notebook):
    done = notebook.execute(
        "def tool():\n"
        "    try:\n"
        "        input('name? ')\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__)\n"
        "run(tool)"
    )
    assert (done.error, done.result) == (None, "['StdinNotImplementedError\\n']")
