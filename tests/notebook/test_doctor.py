"""The doctor, on real machines: environments made here, the oldest Jupyter, kernels, shells."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from inline_snapshot import snapshot
from kernels import Kernel

from agent_magic.core.version import __version__
from agent_magic.models.select import model_table
from agent_magic.notebook.doctor_disk import journal
from agent_magic.notebook.doctor_finding import Found, Scene
from agent_magic.notebook.doctor_keys import key_fault
from agent_magic.notebook.doctor_lab import find_extension
from agent_magic.notebook.doctor_models import embedded_model, keys, model, proxies, servers
from agent_magic.notebook.doctor_pages import extension, widget_manager
from agent_magic.view.drawing_code import is_built
from tests.models.openai_server import serve

ROOT = Path(__file__).resolve().parents[2]
OLD = Path(os.environ.get("OLD_JUPYTER", ROOT / ".venv-old/bin/python"))
"""Python of an environment with the oldest JupyterLab and ipykernel that are supported."""
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
MANAGER = "@jupyter-widgets/jupyterlab-manager"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `python -m agent_magic doctor` where nothing of this machine's person counts."""

    def run_doctor(
        *arguments: str,
        python: Path | str = sys.executable,
        path: tuple[Path | str, ...] = (),
        **environ: str,
    ) -> subprocess.CompletedProcess[str]:
        own = {
            "AGENT_MAGIC_CACHE": str(tmp_path / "cache"),
            "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
            "JUPYTER_DATA_DIR": str(tmp_path / "data"),
            "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT))),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            **environ,
        }
        kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        return subprocess.run(
            [python, "-m", "agent_magic", "doctor", *arguments],
            capture_output=True, text=True, check=False, env={**kept, **own}, cwd=tmp_path,
        )  # fmt: skip

    return run_doctor


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Python of a new environment: what it imports comes from here, but JupyterLab finds nothing in it."""
    folder = tmp_path / "bare"
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    return folder / "bin" / "python"


@pytest.fixture
def plain() -> None:
    """The live view is built and nothing serves models here; else the test is skipped, in CI it fails."""
    served = [row.model_id for row in model_table({}) if row.is_available and "a server at" in row.why]
    if served or not is_built():
        skip(f"{served[0]} is served here" if served else "live view not built: run `poe build-view`")


@pytest.fixture(autouse=True)
def no_embedded_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking into 98 MB of weights again and again would take most of the time."""
    monkeypatch.setenv("AGENT_MAGIC_CACHE", str(tmp_path / "cache"))


def skip(reason: str) -> None:
    """Skip the test; in CI it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def masked(text: str, folder: Path) -> str:
    """The text without what differs from machine to machine."""
    text = text.replace(str(folder), "FOLDER").replace(str(ROOT), "SOURCES").replace(__version__, "OURS")
    return re.sub(r"(?!127\.0\.0\.1)\b\d+(?:\.\d+)+", "N", text)


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """The findings of a call with `--json`, by check."""
    assert done.stderr == ""
    return {row["check"]: row for row in json.loads(done.stdout)}


def fake_package(folder: Path, name: str, version: str) -> Path:
    """A folder in which an installer has noted a package of this version."""
    noted = folder / f"{name}-{version}.dist-info" / "METADATA"
    noted.parent.mkdir(parents=True)
    noted.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    return folder


def add_extension(data: Path, name: str, version: str = "1.0", *, is_whole: bool = True) -> None:
    """An extension where JupyterLab looks for it."""
    folder = data / "labextensions" / name
    (folder / "static").mkdir(parents=True)
    about = {"name": name, "version": version, "jupyterlab": {"_build": {"load": "static/remote.js"}}}
    (folder / "package.json").write_text(json.dumps(about), encoding="utf-8")
    if is_whole:
        (folder / "static" / "remote.js").write_text("", encoding="utf-8")


# -- whole machines --------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain")
def test_doctor_of_a_machine_without_widget_manager_and_model(run: Run, bare: Path, tmp_path: Path):
    path = (sysconfig.get_path("purelib"),)
    done = run(python=bare, path=path)
    assert done.stderr == ""
    assert done.returncode == 1
    text = masked(done.stdout, tmp_path)
    text = re.sub(r"the \d+ that it", "the N that it", text)
    assert text == snapshot("""\
ok       Python          N, FOLDER/bare/bin/python
ok       agent-magic     OURS, in SOURCES/agent_magic
ok       packages        the N that it needs besides those below are there
ok       IPython         N
ok       ipykernel       N: while a cell runs, pages reach it by the control channel; it has subshells
ok       widgets         ipywidgets N, anywidget N
failure  widget manager  JupyterLab of this Python finds no @jupyter-widgets/jupyterlab-manager: runs stand there in their static form, without a live view
                         fix: python -m pip install --force-reinstall --no-deps jupyterlab_widgets, and reload the page
ok       live view       built
ok       JupyterLab      N
warning  Lab extension   JupyterLab of this Python does not find it: saved runs stand in their static form, and what is clicked during a run may count only when its cell has ended
                         fix: python -m pip install --force-reinstall --no-deps SOURCES, and reload the page; if another Python serves your notebooks, do so there
ok       front end       a terminal; %agent doctor in a notebook looks at that one
failure  model           none: no key is set, no server on loopback answers, and the embedded model is not there
                         fix: Set a provider's key, such as OPENAI_API_KEY, before Jupyter starts, or take the embedded model: python -m pip install 'agent-magic[local]'; python -m agent_magic download
ok       keys            none is set
ok       local servers   none answers on 127.N, port 11434, 1234, 8080, 8000
warning  embedded model  its engine is there, its weights are not
                         fix: python -m agent_magic download (93 MB, once)
ok       LiteLLM         N, with all that it needs; not imported yet
ok       proxies         none stands before loopback
ok       kept runs       FOLDER/state/agent_magic/runs can be written
ok       disk            there is room for the embedded model
19 checks: 15 ok, 2 warnings, 2 failures.
""")


@pytest.mark.usefixtures("plain")
def test_doctor_of_the_oldest_jupyter_without_the_provider_library(run: Run, tmp_path: Path):
    if not OLD.is_file():
        skip("no old Jupyter here: set OLD_JUPYTER to its python")
    done = run(python=OLD)
    assert done.stderr == ""
    assert done.returncode == 1
    assert masked(done.stdout.replace(str(OLD), "OLD"), tmp_path) == snapshot("""\
ok       Python          N, OLD
warning  agent-magic     OURS, in SOURCES/agent_magic, not installed by pip: JupyterLab does not find its extension so
                         fix: python -m pip install SOURCES
warning  packages        what is needed is not known, as pip has not installed agent-magic
                         fix: Do what the line above says.
ok       IPython         N
ok       ipykernel       N: while a cell runs, pages reach it by the control channel; it has no subshells, and none are needed
ok       widgets         ipywidgets N, anywidget N
ok       widget manager  @jupyter-widgets/jupyterlab-manager, found and enabled
ok       live view       built
ok       JupyterLab      N
warning  Lab extension   JupyterLab of this Python does not find it: saved runs stand in their static form, and what is clicked during a run may count only when its cell has ended
                         fix: python -m pip install --force-reinstall --no-deps SOURCES, and reload the page; if another Python serves your notebooks, do so there
ok       front end       a terminal; %agent doctor in a notebook looks at that one
failure  model           none: no key is set, no server on loopback answers, and the embedded model is not there
                         fix: Set a provider's key, such as OPENAI_API_KEY, before Jupyter starts, or take the embedded model: python -m pip install 'agent-magic[local]'; python -m agent_magic download
ok       keys            none is set
ok       local servers   none answers on 127.N, port 11434, 1234, 8080, 8000
ok       embedded model  not there, and not needed where another model runs. To have it: python -m pip install 'agent-magic[local]'; python -m agent_magic download
failure  LiteLLM         litellm is not installed
                         fix: python -m pip install litellm
ok       proxies         none stands before loopback
ok       kept runs       FOLDER/state/agent_magic/runs can be written
ok       disk            there is room for the embedded model
19 checks: 14 ok, 3 warnings, 2 failures.
""")


def test_doctor_says_all_as_json_too(run: Run):
    done = run("--json")
    found = rows(done)
    assert list(found) == snapshot(
        [
            "Python",
            "agent-magic",
            "packages",
            "IPython",
            "ipykernel",
            "widgets",
            "widget manager",
            "live view",
            "JupyterLab",
            "Lab extension",
            "front end",
            "model",
            "keys",
            "local servers",
            "embedded model",
            "LiteLLM",
            "proxies",
            "kept runs",
            "disk",
        ]
    )
    assert {tuple(row) for row in found.values()} == {("check", "status", "found", "fix")}
    assert all((row["fix"] is None) == (row["status"] == "ok") for row in found.values())
    assert done.returncode == any(row["status"] == "failure" for row in found.values())


def test_doctor_ends_with_0_where_nothing_failed(run: Run, tmp_path: Path):
    add_extension(tmp_path / "share", MANAGER)
    add_extension(tmp_path / "share", "anywidget")
    add_extension(tmp_path / "share", "agent-magic", __version__)
    done = run(OPENAI_API_KEY=SECRET, JUPYTER_PATH=str(tmp_path / "share"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "openai/gpt-5.4-mini because OPENAI_API_KEY is set" in done.stdout
    assert SECRET not in done.stdout


def test_doctor_imports_nothing_heavy_and_asks_no_address_but_loopback(run: Run, tmp_path: Path):
    # Read by Python at its start, before anything of ours.
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, sys\n"
        "asked = []\n"
        "sys.addaudithook(lambda event, given: asked.append(given[1]) if event == 'socket.connect' else None)\n"
        "names = lambda: {name.partition('.')[0] for name in sys.modules}\n"
        "atexit.register(lambda: print(repr((sorted(names()), asked)), file=sys.stderr))\n",
        encoding="utf-8",
    )
    done = run(path=(tmp_path,))
    modules, asked = eval(done.stderr)
    assert {address[0] for address in asked} == {"127.0.0.1"}
    heavy = {"IPython", "ipykernel", "ipywidgets", "anywidget", "jupyterlab", "jupyter_server", "litellm", "openai",
             "xllamacpp", "torch", "transformers", "pandas", "pydantic"}  # fmt: skip
    assert heavy & set(modules) == set()


# -- what is installed -----------------------------------------------------------------------------


def test_old_ipykernel_is_told_with_the_line_that_replaces_it(run: Run, tmp_path: Path):
    done = run("--json", path=(fake_package(tmp_path / "old", "ipykernel", "6.20.2"),))
    assert done.returncode == 1
    assert rows(done)["ipykernel"] == snapshot(
        {
            "check": "ipykernel",
            "status": "failure",
            "found": "6.20.2 is older than 6.31, the oldest in which a run is known to be stopped and steered",
            "fix": "python -m pip install 'ipykernel>=6.31'",
        }
    )


def test_older_package_than_needed_is_told_with_the_line_that_replaces_it(run: Run, tmp_path: Path):
    path = tmp_path / "old"
    for name in ("pyyaml", "ipywidgets", "litellm", "xllamacpp"):
        fake_package(path, name, "0.1")
    found = rows(run("--json", path=(path,)))
    told = {check: row for check, row in found.items() if check in ("packages", "widgets", "LiteLLM")}
    assert told == snapshot(
        {
            "packages": {
                "check": "packages",
                "status": "failure",
                "found": "pyyaml is 0.1, needed is >=6; xllamacpp is 0.1, needed is <2027,>=2026.10.11549",
                "fix": "python -m pip install 'pyyaml>=6' 'xllamacpp<2027,>=2026.10.11549'",
            },
            "widgets": {
                "check": "widgets",
                "status": "failure",
                "found": "ipywidgets is 0.1, needed is >=8.1",
                "fix": "python -m pip install 'ipywidgets>=8.1'",
            },
            "LiteLLM": {
                "check": "LiteLLM",
                "status": "failure",
                "found": "litellm is 0.1, needed is >=1.80",
                "fix": "python -m pip install 'litellm>=1.80'",
            },
        }
    )


def test_other_version_than_the_installed_one_is_told(run: Run, tmp_path: Path):
    found = rows(run("--json", path=(fake_package(tmp_path / "other", "agent_magic", "9.9"),)))
    row = found["agent-magic"]
    assert masked(row["found"], tmp_path) == snapshot(
        "OURS runs here, from SOURCES/agent_magic, but N is installed"
    )
    assert (row["status"], masked(row["fix"], tmp_path)) == snapshot(
        ("failure", "python -m pip install --force-reinstall --no-deps SOURCES")
    )


def test_package_that_cannot_be_imported_leaves_the_other_checks(run: Run, tmp_path: Path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "jinja2.py").write_text("raise ImportError('jinja2 is broken')", encoding="utf-8")
    done = run("--json", path=(tmp_path / "broken",))
    assert done.returncode == 1
    found = rows(done)
    assert list(found) == ["Python", "agent-magic", "packages", "other checks"]
    assert found["other checks"] == snapshot(
        {
            "check": "other checks",
            "status": "failure",
            "found": "they cannot be made: jinja2 is broken",
            "fix": "Do what stands above, then ask again.",
        }
    )


# -- pages -----------------------------------------------------------------------------------------


@pytest.fixture
def jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which JupyterLab looks first."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("JUPYTER_PREFER_ENV_PATH")
    return tmp_path / "share"


def disable(folder: Path, *names: str, as_list: bool = False) -> None:
    """What `jupyter labextension disable` writes."""
    file = folder / "config" / "labconfig" / "page_config.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = list(names) if as_list else dict.fromkeys(names, True)
    file.write_text(json.dumps({"disabledExtensions": entries}), encoding="utf-8")


def test_disabled_widget_manager_is_told_with_what_enables_it(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, MANAGER)
    add_extension(jupyter, "anywidget")
    assert widget_manager(Scene()).status == "ok"
    disable(tmp_path, MANAGER)
    assert widget_manager(Scene()) == snapshot(
        Found(
            status="failure",
            text="@jupyter-widgets/jupyterlab-manager is disabled in JupyterLab, by the entry '@jupyter-widgets/jupyterlab-manager': runs stand there in their static form, without a live view",
            fix="jupyter labextension enable @jupyter-widgets/jupyterlab-manager, and reload the page",
        )
    )


@pytest.mark.parametrize("as_list", [False, True])
def test_disabled_part_of_our_extension_is_told(jupyter: Path, tmp_path: Path, as_list: bool):
    add_extension(jupyter, "agent-magic", __version__)
    disable(tmp_path, "agent-magic:bridge", "another", as_list=as_list)
    found = extension(Scene())
    assert found.status == "warning"
    assert found.fix == snapshot("jupyter labextension enable agent-magic:bridge, and reload the page")


def test_extension_that_is_enabled_again_counts_as_enabled(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, "agent-magic", __version__)
    file = tmp_path / "config" / "labconfig" / "page_config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"disabledExtensions": {"agent-magic": false, "(": true}}', encoding="utf-8")
    found = find_extension("agent-magic")
    assert found is not None
    assert found.disabled_by is None


def test_extension_of_another_version_is_told(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, "agent-magic", "0.0.1")
    found = extension(Scene())
    assert (found.status, masked(found.text, tmp_path)) == snapshot(
        ("failure", "the one in FOLDER/share/labextensions/agent-magic is of version N, and OURS runs here")
    )
    assert masked(found.fix or "", tmp_path) == snapshot(
        "python -m pip install --force-reinstall --no-deps SOURCES, and reload the page"
    )


def test_half_an_extension_is_told(jupyter: Path, tmp_path: Path):
    add_extension(jupyter, "agent-magic", __version__, is_whole=False)
    found = extension(Scene())
    assert (found.status, masked(found.text, tmp_path)) == snapshot(
        ("failure", "the one in FOLDER/share/labextensions/agent-magic is not whole, and OURS runs here")
    )


# -- keys and models -------------------------------------------------------------------------------


def test_wrong_key_is_told_by_the_name_of_its_variable(run: Run):
    done = run("--json", OPENAI_API_KEY=f'"{SECRET}"')
    assert done.returncode == 1
    assert rows(done)["keys"] == snapshot(
        {
            "check": "keys",
            "status": "failure",
            "found": "OPENAI_API_KEY has quotes around its value",
            "fix": "Correct OPENAI_API_KEY before Jupyter starts.",
        }
    )
    assert SECRET not in done.stdout


def test_each_fault_of_a_key_is_told_in_words():
    forms = {
        "line end": f"{SECRET}\n",
        "blank before": f" {SECRET}",
        "blanks": "  ",
        "empty": "",
        "quotes": f"'{SECRET}'",
        "header": f"Bearer {SECRET}",
        "blank inside": "sk-proj-abc def",
        "typographic": "sk-proj-abc–def",
        "placeholder": "sk-your-key-here",
        "of another": "sk-ant-api03-abcdefghij",
        "of none": "abcdefghijklm",
        "right": SECRET,
    }
    faults = {form: key_fault("OPENAI_API_KEY", {"OPENAI_API_KEY": value}) for form, value in forms.items()}
    assert {form: fault and (fault.text, fault.is_sure) for form, fault in faults.items()} == snapshot(
        {
            "line end": ("ends with a line end", True),
            "blank before": ("begins with a blank", True),
            "blanks": ("holds nothing but blanks", True),
            "empty": ("is empty, so it counts as not set", False),
            "quotes": ("has quotes around its value", True),
            "header": ("begins with the word Bearer, which is no part of a key", True),
            "blank inside": ("has a blank in it", True),
            "typographic": ("has a sign in it that no key has", True),
            "placeholder": ("looks like a placeholder", False),
            "of another": ("holds a key of the form that ANTHROPIC_API_KEY has", True),
            "of none": ("does not begin with sk-, as keys of that provider do", False),
            "right": None,
        }
    )


def test_keys_of_a_server_of_ones_own_may_have_any_form():
    environ = {"OPENAI_API_KEY": "not-needed", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    assert keys(Scene(environ=environ)) == snapshot(
        Found(
            status="ok",
            text="OPENAI_API_KEY (for the address in OPENAI_BASE_URL) set; whether a provider takes a key, only a run can tell",
        )
    )


def test_keys_are_listed_by_name():
    environ = {
        "HF_TOKEN": "hf_abcdefghij",
        "ANTHROPIC_API_KEY": "sk-ant-abcdefghij",
        "GEMINI_API_KEY": "AIza",
    }
    assert keys(Scene(environ=environ)) == snapshot(
        Found(
            status="ok",
            text="ANTHROPIC_API_KEY, GEMINI_API_KEY, HF_TOKEN set; whether a provider takes a key, only a run can tell",
        )
    )


def test_keys_in_a_file_that_nobody_reads_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".env").write_text(f"# mine\nexport OPENAI_API_KEY={SECRET}\nPATH=/bin\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert keys(Scene(environ={})) == snapshot(
        Found(
            status="warning",
            text="none is set; the file .env in this folder names OPENAI_API_KEY, but nothing reads that file",
            fix="Load it before Jupyter starts: set -a; . ./.env; set +a",
        )
    )


def test_model_that_is_named_without_its_key_is_told():
    environ = {"AGENT_MAGIC_MODEL": "gemini/gemini-flash"}
    assert model(Scene(environ=environ)) == snapshot(
        Found(
            status="failure",
            text="gemini/gemini-flash because AGENT_MAGIC_MODEL names it, but neither GEMINI_API_KEY nor GOOGLE_API_KEY is set",
            fix="Set GEMINI_API_KEY before Jupyter starts.",
        )
    )
    assert model(Scene(environ={**environ, "GOOGLE_API_KEY": "AIza"})).status == "ok"


def test_model_that_cannot_be_is_told():
    assert model(Scene(environ={"AGENT_MAGIC_MODEL": "gpt-5"})) == snapshot(
        Found(
            status="failure",
            text="'gpt-5' is not a model id (AGENT_MAGIC_MODEL names it)",
            fix="Write provider/name, e.g. openai/gpt-5.4-mini, or local for the embedded model; no provider's key is set.",
        )
    )


def test_server_on_loopback_is_told_and_chosen():
    with serve(models=["tiny", "small"]) as server:
        scene = Scene(environ={}, ports=(server.port,))
        said = [servers(scene), model(scene)]
    assert [(found.status, found.text.replace(str(server.port), "PORT")) for found in said] == snapshot(
        [
            ("ok", "openai/tiny, a server at http://127.0.0.1:PORT/v1 answers; it serves small too"),
            ("ok", "openai/tiny because a server at http://127.0.0.1:PORT/v1 answers"),
        ]
    )


def test_proxy_before_loopback_is_told_without_its_address():
    environ = {"HTTP_PROXY": "http://me:secret@gate.example:3128", "NO_PROXY": "localhost,.example"}
    assert proxies(Scene(environ=environ)) == snapshot(
        Found(
            status="warning",
            text="requests to 127.0.0.1 go through the proxy that HTTP_PROXY names",
            fix="Before Jupyter starts: export NO_PROXY=localhost,.example,127.0.0.1",
        )
    )
    assert proxies(Scene(environ={**environ, "NO_PROXY": "localhost,127.0.0.1"})) == snapshot(
        Found(status="ok", text="HTTP_PROXY set; loopback is exempt")
    )
    assert proxies(Scene(environ={"HTTPS_PROXY": "http://gate.example:3128"})).status == "ok"


def test_embedded_model_is_told_when_it_is_not_whole(tmp_path: Path):
    pytest.importorskip("xllamacpp", reason="the engine is not installed")
    assert embedded_model(Scene()) == snapshot(
        Found(
            status="warning",
            text="its engine is there, its weights are not",
            fix="python -m agent_magic download (93 MB, once)",
        )
    )
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"half")
    found = embedded_model(Scene())
    assert (found.status, masked(found.text, tmp_path), found.fix) == snapshot(
        (
            "failure",
            "FOLDER/cache/SmolLM2-135M-Instruct.Q4_1.gguf is broken",
            "python -m agent_magic download, which fetches it again",
        )
    )


# -- the disk --------------------------------------------------------------------------------------


def test_folder_for_runs_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    found = journal(Scene(folder=tmp_path / "file"))
    assert (found.status, masked(found.text, tmp_path), found.fix) == snapshot(
        (
            "warning",
            "runs are not kept on disk: FOLDER/file is no folder",
            "Let one of these be written, set XDG_STATE_HOME to a folder that can, or say %config AgentMagics.journal = False.",
        )
    )


def test_folder_for_runs_is_not_made_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = journal(Scene(folder=tmp_path))
    assert masked(found.text, tmp_path) == snapshot("FOLDER/.agent_magic can be written")
    assert list(tmp_path.iterdir()) == []


# -- in a notebook ---------------------------------------------------------------------------------


def row_of(cells: Cells, check: str) -> Found:
    """What `%agent doctor --json` says of one check."""
    done = cells.run("%agent doctor --json")
    assert (done.error, done.stderr) == (None, "")
    row = next(row for row in json.loads(done.text) if row["check"] == check)
    return Found(status=row["status"], text=row["found"], fix=row["fix"])


def test_line_prints_one_line_for_each_check(cells: Cells):
    lines = cells.run("%agent doctor").text.splitlines()
    assert [
        line for line in lines if " front end " in line or " %config " in line or " magics " in line
    ] == snapshot(
        [
            "ok       front end       IPython in a terminal: a run is a tree of text",
            "ok       magics          %%agent and %agent are loaded",
            "ok       %config         each value can be",
        ]
    )
    assert re.fullmatch(r"\d+ checks: \d+ ok, \d+ warnings?, \d+ failures?\.", lines[-1])


@pytest.mark.parametrize("status", [401, 403])
def test_key_that_was_refused_in_the_last_run_is_told(cells: Cells, status: int):
    class Refused(Exception):
        status_code = status

    cells.model(Refused("Incorrect API key provided"), model_id="openai/gpt-5")
    cells.run("%%agent bot --model @m --no-raise\nGo.")
    found = row_of(cells, "last runs")
    assert (found.status, found.text.replace(str(status), "STATUS"), found.fix) == snapshot(
        (
            "failure",
            "bot: openai/gpt-5 refused the key (STATUS)",
            "Correct OPENAI_API_KEY: os.environ['OPENAI_API_KEY'] = getpass.getpass(), or before Jupyter starts. Or correct the model option api_key, if it was given.",
        )
    )
    cells.model(cells.model(name="m2").final(1))
    cells.run("%%agent bot --model @m\nGo.")
    assert row_of(cells, "last runs") == snapshot(Found(status="ok", text="in none was a key refused"))


def test_magic_of_another_extension_is_told(cells: Cells):
    cells.define(
        "from IPython.core.magic import register_cell_magic\n"
        "@register_cell_magic\ndef agent(line, cell): pass\nagent.__module__ = 'another_extension'"
    )
    assert row_of(cells, "magics") == snapshot(
        Found(
            status="failure",
            text="%%agent is not ours but of another_extension: another extension was loaded after this one",
            fix="%reload_ext agent_magic, after whatever brings the other one",
        )
    )
    cells.run("%reload_ext agent_magic")
    assert row_of(cells, "magics") == snapshot(Found(status="ok", text="%%agent and %agent are loaded"))


def test_wrong_values_of_config_are_told(cells: Cells):
    cells.define(
        "%config AgentMagics.max_time_s = -1\n"
        "%config AgentMagics.step_timeout_s = 0\n"
        "%config AgentMagics.prompt_templates = 'missing.yaml'"
    )
    assert row_of(cells, "%config") == snapshot(
        Found(
            status="failure",
            text="max_time_s=-1.0 is not allowed. Give a number over 0, or None for no limit; step_timeout_s is 0.0, and has to be over 0, or None; The prompts' file 'missing.yaml' cannot be read: No such file or directory. Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report",
            fix="Set each anew by %config AgentMagics.NAME = VALUE; %config AgentMagics lists them.",
        )
    )


def test_wrong_model_of_config_is_told(cells: Cells):
    cells.define("%config AgentMagics.model = 'gpt 5'")
    assert row_of(cells, "model") == snapshot(
        Found(
            status="failure",
            text="'gpt 5' is not a model id (%config AgentMagics.model names it)",
            fix="Write provider/name, e.g. openai/gpt-5.4-mini, or local for the embedded model; no provider's key is set.",
        )
    )


@pytest.mark.kernel
@pytest.mark.parametrize("takes_input", [False, True])
def test_doctor_in_a_kernel_says_what_shows_the_notebook(kernel: Kernel, takes_input: bool):
    kernel.execute(
        "%load_ext agent_magic\n"
        "import os\n"
        "for name in ('VSCODE_PID', 'COLAB_RELEASE_TAG'): os.environ.pop(name, None)\n"
        "os.environ['JPY_SESSION_NAME'] = 'a.ipynb'"
    )
    done = kernel.finish(kernel.begin("%agent doctor --json", takes_input=takes_input))
    assert done.error is None
    found = {row["check"]: row["found"] for row in json.loads(done.stdout)}
    said = [found[check] for check in ("front end", "magics")]
    if takes_input:
        assert said == snapshot(
            [
                "a page of a Jupyter server, such as JupyterLab or Notebook; you can type in it",
                "%%agent and %agent are loaded; this kernel takes requests of pages",
            ]
        )
    else:
        assert said == snapshot(
            [
                "nobody can type in it (nbclient, papermill or nbconvert): no live view, and a run without an answer is an error",
                "%%agent and %agent are loaded; this kernel takes requests of pages",
            ]
        )
