from __future__ import annotations

import re

import pytest
from inline_snapshot import snapshot
from view.markup import ATTACKS, ATTRIBUTES, ELEMENTS, Page, styles
from view.samples import MESSAGES, preview, preview_full_of
from view.test_bundle import file_size
from view.test_markdown import outside_of_code

from agent_magic.record.preview_schema import PreviewRecord
from agent_magic.view.preview import preview_html, preview_to_bundle
from agent_magic.view.preview_text import preview_markdown, preview_text
from agent_magic.view.words import Detail

FULL = Detail()


def summary() -> PreviewRecord:
    silent = MESSAGES[2] | {"content": None}
    return preview([MESSAGES[1], silent, MESSAGES[3]], summary_mode=True, tools=(), tokens=[(300, True)] * 3)


def test_preview_has_three_forms() -> None:
    assert list(preview_to_bundle(preview())) == ["text/html", "text/markdown", "text/plain"]


def test_preview_as_text() -> None:
    assert preview_text(preview(), None, FULL) == snapshot("""\
To be sent for an action, step 2 · normal view · openai/gpt-5
4 messages · ≈ 377 tokens · 5% of a window of 8,000
2 as in the call before, 2 new
options: temperature 0

 1  system  [12]
    You are an agent.
    Use the tools.
 2  user  [≈ 300]
    How heavy are they?
    (image: image/png, 4 × 3 pixels, 73 bytes)
 3  assistant  [20]  (new)
    I look.
    calls mean_mass (call_1)
        {"island": "Biscoe"}
 4  tool  [5]  (new)
    answers call call_1
    4716.0

1 tool · 40 tokens
    mean_mass
        Mean body mass of one island.

        Both sexes count alike.
        {"type": "object", "properties": {"island": {"type": "string"}}, "required": ["island"]}\
""")


def test_preview_as_markdown() -> None:
    assert preview_markdown(preview(), None, FULL) == snapshot("""\
**To be sent for an action, step 2** · **normal view** · `openai/gpt-5`

- `4 messages · ≈ 377 tokens · 5% of a window of 8,000`

- `2 as in the call before, 2 new`

- `options: temperature 0`

**1** `system` · `12 tokens` · `You are an agent.`

```text
You are an agent.
Use the tools.
```

**2** `user` · `≈ 300 tokens` · `How heavy are they?`

```text
How heavy are they?
```

*Image* `image/png, 4 × 3 pixels, 73 bytes`

**3** `assistant` · `20 tokens` · *new* · `I look. · calls mean_mass`

```text
I look.
```

*Call* `mean_mass` `call_1`

```text
{"island": "Biscoe"}
```

**4** `tool` · `5 tokens` · *new* · `4716.0`

Answers call `call_1`

```text
4716.0
```

**Tools** `1 tool · 40 tokens`

*Tool* `mean_mass` `Mean body mass of one island.`

```text
Mean body mass of one island.

Both sexes count alike.

{"type": "object", "properties": {"island": {"type": "string"}}, "required": ["island"]}
```
""")


def test_preview_as_html() -> None:
    assert Page(preview_html(preview())).text == snapshot("""\
To be sent for an action, step 2 normal view openai/gpt-54 messages · ≈ 377 tokens · 5% of a window of 8,0002 as in the call before, 2 newoptions: temperature 0
12 1system You are an agent.You are an agent.
Use the tools.
≈ 300 2user How heavy are they?How heavy are they?Imageimage/png, 4 × 3 pixels, 73 bytes
20 3assistant I look. · calls mean_mass newI look.mean_mass call_1{"island": "Biscoe"}
5 4tool 4716.0 newanswers call call_14716.0
1 tool · 40 tokensmean_mass Mean body mass of one island.Mean body mass of one island.

Both sexes count alike.{"type": "object", "properties": {"island": {"type": "string"}}, "required": ["island"]}\
""")


def test_preview_has_a_line_that_opens_for_each_message_and_tool() -> None:
    assert Page(preview_html(preview())).elements.count("details") == 4 + 1 + 1


def test_preview_as_html_is_the_same_bytes_each_time() -> None:
    assert preview_to_bundle(preview()) == preview_to_bundle(preview())


def test_two_views_as_text() -> None:
    assert preview_to_bundle(preview(), summary())["text/plain"] == snapshot("""\
To be sent for an action, step 2 · normal view · openai/gpt-5
4 messages · ≈ 377 tokens · 5% of a window of 8,000
2 as in the call before, 2 new
options: temperature 0

 1  system  [12]  (in this view only)
    You are an agent.
    Use the tools.
 2  user  [≈ 300]
    How heavy are they?
    (image: image/png, 4 × 3 pixels, 73 bytes)
 3  assistant  [20]  (new, in this view only)
    I look.
    calls mean_mass (call_1)
        {"island": "Biscoe"}
 4  tool  [5]  (new)
    answers call call_1
    4716.0

1 tool · 40 tokens
    mean_mass
        Mean body mass of one island.

        Both sexes count alike.
        {"type": "object", "properties": {"island": {"type": "string"}}, "required": ["island"]}

To be sent for an action, step 2 · summary view · openai/gpt-5
3 messages · ≈ 900 tokens · 11% of a window of 8,000
2 as in the call before, 1 new
no schemas of tools: those it may use stand in the messages
options: temperature 0

 1  user  [≈ 300]
    How heavy are they?
    (image: image/png, 4 × 3 pixels, 73 bytes)
 2  assistant  [≈ 300]  (in this view only)
    calls mean_mass (call_1)
        {"island": "Biscoe"}
 3  tool  [≈ 300]  (new)
    answers call call_1
    4716.0\
""")


def test_two_views_stand_side_by_side_in_html() -> None:
    page = Page(preview_html(preview(), summary()))
    assert page.is_balanced
    assert page.text.index("normal view") < page.text.index("summary view")
    assert page.text.count("in this view only") == 3  # the system prompt, and the step with and without text
    assert sum("display:flex" in style for style in styles(page)) == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "To be sent for an action, step 2"),
        ({"is_past": True, "kind": "plan"}, "Sent for a plan, step 2"),
        ({"is_past": True, "kind": "final"}, "Sent for a last answer, step 2"),
        ({"is_exact": True}, "rebuilt, and the same as what was sent"),
        (
            {"is_exact": False},
            "! This is not quite what was sent: rebuilt from the memory, it has another digest.",
        ),
        ({"n_before": None}, "the first call of its kind"),
        ({"n_before": 5}, "2 as in the call before, 2 new, 3 of that call changed or gone"),
        ({"window": None}, "4 messages · ≈ 377 tokens\n"),
        ({"tokens": []}, "4 messages · tokens unknown · a window of 8,000"),
        ({"options": {"stop": ["a"], "n": 1}}, 'options: stop ["a"] · n 1'),
        ({"messages": [{"role": "user", "content": ""}]}, " 1  user"),
    ],
)
def test_preview_says_what_it_is(fields: dict[str, object], words: str) -> None:
    assert words in preview_text(preview(**fields), None, FULL)


@pytest.mark.parametrize("is_past", [False, True])
def test_preview_of_the_other_view_says_in_each_form_that_it_is_not_sent(*, is_past: bool) -> None:
    bundle = preview_to_bundle(preview(is_past=is_past, is_other_view=True, kind="plan"))
    sent = "Not sent" if is_past else "Not to be sent"
    title = f"{sent} for a plan, step 2: the same moment in the other view"
    assert bundle["text/plain"].startswith(f"{title} · normal view · ")
    assert bundle["text/markdown"].startswith(f"**{title}** · **normal view** · ")
    assert Page(bundle["text/html"]).text.startswith(f"{title} normal view")


@pytest.mark.parametrize("form", ["text/html", "text/markdown", "text/plain"])
def test_preview_of_a_new_run_says_in_each_form_where_its_task_will_stand(form: str) -> None:
    shown = {
        kind: preview_to_bundle(preview(kind=kind, is_new_run=True))[form]
        for kind in ("act", "plan", "final")
    }
    assert "of a new run: its task, once it is given, stands at the end" in shown["act"]
    for kind in ("plan", "final"):
        assert "of a new run: its task, once it is given, stands before the last message" in shown[kind]


def test_preview_says_that_a_secret_is_not_shown() -> None:
    record = preview([{"role": "user", "content": "Use sk-proj-abcdefghijklmnop1234."}])
    for form in preview_to_bundle(record).values():
        assert "What is sent holds secrets: here they are shown as [redacted]." in form
    assert "(redacted)" in preview_text(record, None, FULL)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("is_brief", [False, True])
def test_preview_makes_no_element_nor_attribute_of_a_text(attack: str, *, is_brief: bool) -> None:
    attacked, harmless = (
        Page(preview_html(record, record, Detail(is_brief=is_brief)))
        for record in (preview_full_of(attack), preview_full_of("harmless\ntext"))
    )
    assert attacked.is_balanced
    assert set(attacked.elements) <= ELEMENTS
    assert {name for name, _ in attacked.attributes} <= ATTRIBUTES
    assert attacked.others == []
    assert styles(attacked) <= styles(harmless)


@pytest.mark.parametrize("attack", ATTACKS)
def test_preview_as_markdown_keeps_every_text_in_code(attack: str) -> None:
    attacked, harmless = (
        outside_of_code(preview_markdown(preview_full_of(text), None, FULL)) for text in (attack, "text")
    )
    assert attacked.split() == harmless.split()


@pytest.mark.parametrize("attack", ATTACKS)
def test_preview_as_text_sends_a_terminal_no_control_character(attack: str) -> None:
    text = preview_text(preview_full_of(attack), None, FULL)
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text) == []


@pytest.mark.parametrize("text", ["plain words ", "<&\"'>\n", "😀"])
@pytest.mark.parametrize("n_messages", [1, 100, 5_000])
def test_preview_is_under_800_kilobytes_in_a_notebook_file(n_messages: int, text: str) -> None:
    record = preview([{"role": "user", "content": text * 500}] * n_messages, tokens=[])
    bundle = preview_to_bundle(record, record)
    assert file_size(bundle) < 800_000
    assert Page(bundle["text/html"]).is_balanced
    if n_messages != 100:
        assert ("messages not shown here …" in bundle["text/plain"]) == (n_messages == 5_000)
