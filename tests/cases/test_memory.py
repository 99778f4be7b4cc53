from __future__ import annotations

import json

import pytest
from cells import call, final
from PIL import Image
from view.markup import Page

from agent_magic import AgentMemory, ScriptedModel, ToolCallingAgent
from agent_magic.record.run import to_record

RECORD = "application/vnd.agent-magic.run.v1+json"
LIVE = {
    "a lock": "import threading\nthing = threading.Lock()",
    "an open file": "import tempfile\nthing = tempfile.TemporaryFile()",
    "a generator": "thing = (n for n in range(3))",
    "a live database connection": "import sqlite3\nthing = sqlite3.connect(':memory:')",
}


def test_memory_image_round_trip(case):
    assert 'size (3, 2), mode "RGBA"' in case.given
    made = Image.frombytes("RGBA", (3, 2), bytes(range(0, 240, 10)))

    def draw() -> Image.Image:
        """Draw."""
        return made

    agent = ToolCallingAgent([draw], ScriptedModel([call("draw"), final("drawn")]))
    agent.run("Draw.")
    (seen,) = agent.memory.steps[1].observations_images
    assert seen.image is made
    # json.dumps works
    text = json.dumps(agent.memory.to_dict())
    loaded = AgentMemory.from_dict(json.loads(text))
    # the rebuilt image: size, mode and equal pixels
    (rebuilt,) = loaded.steps[1].observations_images
    assert rebuilt.image is not made
    assert (rebuilt.image.size, rebuilt.image.mode) == ((3, 2), "RGBA")
    assert rebuilt.image.tobytes() == made.tobytes()
    # so is the output, and once more through the form is no other
    assert loaded.steps[1].action_output.tobytes() == made.tobytes()
    assert json.dumps(loaded.to_dict()) == text


@pytest.mark.parametrize("given", LIVE)
def test_memory_object_that_cannot_be_copied(case, cells, given):
    assert given.removeprefix("a live ").removeprefix("an ").removeprefix("a ") in case.given
    cells.define(LIVE[given])
    cells.define(
        "got = []\ndef use(thing: object) -> str:\n    'Use.\\n\\nArgs:\\n    thing: what'\n    got.append(thing); return 'used'"
    )
    cells.model(call("use", thing="@thing"), final("@thing"), call("use", thing="@thing"), final("y"))
    asked = "\nUse @thing."
    first = cells.run(f"%%agent bot --model @m --tools use{asked}")
    assert first.value is cells["thing"]
    # replay, reset, run again, replay
    lines = ("%agent steps bot", "%agent reset bot", f"%%agent bot{asked}", "%agent steps bot")
    shown = [first, *map(cells.run, lines)]
    agent = cells.agent()
    assert "use(" in shown[1].text
    assert "use(" in shown[-1].text
    to_record(agent.result)
    AgentMemory.from_dict(json.loads(json.dumps(agent.memory.to_dict())))
    # no "cannot pickle" error anywhere
    assert [each.error for each in shown] == [None] * 5
    assert "pickle" not in "".join(each.text + each.stderr for each in shown)
    assert [step.faults for step in agent.result.actions] == [(), ()]
    # the tool gets the very object
    assert len(cells["got"]) == 2
    assert all(thing is cells["thing"] for thing in cells["got"])
    if hasattr(cells["thing"], "close"):
        cells["thing"].close()


@pytest.mark.kernel
def test_memory_replay_calls_nothing(case, execute_notebook):
    assert "three steps, one with an error, one with an image, one planned" in case.given
    notebook = execute_notebook(
        "%load_ext agent_magic\nfrom PIL import Image\nfrom agent_magic import ScriptedModel\n"
        "def fail() -> str:\n    'Fail.'\n    raise ValueError('no tide today')\n"
        "def draw():\n    'Draw.'\n    return Image.new('RGB', (3, 2), 'teal')\n"
        "m = ScriptedModel(['1. Fail.\\n2. Draw.', ScriptedModel.calls(('fail', {})),"
        " ScriptedModel.calls(('draw', {})), ScriptedModel.final('drawn')])",
        "%%agent bot --model @m --tools fail, draw --plan 10\nDraw the tide.",
        # from here on a model and tools that raise if they are called
        "entered = []\n"
        "def refuse(request):\n    entered.append('model'); raise RuntimeError('the model was called')\n"
        "def fail() -> str:\n    'Fail.'\n    entered.append('fail'); raise RuntimeError('a tool was called')\n"
        "def draw():\n    'Draw.'\n    entered.append('draw'); raise RuntimeError('a tool was called')\n"
        "bot.model = ScriptedModel([refuse] * 5)\n"
        "n_before = len(bot.memory), len(bot.memory.requests), len(bot.runs)",
        "%agent steps bot",
        "print(entered, n_before == (len(bot.memory), len(bot.memory.requests), len(bot.runs)))\n"
        "(image,) = bot.memory.steps[3].observations_images\nimage.image",
    )
    ran, replayed = (notebook.cells[place].outputs[0].data for place in (1, 3))
    assert len(notebook.cells[3].outputs) == 1
    # no call is made, and nothing is added to the memory
    printed, image = notebook.cells[4].outputs
    assert printed.text == "[] True\n"
    # all steps show in order
    steps = replayed[RECORD]["steps"]
    assert steps == ran[RECORD]["steps"]
    assert len(steps) == 4
    plan, failed, drawn, _ = steps
    assert plan["plan"] == "1. Fail.\n2. Draw."
    html = Page(replayed["text/html"]).text
    for form in (replayed["text/plain"], replayed["text/markdown"], html):
        places = [form.index(part) for part in ("Draw the tide", "2. Draw.", "no tide today", "3 × 2 pixels")]
        assert places == sorted(places)
    # with their errors and the image
    assert "ValueError: no tide today" in failed["calls"][0]["error"]["message"]
    assert "Image, 3 × 2 pixels" in drawn["calls"][0]["observation"]
    assert "image/png" in image.data
    # readable text is left
    assert replayed["text/plain"].startswith("bot · answered")
    assert replayed["text/plain"].rstrip().endswith("Answer\n    drawn")
