"""How long a provider asks to wait, wherever it says so.

It must not decide whether, nor how long, is waited.
"""

from __future__ import annotations

import contextlib
import email.utils
import math
import re
import time
from collections.abc import Mapping
from typing import Any, cast

# Google asks in the body: `"retryDelay": "34s"`.
_RETRY_DELAY = re.compile(r"retryDelay\W{1,8}([\d.]{1,12})s\b")


def find_wait(error: Exception) -> float | None:
    """Seconds, from 0 on; None if nothing is asked."""
    for source in (getattr(error, "response", None), error):
        headers: Any = getattr(source, "headers", None) or getattr(source, "litellm_response_headers", None)
        if not headers:
            continue
        by_name = {
            str(name).lower(): str(value) for name, value in cast("Mapping[object, object]", headers).items()
        }
        value = by_name.get("retry-after")
        if value is None:
            continue
        try:
            asked_s = float(value)
        except ValueError:
            pass
        else:
            return None if math.isnan(asked_s) else max(0.0, asked_s)
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except ValueError:
            continue
    delay = _RETRY_DELAY.search(str(error))
    with contextlib.suppress(ValueError):
        return float(delay[1]) if delay else None
    return None
