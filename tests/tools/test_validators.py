"""What is loaded only when the first validator is needed."""

from __future__ import annotations

import subprocess
import sys

_PLAIN = """
import sys
from agent_magic import ScriptedModel, ToolCallingAgent

def area(width: float, unit: str) -> float:
    return width

model = ScriptedModel([ScriptedModel.calls(("area", {"width": 2.0, "unit": "m"})), ScriptedModel.final(1)])
assert ToolCallingAgent([area], model).run("the area").value == 1
sys.exit("jsonschema" in sys.modules)
"""


def test_validators_are_not_loaded_by_a_run_whose_calls_have_plain_values() -> None:
    done = subprocess.run([sys.executable, "-c", _PLAIN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
