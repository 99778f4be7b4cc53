from __future__ import annotations

import json
import re

import nbformat
import pytest
from hostile import TEXTS, messages_full_of, nows_full_of, run_full_of, steps_full_of, twin_of, whole_signs
from lab import CURRENT, write_notebook
from playwright.sync_api import expect
from views import RECORD, open_run, row_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

# A page takes long to open everything in very many views, so they share the texts: each is drawn in a record of
# a run that ended, in one of a run that goes on, in a live widget or in a saved notebook. Python's tests put
# every text into every one of these.
ENDED, RUNNING, LIVE, SAVED = (TEXTS[start::4] for start in range(4))
# All that is in a view when everything in it is opened: each element with its attributes and their values,
# of which figures count alike. What an input holds is a property, and no part of the page's markup. Where
# code is coloured depends on what it is: such spans, of one class that is known and with nothing but text in
# them, are not counted.
INVENTORY = r"""
const open = async node => {
  for (let round = 0; round < 6; round++) {
    const closed = node.querySelectorAll('button[aria-expanded="false"]:not(.jp-AgentMagic-button)');
    if (!closed.length) break;
    closed.forEach(one => one.click());
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  }
};
const COLOURS = new Set(
  ['keyword', 'number', 'definition', 'property', 'operator', 'comment', 'string', 'escape', 'meta']
    .map(kind => `jp-AgentMagic-is-${kind}`)
);
const isColour = one => one.matches('pre > span') && one.attributes.length === 1 &&
  COLOURS.has(one.getAttribute('class')) && one.firstElementChild === null;
const inventory = node => {
  const counts = {};
  for (const one of node.querySelectorAll('*')) {
    if (isColour(one)) continue;
    const attributes = [...one.attributes].map(({name, value}) => `${name}=${value.replace(/[\d.]+/g, '0')}`);
    const sign = `${one.namespaceURI.replace('http://www.w3.org/1999/xhtml', '')}${one.localName} ${attributes.sort().join(' ')}`;
    counts[sign] = (counts[sign] ?? 0) + 1;
  }
  return counts;
};
const page = () => ({
  scripts: document.querySelectorAll('script, style, link, iframe, object, embed, base, meta').length,
  title: document.title,
  hit: window.hit ?? null,
});
"""
# Draws records with JupyterLab's own registry, one after another, and gives what each became.
DRAW = (
    """async ([mime, records]) => {"""
    + INVENTORY
    + f"""
  const registry = {CURRENT}.content.rendermime;"""
    + """
  const before = page();
  const drawn = [];
  for (const record of records) {
    const renderer = registry.createRenderer(mime);
    const host = document.createElement('div');
    document.querySelector('.jp-NotebookPanel').append(host);
    await renderer.renderModel(registry.createModel({data: {[mime]: record}, trusted: false}));
    host.append(renderer.node);
    await open(host);
    drawn.push([inventory(host), host.textContent.length]);
    renderer.dispose();
    host.remove();
  }
  return [drawn, before, page()];
}"""
)
LOOK = (
    """async node => {"""
    + INVENTORY
    + """
  await open(node);
  return [...node.querySelectorAll('.jp-AgentMagic-run')].map(run => [inventory(run), run.textContent.length]);
}"""
)
ELEMENTS = {
    *("div", "span", "button", "pre", "code", "label", "input", "select", "option", "textarea"),
    *("table", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    *("class", "role", "type", "title", "tabindex", "scope", "style", "min", "max", "value", "hidden"),
    *("disabled", "data-lm-suppress-shortcuts"),
    *("aria-label", "aria-live", "aria-hidden", "aria-expanded", "aria-pressed", "aria-posinset"),
    *("aria-setsize", "aria-disabled", "aria-controls", "rows", "spellcheck"),
}


def assert_alike(drawn, twins, texts):
    """Everything that was made of a text was made of its harmless twin too, and as often."""
    assert len(drawn) == len(twins) == len(texts)
    for text, (made, n_chars), (twin, _) in zip(texts, drawn, twins, strict=True):
        assert n_chars > 1_000, f"{n_chars} characters of {text!r} are shown"
        assert made == twin, f"{text!r} made elements"
        assert_ours(made)


def assert_ours(made):
    """All elements, and all their attributes, are those that a view is made of."""
    for sign in made:
        element, _, attributes = sign.partition(" ")
        assert element in ELEMENTS
        assert set(re.findall(r"([^\s=]+)=", attributes)) <= ATTRIBUTES, sign


def watch(lab):
    """What the page asks or opens because of a text."""
    done = []
    lab.page.on("dialog", lambda dialog: (done.append(dialog.message), dialog.dismiss()))
    lab.page.on("popup", lambda popup: done.append(popup.url))
    lab.page.on("framenavigated", lambda frame: done.append(frame.url))
    return done


def test_texts_are_many():
    assert len(set(TEXTS)) >= 100
    assert sorted([*ENDED, *RUNNING, *LIVE, *SAVED]) == sorted(TEXTS)


@pytest.mark.parametrize("status", ["answered", "running"])
def test_no_record_makes_elements_of_its_texts(status, lab, lab_folder):
    write_notebook(lab_folder / f"{status}.ipynb", ["1"])
    lab.open(f"{status}.ipynb", wait_for_kernel=False)
    done = watch(lab)

    def to_records(text):
        record = run_full_of(text, status=status)
        return [record | {"now": now} for now in nows_full_of(text)] if status == "running" else [record]

    given = RUNNING if status == "running" else ENDED
    texts = [text for text in given for _ in to_records(text)]
    hostile = [record for text in given for record in to_records(text)]
    harmless = [record for text in given for record in to_records(twin_of(text))]
    twins, *_ = lab.page.evaluate(DRAW, [RECORD, harmless])
    drawn, before, after = lab.page.evaluate(DRAW, [RECORD, hostile])
    assert_alike(drawn, twins, texts)
    assert before == after
    assert before["hit"] is None
    assert done == lab.complaints == []


# A widget of each text, told of its harmless twin, then of the text itself.
WIDGETS = """
import json, time, ipywidgets
from agent_magic.view.run_widget import RunWidget
given = json.load(open("told.json"))
runs = [RunWidget(snapshot, is_live=True) for snapshot in given["snapshots"]]
ipywidgets.VBox(runs)"""
TELL = """
for run, phases in zip(runs, given["{which}"]):
    run.tell(phases[{phase}])
    time.sleep(0.02)  # a server drops what comes faster than 1 MB/s"""
AGAIN = """
for run, snapshot in zip(runs, given["again"]):
    run.snapshot = snapshot
    time.sleep(0.02)"""


def to_phases(text, *, first):
    """Messages up to where the model writes a call, and those up to where the person is asked."""
    messages = messages_full_of(text, "run_1", first=first)
    cut = next(i for i, message in enumerate(messages) if message.get("now", {}).get("doing") == "planning")
    return messages[:cut], messages[cut:]


def to_snapshot(n):
    """A run of which nothing is told yet."""
    run = run_full_of("nothing yet", status="running") | {"steps": [], "answer": None, "error": None}
    return {"v": 1, "n": n, "run": run, "settings": None, "step": None}


def test_no_message_to_a_live_widget_makes_elements_of_its_texts(lab, lab_folder):
    texts = LIVE
    told = {
        "snapshots": [to_snapshot(0) for _ in texts],
        "again": [to_snapshot(100) for _ in texts],
        "twins": [to_phases(twin_of(text), first=1) for text in texts],
        "texts": [to_phases(text, first=101) for text in texts],
    }
    (lab_folder / "told.json").write_text(json.dumps(whole_signs(told)), encoding="ascii")
    tell = {(which, i): TELL.format(which=which, phase=i) for which in ("twins", "texts") for i in (0, 1)}
    cells = [WIDGETS, tell["twins", 0], tell["twins", 1], AGAIN, tell["texts", 0], tell["texts", 1]]
    open_run(lab, lab_folder, "live", cells)
    done = watch(lab)
    shown = lab.area(0)
    expect(shown.locator(".jp-AgentMagic-run")).to_have_count(len(texts))
    drawn = {}
    for cell, sign in ((1, "twins 0"), (2, "twins 1"), (3, ""), (4, "texts 0"), (5, "texts 1")):
        lab.run(cell)
        if sign:
            # The last one is drawn, so are all before it.
            words = "waiting for your approval" if sign.endswith("1") else "writing a call of"
            expect(shown.locator(".jp-AgentMagic-run").last.get_by_role("status").first).to_contain_text(
                words
            )
            drawn[sign] = shown.evaluate(LOOK)
    assert_alike(drawn["texts 0"], drawn["twins 0"], texts)
    assert_alike(drawn["texts 1"], drawn["twins 1"], texts)
    assert lab.page.evaluate("window.hit ?? null") is None
    assert done == lab.complaints == []


def test_no_saved_record_makes_elements_in_an_untrusted_notebook(lab, lab_folder):
    def to_notebook(texts):
        at_once = 7  # so many that all their steps are drawn
        groups = [texts[i : i + at_once] for i in range(0, len(texts), at_once)]
        records = [
            run_full_of(group[0]) | {"steps": [step for text in group for step in steps_full_of(text)]}
            for group in groups
        ]
        outputs = [
            nbformat.v4.new_output("display_data", data={RECORD: record}) for record in whole_signs(records)
        ]
        kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [nbformat.v4.new_code_cell("# not run here", outputs=outputs)]
        return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})

    def look(lab, name, texts):
        nbformat.write(to_notebook(texts), lab_folder / f"{name}.ipynb")
        lab.open(f"{name}.ipynb", wait_for_kernel=False)
        assert lab.page.evaluate(f"{CURRENT}.content.widgets[0].model.trusted") is False
        shown = lab.area(0)
        expect(shown.locator(".jp-AgentMagic-run").last).to_be_visible()
        return shown.evaluate(LOOK)

    twins = look(lab, "untrusted-twins", [twin_of(text) for text in SAVED])
    lab = lab.beside()
    done = watch(lab)
    drawn = look(lab, "untrusted-texts", SAVED)
    assert_alike(drawn, twins, [str(i) for i in range(len(twins))])
    assert lab.page.evaluate("window.hit ?? null") is None
    assert [url for url in done if "/untrusted-texts.ipynb" not in url] == lab.complaints == []


BAD = (
    '<img src=x onerror="window.hit=1"><script>window.hit=1</script></details></pre>'
    '<button onclick="window.hit=1" data-commandlinker-command="help:about">b</button>'
    '<a href="javascript:window.hit=1">a</a><style>*{display:none}</style>'
)
SETUP = f"""\
%load_ext agent_magic
from agent_magic import ScriptedModel

BAD = {BAD!r}

def echo(text: str) -> str:
    \"\"\"Give back a text.

    Args:
        text: any text.
    \"\"\"
    print(text)
    return text

def fail(text: str) -> str:
    \"\"\"Fail with a text.

    Args:
        text: any text.
    \"\"\"
    raise ValueError(text)

m = ScriptedModel([
    BAD,
    {{"content": BAD, "reasoning": BAD, "tool_calls": [
        {{"name": "echo", "arguments": {{"text": BAD}}}}, {{"name": "fail", "arguments": {{"text": BAD}}}},
    ]}},
    ScriptedModel.calls((BAD, {{BAD: BAD}})),
    ScriptedModel.final(BAD),
], stream_pieces=20, latency_s=0.05, model_id=BAD)"""
ASK = f"%%agent bot --model @m --tools echo fail --plan 9 --approve all\nSay {BAD}"


def assert_only_ours(shown, *, at_least):
    """What is drawn shows the text as text, and holds no element but those that we make."""
    for made, _ in shown.evaluate(LOOK):
        assert_ours(made)
    assert shown.get_by_text("window.hit=1").count() >= at_least
    assert (
        shown.locator("img, script, a, style, [onerror], [onclick], [data-commandlinker-command]").count()
        == 0
    )
    assert shown.page.evaluate("window.hit ?? null") is None


def test_markup_of_a_run_is_text_while_it_goes_on_afterwards_and_opened_again(lab, lab_folder):
    open_run(lab, lab_folder, "markup", [SETUP, ASK])
    lab.start(1)
    shown = lab.area(1)
    card = shown.get_by_role("group", name="Waiting for your approval")
    expect(card.get_by_text("<img src=x onerror=").first).to_be_visible(timeout=15_000)
    card.get_by_role("button", name="Edit").click()
    expect(card.get_by_role("textbox")).to_have_value(BAD)
    assert_only_ours(shown, at_least=2)
    card.get_by_role("button", name="Cancel").click()
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card.get_by_text("fail")).to_be_visible()
    assert_only_ours(shown, at_least=4)
    card.get_by_role("button", name="Approve all").click()
    lab.wait_for_end(1)
    # Task, plan, thought, reasoning, arguments, print, observation, error, tool's name, answer.
    assert_only_ours(shown, at_least=10)
    row = row_of(shown, 1)
    row.get_by_role("button", name="What the model got").click()
    expect(row.get_by_text("normal view")).to_be_visible()
    row.get_by_role("button", name="Edit").click()
    assert_only_ours(shown, at_least=14)
    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    lab.open("markup.ipynb", wait_for_kernel=False)
    expect(row_of(shown, 1)).to_be_visible()
    assert_only_ours(shown, at_least=10)
    assert lab.complaints == []
