"""A page without a browser: takes a kernel's messages as a view does, and asks as one.

It must not know how a view is drawn; it folds what comes over the wire, and keeps all of it.
"""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from agent_magic.view.drawing_code import is_built

RECORD = "application/vnd.agent-magic.run.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
WAIT_S = 30.0


def need_built_view() -> None:
    """Skip where the front end was not built; in CI that is a failure."""
    if not is_built():
        reason = "the live view is not built: install node, then run `poe build-view`"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


class Page:
    """One cell that runs in a kernel, as a front end with widgets sees it."""

    def __init__(self, kernel: Any, code: str) -> None:
        self._kernel = kernel
        self._request = kernel.client.execute(code, allow_stdin=True, stop_on_error=False)
        self.sent: list[tuple[str, dict[str, Any]]] = []
        """Kind and content of every output message, oldest first."""
        self.comm_id = ""
        self.state: dict[str, Any] = {}
        """The traits of the run's widget."""
        self.messages: list[dict[str, Any]] = []
        """What the widget was told, batches taken apart."""
        self.is_over = False
        self.is_closed = False
        self.sent_after_close: list[Any] = []
        self.error: str | None = None

    # -- reading -------------------------------------------------------------------------------

    def read(self, timeout_s: float = WAIT_S) -> None:
        """Take the next message of the cell."""
        end = time.monotonic() + timeout_s
        while True:
            message = self._kernel.client.get_iopub_msg(timeout=max(end - time.monotonic(), 0.01))
            kind, content = message["msg_type"], message["content"]
            is_ours = message["parent_header"].get("msg_id") == self._request
            if kind == "status" and is_ours and content["execution_state"] == "idle":
                self.is_over = True
                self._kernel.client.get_shell_msg(timeout=30)
                return
            if kind.startswith("comm") or (is_ours and kind not in ("status", "execute_input")):
                self.sent.append((kind, content))
                self._take(kind, content)
                return

    def wait_for(self, condition: Any, timeout_s: float = WAIT_S) -> None:
        """Read until `condition()` holds."""
        end = time.monotonic() + timeout_s
        while not condition():
            assert not self.is_over, f"the cell ended first: {self.sent[-3:]}"
            self.read(max(end - time.monotonic(), 0.01))

    def finish(self, timeout_s: float = WAIT_S) -> Page:
        """Read to the end of the cell."""
        end = time.monotonic() + timeout_s
        while not self.is_over:
            self.read(max(end - time.monotonic(), 0.01))
        return self

    # -- what it shows -------------------------------------------------------------------------

    @property
    def run_id(self) -> str:
        """Of the run that is shown."""
        return self.state["snapshot"]["run"]["run_id"]

    @property
    def steps(self) -> dict[int, dict[str, Any]]:
        """The steps by their place, as a view that folds snapshot and later messages has them."""
        snapshot = self.state["snapshot"]
        steps = dict(enumerate(snapshot["run"]["steps"]))
        for message in self.messages:
            if message["kind"] == "step" and message["n"] > snapshot["n"]:
                steps[message["place"]] = message["step"]
        return steps

    @property
    def now(self) -> dict[str, Any]:
        """What happens now."""
        told = [message["now"] for message in self.messages if message["kind"] == "now"]
        if told or not self.state:
            return (told[-1] if told else None) or {}
        return self.state["snapshot"]["run"].get("now") or {}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as they were told last."""
        told = [message["settings"] for message in self.messages if message["kind"] == "settings"]
        return told[-1] if told else self.state["snapshot"]["settings"]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The bundles that were displayed, by display id in their last state."""
        shown: dict[str, dict[str, Any]] = {}
        for kind, content in self.sent:
            if kind in ("display_data", "update_display_data"):
                shown[content.get("transient", {}).get("display_id", str(len(shown)))] = content["data"]
        return list(shown.values())

    @property
    def record(self) -> dict[str, Any]:
        """The record that the cell left."""
        return next(bundle[RECORD] for bundle in self.outputs if RECORD in bundle)

    # -- asking --------------------------------------------------------------------------------

    def ask(self, verb: str, **more: Any) -> dict[str, Any]:
        """Ask on the control channel; gives the reply."""
        request = {"v": 1, "id": "1", "verb": verb, "nonce": self.state["nonce"], "run_id": self.run_id}
        return self._kernel.ask(request | more)

    def _take(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "comm_open" and content["data"].get("state", {}).get("snapshot"):
            self.comm_id, self.state = content["comm_id"], content["data"]["state"]
        elif kind == "error":
            self.error = content["ename"]
        elif content.get("comm_id") == self.comm_id and self.comm_id:
            if self.is_closed:
                self.sent_after_close.append(content)
            if kind == "comm_close":
                self.is_closed = True
            elif content["data"]["method"] == "update":
                self.state |= content["data"]["state"]
            elif content["data"]["method"] == "custom":
                told = content["data"]["content"]
                self.messages += told["messages"] if told["kind"] == "batch" else [told]
