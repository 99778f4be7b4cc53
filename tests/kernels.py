"""A real Jupyter kernel as a test needs it: run code, read all outputs, interrupt, restart.

It must not know the package under test.
"""

from __future__ import annotations

import queue
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

TIMEOUT_S = 60.0
REPLY_S = 10.0
"""So long a reply is waited for when the cell is through."""


class ReplyLost(Exception):
    """The kernel gave no reply to a cell: a signal met it outside of the cell's code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelError:
    """An `error` output."""

    ename: str
    evalue: str
    traceback: list[str]


@dataclass(slots=True)
class Execution:
    """What one piece of code came to, as a front end would show it in the end."""

    outputs: list[dict[str, Any]] = field(default_factory=list)
    """In nbformat's shape, with updates of displays and `clear_output` done."""
    duration_s: float = 0.0
    """From the request to the reply."""
    n_messages: int = 0
    """Output messages of all kinds, updates of displays included."""

    @property
    def error(self) -> KernelError | None:
        """The exception that the code ended with."""
        for output in self.outputs:
            if output["output_type"] == "error":
                return KernelError(
                    ename=output["ename"], evalue=output["evalue"], traceback=output["traceback"]
                )
        return None

    @property
    def stdout(self) -> str:
        """All that was printed to stdout."""
        return self._stream("stdout")

    @property
    def stderr(self) -> str:
        """All that was printed to stderr."""
        return self._stream("stderr")

    @property
    def result(self) -> str | None:
        """`text/plain` of the value that stands in `Out`."""
        return next(
            (o["data"]["text/plain"] for o in self.outputs if o["output_type"] == "execute_result"), None
        )

    @property
    def displays(self) -> list[dict[str, Any]]:
        """The MIME bundles that were displayed, each in its last state."""
        return [o["data"] for o in self.outputs if o["output_type"] == "display_data"]

    def _stream(self, name: str) -> str:
        return "".join(o["text"] for o in self.outputs if o["output_type"] == "stream" and o["name"] == name)


class Kernel:
    """One ipykernel process."""

    def __init__(self, folder: Path, name: str = "python3") -> None:
        self._folder = folder
        self._manager = KernelManager(kernel_name=name)
        self._client: BlockingKernelClient | None = None
        self._pending: dict[str, tuple[Execution, float]] = {}

    @property
    def client(self) -> BlockingKernelClient:
        """The connection, for what has no method here."""
        if self._client is None:
            raise RuntimeError("the kernel is not started")
        return self._client

    def start(self) -> None:
        """Start the process and wait until it answers."""
        self._manager.start_kernel(cwd=str(self._folder))
        self._connect()

    def restart(self) -> None:
        """Another process under the same connection: nothing of the old namespace is left."""
        self.client.stop_channels()
        self._manager.restart_kernel(now=True)
        self._connect()

    def shutdown(self) -> None:
        """End the process."""
        if self._client is not None:
            self._client.stop_channels()
            self._client = None
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()

    def is_alive(self) -> bool:
        """Whether the process lives."""
        return self._manager.is_alive()

    def reset(self) -> None:
        """An empty namespace, no extension of ours; a dead process is started again."""
        if not self.is_alive():
            self.restart()
        # `reset` without a new session keeps Out's counter: the first cell of a test is not always 1.
        done = self.execute(
            "if 'agent_magic' in get_ipython().extension_manager.loaded:\n"
            "    get_ipython().run_line_magic('unload_ext', 'agent_magic')\n"
            "get_ipython().reset(new_session=True, aggressive=False)\n"
        )
        if done.error:
            self.restart()

    def execute(self, code: str, timeout_s: float = TIMEOUT_S) -> Execution:
        """Run code as a cell; raises `TimeoutError` if it takes longer."""
        return self.finish(self.begin(code), timeout_s)

    def begin(self, code: str, *, takes_input: bool = False) -> str:
        """Send code and return at once; gives the id for `wait_for_output` and `finish`.

        Args:
            takes_input: As a front end asks in which a person types.
        """
        request_id = self.client.execute(code, allow_stdin=takes_input, stop_on_error=False)
        self._pending[request_id] = (Execution(), time.monotonic())
        return request_id

    def wait_for_output(self, request_id: str, text: str, timeout_s: float = TIMEOUT_S) -> Execution:
        """Read outputs until one shows `text` anywhere; what has arrived so far."""
        execution, _ = self._pending[request_id]
        end = time.monotonic() + timeout_s
        while text not in repr(execution.outputs):
            if self._read(request_id, end) == "idle":
                raise AssertionError(f"the cell ended without {text!r}: {execution.outputs}")
        return execution

    def ask(self, content: dict[str, Any], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
        """Send one of our requests on the control channel; gives the reply, also while a cell runs."""
        session, channel = self.client.session, self.client.control_channel
        message = session.msg("agent_magic_request", content)
        channel.send(message)
        end = time.monotonic() + timeout_s
        while True:
            reply = self.client.get_control_msg(timeout=max(end - time.monotonic(), 0.01))
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]

    def finish(self, request_id: str, timeout_s: float = TIMEOUT_S) -> Execution:
        """Read to the end of that cell.

        Raises:
            ReplyLost: The cell is through, and no reply to it came.
        """
        execution, began = self._pending[request_id]
        end = time.monotonic() + timeout_s
        while self._read(request_id, end) != "idle":
            pass
        del self._pending[request_id]
        end = max(end, time.monotonic() + REPLY_S)
        while True:
            try:
                reply = self.client.get_shell_msg(timeout=max(end - time.monotonic(), 0.1))
            except queue.Empty:
                raise ReplyLost(f"idle, without a reply; outputs: {execution.outputs}") from None
            if reply["parent_header"].get("msg_id") == request_id:
                execution.duration_s = time.monotonic() - began
                return execution

    def interrupt(self) -> None:
        """A real SIGINT, as the stop button sends it."""
        self._manager.interrupt_kernel()

    def complete(self, code: str, cursor: int | None = None, timeout_s: float = TIMEOUT_S) -> list[str]:
        """What Tab offers at `cursor` (default: the end)."""
        request_id = self.client.complete(code, len(code) if cursor is None else cursor)
        while True:
            reply = self.client.get_shell_msg(timeout=timeout_s)
            if reply["parent_header"].get("msg_id") == request_id:
                return list(reply["content"]["matches"])

    def _connect(self) -> None:
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=TIMEOUT_S)

    def _read(self, request_id: str, end: float) -> str:
        """Take one message from the kernel; its kind, or `idle` when the cell is through."""
        execution, _ = self._pending[request_id]
        try:
            message = self.client.get_iopub_msg(timeout=max(end - time.monotonic(), 0.0))
        except queue.Empty:
            raise TimeoutError(f"no end in time; outputs so far: {execution.outputs}") from None
        if message["parent_header"].get("msg_id") != request_id:
            return ""
        kind, content = message["msg_type"], message["content"]
        if kind == "status":
            return str(content["execution_state"])
        if kind != "execute_input":
            execution.n_messages += 1
            _apply(execution.outputs, kind, content)
        return str(kind)


def _apply(outputs: list[dict[str, Any]], kind: str, content: dict[str, Any]) -> None:
    if kind == "stream":
        last = outputs[-1] if outputs else None
        if last and last["output_type"] == "stream" and last["name"] == content["name"]:
            last["text"] += content["text"]
        else:
            outputs.append({"output_type": "stream", **content})
    elif kind == "update_display_data":
        for output in outputs:
            if output.get("transient") == content["transient"]:
                output.update(data=content["data"], metadata=content["metadata"])
    elif kind == "clear_output":
        outputs.clear()
    elif kind in ("display_data", "execute_result", "error"):
        outputs.append({"output_type": kind, **content})
