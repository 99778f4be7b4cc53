from __future__ import annotations

import json
import subprocess
import sys

LOAD = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
before = set(sys.modules)
shell.run_line_magic("load_ext", "agent_magic")
print(json.dumps({"new": sorted(set(sys.modules) - before), "all": sorted(sys.modules),
                  "magics": sorted(shell.magics_manager.lsmagic()["cell"])}))
"""
HEAVY = {"litellm", "openai", "httpx", "rich", "pandas", "xllamacpp", "ipywidgets", "anywidget"}


def test_load_ext_imports_nothing_heavy():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOAD], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stdout.splitlines()[-1])
    assert "agent" in modules["magics"]
    assert "agent_magic" in modules["new"]
    assert HEAVY & {name.partition(".")[0] for name in modules["all"]} == set()


def test_import_of_the_package_imports_no_room_above_core():
    probe = "import agent_magic, sys, json; print(json.dumps([m for m in sys.modules if m.startswith('agent_magic.')]))"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=120
    )
    rooms = {name.split(".")[1] for name in json.loads(done.stdout)}
    assert rooms <= {"core"}
