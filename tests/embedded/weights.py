"""The embedded model for tests: fetched once, into the user's own cache, when a test needs it."""

from __future__ import annotations

import functools
import os

import pytest

from agent_magic.models.download import DownloadError, download
from agent_magic.models.local_engine import is_engine_installed


@functools.cache
def why_missing() -> str:
    """Why there is no embedded model here; empty if there is one. The first call fetches it."""
    if not is_engine_installed():
        return "the engine is not installed: pip install 'agent-magic[local]'"
    try:
        download()
    except DownloadError as error:
        return error.message
    return ""


def need_weights() -> None:
    """Skip the test, with the reason, where the model cannot be had; in CI fail."""
    if reason := why_missing():
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have the embedded model, but {reason}", pytrace=False)
        pytest.skip(f"no embedded model: {reason}")
