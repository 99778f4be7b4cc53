"""Where a model for Transformers lies on this disk, and what its configuration says.

It must not import Transformers or PyTorch, nor ask any address.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agent_magic.core.errors import OptionError

_PACKAGES = ("transformers", "torch")
_CONFIG = "config.json"
_HUB_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
# As the families of models write it, the first that is there.
_WINDOW_KEYS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")
_LARGEST_WINDOW = 100_000_000
"""Some write a huge number for "no limit"."""


def has_packages() -> bool:
    """Whether the packages are installed; they are not imported."""
    return not _find_missing()


def refuse_missing_packages() -> None:
    """Say which package is missing, if one is.

    Raises:
        OptionError: With the command that installs it.
    """
    if missing := _find_missing():
        raise OptionError(
            f"A model in this process needs {' and '.join(missing)}, not installed here.\n"
            "Run:  pip install 'agent-magic[transformers]'  and restart the kernel."
        )


def find_model(name: str, *, download: bool) -> Path | None:
    """The folder with the model's configuration; None if it is yet to be fetched.

    Args:
        name: A folder, or a name on the Hugging Face hub, of which there may be a copy on this disk.

    Raises:
        OptionError: It is neither, and may not be fetched.
    """
    folder = Path(name).expanduser()
    if (folder / _CONFIG).is_file():
        return folder
    if folder.is_dir():
        raise OptionError(
            f"The folder {name!r} holds no model: there is no {_CONFIG} in it.{_nearest_inside(folder, name)}\n"
            "Write transformers/PATH with the folder that `save_pretrained` wrote."
        )
    is_hub_name = _HUB_NAME.fullmatch(name) is not None
    if is_hub_name and (cached := _find_in_cache(name)) is not None:
        return cached
    if is_hub_name and download:
        return None
    near = difflib.get_close_matches(folder.name, _folders_beside(folder), n=1, cutoff=0.6)
    what = f"There is no folder {name!r}" + (f" (nearest: {near[0]!r})" if near else "")
    what += ", and no copy of a hub model of that name on this disk." if is_hub_name else "."
    hint = "Write transformers/PATH with the folder of a model"
    hint += (
        ", or let it be fetched from the hub: --model-args download=true."
        if is_hub_name
        else ": the one that holds its config.json."
    )
    raise OptionError(f"{what}\n{hint}")


def read_window(folder: Path | None) -> int | None:
    """The tokens that the model was made for, request and reply together; None if it does not say."""
    if folder is None:
        return None
    try:
        config: Any = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the loading of the model says what is wrong with it
        return None
    if not isinstance(config, dict):
        return None
    config = cast("Mapping[str, Any]", config)
    for part in (config, config.get("text_config")):
        for key in _WINDOW_KEYS if isinstance(part, Mapping) else ():
            window = cast("Mapping[str, Any]", part).get(key)
            if isinstance(window, int) and 0 < window < _LARGEST_WINDOW:
                return window
    return None


def _find_missing() -> list[str]:
    return [name for name in _PACKAGES if importlib.util.find_spec(name) is None]


def _find_in_cache(name: str) -> Path | None:
    # Here and not at the top: a fifth of a second, wanted for names on the hub alone. It comes with Transformers.
    hub: Any = importlib.import_module("huggingface_hub")
    try:
        found = hub.try_to_load_from_cache(name, _CONFIG)
    except ValueError:  # no name that the hub could have
        return None
    return Path(found).parent if isinstance(found, str) else None


def _folders_beside(folder: Path) -> list[str]:
    try:
        return [one.name for one in folder.parent.iterdir() if one.is_dir()]
    except OSError:
        return []


def _nearest_inside(folder: Path, name: str) -> str:
    """The folder one floor below that does hold a model, if there is but one."""
    try:
        inside = [one for one in folder.iterdir() if (one / _CONFIG).is_file()]
    except OSError:
        return ""
    return f" There is one in {str(Path(name) / inside[0].name)!r}." if len(inside) == 1 else ""
