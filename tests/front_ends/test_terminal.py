from __future__ import annotations

import re
import subprocess
import sys

import pytest
from inline_snapshot import snapshot
from terminals import Terminal

SETUP = """\
%load_ext agent_magic
from agent_magic import ScriptedModel
import logging, os, subprocess, sys, threading, time
call, final = ScriptedModel.calls, ScriptedModel.final
def shout(word: str) -> str: "Shout.\\n\\nArgs:\\n    word: a word"; print('shouting'); return word.upper()

def wait(n: float) -> str: "Wait.\\n\\nArgs:\\n    n: seconds"; time.sleep(n); return f'waited-{n}'

def fail(why: str) -> str: "Fail.\\n\\nArgs:\\n    why: words"; raise ValueError(why)
"""
OUR_CONTROLS = re.compile(r"\x1b\[(\d*A|\d*B|2K|J|[012]m)")
COLOURS = re.compile(r"\x1b\[\d+m")


def open_terminal(folder, **settings):
    opened = Terminal(folder, **settings)
    for line in SETUP.split("\n"):
        opened.send(line)
        opened.wait_for_prompt() if line and not line.startswith("def") else opened.read(0.05)
    return opened


def shown(lines):
    """Lines without what differs between two runs: durations."""
    return "\n".join(
        re.sub(r"\b[\d.]+ (ms|s)\b", "0 s", re.sub(r"^Out\[\d+\]", "Out[1]", line)) for line in lines
    )


def tree(lines):
    """From the header of the run on."""
    first = next(i for i, line in enumerate(lines) if line.startswith("crier · "))
    return shown(lines[first:])


@pytest.fixture(scope="module")
def _module_terminal(tmp_path_factory):
    opened = open_terminal(tmp_path_factory.mktemp("terminal"))
    yield opened
    opened.close()


@pytest.fixture
def terminal(_module_terminal):
    _module_terminal.resize(90, 30)
    _module_terminal.clear()
    return _module_terminal


def test_tree_shows_finished_steps_and_what_happens_now(terminal):
    terminal.run(
        "m = ScriptedModel([call(('shout', {'word': 'ahoy'}), ('fail', {'why': 'hoarse'})) | {'content': 'I shout.'},"
        " call(('wait', {'n': 3.0})), final('AHOY')])"
    )
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --tools shout fail wait\nShout ahoy.\n\n")
    terminal.wait_for("calling wait")
    assert tree(terminal.screen) == snapshot("""\
crier · scripted, as given
 1  act     I shout.  [1 failed · 0 s]
    ├─ shout(word="ahoy") → AHOY
    └─ fail(why="hoarse") ✗ ToolExecutionError: fail raised ValueError: hoarse
 2  act     calling wait …
    └─ wait(n=3.0) → …
    step 2 of 20 · tokens unknown · cost unknown\
""")
    terminal.wait_for_prompt()


def test_finished_run_stands_as_text_in_the_place_of_the_tree(terminal):
    terminal.run("m = ScriptedModel([call(('shout', {'word': 'ahoy'})), final('AHOY it is')])")
    terminal.run("%%agent crier --new --model @m --tools shout --as answer\nShout ahoy.\n\n")
    assert tree(terminal.all_lines[:-1]) == snapshot("""\
crier · answered · scripted, as given
2 steps of 20 · tokens unknown · cost unknown · 0 s

Task
    Shout ahoy.

 1  shout(word="ahoy") → AHOY  [0 s]
    shout
        word = "ahoy"
        printed
            shouting
        observation
            AHOY
 2  final_answer(answer="AHOY it is")  [0 s]
    final_answer
        answer = "AHOY it is"

Answer
    AHOY it is
Out[1]: 'AHOY it is'
""")
    assert "'AHOY it is'" in "\n".join(terminal.run("answer"))


def test_newest_line_of_what_the_model_writes_is_shown(terminal):
    terminal.run(
        "text = 'The first line.\\n' + ' '.join(f'word{n}' for n in range(60))\n"
        "m = ScriptedModel([call(('shout', {'word': 'x'})) | {'content': text}, final('x')], stream_pieces=60, latency_s=4)\n"
    )
    terminal.send("%%agent crier --new --model @m --tools shout\nTalk.\n\n")
    terminal.wait_for("word30")
    (line,) = [line for line in terminal.screen if "└─" in line]
    assert re.fullmatch(r"    └─ …?.*word\d+ ?\w*", line)
    assert len(line) <= 89
    assert "The first line" not in line
    assert len([line for line in terminal.screen if "thinking …" in line]) == 1
    terminal.interrupt()
    terminal.wait_for_prompt()


def test_only_lines_that_change_are_written_again(terminal):
    terminal.run("m = ScriptedModel(['1. ' + 'word ' * 40, final('x')], stream_pieces=40, latency_s=1.5)")
    terminal.run("%%agent crier --new --model @m --plan 1\nTalk.\n\n")
    drawn = terminal.sent.partition("crier ")[2].partition("crier · answered")[0]
    assert drawn.count("scripted, as given") == 1
    assert drawn.count("planning …") <= 2
    assert drawn.count("└─") >= 5


def test_steps_of_a_run_longer_than_the_screen_scroll_up_and_are_written_once(tmp_path):
    terminal = open_terminal(tmp_path, columns=60, rows=10)
    try:
        terminal.run(
            "m = ScriptedModel([*(call(('shout', {'word': f'w-{n}-'})) for n in range(40)), final('x')], latency_s=0.05)"
        )
        terminal.clear()
        terminal.send("%%agent crier --new --model @m --tools shout --max-steps 50\nShout.\n\n")
        terminal.wait_until(lambda: "→ W-20-" in "\n".join(terminal.all_lines))
        running = terminal.all_lines
        terminal.wait_for_prompt()
        lines = terminal.all_lines
    finally:
        terminal.close()
    for n in range(19):
        assert len([line for line in running if f"→ W-{n}-" in line]) == 1
    # the tree stays above the text, since most of it has left the screen
    made = [line for line in lines if re.match(r" ?\d+  act ", line)]
    assert [int(line.split()[0]) for line in made] == [*range(1, 41)]
    assert len([line for line in lines if "crier · answered" in line]) == 1
    ups = [int(n) for n in re.findall(r"\x1b\[(\d+)A", terminal.sent)]
    assert max(ups) < 10


def test_wide_signs_are_measured_as_the_screen_draws_them(tmp_path):
    terminal = open_terminal(tmp_path, columns=40, rows=20)
    try:
        terminal.run("words = ['企鵝' * 30, '🐧' * 30, '👍🏽' * 30, 'é' * 60]")
        terminal.run("calls = [call(('shout', {'word': word})) | {'content': word} for word in words]")
        terminal.run("m = ScriptedModel([*calls, call(('wait', {'n': 3.0})), final('x')])")
        terminal.clear()
        terminal.send("%%agent crier --new --model @m --tools shout wait\nShout.\n\n")
        terminal.wait_for("calling wait")
        lines = tree(terminal.screen)
        terminal.wait_for_prompt()
    finally:
        terminal.close()
    steps, children = lines.split("\n")[1::2], lines.split("\n")[2::2]
    assert children[:4] == snapshot(
        [
            '    └─ shout(word="企鵝企鵝企鵝企鵝企…',
            '    └─ shout(word="🐧🐧🐧🐧🐧🐧🐧🐧🐧…',
            '    └─ shout(word="👍🏽👍🏽👍🏽👍🏽👍…',
            '    └─ shout(word="ééééééééééééééééééé…',
        ]
    )
    assert [line[:14] for line in steps[:4]] == snapshot(
        [" 1  act     企鵝", " 2  act     🐧🐧", " 3  act     👍🏽", " 4  act     éé"]
    )
    assert all(line.endswith("…  [0 s]") for line in steps[:4])
    assert len(lines.split("\n")) == 12


def test_tree_takes_the_new_width_after_a_resize(terminal):
    terminal.run(
        "m = ScriptedModel([call(('shout', {'word': 'long ' * 9})), call(('wait', {'n': 1.5})), call(('wait', {'n': 2.5})), final('x')])"
    )
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --tools shout wait\nShout.\n\n")
    terminal.wait_for("wait(n=1.5)")
    terminal.resize(40, 30)
    terminal.wait_for("wait(n=2.5)")
    assert tree(terminal.screen) == snapshot("""\
crier · scripted, as given
 1  act     1 call  [0 s]
    └─ shout(word="long long long long l
 2  act     1 call  [0 s]
    └─ wait(n=1.5) → waited-1.5
 3  act     calling wait …
    └─ wait(n=2.5) → …
    step 3 of 20 · tokens unknown · co…\
""")
    terminal.wait_for_prompt()


def test_small_screen_gets_the_text_alone(tmp_path):
    terminal = open_terminal(tmp_path, columns=60, rows=3)
    try:
        terminal.run("m = ScriptedModel([call(('shout', {'word': 'ahoy'})), final('AHOY it is')])")
        terminal.run("%%agent crier --new --model @m --tools shout\nShout.\n\n")
        lines = terminal.all_lines
    finally:
        terminal.close()
    assert "    AHOY it is" in lines
    assert not [line for line in lines if "├─" in line or "└─" in line]


def test_what_others_print_stands_above_what_changes(terminal):
    terminal.run(
        "def chat():\n"
        "    while not any(t.name == 'agent_magic_display' for t in threading.enumerate()): time.sleep(0.05)\n"
        "    print('from a thread'); logging.getLogger('x').warning('a warning')\n"
        "    sys.stdout.write('half a '); time.sleep(0.3); sys.stdout.write('line\\n')\n"
        "    for n in range(4): sys.stderr.write(f'\\rbar {n}'); time.sleep(0.2)\n"
        "    sys.stderr.write('\\n')\n"
        "\n"
    )
    terminal.run("m = ScriptedModel(['1. Wait.', final('x')], latency_s=2)")
    terminal.run("threading.Thread(target=chat).start()")
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --plan 1\nShout.\n\n")
    terminal.wait_until(lambda: re.search(r"bar \d\n.*\n    step 1", "\n".join(terminal.screen)) is not None)
    assert re.sub(r"bar \d", "bar n", tree(terminal.screen)) == snapshot("""\
crier · scripted, as given
from a thread
a warning
half a line
bar n
    plan    planning …
    step 1 of 20\
""")
    terminal.wait_for("bar 3")
    terminal.wait_for_prompt()
    assert tree(terminal.all_lines) == snapshot("""\
crier · scripted, as given
from a thread
a warning
half a line
bar 3
    plan    1 step  [0 s]
 1  answer  1 call  [0 s]
    └─ final_answer(answer="x")

crier · answered · scripted, as given
1 step of 20 · tokens unknown · cost unknown · 0 s

Task
    Shout.

    Plan: 1 step  [0 s]
    plan
        1. Wait.
 1  final_answer(answer="x")  [0 s]
    final_answer
        answer = "x"

Answer
    x
Out[1]: 'x'

In [24]:\
""")


def test_what_a_child_process_writes_is_not_overwritten(terminal):
    terminal.run(
        "def run(text: str) -> str:\n"
        "    'Run.\\n\\nArgs:\\n    text: what it writes'\n"
        "    subprocess.run([sys.executable, '-c', f'print({text!r}, end=\"\")'])\n"
        "    time.sleep(0.3)\n"
        "    return 'ran'\n"
        "\n"
    )
    terminal.run(
        "m = ScriptedModel([call(('run', {'text': 'whole\\n'})), call(('run', {'text': 'half'})), final('x')])"
    )
    terminal.run("%%agent crier --new --model @m --tools run\nRun.\n\n")
    before_the_text = terminal.all_lines[: terminal.all_lines.index("Task")]
    assert tree(before_the_text) == snapshot("""\
crier · scripted, as given
 1  act     calling run …
    └─ run(text="whole\\n") → …
    step 1 of 20
whole
 1  act     1 call  [0 s]
    └─ run(text="whole\\n") → ran
 2  act     calling run …
    └─ run(text="half") → …
    step 2 of 20 · tokens unknown · cost unknown
half
 2  act     1 call  [0 s]
    └─ run(text="half") → ran
 3  answer  1 call  [0 s]
    └─ final_answer(answer="x")

crier · answered · scripted, as given
3 steps of 20 · tokens unknown · cost unknown · 0 s
""")


def test_tool_that_asks_at_the_prompt_has_the_screen_to_itself(terminal):
    terminal.run(
        "def ask(question: str) -> str:\n    'Ask.\\n\\nArgs:\\n    question: words'\n    return input(question + ' ')\n\n",
    )
    terminal.run(
        "m = ScriptedModel([call(('ask', {'question': 'Which island?'})), call(('wait', {'n': 2.0})), final('x')])"
    )
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --tools ask wait\nAsk.\n\n")
    terminal.wait_until(lambda: "Which island?" in terminal.screen)
    assert tree(terminal.screen) == snapshot("""\
crier · scripted, as given
Which island?\
""")
    terminal.send("Biscoe")
    terminal.wait_for("calling wait")
    assert tree(terminal.screen) == snapshot("""\
crier · scripted, as given
Which island? Biscoe
 1  act     1 call  [0 s]
    └─ ask(question="Which island?") → Biscoe
 2  act     calling wait …
    └─ wait(n=2.0) → …
    step 2 of 20 · tokens unknown · cost unknown\
""")
    terminal.wait_for_prompt()
    assert "True" in "\n".join(
        terminal.run(
            "import builtins; type(sys.stdout).__name__ == 'TextIOWrapper' and input is builtins.input and 'TerminalDisplay' not in repr(input)"
        )
    )


def test_run_inside_a_tool_leaves_the_screen_to_the_run_outside(terminal):
    terminal.run("inner = ScriptedModel([call(('shout', {'word': 'deep'})), final('DEEP')])")
    terminal.run(
        "def dig(word: str) -> str:\n"
        "    'Dig.'\n"
        "    get_ipython().run_cell_magic('agent', 'digger --model @inner --tools shout', 'Shout.')\n"
        "    time.sleep(1)\n"
        "    return 'dug'\n"
        "\n"
    )
    terminal.run("m = ScriptedModel([call(('dig', {'word': 'x'})), final('x')])")
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --tools dig\nDig.\n\n")
    terminal.wait_for("calling dig")
    terminal.read(0.5)
    assert not [line for line in terminal.screen if line.startswith("digger")]
    terminal.wait_for_prompt()
    assert [line.strip() for line in terminal.all_lines if "digger · answered" in line] != []


def test_quiet_run_shows_header_progress_and_answer(terminal):
    terminal.run(
        "m = ScriptedModel([call(('shout', {'word': 'ahoy'})), call(('wait', {'n': 2.0})), final('AHOY')])"
    )
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --tools shout wait --quiet\nShout.\n\n")
    terminal.wait_for("calling wait")
    assert tree(terminal.screen) == snapshot("""\
crier · scripted, as given
 2  act     calling wait …
    └─ wait(n=2.0) → …
    step 2 of 20 · tokens unknown · cost unknown\
""")
    terminal.wait_for_prompt()
    assert tree(terminal.screen[:-1]) == snapshot("""\
crier · answered · scripted, as given
3 steps of 20 · tokens unknown · cost unknown · 0 s

Answer
    AHOY
Out[1]: 'AHOY'
""")


@pytest.mark.parametrize("where", ["thought", "argument", "result", "printed", "error", "name", "reasoning"])
def test_no_text_of_a_model_or_a_tool_sends_control_sequences(terminal, where):
    bad = "a\x1b[2J\x1b[31mb\x1b]0;title\x07c\x9b5Ad\u202ee\rf\x08g\ud800h"
    turns = {
        "thought": "call(('shout', {'word': 'x'})) | {'content': bad}",
        "reasoning": "call(('shout', {'word': 'x'})) | {'reasoning': bad}",
        "argument": "call(('shout', {'word': bad}))",
        "result": "call(('give', {'word': 'x'}))",
        "printed": "call(('tell', {'word': 'x'}))",
        "error": "call(('fail', {'why': bad}))",
        "name": "call((bad, {bad: bad}))",
    }
    terminal.run(f"bad = {bad!r}")
    terminal.run("def give(word: str) -> str: 'Give.'; return bad\n\n")
    terminal.run("def tell(word: str) -> str: 'Tell.'; print(bad); return 'x'\n\n")
    terminal.run(f"m = ScriptedModel([{turns[where]}, final(bad)], stream_pieces=5, latency_s=0.3)")
    terminal.run("%%agent crier --new --model @m --tools shout give tell fail\nShout.\n\n")
    drawn = terminal.sent.partition("crier ")[2].partition("Out[")[0]
    rest = OUR_CONTROLS.sub("", drawn)
    assert "\x1b" not in rest
    assert re.findall(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", rest) == []
    assert re.findall(r"\r(?!\n|\x1b)", drawn) == []
    assert "crier · answered" in rest


def test_wait_for_another_try_counts_down_and_ctrl_c_ends_it_at_once(terminal):
    terminal.run("class Busy(ConnectionError): headers = {'Retry-After': '25'}\n\n")
    terminal.run("m = ScriptedModel([Busy('busy'), final('never')])")
    terminal.clear()
    terminal.send("%%agent waiter --new --model @m\nWait.\n\n")
    lines = terminal.wait_for("waiting ")
    first = int(re.search(r"waiting (\d+) s", "\n".join(lines))[1])
    terminal.wait_for(f"waiting {first - 2} s")
    terminal.interrupt()
    terminal.wait_for_prompt(10)
    assert "waiter · interrupted" in "\n".join(terminal.all_lines)


def test_ctrl_c_stops_the_run_and_the_agent_goes_on(terminal):
    terminal.run("m = ScriptedModel([call(('wait', {'n': 60.0})), final('again')])")
    terminal.clear()
    terminal.send("%%agent waiter --new --model @m --tools wait\nWait.\n\n")
    terminal.wait_for("calling wait")
    terminal.read(0.3)
    terminal.interrupt()
    terminal.wait_for_prompt()
    stopped = "\n".join(terminal.all_lines)
    assert "waiter · interrupted" in stopped
    assert "KeyboardInterrupt" in stopped
    assert "calling wait" not in stopped
    assert "interrupted" in "\n".join(terminal.run("waiter.result.status"))
    assert "again" in "\n".join(terminal.run("%%agent waiter\nGo on.\n\n"))


def test_no_color_leaves_the_styles_out_and_the_tree_in(tmp_path):
    terminal = open_terminal(tmp_path, NO_COLOR="1")
    try:
        terminal.run("m = ScriptedModel([call(('wait', {'n': 0.5})), final('x')])")
        terminal.run("%%agent crier --new --model @m --tools wait\nShout.\n\n")
    finally:
        terminal.close()
    assert "└─ wait(n=0.5)" in terminal.sent
    assert COLOURS.findall(terminal.sent) == []


def test_dumb_terminal_gets_the_text_alone(tmp_path):
    terminal = open_terminal(tmp_path, TERM="dumb")
    try:
        terminal.run("m = ScriptedModel([call(('wait', {'n': 0.5})), final('x')])")
        terminal.run("%%agent crier --new --model @m --tools wait\nShout.\n\n")
    finally:
        terminal.close()
    assert "\x1b" not in terminal.sent
    assert "crier · answered" in terminal.sent


def test_pipe_gets_the_text_alone(tmp_path):
    session = (
        f"{SETUP}\nm = ScriptedModel([call(('wait', {{'n': 0.5}})), final('x')])\n"
        "%%agent crier --model @m --tools wait\nWait.\n\n\n\n1 + 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--colors=nocolor", "--no-banner"],
        input=session, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.count("crier · ") == 1
    assert "└─" not in done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_question_of_an_approval_stands_between_the_steps(terminal):
    terminal.run(
        "m = ScriptedModel([call(('shout', {'word': 'a'})), call(('wait', {'n': 2.0})), final('x')])"
    )
    terminal.clear()
    terminal.send("%%agent crier --new --model @m --tools shout wait --approve tools\nShout.\n\n")
    terminal.wait_for("Call shout(word='a')? [y]es, [n]o, [e]dit:")
    terminal.send("y")
    terminal.wait_for("Call wait(n=2.0)? [y]es, [n]o, [e]dit:")
    terminal.send("y")
    terminal.wait_for("calling wait")
    assert tree(terminal.screen) == snapshot("""\
crier · scripted, as given
Call shout(word='a')? [y]es, [n]o, [e]dit: y
 1  act     1 call  [0 s]
    ├─ shout(word="a") → A
    └─ shout was approved by the person at the prompt
Call wait(n=2.0)? [y]es, [n]o, [e]dit: y
 2  act     calling wait …
    └─ wait(n=2.0) → …
    step 2 of 20 · tokens unknown · cost unknown\
""")
    terminal.wait_for_prompt()
