"""What the tests of providers share."""

from __future__ import annotations

from models.conftest import no_connection_is_left_open

__all__ = ["no_connection_is_left_open"]
