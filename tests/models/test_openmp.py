from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_magic.models.openmp import NAME, build_for, fetch_openmp, is_missing, provide_openmp
from agent_magic.models.pinned_wheel import CACHE_VARIABLE, DownloadError

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems' engines bring their own runtime"
)

# Loads the library by its path, then asks for it by the name under which the engine asks.
LOAD = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL("libgomp.so.1").GOMP_barrier
print(sorted({line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line}))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime, really fetched."""
    build = build_for(platform.machine())
    assert build is not None
    target = tmp_path_factory.mktemp("openmp") / NAME
    fetch_openmp(build, target, print)
    return target


def test_fetched_runtime_serves_under_the_name_that_the_engine_asks_for(library: Path):
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(library)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == f"[{str(library)!r}]"


def test_fetching_leaves_nothing_else_behind(library: Path):
    assert [path.name for path in library.parent.iterdir()] == [NAME]


def test_broken_copy_is_not_loaded(library: Path, tmp_path: Path):
    (tmp_path / NAME).write_bytes(library.read_bytes()[:-1] + b"x")
    code = "from agent_magic.models.openmp import _can_load, _path; print(_can_load(str(_path())))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, CACHE_VARIABLE: str(tmp_path)},
        timeout=120,
    )
    assert done.stdout.strip() == "False"


def test_nothing_is_fetched_where_the_system_has_a_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    if is_missing():
        pytest.skip("this system has no OpenMP runtime of its own: the quickstart here is the test")
    provide_openmp()
    assert (capsys.readouterr().out, list(tmp_path.iterdir())) == ("", [])


def test_there_is_none_to_fetch_for_other_machines():
    assert [build_for(machine) for machine in ("s390x", "riscv64")] == snapshot([None, None])


def test_without_a_registry_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_RETRIES", "0")
    build = build_for("x86_64")
    assert build is not None
    with pytest.raises(DownloadError) as error:
        fetch_openmp(build, tmp_path / NAME, print)
    first, *_, last = error.value.message.splitlines()
    assert (first, last) == snapshot(
        (
            "pip could not fetch pykdtree==1.4.3 (exit code 1):",
            "Install it: apt-get install libgomp1, or dnf install libgomp.",
        )
    )
    assert list(tmp_path.iterdir()) == []
