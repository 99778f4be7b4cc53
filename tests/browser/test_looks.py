from __future__ import annotations

import re

import pytest
from lab import SHOTS
from playwright.sync_api import expect
from runs import CODE, TASK, ask, setup
from views import RECORD, open_run, row_of, steps_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

ROOM = """
def describe(city: str, about: dict) -> str:
    \"\"\"Describe a city.

    Args:
        city: its name.
        about: what is known of it.
    \"\"\"
    if city == "Atlantis":
        raise ValueError("There is no table of Atlantis. Cities: Oslo, Bergen, Trondheim, Stavanger.")
    global note
    note = city
    print("looking at", city, "in a table with many columns and a very long line that does not end soon " * 3)
    return {"city": city, "about": about, "rows": [[i, i * i, "x" * 40] for i in range(20)]}
"""
LONG = "A_very_long_word_without_any_place_to_break_it_" * 4
REPLIES = f"""[
    PLAN,
    call(("describe", {{"city": "Oslo", "about": {{"why": {LONG!r}, "n": 3}}}}))
        | {{"content": "I look at Oslo first, because it is the largest. " * 6, "reasoning": "Hm. " * 30}},
    call(("describe", {{"city": "Atlantis", "about": {{}}}}), ("mean_price", {{"city": "Bergen"}})),
    PLAN.replace("Bergen", "Trondheim"),
    *prices(2, 0), PLAN,
    final("Oslo has the higher mean price: 4321.5 against 3987.0."),
]"""
ALL_KINDS = [
    setup("[]") + ROOM + f"m = ScriptedModel({REPLIES})",
    ask("--tools describe mean_price --plan 2"),
]
CODE_OF_ALL_KINDS = """
    # What the prices are
    @staticmethod
    def rows(n: int = 3) -> list[str]:
        return [f"row {i!r}\\\\n" for i in range(n) if i % 2 == 0 or None]
    a_very_long_line = [mean_price(city) for city in ("Oslo", "Bergen")] + [len("Trondheim".replace("r", "")) * 17]
    print(rows.__name__, "looked")
    a_very_long_line[7]
"""
WITH_CODE = [
    ALL_KINDS[0]
    + CODE
    + f"c = ScriptedModel([block({CODE_OF_ALL_KINDS!r}, 'I look.'), block('final_answer(3)')])",
    ALL_KINDS[1],
    f"%%agent coder --mode code --model @c --tools mean_price\n{TASK}",
]
RUNS = (1, 2)
"""The cells of these that ask."""
SMALLEST = 3.0
"""Of the contrast between a text and what is behind it; that of running text is at least 4.5."""

# Each text in a run: its colour, and what is behind it; and the colours that the theme has.
COLOURS = r"""run => {
  const resolve = (name, property) => {
    const probe = document.createElement('i');
    probe.style[property] = `var(${name})`;
    document.body.append(probe);
    const colour = getComputedStyle(probe)[property];
    probe.remove();
    return colour;
  };
  const names = new Set();
  for (const sheet of document.styleSheets) {
    let rules = [];
    try { rules = [...sheet.cssRules]; } catch { continue; }
    for (const rule of rules) {
      if (rule.cssText.includes('jp-AgentMagic')) {
        for (const [name] of rule.cssText.matchAll(/--jp-[\w-]*color[\w-]*|--jp-cell-editor-background/g)) names.add(name);
      }
    }
  }
  const theme = [...names].map(name => resolve(name, 'color'));
  const rgba = text => {
    const found = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return [...found.slice(0, 3), found[3] ?? 1];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const behind = node => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => [r, g, b]
    .map(c => c / 255)
    .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const texts = [];
  const walker = document.createTreeWalker(run, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const style = getComputedStyle(node);
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    const back = behind(node);
    const [a, b] = [light(over(rgba(style.color), back)), light(back)].sort((x, y) => y - x);
    texts.push([walker.currentNode.data.slice(0, 40), style.color, (a + 0.05) / (b + 0.05), node.className]);
  }
  return {theme, texts, page: behind(run)};
}"""
# What sticks out of a run, if not in a box that scrolls by itself.
STICKS_OUT = """run => {
  const right = run.getBoundingClientRect().right + 1;
  const scrolls = node => {
    for (let at = node.parentElement; at && at !== run; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== 'visible') return true;
    }
    return false;
  };
  return [...run.querySelectorAll('*')]
    .filter(node => node.getBoundingClientRect().right > right && !scrolls(node))
    .map(node => node.className);
}"""


def use_theme(lab, name):
    lab.page.evaluate(
        f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{ theme: {name!r} }})"
    )
    lab.page.wait_for_function(f"document.body.dataset.jpThemeName === {name!r}")


def open_everything(shown):
    """Open all steps, and the lens of one."""
    for row in steps_of(shown).all():
        toggle_of(row).click()
    expect(shown.get_by_text("Observation").first).to_be_visible()
    row_of(shown, 2).get_by_role("button", name="What the model got").click()
    expect(shown.get_by_text("normal view")).to_be_visible()


def take_picture(shown, name):
    shown.page.mouse.move(0, 0)
    shown.locator(".jp-AgentMagic-run").screenshot(path=SHOTS / f"{name}.png")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_colours_are_those_of_the_theme_and_can_be_read(theme, lab, lab_folder, request):
    name = theme.split()[1].lower()
    lab.page.set_viewport_size({"width": 1000, "height": 3000})
    open_run(lab, lab_folder, name, WITH_CODE)
    use_theme(lab, theme)
    request.addfinalizer(lambda: use_theme(lab, "JupyterLab Light"))
    for cell in RUNS:
        lab.run(cell)
        shown = lab.area(cell)
        open_everything(shown)
        take_picture(shown, f"run-{name}" if cell == 1 else f"code-{name}")
        assert_legible(shown.locator(".jp-AgentMagic-run").evaluate(COLOURS), name)
    assert lab.complaints == []


def assert_legible(seen, name):
    """All colours are the theme's, and stand out from what is behind them."""
    assert len(seen["texts"]) > 60
    assert (sum(seen["page"][:3]) < 3 * 128) is (name == "dark")
    assert {colour for _, colour, *_ in seen["texts"]} <= set(seen["theme"])
    assert [text for text in seen["texts"] if text[2] < SMALLEST] == []
    assert [
        text for text in seen["texts"] if text[3].endswith(("-prose", "-block", "-answer")) and text[2] < 4.5
    ] == []


def test_run_fits_into_400_pixels(lab, lab_folder):
    lab.page.set_viewport_size({"width": 400, "height": 5000})
    open_run(lab, lab_folder, "narrow", WITH_CODE, run=2)
    for cell in RUNS:
        shown = lab.area(cell)
        open_everything(shown)
        run = shown.locator(".jp-AgentMagic-run")
        assert run.bounding_box()["width"] <= 400
        assert run.evaluate(STICKS_OUT) == []
        assert run.evaluate("run => run.scrollWidth - run.clientWidth") <= 0
        take_picture(shown, "run-narrow" if cell == 1 else "code-narrow")
    assert lab.complaints == []


def test_run_that_asks_fits_into_400_pixels(lab, lab_folder):
    lab.page.set_viewport_size({"width": 400, "height": 900})
    replies = (
        f"m = ScriptedModel([call(('describe', {{'city': 'Oslo', 'about': {{'why': {LONG!r}}}}})), final(1)])"
    )
    cells = [setup("[]") + ROOM + replies, ask("--tools describe --approve tools")]
    open_run(lab, lab_folder, "narrow-live", cells)
    lab.start(1)
    shown = lab.area(1)
    card = shown.get_by_role("group", name="Waiting for your approval")
    expect(card).to_be_visible(timeout=15_000)
    run = shown.locator(".jp-AgentMagic-run")
    assert run.evaluate(STICKS_OUT) == []
    take_picture(shown, "run-narrow-live")
    card.get_by_role("button", name="Edit").click()
    assert run.evaluate(STICKS_OUT) == []
    assert run.evaluate("run => run.scrollWidth - run.clientWidth") <= 0
    card.get_by_role("button", name="Cancel").click()
    shown.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1)


def go_to(target, *, back=False, most=80):
    """Press Tab until something has the focus."""
    page = target.page
    for _ in range(most):
        if target.count() and target.first.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("Shift+Tab" if back else "Tab")
    pytest.fail(f"{target} is not reached by {most} times Tab")


def press(target, key="Enter", **how):
    go_to(target, **how)
    target.page.keyboard.press(key)


def test_run_is_steered_with_nothing_but_the_keyboard(lab, lab_folder):
    replies = (
        "[*[call(('mean_price', {'city': city})) for city in ('Oslo', 'Bergen', 'Voss')], *prices(9, 30)]"
    )
    cells = [setup(replies), ask("--approve tools"), "1"]
    open_run(lab, lab_folder, "keys", cells)
    lab.select(1)
    lab.page.keyboard.press("Control+Enter")
    shown = lab.area(1)
    card = shown.get_by_role("group", name="Waiting for your approval")
    expect(card.get_by_text("Oslo")).to_be_visible(timeout=15_000)
    keys = lab.page.keyboard
    press(card.get_by_role("button", name="Approve", exact=True))
    expect(card.get_by_text("Bergen")).to_be_visible()
    press(card.get_by_role("button", name="Edit"))
    expect(card.get_by_role("textbox")).to_be_focused()
    keys.press("Control+A")
    keys.type('{"city": "Oslo"}')
    press(card.get_by_role("button", name="Approve as edited"))
    expect(card.get_by_text("Voss")).to_be_visible()
    press(card.get_by_role("button", name="Reject"))
    keys.type("Too small.")
    press(card.get_by_role("button", name="Reject"))
    expect(card.get_by_text("wait")).to_be_visible()

    mode = shown.get_by_role("combobox", name=re.compile("summary_mode"))
    go_to(mode, back=True)
    keys.press("ArrowDown")
    expect(shown.get_by_text("summary_mode all: from the next call")).to_be_visible()
    expect(mode).to_be_focused()
    press(shown.get_by_label("Replanning", exact=True), "Space")
    expect(shown.get_by_text(re.compile(r"Replanning every 3 steps: from step \d"))).to_be_visible()
    row = row_of(shown, 1)
    go_to(toggle_of(row))
    keys.press("d")
    keys.press("d")  # on a cell this deletes it
    assert len(lab.cells()) == 3
    keys.press("Enter")
    expect(row.get_by_text("Observation")).to_be_visible()
    view = row.get_by_role("combobox")
    go_to(view)
    keys.press("End")
    expect(row.get_by_text("hidden from the model").first).to_be_visible()
    press(row.get_by_role("button", name="Pin"))
    expect(row.get_by_text("pinned").first).to_be_visible()
    press(row.get_by_role("button", name="What the model got"))
    expect(row.get_by_text("normal view")).to_be_visible()
    press(row.get_by_role("button", name="What the model got"), back=True)
    press(toggle_of(row), back=True)
    expect(row.get_by_text("Observation")).to_have_count(0)
    press(shown.get_by_role("button", name="Stop"), back=True)
    lab.wait_for_end(1)
    record = lab.outputs(1)[0]["data"][RECORD]
    assert record["status"] == "interrupted"
    first, second, third, *_ = record["steps"]
    assert first["laid_on"] == {"view": "hidden", "is_pinned": True}
    assert second["calls"][0]["observation"] == "4321.5"
    assert "Too small." in third["calls"][0]["error"]["message"]
    assert lab.complaints == []
