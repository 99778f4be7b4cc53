from __future__ import annotations

import pytest
from embedded.weights import need_weights


@pytest.fixture(autouse=True)
def _weights(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("embedded"):
        need_weights()
