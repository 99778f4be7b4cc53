from __future__ import annotations

import json
import re
import statistics

import pytest
from playwright.sync_api import expect
from runs import setup
from views import RECORD, open_run, row_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

# What hangs is told from what is slow: how quick it is, is printed, and no matter of a test.
SHOWN_WITHIN_S = 20.0
ANSWERED_WITHIN_MS = 5_000
MOST_NODES = 150
MOST_BYTES = 3_000_000

# The last reply of the model notes when it was given; only the answer follows.
MANY = """
def many(n: int) -> list:
    one = call(("mean_price", {"city": "Oslo"}))
    return [*[one] * n, last]

def last(request):
    global last_at
    last_at = time.time()
    return final("Oslo")

m = ScriptedModel(many(N))
"""
FIGURES = "import json; r = analyst.result; print(json.dumps([last_at, r.timing.end - r.timing.start]))"

# What the page does while steps arrive: how many elements the run has, its long tasks, when the last row came.
WATCH = """last => {
  const watched = window.watched = {nElements: 0, tasks: [], lastAt: null};
  const look = () => {
    const newest = document.querySelector(`.jp-AgentMagic-run [role="listitem"][aria-setsize]`);
    if (newest && Number(newest.getAttribute('aria-setsize')) > 100) {
      const run = newest.closest('.jp-AgentMagic-run');
      watched.nElements = Math.max(watched.nElements, run.querySelectorAll('*').length);
    }
    if (watched.lastAt === null && document.querySelector(`.jp-AgentMagic-run [aria-posinset="${last}"]`)) {
      watched.lastAt = Date.now() / 1000;
    }
  };
  new MutationObserver(look).observe(document.querySelector('.jp-NotebookPanel'), {childList: true, subtree: true});
  new PerformanceObserver(list => {
    for (const task of list.getEntries()) watched.tasks.push(Math.round(task.duration));
  }).observe({type: 'longtask'});
}"""
# Milliseconds of each of some requests, not as close as the server's sockets would hold them back for 40 ms:
# it lets a small message wait until the one before was acknowledged.
REQUEST = """async runId => {
  const node = document.querySelector('.jp-AgentMagic-run');
  const times = [];
  for (let i = 0; i < 10; i++) {
    await new Promise(resolve => setTimeout(resolve, 200));
    const begin = performance.now();
    const content = {v: 1, id: `test-${i}`, verb: 'hello', nonce: '', run_id: runId};
    const reply = await globalThis.agentMagic.request(content, {node, kernelId: null});
    if (!reply.ok || !reply.data.is_running) throw new Error(JSON.stringify(reply));
    times.push(performance.now() - begin);
  }
  return times;
}"""


class Wire:
    """What comes over the page's websockets."""

    def __init__(self, page):
        self.n_bytes = 0
        self.run_id = ""
        page.on("websocket", lambda socket: socket.on("framereceived", self._take))

    def _take(self, payload):
        data = payload if isinstance(payload, bytes) else payload.encode()
        self.n_bytes += len(data)
        if found := re.search(rb'"run_id": ?"([^"]+)"', data):
            self.run_id = found[1].decode()


def many(n):
    return setup("[]") + MANY.replace("many(N)", f"many({n})")


def ask(n):
    return f"%%agent analyst --model @m --max-steps {n}\nAsk for Oslo, often. Use @mean_price."


def test_thousand_steps_at_full_speed_are_shown_at_once(lab, lab_folder):
    n = 1_000
    wire = Wire(lab.page)
    open_run(lab, lab_folder, "thousand", [many(n), ask(n + 1), FIGURES])
    lab.page.evaluate(WATCH, n + 1)
    before = wire.n_bytes
    lab.run(1, timeout_s=180)
    n_bytes = wire.n_bytes - before
    watched = lab.page.evaluate("watched")
    lab.run(2)
    last_at, duration_s = json.loads(lab.outputs(2)[0]["text"])
    shown_s = watched["lastAt"] - last_at
    told = f"{n / duration_s:.0f} steps/s, {n_bytes} bytes, last row after {shown_s:.3f} s, {watched}"
    print(told)
    assert 0 < shown_s <= SHOWN_WITHIN_S, told
    assert 0 < watched["nElements"] <= MOST_NODES, told
    assert n_bytes <= MOST_BYTES, told
    shown = lab.area(1)
    expect(
        shown.get_by_text(f"{n + 1:,} steps of {n + 1}").or_(shown.get_by_text(f"{n + 1} steps"))
    ).to_be_visible()
    assert shown.locator(".jp-AgentMagic-run *").count() <= MOST_NODES
    # Of a long run the record holds the first and the last steps; the list has them all.
    listed = shown.get_by_role("list").first
    expect(row_of(shown, 1)).to_be_visible()
    listed.evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(row_of(shown, n + 1)).to_be_visible()
    toggle_of(row_of(shown, n)).click()
    expect(row_of(shown, n).get_by_text("4321.5").last).to_be_visible()
    assert lab.complaints == []


def test_two_thousand_steps_are_shown_and_opened(lab, lab_folder):
    n = 2_000
    open_run(lab, lab_folder, "two-thousand", [many(n), ask(n + 1), "analyst.runs[-1]"])
    lab.page.evaluate(WATCH, n + 1)
    lab.run(1, timeout_s=400)
    watched = lab.page.evaluate("watched")
    assert watched["lastAt"] is not None
    assert 0 < watched["nElements"] <= MOST_NODES
    output = lab.outputs(1)[0]["data"]
    assert sum(len(json.dumps(form)) for form in output.values()) < 800_000
    assert output[RECORD]["n_steps"] == n + 1
    lab.run(2)
    # Above the record, which holds the first and the last steps; below the run as its agent has it.
    for shown in (lab.area(1), lab.area(2)):
        expect(shown.get_by_text(re.compile(rf"{n + 1:,} steps"))).to_be_visible()
        expect(row_of(shown, 1)).to_be_visible()
        shown.get_by_role("list").first.evaluate("list => { list.scrollTop = list.scrollHeight }")
        expect(row_of(shown, n + 1)).to_be_visible()
        toggle_of(row_of(shown, n)).click()
        expect(row_of(shown, n).get_by_text("4321.5").last).to_be_visible()
    assert lab.complaints == []


@pytest.mark.parametrize("doing", ["waits", "computes"])
def test_requests_are_answered_while_a_tool_works(doing, lab, lab_folder):
    wire = Wire(lab.page)
    tool = """
def work(s: int) -> int:
    \"\"\"Work for a while.

    Args:
        s: seconds.
    \"\"\"
    end = time.monotonic() + s
    while time.monotonic() < end:
        WORK
    return s
m = ScriptedModel([call(("work", {"s": 600})), final("Oslo")])
""".replace("WORK", {"waits": "time.sleep(0.1)", "computes": "sum(range(1_000))"}[doing])
    open_run(lab, lab_folder, doing, [setup("[]") + tool, "%%agent analyst --model @m\nUse @work."])
    lab.start(1)
    shown = lab.area(1)
    expect(shown.get_by_text(re.compile("calling work")).first).to_be_visible(timeout=15_000)
    times = lab.page.evaluate(REQUEST, wire.run_id)
    told = f"median {statistics.median(times):.1f} ms, {[round(time) for time in times]}"
    print(told)
    assert statistics.median(times) <= ANSWERED_WITHIN_MS, told
    shown.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1, timeout_s=30)


def test_many_calls_of_one_step_are_shown(lab, lab_folder):
    n = 200
    two = f"[call(*[('mean_price', {{'city': 'Oslo', 'wait': 4}})] * {n}), final('Oslo')]"
    open_run(lab, lab_folder, "parallel", [setup(two), "%%agent analyst --model @m\nUse @mean_price, often."])
    lab.start(1)
    shown = lab.area(1)
    expect(shown.get_by_text(re.compile("calling mean_price")).first).to_be_visible(timeout=15_000)
    expect(shown.get_by_role("button", name=re.compile(rf"Show all .*{n - 20} more"))).to_be_visible()
    lab.wait_for_end(1)
    (step, _) = lab.outputs(1)[0]["data"][RECORD]["steps"]
    assert len(step["calls"]) + step["calls_left_out"] == n
    expect(row_of(shown, 1).get_by_text(f"{n - 3} more")).to_be_visible()
    toggle_of(row_of(shown, 1)).click()
    expect(row_of(shown, 1).get_by_text("4321.5").first).to_be_visible()
    expect(row_of(shown, 1).get_by_text(f"{step['calls_left_out']} calls not shown here")).to_be_visible()
    assert lab.complaints == []
