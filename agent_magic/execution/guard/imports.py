"""AuthorizedImports: which modules code may import, and what to do instead of the others.

It must not import any of them.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Collection, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType

from agent_magic.core.values import Value

_STANDARD_WORDS = """
__future__ abc argparse array ast base64 binascii bisect bz2 calendar cmath codecs collections colorsys
concurrent.futures configparser contextlib contextvars copy csv dataclasses datetime decimal difflib dis
email enum errno fnmatch fractions functools getopt gettext glob graphlib gzip hashlib heapq hmac html
io ipaddress itertools json keyword locale logging lzma math mimetypes numbers operator os.path pathlib
platform plistlib pprint queue quopri random re reprlib sched secrets shlex sqlite3 stat statistics
string stringprep struct tarfile textwrap threading time timeit token tokenize tomllib traceback
tracemalloc types typing unicodedata urllib.parse urllib.error uuid warnings wave weakref xml zipfile
zlib zoneinfo
"""
_STANDARD = frozenset(_STANDARD_WORDS.split())
_DATA = frozenset(("numpy", "pandas"))
_DISPLAY = "IPython.display"
_DISPLAY_NAMES = frozenset(("display", "Image", "JSON", "Latex", "Markdown", "Math", "Pretty"))

# Beyond the data: the system, the interpreter, the notebook's own machinery. A function or class of one of
# them authorizes nothing else; the module itself in the notebook, or the person's `--imports`, does.
_DANGEROUS_WORDS = """
IPython _ctypes _thread agent_magic asyncore atexit bdb builtins cProfile cffi cloudpickle cmd code
codeop compileall comm copyreg ctypes dill dbm debugpy distutils doctest ensurepip faulthandler fcntl
fileinput ftplib gc getpass git grp http httpx imaplib imp importlib inspect ipykernel ipywidgets joblib
jupyter_client jupyter_core linecache litellm mailbox marshal mmap modulefinder msvcrt multiprocess
multiprocessing netrc nt ntpath os paramiko pdb pexpect pickle pickletools pip pipes pkgutil poplib
posix posixpath psutil pty pwd py_compile pydoc readline requests resource rlcompleter runpy select
selectors setuptools shelve shutil signal site smtplib socket socketserver spwd ssl subprocess sys
sysconfig syslog telnetlib tempfile termios tkinter trace traitlets tty urllib urllib3 venv webbrowser
winreg wsgiref xmlrpc zipapp zipimport zmq
"""
_DANGEROUS = frozenset(_DANGEROUS_WORDS.split())
# Of these, what reaches into the interpreter, into native code or into the agent itself: no import of the
# notebook's authorizes it. The effects of the others (files, processes, network) are watched one by one.
_INTERPRETER_WORDS = """
IPython _ctypes _thread agent_magic atexit bdb builtins cffi code codeop comm copyreg ctypes debugpy faulthandler
gc imp importlib inspect ipykernel ipywidgets jupyter_client jupyter_core litellm marshal multiprocess multiprocessing
pdb pty runpy signal site sys traitlets zmq
"""
_INTERPRETERS = frozenset(_INTERPRETER_WORDS.split())
# Parts of what is authorized that are not: they build, run or connect.
_EXCEPTED = frozenset(
    (
        "asyncio.subprocess",
        "logging.config",
        "numpy.ctypeslib",
        "numpy.distutils",
        "numpy.f2py",
        "pandas.io.clipboard",
    )
)
_SAFE = _STANDARD | _DATA | {"asyncio"}

_FILES = "Reading is allowed: `open(path)` or `pathlib.Path(path).read_text()`. Writing is not: give the value in the final answer."
_NETWORK = (
    "Code may not use the network: call a tool that fetches, or say in the final answer what is missing."
)
_PROCESSES = "Code may not start processes or touch the system: do it in Python, or call a tool that does it."
_INTERPRETER = (
    "Code may not reach into the interpreter: use the values themselves, `type(x)`, `dir(x)` and `print`."
)
_INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(
        ("http", "httpx", "requests", "socket", "urllib", "urllib3", "ftplib", "smtplib", "ssl"), _NETWORK
    ),
    **dict.fromkeys(("subprocess", "multiprocessing", "pty", "signal", "ctypes", "psutil"), _PROCESSES),
    **dict.fromkeys(("sys", "builtins", "gc", "inspect", "importlib", "code", "IPython"), _INTERPRETER),
    "os": "For paths use `pathlib.Path` or `from os.path import join`, to list files `glob`.",
    "shutil": _FILES,
    "tempfile": _FILES,
    "pickle": "Keep values in variables, which later steps and the person's cells see; for text use `json`.",
    "marshal": "Keep values in variables, which later steps and the person's cells see; for text use `json`.",
}


class AuthorizedImports:
    """The modules that code may import: `name in authorized`."""

    def __init__(self, additional: Collection[str], namespace: Mapping[str, Value]) -> None:
        self.is_all = "*" in additional
        """Every module is authorized; the rules about names and attributes stay."""
        self._additional = frozenset(additional)
        self._namespace = namespace

    @classmethod
    def of(cls, additional: Collection[str], namespace: Mapping[str, Value]) -> AuthorizedImports:
        """The default ones, `additional`, and what the namespace holds modules, functions and classes of.

        Args:
            additional: Names of modules, each with all that is below it; `*` is every module.
            namespace: Looked into only once a module is asked for that is not authorized otherwise.
        """
        return cls(additional, namespace)

    def __contains__(self, module: str) -> bool:
        """Whether the module may be imported, by its dotted name."""
        if self.is_all:
            return True
        parts = module.split(".")
        above = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
        if not self._additional.isdisjoint(above):
            return True
        if not _EXCEPTED.isdisjoint(above):
            return False
        return not _SAFE.isdisjoint(above) or parts[0] in self._of_notebook

    def has_name(self, module: str, name: str) -> bool:
        """Whether `from module import name` is authorized though the module as such is not."""
        return module == _DISPLAY and name in _DISPLAY_NAMES

    def describe(self, module: str) -> str:
        """What may be imported in place of a module that may not, and how the person could allow it."""
        root = module.partition(".")[0]
        instead = _INSTEAD.get(root, "")
        if module.startswith(_DISPLAY):
            instead = f"From {_DISPLAY} there are {', '.join(sorted(_DISPLAY_NAMES))}."
        if not instead:
            known = sorted(_SAFE | self._of_notebook | self._additional)
            near = difflib.get_close_matches(module, known, n=3, cutoff=0.8)
            own = sorted((self._of_notebook | self._additional | _DATA) - _STANDARD)[:20]
            instead = f"Nearest: {', '.join(near)}. " if near else ""
            instead += f"Authorized are {', '.join(own)} and the safe part of the standard library."
        return f"{instead} The person can allow it with `--imports {module}`."

    @functools.cached_property
    def _of_notebook(self) -> frozenset[str]:
        """The packages that values of the namespace come from."""
        roots: set[str] = set()
        for value in list(self._namespace.values()):
            kind = type(value)
            if kind is ModuleType:
                root = _root_of(value.__name__)
                if root in _DANGEROUS and root not in _INTERPRETERS:
                    roots.add(root)  # the person works with it by this very name
            elif kind is FunctionType or kind is BuiltinFunctionType or isinstance(value, type):
                root = _root_of(value.__module__)
            else:
                continue
            if root not in _DANGEROUS:
                roots.add(root)
        return frozenset(roots - {"", "__main__", "_io"})


def _root_of(module: Value) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_dangerous(module: str) -> bool:
    """Whether a module is of those that no import of the notebook's own authorizes."""
    return module.partition(".")[0] in _DANGEROUS and module not in _SAFE
