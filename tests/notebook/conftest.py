from __future__ import annotations

import pytest
from cells import Cells


@pytest.fixture
def cells(shell, capsys) -> Cells:
    """A shell with our magics."""
    return Cells(shell, capsys)
