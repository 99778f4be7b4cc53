"""What the tests of models share."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_connection_is_left_open() -> Iterator[None]:
    """The provider library keeps its clients for the whole process; the tests' end is their end."""
    yield
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        for client in list(litellm.in_memory_llm_clients_cache.cache_dict.values()):
            close = getattr(client, "close", None)
            if close is not None and not inspect.iscoroutinefunction(close):
                close()
