"""Which modules code may import, and what it is told of the others."""

from __future__ import annotations

import collections
import fractions
import os
import sys
import types

import pytest
from inline_snapshot import snapshot

from agent_magic.execution.guard.imports import AuthorizedImports


def of(*additional: str, **namespace: object) -> AuthorizedImports:
    return AuthorizedImports.of(additional, namespace)


@pytest.mark.parametrize(
    "module",
    [
        "math",
        "statistics",
        "random",
        "re",
        "json",
        "csv",
        "io",
        "datetime",
        "time",
        "calendar",
        "zoneinfo",
        "itertools",
        "functools",
        "collections",
        "collections.abc",
        "operator",
        "dataclasses",
        "typing",
        "enum",
        "abc",
        "contextlib",
        "copy",
        "decimal",
        "fractions",
        "string",
        "textwrap",
        "pprint",
        "difflib",
        "hashlib",
        "base64",
        "uuid",
        "pathlib",
        "glob",
        "logging",
        "warnings",
        "traceback",
        "threading",
        "concurrent.futures",
        "queue",
        "asyncio",
        "urllib.parse",
        "xml.etree.ElementTree",
        "html",
        "zlib",
        "gzip",
        "sqlite3",
        "struct",
        "heapq",
        "bisect",
        "array",
        "weakref",
        "contextvars",
        "numbers",
        "unicodedata",
        "locale",
        "secrets",
        "timeit",
        "types",
        "graphlib",
        "os.path",
        "numpy",
        "numpy.linalg",
        "pandas",
        "pandas.api.types",
        "__future__",
    ],
)
def test_module_for_data_work_is_authorized(module: str) -> None:
    assert module in of()


@pytest.mark.parametrize(
    "module",
    [
        "os",
        "sys",
        "subprocess",
        "shutil",
        "socket",
        "ctypes",
        "signal",
        "importlib",
        "builtins",
        "gc",
        "inspect",
        "pickle",
        "marshal",
        "multiprocessing",
        "pty",
        "code",
        "runpy",
        "urllib",
        "urllib.request",
        "http.client",
        "ftplib",
        "smtplib",
        "tempfile",
        "webbrowser",
        "__main__",
        "agent_magic",
        "IPython",
        "numpy.f2py",
        "numpy.ctypeslib",
        "asyncio.subprocess",
        "posix",
        "posixpath",
        "requests",
    ],
)
def test_module_that_reaches_beyond_is_not_authorized(module: str) -> None:
    assert module not in of()


def test_module_named_by_the_person_is_authorized_with_all_below_it() -> None:
    imports = of("scipy", "os")
    assert "scipy.stats" in imports
    assert "os" in imports
    assert "scipyx" not in imports


def test_star_authorizes_every_module() -> None:
    imports = of("*")
    assert "os" in imports
    assert "numpy.f2py" in imports


def test_module_that_the_notebook_imported_is_authorized() -> None:
    tool = types.ModuleType("mytools.io")
    imports = of(t=tool, count=collections.Counter, half=fractions.Fraction(1, 2))
    assert "mytools.report" in imports
    assert "mytools" not in of()


def test_package_of_a_function_or_class_of_the_notebook_is_authorized() -> None:
    function = pytest.importorskip
    assert "_pytest" in of(function=function)
    assert "inline_snapshot" in of(snapshot=type("Thing", (), {"__module__": "inline_snapshot.plugin"}))


def test_module_of_the_system_is_authorized_where_the_notebook_imported_it() -> None:
    assert "os" in of(os=os)
    assert "os" not in of()


def test_module_that_reaches_into_the_interpreter_is_not_authorized_by_an_import_of_the_notebook() -> None:
    imports = of(sys=sys, types=types)
    assert "sys" not in imports
    assert "ctypes" not in imports


def test_function_of_a_dangerous_module_authorizes_nothing_else_of_it() -> None:
    imports = of(kill=os.kill, listdir=os.listdir)
    assert "os" not in imports
    assert "posix" not in imports


def test_names_of_display_are_authorized_one_by_one() -> None:
    imports = of()
    assert "IPython.display" not in imports
    assert imports.has_name("IPython.display", "display")
    assert not imports.has_name("IPython.display", "HTML")


def test_description_tells_what_to_do_instead() -> None:
    imports = of(t=types.ModuleType("mytools"))
    told = {
        module: imports.describe(module)
        for module in ("os", "requests", "pandsa", "sklearn.svm", "IPython.display")
    }
    assert told == snapshot(
        {
            "os": "For paths use `pathlib.Path` or `from os.path import join`, to list files `glob`. The person can allow it with `--imports os`.",
            "requests": "Code may not use the network: call a tool that fetches, or say in the final answer what is missing. The person can allow it with `--imports requests`.",
            "pandsa": "Nearest: pandas. Authorized are mytools, numpy, pandas and the safe part of the standard library. The person can allow it with `--imports pandsa`.",
            "sklearn.svm": "Authorized are mytools, numpy, pandas and the safe part of the standard library. The person can allow it with `--imports sklearn.svm`.",
            "IPython.display": "From IPython.display there are Image, JSON, Latex, Markdown, Math, Pretty, display. The person can allow it with `--imports IPython.display`.",
        }
    )
