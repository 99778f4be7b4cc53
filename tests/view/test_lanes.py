from __future__ import annotations

import re
from typing import Any

from inline_snapshot import snapshot
from view.markup import Page
from view.samples import START, action, call, run

from agent_magic.core.events import ManagedEvent, RunStarted, StepEnded, StepStarted, ToolCallStarted, Waiting
from agent_magic.core.messages import ToolCall
from agent_magic.core.sound import Sound
from agent_magic.core.steps import Fault, TaskStep, ToolResult
from agent_magic.record.clean import stored_size
from agent_magic.record.draft import RunDraft
from agent_magic.record.run import to_record
from agent_magic.record.schema import RunRecord
from agent_magic.view.bundle import to_bundle, to_live_bundle
from agent_magic.view.feed import MAX_SNAPSHOT_BYTES, Feed
from agent_magic.view.html import to_html
from agent_magic.view.markdown import to_markdown
from agent_magic.view.plain import to_text
from agent_magic.view.tree import now_lines, step_lines
from agent_magic.view.words import now_words


def look(n: int, text: str = "seen") -> ToolResult:
    return call("look", {"n": n}, f"look_{n}", observation=text)


def managed(name: str, *steps: Any, call_id: str = "call_1", **fields: Any) -> ToolResult:
    inner = run(*steps, agent_name=name, run_id=name, **({"value": "It is there."} | fields))
    report = {"observation": f"{name} answered after 2 steps:\nIt is there.", "output": "It is there."}
    return call(
        name, {"task": f"Ask {name}."}, call_id, run=inner, **({} if inner.status != "answered" else report)
    )


def two_lanes() -> RunRecord:
    """Two managed agents in one step: one has an agent of its own, the other hits its step limit."""
    deep = managed("counter", action(1, look(3)), call_id="deep_1")
    failed = managed("digger", action(1, look(4)), call_id="call_2", status="max_steps", max_steps=1)
    fault = Fault(kind="ToolExecutionError", message="digger gave no answer.")
    failed = call("digger", {"task": "Dig."}, "call_2", fault=fault, run=failed.run)
    return to_record(run(action(1, managed("looker", action(1, look(1)), action(2, deep)), failed)))


def test_text_has_the_steps_of_each_lane_under_its_call() -> None:
    assert to_text(two_lanes()) == snapshot("""\
analyst · answered · openai/gpt-5
1 step of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s

Task
    Which island has the heaviest penguins?

 1  looker(task="Ask looker.") (2 steps) → It is there. · digger(task="Dig.") (1 step) ✗ ToolExecutionError  [501 tokens in, 40 out · 1.2 s]
    looker
        task = "Ask looker."
        looker · answered · 2 steps · 1,626 tokens · 4.2 s
             1  look(n=1) → seen  [501 tokens in, 40 out · 1.2 s]
                look
                    n = 1
                    observation
                        seen
             2  counter(task="Ask counter.") (1 step) → It is there.  [502 tokens in, 40 out · 1.2 s]
                counter
                    task = "Ask counter."
                    counter · answered · 1 step · 1,626 tokens · 4.2 s
                         1  look(n=3) → seen  [501 tokens in, 40 out · 1.2 s]
                            look
                                n = 3
                                observation
                                    seen
                    observation
                        counter answered after 2 steps:
                        It is there.
        observation
            looker answered after 2 steps:
            It is there.
    digger
        task = "Dig."
        digger · step limit of 1 reached · 1 step · 1,626 tokens · 4.2 s
             1  look(n=4) → seen  [501 tokens in, 40 out · 1.2 s]
                look
                    n = 4
                    observation
                        seen
        error ToolExecutionError
            digger gave no answer.

Answer
    Biscoe.\
""")


def test_markdown_has_a_line_for_each_step_of_a_lane() -> None:
    assert to_markdown(two_lanes()) == snapshot("""\
**Agent** `analyst` · **answered** · `openai/gpt-5`

`1 step of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s`

**Task**

```text
Which island has the heaviest penguins?
```

**Step 1** `looker(task="Ask looker.")` (2 steps) → `It is there.` · `digger(task="Dig.")` (1 step) ✗ `ToolExecutionError` · `501 tokens in, 40 out · 1.2 s`

*Call* `looker`

```text
task = "Ask looker."
```

*Run of* `looker · answered · 2 steps · 1,626 tokens · 4.2 s`

- 1: `look(n=1)` → `seen`
- 2: `counter(task="Ask counter.")` (1 step) → `It is there.`
    - *Run of* `counter · answered · 1 step · 1,626 tokens · 4.2 s`
        - 1: `look(n=3)` → `seen`

*Observation*

```text
looker answered after 2 steps:
It is there.
```

*Call* `digger`

```text
task = "Dig."
```

*Run of* `digger · step limit of 1 reached · 1 step · 1,626 tokens · 4.2 s`

- 1: `look(n=4)` → `seen`

**Error** `ToolExecutionError`

```text
digger gave no answer.
```

**Answer**

```text
Biscoe.
```
""")


def test_terminal_has_the_steps_of_each_lane_under_its_call() -> None:
    (step,) = two_lanes()["steps"]
    assert "\n".join("".join(line.fit(100)) for line in step_lines(step)) == snapshot("""\
 1  act     2 calls  [1 failed · 501 tokens in, 40 out · 1.2 s]
    ├─ looker(task="Ask looker.") (2 steps) → It is there.
    │   1 look(n=1) → seen
    │   2 counter(task="Ask counter.") (1 step) → It is there.
    │         1 look(n=3) → seen
    └─ digger(task="Dig.") (1 step) ✗ ToolExecutionError: digger gave no answer.
        1 look(n=4) → seen\
""")


def test_html_has_a_lane_that_is_open_and_steps_that_open_in_it() -> None:
    page = to_html(two_lanes())
    found = Page(page)
    assert found.is_balanced
    assert [name for name, _ in found.attributes].count("open") == 4  # the failing step, and each lane
    assert found.text == snapshot("""\
analyst answered openai/gpt-51 step of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s
TaskWhich island has the heaviest penguins?Which island has the heaviest penguins?
1.2 s 1looker(task="Ask looker.") 2 steps → It is there. · digger(task="Dig.") 1 step ✗ ToolExecutionErrorlooker task"Ask looker."looker answered 2 steps · 1,626 tokens · 4.2 s1.2 s 1look(n=1) → seenlook n1Observationseen501 tokens in, 40 out1.2 s 2counter(task="Ask counter.") 1 step → It is there.counter task"Ask counter."counter answered 1 step · 1,626 tokens · 4.2 s1.2 s 1look(n=3) → seenlook n3Observationseen501 tokens in, 40 outObservationcounter answered after 2 steps:
It is there.502 tokens in, 40 outObservationlooker answered after 2 steps:
It is there.digger task"Dig."digger step limit of 1 reached 1 step · 1,626 tokens · 4.2 s1.2 s 1look(n=4) → seenlook n4Observationseen501 tokens in, 40 outToolExecutionErrordigger gave no answer.501 tokens in, 40 out
AnswerBiscoe.\
""")


def test_lanes_are_cut_before_the_other_texts_of_a_form() -> None:
    steps = [action(i + 1, look(i, "far " * 400)) for i in range(40)]
    record = to_record(
        run(
            action(1, *(managed(f"a{i}", *steps, call_id=f"c{i}") for i in range(3))),
            action(2, look(0, "own " * 500)),
        )
    )
    for form in ("text/html", "text/plain"):
        page = to_bundle(record)[form]
        assert ("own " * 500).strip() in page
        assert "steps not shown here" in page


# -- while it goes on --------------------------------------------------------------------------------


def inside(event: Any, name: str = "looker", call_id: str = "call_1") -> ManagedEvent:
    return ManagedEvent(step_number=1, call_id=call_id, agent_name=name, run_id=name, event=event)


def running(n_steps: int = 1, text: str = "seen", n_lanes: int = 2) -> RunDraft:
    draft, task = RunDraft(clock=lambda: START), TaskStep(task="Look.")
    draft.add(RunStarted(run_id="r", agent_name="boss", model_id="m", max_steps=5, task=task))
    draft.add(StepStarted(step_number=1))
    for i in range(n_lanes):
        name, call_id = f"agent_{i}", f"call_{i}"
        draft.add(
            ToolCallStarted(step_number=1, call=ToolCall(id=call_id, name=name, arguments={"task": "x"}))
        )
        begun = RunStarted(run_id=name, agent_name=name, model_id="m", max_steps=5, task=task)
        draft.add(inside(begun, name, call_id))
        for n in range(n_steps):
            draft.add(inside(StepStarted(step_number=n + 1), name, call_id))
            draft.add(inside(StepEnded(step=action(n + 1, look(n, text))), name, call_id))
    return draft


def test_terminal_shows_what_happens_in_each_lane() -> None:
    draft = running()
    draft.add(
        inside(Waiting(step_number=2, reason="rate limit", delay_s=12.0, attempt=1), "agent_0", "call_0")
    )
    lines = now_lines(draft.to_record(), 10)
    assert "\n".join("".join(line.fit(100)) for line in lines) == snapshot("""\
 1  act     calling agent_0 (waiting 12 s (rate limit)), agent_1 …
    ├─ agent_0 · waiting 12 s (rate limit) · step 2 of 5 · 541 tokens
    └─ agent_1 · thinking · step 2 of 5 · 541 tokens
    step 1 of 5\
""")


def test_live_forms_show_what_happens_in_each_lane() -> None:
    live = to_live_bundle(running().to_record())
    assert live["text/plain"] == snapshot("""\
boss · running · m
step 1 of 5 · 0 ms
 1  calling agent_0, agent_1 …
    agent_0 · thinking · step 2 of 5 · 541 tokens
    agent_1 · thinking · step 2 of 5 · 541 tokens\
""")
    assert Page(live["text/html"]).text == snapshot("""\
boss running mstep 1 of 5 · 0 ms
●1calling agent_0, agent_1 …agent_0(task="x") → …agent_0 running step 2 of 5 · 541 tokens1look(n=0) → seen●2thinking …agent_1(task="x") → …agent_1 running step 2 of 5 · 541 tokens1look(n=0) → seen●2thinking …\
""")


def test_words_say_which_managed_agent_waits() -> None:
    draft = running()
    draft.add(
        inside(Waiting(step_number=2, reason="rate limit", delay_s=11.2, attempt=1), "agent_0", "call_0")
    )
    assert now_words(draft.to_record()["now"]) == snapshot(
        "calling agent_0 (waiting 12 s (rate limit)), agent_1"
    )


def test_feed_tells_each_step_of_a_lane_once_and_no_lane_in_what_happens_now() -> None:
    draft, feed = running(n_steps=2), Feed()
    told = feed.take(draft.to_record(), None)
    told += feed.take(draft.to_record(), None)
    lanes = [message for message in told if message["kind"] == "lane"]
    assert [(one["call"], one["message"]["kind"]) for one in lanes] == [
        (call_id, kind)
        for call_id in ("call_0", "call_1")
        for kind in ("head", "step", "step", "totals", "now")
    ]
    (now,) = [message for message in told if message["kind"] == "now"]
    assert now["now"] is not None
    assert not any("run" in one for one in now["now"]["calls"])
    assert [message["n"] for message in told] == list(range(1, len(told) + 1))


def test_snapshot_with_long_lanes_is_small_enough() -> None:
    draft = running(n_steps=60, text="x" * 5_000, n_lanes=20)
    shown = Feed().to_snapshot(draft.to_record(), None)
    assert stored_size(shown["run"]) <= MAX_SNAPSHOT_BYTES
    lane = shown["run"]["now"]["calls"][0]["run"]
    assert lane["steps_left_out"] + len(lane["steps"]) == 60


# -- sounds ------------------------------------------------------------------------------------------


def with_sound(n_bytes: int) -> RunRecord:
    sound = Sound(
        data=b"RIFF" + b"x" * n_bytes, media_type="audio/wav", duration_s=2.5, rate=44_100, channels=1
    )
    return to_record(run(action(1, call("say", {}, observation="said", sounds=(sound,)))))


def test_sound_is_played_from_the_html_and_told_in_the_texts() -> None:
    record = with_sound(300)
    (player,) = re.findall(r"<audio[^>]*>", to_html(record))
    assert player.startswith('<audio controls preload="metadata" src="data:audio/wav;base64,UklGRnh4')
    for form in (to_html(record), to_text(record), to_markdown(record)):
        assert "sound of 2.5 s, 44,100 Hz, 1 channel (wav)" in form


def test_sound_that_is_too_large_is_told_in_words() -> None:
    record = with_sound(200_000)
    assert record["steps"][0]["calls"][0]["sounds"] == [  # type: ignore[typeddict-item] # an action
        {"words": "sound of 2.5 s, 44,100 Hz, 1 channel (wav)"}
    ]
    assert "<audio" not in to_html(record)


def test_sound_of_a_record_that_is_none_is_not_played() -> None:
    record = with_sound(30)
    record["steps"][0]["calls"][0]["sounds"][0]["url"] = 'data:audio/wav;base64,"><script>'  # type: ignore[typeddict-item] # an action
    assert "<audio" not in to_html(record)
    assert "<script" not in to_html(record)
