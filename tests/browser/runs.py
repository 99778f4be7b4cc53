"""Notebooks of runs that the browser tests watch and steer.

It must not drive a browser.
"""

from __future__ import annotations

LOAD = """\
%load_ext agent_magic
import time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final

def mean_price(city: str, wait: float = 0.0) -> float:
    \"\"\"Mean price of the listings in a city.

    Args:
        city: name as in the table.
        wait: seconds that it takes.
    \"\"\"
    time.sleep(wait)
    return {"Oslo": 4321.5, "Bergen": 3987.0}.get(city, 0.0)

def prices(n: int, wait: float) -> list:
    return [call(("mean_price", {"city": "Oslo" if i % 2 else "Bergen", "wait": wait})) for i in range(n)]

PLAN = "1. Look up Oslo\\n2. Look up Bergen\\n3. Compare"
"""
TASK = "Which of Oslo and Bergen has the higher mean price? Use @mean_price."


def setup(replies: str, **options: str) -> str:
    """A cell that makes the model `m` with these replies, as Python."""
    given = "".join(f", {name}={value}" for name, value in options.items())
    return f"{LOAD}\nm = ScriptedModel({replies}{given})"


def ask(options: str = "", name: str = "analyst") -> str:
    """A cell that asks."""
    return f"%%agent {name} --model @m {options}\n{TASK}"


CODE = """
from textwrap import dedent

def block(code: str, thought: str = "") -> str:
    return f"{thought}\\n<code>\\n{dedent(code).strip()}\\n</code>"
"""
"""Replies of a model that writes code."""


def setup_code(replies: str, **options: str) -> str:
    """A cell that makes the model `m` with these replies, as Python, for an agent that writes code."""
    given = "".join(f", {name}={value}" for name, value in options.items())
    return f"{LOAD}{CODE}\nm = ScriptedModel({replies}{given})"


def ask_code(options: str = "", name: str = "analyst") -> str:
    """A cell that asks an agent that writes code."""
    return f"%%agent {name} --mode code --model @m {options}\n{TASK}"
