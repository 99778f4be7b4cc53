"""The audit hook: while a step's code runs, it may not write files, connect, or start processes.

It acts on threads that are inside code only, and not within their imports. It must not keep anything that
code could reach to switch it off without trying to; it is a guard, not a boundary.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from agent_magic.core.errors import CodeRefused
from agent_magic.core.values import Value, safe_repr
from agent_magic.execution.step.course import BOUNDARIES, Running
from agent_magic.execution.step.running import HERE, enter_thread

_FILES = "Keep the result in a variable or give it with final_answer; to save it, call a tool that does."
_NETWORK = "Call a tool that fetches it, or say in the final answer what is missing."
_PROCESSES = "Do it in Python, or call a tool that does it."
_INTERPRETER = "Work with the values themselves."

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_DEEDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "write, move or delete files",
        _FILES,
        (
            *(
                f"os.{name}"
                for name in ("remove", "rename", "rmdir", "mkdir", "link", "symlink", "truncate", "chmod")
            ),
            *("os.chown", "os.chflags", "os.utime", "os.setxattr", "os.removexattr", "os.lockf"),
            *(
                f"shutil.{name}"
                for name in ("rmtree", "move", "copyfile", "copymode", "copystat", "copytree", "chown")
            ),
            *("shutil.make_archive", "shutil.unpack_archive", "tempfile.mkdtemp", "tempfile.mkstemp"),
            *(
                f"winreg.{name}"
                for name in ("CreateKey", "DeleteKey", "DeleteValue", "SetValue", "SaveKey", "LoadKey")
            ),
        ),
    ),
    (
        "use the network",
        _NETWORK,
        (
            *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sethostname"),
            *("socket.sendto", "socket.sendmsg", "http.client.connect", "urllib.Request", "webbrowser.open"),
            *("ftplib.connect", "smtplib.connect", "imaplib.open", "poplib.connect", "nntplib.connect"),
        ),
    ),
    (
        "start or signal processes",
        _PROCESSES,
        (
            *(
                "subprocess.Popen",
                "os.system",
                "os.fork",
                "os.forkpty",
                "os.exec",
                "os.posix_spawn",
                "os.spawn",
            ),
            *("os.startfile", "os.startfile/2", "os.kill", "os.killpg", "pty.spawn", "signal.pthread_kill"),
        ),
    ),
    (
        "change or search the process that it runs in",
        _INTERPRETER,
        (
            *("os.chdir", "os.fchdir", "os.putenv", "os.unsetenv", "os.add_dll_directory"),
            *("resource.setrlimit", "resource.prlimit", "sys.settrace", "sys.setprofile", "sys.addaudithook"),
            *("sys._current_frames", "sys._current_exceptions", "sys.monitoring.register_callback"),
            *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "marshal.loads", "marshal.load"),
            *(
                f"ctypes.{name}"
                for name in ("dlopen", "dlsym", "dlsym/handle", "cdata", "cdata/buffer", "addressof")
            ),
            *(
                f"ctypes.{name}"
                for name in ("string_at", "wstring_at", "call_function", "PyObj_FromPtr", "set_errno")
            ),
            *("ctypes.set_exception", "sqlite3.enable_load_extension", "sqlite3.load_extension"),
        ),
    ),
    ("ask the person", "Call a tool that asks, or ask in the final answer.", ("builtins.input",)),
    ("start the debugger", "Use print to look at values.", ("builtins.breakpoint",)),
)
_REFUSED = {event: (deed, advice) for deed, advice, events in _DEEDS for event in events}


def _refuse(running: Running, event: str, args: tuple[Value, ...], deed: str, advice: str) -> NoReturn:
    shown = ", ".join(
        safe_repr(arg, 80) for arg in args[:2] if isinstance(arg, str | int | tuple | os.PathLike)
    )
    refused = CodeRefused(f"Code may not {deed}: {event}({shown}) was refused. {advice}")
    if len(running.refusals) < 20:
        running.refusals.append(refused.message)
    raise refused


def _on_open(running: Running, args: tuple[Value, ...]) -> None:
    path, mode, flags = (*args, None, None, None)[:3]
    if isinstance(mode, str):
        is_writing = any(sign in mode for sign in "wax+")
    else:
        is_writing = isinstance(flags, int) and bool(flags & _WRITING)
    if is_writing and path != os.devnull:
        _refuse(running, "open", (path, mode), "write files", _FILES)


def _on_sqlite(running: Running, args: tuple[Value, ...]) -> None:
    if not args or args[0] not in (":memory:", b":memory:", ""):
        _refuse(running, "sqlite3.connect", args, "open a database file, which could be written", _FILES)


def _on_socket(running: Running, args: tuple[Value, ...]) -> None:
    # asyncio's own pair of sockets is made in this way on Windows.
    frame = sys._getframe(2)
    if frame.f_globals.get("__name__") == "socket" and "socketpair" in frame.f_code.co_name:
        return
    _refuse(running, "socket.connect", args[1:], "use the network", _NETWORK)


_LOOKED_AT: dict[str, Callable[[Running, tuple[Value, ...]], None]] = {
    "open": _on_open,
    "sqlite3.connect": _on_sqlite,
    "socket.connect": _on_socket,
    "socket.bind": _on_socket,
}
_WATCHED = frozenset(_REFUSED) | frozenset(_LOOKED_AT)


def _hook(event: str, args: tuple[Value, ...]) -> None:
    if event not in _WATCHED:
        return
    running = HERE.running
    if running is None or _is_importing(sys._getframe(1)):
        return
    look = _LOOKED_AT.get(event)
    if look is not None:
        look(running, args)
    else:
        _refuse(running, event, args, *_REFUSED[event])


def _is_importing(frame: FrameType | None) -> bool:
    """Whether the code imports a module, whose own doings are not the code's."""
    while frame is not None and frame.f_code not in BOUNDARIES:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


_install_lock = threading.Lock()
_installed: list[bool] = []


def install() -> None:
    """Have the hook, and know the threads that code starts; once in the process: hooks cannot be taken off."""
    if _installed:
        return
    with _install_lock:
        if not _installed:
            sys.addaudithook(_hook)
            _follow_threads()
            _installed.append(True)


def _follow_threads() -> None:
    """Let threads that code starts be threads of its step; before Python 3.12 no event tells of them."""
    start = threading.Thread.start

    @functools.wraps(start)
    def start_in_step(self: threading.Thread) -> None:
        running = HERE.running
        if running is not None and self.ident is None:
            starter = sys._getframe(1)
            # What this package starts meanwhile, such as a loop for async tools, is not the code's.
            is_ours = str(starter.f_globals.get("__name__")).startswith("agent_magic.")
            if not is_ours and not _is_importing(starter):
                enter_thread(self, running)
        start(self)

    threading.Thread.start = start_in_step
