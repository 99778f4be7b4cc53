"""What code may not bind, import or reach, with what it is told; and what of the kind it may."""

from __future__ import annotations

import logging
import math
import os
import random
import statistics
import sys

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import CodeRefused
from agent_magic.execution.guard.compiling import Compiled, compile_code
from agent_magic.execution.guard.imports import AuthorizedImports
from agent_magic.execution.guard.rules import Rules


def search(q: str) -> str:
    return q


search.__module__ = "__main__"  # as a function of a notebook's cell


def namespace() -> dict[str, object]:
    return {
        "pd": pd,
        "np": np,
        "random": random,
        "df": pd.DataFrame({"a": [1]}),
        "rows": [1],
        "pi": math.pi,
        "search": search,
    }


def build(code: str, *, writes: str = "new", imports: tuple[str, ...] = (), **names: object) -> Compiled:
    ns = namespace() | names
    users = {} if writes == "all" else {name: value for name, value in ns.items() if name != "search"}
    rules = Rules(
        imports=AuthorizedImports.of(imports, ns), tool_names={"search", "add"}, users=users, namespace=ns
    )
    return compile_code(code, filename="<step>", rules=rules)


def refusal(code: str, **settings: object) -> str:
    with pytest.raises(CodeRefused) as caught:
        build(code, **settings)
    return caught.value.message


def refusals(*codes: str) -> dict[str, str]:
    return {code: refusal(code) for code in codes}


# Names of the person's


def test_rebinding_a_name_of_the_persons_is_refused_with_the_line_and_a_free_name() -> None:
    assert refusal("n = len(df)\ndf = df.dropna()\ndf_2 = 1") == snapshot("""\
Line 2 is refused, and nothing ran: `df = df.dropna()`
`df` is the person's own, and code may not rebind it. Bind a new name, such as `df_2`.\
""")


@pytest.mark.parametrize(
    "code",
    [
        "df = 1",
        "x = df = 1",
        "x, (y, *df) = 1, (2, 3)",
        "df: int = 1",
        "rows += [2]",
        "def df(): pass",
        "async def df(): pass",
        "class df: pass",
        "import math as df",
        "from math import tau as df",
        "(df := 3)",
        "[df := n for n in range(3)]",
        "any((df := n) for n in range(3))",
        "del df",
        "def f():\n    global df\n    df = 1",
        "class A:\n    global df\n    df = 1",
        "match [1]:\n    case [df]: pass",
        "match [1]:\n    case [*df]: pass",
        "match {}:\n    case {**df}: pass",
        "match 1:\n    case int() as df: pass",
        "if False:\n    df = 1",
        "while True:\n    try:\n        df = 1\n    finally:\n        break",
        "import math as pd",
        "from statistics import mean as pi",
    ],
)
def test_name_of_the_persons_is_not_rebound_in_any_form(code: str) -> None:
    assert "the person's own" in refusal(code)


@pytest.mark.parametrize(
    "code",
    [
        "for df in range(3): pass",
        "with open('x') as df: pass",
        "try:\n    pass\nexcept ValueError as df:\n    pass",
        "def f(df):\n    rows = df\n    return rows",
        "def f():\n    df = 1\n    return df",
        "class A:\n    df = 1\n    def rows(self): pass",
        "lambda df: df",
        "[df for df in range(3)]",
        "lambda: [(df := n) for n in range(3)]",
        "df = df",
        "import pandas as pd, numpy as np",
        "from math import pi",
        "import random",
        "df['b'] = 1\ndf.loc[0, 'a'] = 2\nrows[0] = 3\ndel rows[0]",
        "df: int",
        "new = df\nnew += 1",
    ],
)
def test_name_of_the_persons_is_left_to_the_code_where_it_is_not_rebound(code: str) -> None:
    build(code)


def test_names_of_the_persons_may_be_rebound_with_writes_all() -> None:
    build("df = 1\ndel rows", writes="all")


def test_import_of_another_object_under_a_name_of_the_persons_is_refused() -> None:
    assert refusal("import statistics as random") == snapshot("""\
Line 1 is refused, and nothing ran: `import statistics as random`
`random` is the person's own, and code may not rebind it. Bind a new name, such as `random_2`.\
""")
    build("import statistics as random", random=statistics)


# Tools and the final answer


def test_tool_is_not_rebound_or_changed() -> None:
    codes = (
        "search = search(q='a')",
        "def add(a, b): return 42",
        "del search",
        "for add in [1]: pass",
        "add.x = 1",
    )
    assert refusals(*codes) == snapshot(
        {
            "search = search(q='a')": """\
Line 1 is refused, and nothing ran: `search = search(q='a')`
`search` is a tool and cannot be rebound. Use another name, such as `search_2`.\
""",
            "def add(a, b): return 42": """\
Line 1 is refused, and nothing ran: `def add(a, b): return 42`
`add` is a tool and cannot be rebound. Use another name, such as `add_2`.\
""",
            "del search": """\
Line 1 is refused, and nothing ran: `del search`
`search` is a tool and cannot be deleted. Leave it; only delete what you made.\
""",
            "for add in [1]: pass": """\
Line 1 is refused, and nothing ran: `for add in [1]: pass`
`add` is a tool and cannot be rebound. Use another name, such as `add_2`.\
""",
            "add.x = 1": """\
Line 1 is refused, and nothing ran: `add.x = 1`
`add` is a tool, and code may not change it. Call it.\
""",
        }
    )


@pytest.mark.parametrize(
    "code",
    [
        "import math as add",
        "with open('x') as add: pass",
        "try:\n    pass\nexcept ValueError as add:\n    pass",
        "(add := 1)",
        "match 1:\n    case add: pass",
        "def f():\n    global add\n    add = 1",
        "add += 1",
    ],
)
def test_tool_is_not_rebound_in_any_form(code: str) -> None:
    assert "`add` is a tool" in refusal(code)
    assert "`final_answer` is the function" in refusal(code.replace("add", "final_answer"))


@pytest.mark.parametrize(
    "code",
    [
        "class Basket:\n    def add(self, x): pass\n    search = 1",
        "def f(add):\n    return add",
        "[add for add in 'ab']",
    ],
)
def test_name_of_a_tool_is_free_inside_functions_and_classes(code: str) -> None:
    build(code)


def test_assignment_to_the_final_answer_is_refused_without_a_call() -> None:
    assert refusal("final_answer = 'the answer'") == snapshot("""\
Line 1 is refused, and nothing ran: `final_answer = 'the answer'`
`final_answer` is the function that gives the answer and cannot be bound. Call it instead: `final_answer(value)`.\
""")
    assert "`final_answer` is the function" in refusal("def f(final_answer): pass")


def test_assignment_to_the_final_answer_is_dropped_beside_a_call() -> None:
    compiled = build("final_answer = lambda x: None\nif True:\n    a = final_answer = 2\nfinal_answer(a)")
    assert compiled.notes == snapshot(
        (
            "Line 1, 3: the assignment to `final_answer` was left out, since it is the function that gives the answer; the call on line 4 counts.",
        )
    )
    got: list[object] = []
    exec(compiled.code, ns := {"final_answer": got.append})
    eval(compiled.last, ns)
    assert got == [2]


def test_dropped_assignment_at_the_end_has_no_value_to_show() -> None:
    assert build("final_answer(1)\nfinal_answer = 3").last is None


# Names of Python's


def test_names_that_are_not_for_code_are_refused_each_with_what_to_do_instead() -> None:
    codes = (
        "exit()",
        "quit()",
        "x = input('?')",
        "breakpoint()",
        "get_ipython().run_line_magic('ls', '')",
        "globals()['df']",
        "exec('x = 1')",
        "eval('1 + 1')",
        "compile('1', '', 'eval')",
        "__import__('os')",
        "help(len)",
        "__builtins__.eval('1')",
        "run = eval",
        "__loader__",
    )
    told = refusals(*codes)
    assert {code: text.split("\n", 1)[1] for code, text in told.items()} == snapshot(
        {
            "exit()": "`exit` is not for code. Code cannot end the kernel: to end the run call `final_answer(value)`.",
            "quit()": "`quit` is not for code. Code cannot end the kernel: to end the run call `final_answer(value)`.",
            "x = input('?')": "`input` is not for code. Nobody can type here: take a sensible value, or ask in the final answer.",
            "breakpoint()": "`breakpoint` is not for code. Nobody can debug here: print what you want to look at.",
            "get_ipython().run_line_magic('ls', '')": "`get_ipython` is not for code. Write plain Python: magics have no place in it.",
            "globals()['df']": "`globals` is not for code. Use the variables by their names; to see whether one is there, catch `NameError`.",
            "exec('x = 1')": "`exec` is not for code. Write the statements themselves in the code block.",
            "eval('1 + 1')": "`eval` is not for code. Write the expression itself; for literals in text use `ast.literal_eval`.",
            "compile('1', '', 'eval')": "`compile` is not for code. Write the code itself in the code block; for patterns use `re.compile`.",
            "__import__('os')": "`__import__` is not for code. Write an `import` statement.",
            "help(len)": "`help` is not for code. Use `print(x.__doc__)` or `dir(x)`.",
            "__builtins__.eval('1')": "`__builtins__` is not for code. Use the built-in functions by their names.",
            "run = eval": "`eval` is not for code. Write the expression itself; for literals in text use `ast.literal_eval`.",
            "__loader__": "`__loader__` is not for code. Code works with values, not with the interpreter's own parts.",
        }
    )


@pytest.mark.parametrize(
    "code",
    [
        "def solve(input):\n    return input.split()",
        "def f():\n    eval = 3\n    return eval",
        "class A:\n    def eval(self): return self.exec\n    help = 'text'",
        "[input for input in 'ab']",
        "pd.eval('1 + 1')\ndf.eval('a + 1')",
        "if __name__ == '__main__':\n    print(__doc__)",
        "import re\nre.compile('a')",
        "locals()\nvars()\ndir()",
    ],
)
def test_such_a_name_is_free_where_it_means_something_else(code: str) -> None:
    build(code)


def test_name_of_data_in_the_notebook_is_free_though_a_function_of_it_is_refused() -> None:
    build("print(input[0])", input="3 4")


def test_builtin_name_is_not_bound_for_the_whole_notebook() -> None:
    assert refusals(
        "list = [1]", "for print in [1]: pass", "sum: int = 0", "def id(): pass", "__builtins__ = {}"
    ) == snapshot(
        {
            "list = [1]": """\
Line 1 is refused, and nothing ran: `list = [1]`
`list` is Python's own name, and binding it would break the notebook's other cells. Use another name, such as `list_2`.\
""",
            "for print in [1]: pass": """\
Line 1 is refused, and nothing ran: `for print in [1]: pass`
`print` is Python's own name, and binding it would break the notebook's other cells. Use another name, such as `print_2`.\
""",
            "sum: int = 0": """\
Line 1 is refused, and nothing ran: `sum: int = 0`
`sum` is Python's own name, and binding it would break the notebook's other cells. Use another name, such as `sum_2`.\
""",
            "def id(): pass": """\
Line 1 is refused, and nothing ran: `def id(): pass`
`id` is Python's own name, and binding it would break the notebook's other cells. Use another name, such as `id_2`.\
""",
            "__builtins__ = {}": """\
Line 1 is refused, and nothing ran: `__builtins__ = {}`
`__builtins__` belongs to the interpreter. Use an ordinary name.\
""",
        }
    )
    build("def f(list, max=3):\n    id = 1\n    return [sum for sum in list]\nclass A:\n    id: int = 3")


# Attributes


def test_attributes_of_the_interpreter_are_refused() -> None:
    codes = (
        "().__class__.__base__.__subclasses__()",
        "f = (lambda: 0).__globals__",
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    e.__traceback__.tb_frame.f_back",
        "(n for n in []).gi_frame",
        "df._mgr",
        "getattr(df, '__subclasses__')",
        "setattr(search, '__code__', None)",
        "import operator\noperator.attrgetter('a.__globals__')(1)",
        "'{0.__class__.__base__}'.format(())",
        "'{:{0.__globals__}}'.format(1, search)",
        "object.__getattribute__(search, '__globals__')",
        "f'{search.__code__}'",
        "print.__self__",
    )
    told = refusals(*codes)
    assert {code: text.split("\n", 1)[1] for code, text in told.items()} == snapshot(
        {
            "().__class__.__base__.__subclasses__()": "`__base__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "f = (lambda: 0).__globals__": "`__globals__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            """\
try:
    1 / 0
except ZeroDivisionError as e:
    e.__traceback__.tb_frame.f_back\
""": "`tb_frame` is not for code: it reaches the interpreter's frames and code. Reach what you need by its public name.",
            "(n for n in []).gi_frame": "`gi_frame` is not for code: it reaches the interpreter's frames and code. Reach what you need by its public name.",
            "df._mgr": "`_mgr` is not for code: it reaches a private buffer of a frame or array. Reach what you need by its public name.",
            "getattr(df, '__subclasses__')": "`__subclasses__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "setattr(search, '__code__', None)": "`__code__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            """\
import operator
operator.attrgetter('a.__globals__')(1)\
""": "`__globals__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "'{0.__class__.__base__}'.format(())": "`__base__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "'{:{0.__globals__}}'.format(1, search)": "`__globals__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "object.__getattribute__(search, '__globals__')": "`__globals__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "f'{search.__code__}'": "`__code__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
            "print.__self__": "`__self__` is not for code: it reaches the interpreter's own parts. Reach what you need by its public name.",
        }
    )


@pytest.mark.parametrize(
    "code",
    [
        "df.__class__.__name__, pd.__version__, search.__doc__, search.__name__",
        "class A:\n    def __init__(self): super().__init__(); self._x = self.__y = 1\nA().__dict__",
        "object.__setattr__(rows, 'x', 1)",
        "getattr(df, 'shape'), getattr(df, '_private', None), hasattr(df, '__len__')",
        "from collections import namedtuple\nnamedtuple('P', 'x')(1)._asdict()",
        "'{0.a} {1[b]} {c!r:>10}'.format(df, {'b': 1}, c=3)",
        "'{'.format()",
        "len.__call__([1]), [].__len__(), (1).__add__(2)",
    ],
)
def test_ordinary_attributes_are_allowed(code: str) -> None:
    build(code)


# Modules


def test_modules_that_are_not_authorized_are_refused_with_what_to_do_instead() -> None:
    codes = (
        "import os",
        "import requests",
        "from os import path, system",
        "import urllib.request",
        "import sklearn",
        "from . import x",
    )
    assert refusals(*codes) == snapshot(
        {
            "import os": """\
Line 1 is refused, and nothing ran: `import os`
The module 'os' is not authorized for code. For paths use `pathlib.Path` or `from os.path import join`, to list files `glob`. The person can allow it with `--imports os`.\
""",
            "import requests": """\
Line 1 is refused, and nothing ran: `import requests`
The module 'requests' is not authorized for code. Code may not use the network: call a tool that fetches, or say in the final answer what is missing. The person can allow it with `--imports requests`.\
""",
            "from os import path, system": """\
Line 1 is refused, and nothing ran: `from os import path, system`
The module 'os' is not authorized for code. For paths use `pathlib.Path` or `from os.path import join`, to list files `glob`. The person can allow it with `--imports os`.\
""",
            "import urllib.request": """\
Line 1 is refused, and nothing ran: `import urllib.request`
The module 'urllib.request' is not authorized for code. Code may not use the network: call a tool that fetches, or say in the final answer what is missing. The person can allow it with `--imports urllib.request`.\
""",
            "import sklearn": """\
Line 1 is refused, and nothing ran: `import sklearn`
The module 'sklearn' is not authorized for code. Authorized are numpy, pandas and the safe part of the standard library. The person can allow it with `--imports sklearn`.\
""",
            "from . import x": """\
Line 1 is refused, and nothing ran: `from . import x`
Relative imports have no package here. Write the whole name of the module.\
""",
        }
    )


@pytest.mark.parametrize(
    "code",
    [
        "import random\nrandom._os.mkdir('x')",
        "random._os",
        "from random import _os",
        "import logging\nlogging.os.system('x')",
        "import logging as lg\nlg.sys",
        "from logging import os",
        "import math, logging\nm = logging\nm.sys.exit()",
        "import concurrent.futures\nconcurrent.futures.thread.threading._os",
        "random.__dict__['_os']",
        "getattr(random, '_os')",
        "np.random.__loader__",
        "def f():\n    return logging.sys\nimport logging",
        "import pathlib\npathlib.os",
        "from math import *",
        "import os.path\nos.system('x')",
        "import IPython.display",
        "from IPython.display import display, HTML",
        "from numpy import f2py",
        "import string._x",
    ],
)
def test_module_is_not_reached_through_another(code: str) -> None:
    refusal(code)


@pytest.mark.parametrize(
    "code",
    [
        "import os.path as osp\nosp.join('a', 'b')",
        "from os.path import join, exists",
        "from os import path",
        "from urllib import parse\nimport urllib.parse\nurllib.parse.quote('a')",
        "from concurrent.futures import ThreadPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ThreadPoolExecutor",
        "from __future__ import annotations",
        "np.random.default_rng(1)\nnp.linalg.norm([1])\npd.api.types.is_list_like([])",
        "from IPython.display import display, Markdown",
        "import collections.abc as c\nc.Mapping",
        "from json import __version__ as v",
        "import xml.etree.ElementTree as ET\nET.fromstring",
        "from numpy import trace, select",
        "random.seed(1)\nnp.random.seed(1)\npd.options.display.max_rows = 3",
        "import numpy as np\nnp.pi, np.e, np.newaxis",
    ],
)
def test_authorized_module_can_be_used(code: str) -> None:
    build(code)


def test_module_is_not_changed_for_the_whole_notebook() -> None:
    assert refusals("random.seed = None", "del np.pi", "setattr(np, 'pi', 3)") == snapshot(
        {
            "random.seed = None": """\
Line 1 is refused, and nothing ran: `random.seed = None`
This would change the module 'random' for the whole notebook. Make a function or variable of your own instead.\
""",
            "del np.pi": """\
Line 1 is refused, and nothing ran: `del np.pi`
This would change the module 'numpy' for the whole notebook. Make a function or variable of your own instead.\
""",
            "setattr(np, 'pi', 3)": """\
Line 1 is refused, and nothing ran: `setattr(np, 'pi', 3)`
This would change the module 'numpy' for the whole notebook. Make a function or variable of your own instead.\
""",
        }
    )


def test_module_of_the_notebook_that_is_not_authorized_is_not_used_by_name() -> None:
    assert "The module 'sys' is not authorized" in refusal("sys.exit()", sys=sys)
    build("sys.version", sys=sys, imports=("sys",))
    build("os.getcwd()", os=os)


def test_star_authorizes_imports_and_leaves_the_other_rules() -> None:
    build("import os, sys, subprocess\nos.getcwd()", imports=("*",))
    assert "interpreter" in refusal("import os\nos.fwalk.__globals__", imports=("*",))
    assert "private" in refusal("import os\nos._exit(1)", imports=("*",))


# Sizes, and several at once


def test_huge_constant_is_refused() -> None:
    assert refusals("x = 10 ** 10 ** 10", "y = [0] * 10**11", "z = bytearray(64 * 10**9)") == snapshot(
        {
            "x = 10 ** 10 ** 10": """\
Line 1 is refused, and nothing ran: `x = 10 ** 10 ** 10`
This would make a whole number of up to 12,041,200,000 digits. Work on parts, or use a smaller number.\
""",
            "y = [0] * 10**11": """\
Line 1 is refused, and nothing ran: `y = [0] * 10**11`
This would make 100,000,000,000 items at once. Work on parts, or use a smaller number.\
""",
            "z = bytearray(64 * 10**9)": """\
Line 1 is refused, and nothing ran: `z = bytearray(64 * 10**9)`
This would make 64,000,000,000 bytes at once. Work on parts, or use a smaller number.\
""",
        }
    )


def test_all_that_is_refused_is_told_at_once() -> None:
    assert refusal("import os\nimport os\nx = 1\ndf = 2\nexit()\nsearch = 3") == snapshot("""\
Line 1 is refused, and nothing ran: `import os`
The module 'os' is not authorized for code. For paths use `pathlib.Path` or `from os.path import join`, to list files `glob`. The person can allow it with `--imports os`.
Line 4, too: `df = 2` `df` is the person's own, and code may not rebind it. Bind a new name, such as `df_2`.
Line 5, too: `exit()` `exit` is not for code. Code cannot end the kernel: to end the run call `final_answer(value)`.
Line 6, too: `search = 3` `search` is a tool and cannot be rebound. Use another name, such as `search_2`.\
""")
    many = refusal("\n".join(f"import secret_{number}" for number in range(40)))
    assert many.count("\n") < 8


def test_refusal_holds_no_secret_and_no_control_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "abcdef-canary-42")
    told = refusal("df = 'abcdef-canary-42 \x1b[2J'")
    assert "canary" not in told
    assert "\x1b" not in told


def test_rules_import_nothing() -> None:
    import sys

    before = set(sys.modules)
    build("import wave, plistlib, sched\nfrom quopri import encode")
    assert set(sys.modules) == before
    assert logging.getLogger is not None
