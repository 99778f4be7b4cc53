"""Where a model for Transformers is looked for, and what is said when it is not there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.models.select import choose_model
from agent_magic.models.transformers_files import find_model, read_window

has_hub = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None, reason="it comes with the extra `transformers`"
)


def fault(name: str, folder: Path, *, download: bool = False) -> str:
    with pytest.raises(OptionError) as caught:
        find_model(name, download=download)
    return caught.value.message.replace(str(folder), "FOLDER")


def save_config(folder: Path, text: str = "{}") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(text)
    return folder


def test_a_folder_is_found(tmp_path: Path) -> None:
    folder = save_config(tmp_path / "my model")
    assert find_model(str(folder), download=False) == folder


def test_a_folder_beside_it_is_named(tmp_path: Path) -> None:
    save_config(tmp_path / "tiny-llama")
    assert fault(f"{tmp_path}/tiny-lama", tmp_path) == snapshot("""\
There is no folder 'FOLDER/tiny-lama' (nearest: 'tiny-llama').
Write transformers/PATH with the folder of a model: the one that holds its config.json.\
""")


def test_a_folder_that_holds_no_model_names_the_one_inside(tmp_path: Path) -> None:
    save_config(tmp_path / "checkpoint-7")
    assert fault(str(tmp_path), tmp_path) == snapshot("""\
The folder 'FOLDER' holds no model: there is no config.json in it. There is one in 'FOLDER/checkpoint-7'.
Write transformers/PATH with the folder that `save_pretrained` wrote.\
""")


@has_hub
def test_a_name_of_the_hub_is_not_fetched_unasked(tmp_path: Path) -> None:
    assert fault("nobody/no-model-of-this-name", tmp_path) == snapshot("""\
There is no folder 'nobody/no-model-of-this-name', and no copy of a hub model of that name on this disk.
Write transformers/PATH with the folder of a model, or let it be fetched from the hub: --model-args download=true.\
""")
    assert find_model("nobody/no-model-of-this-name", download=True) is None


def test_a_folder_is_no_name_of_the_hub(tmp_path: Path) -> None:
    assert fault(f"{tmp_path}/a/b/c", tmp_path, download=True) == snapshot("""\
There is no folder 'FOLDER/a/b/c'.
Write transformers/PATH with the folder of a model: the one that holds its config.json.\
""")


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ('{"max_position_embeddings": 2048}', 2_048),
        ('{"n_positions": 1024}', 1_024),
        ('{"text_config": {"max_position_embeddings": 512}}', 512),
        ('{"max_position_embeddings": 1000000000000000019884624838656}', None),
        ("{}", None),
        ("[1]", None),
        ("{", None),
    ],
)
def test_the_window_is_read_from_the_configuration(tmp_path: Path, config: str, window: int | None) -> None:
    assert read_window(save_config(tmp_path / "m", config)) == window


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(OptionError) as caught:
        choose_model("transformers/tiny", environ={})
    assert caught.value.message == snapshot("""\
A model in this process needs transformers and torch, not installed here.
Run:  pip install 'agent-magic[transformers]'  and restart the kernel.\
""")
