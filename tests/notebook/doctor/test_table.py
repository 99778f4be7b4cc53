"""The doctor as a whole, on real machines: environments made here, the oldest Jupyter, kernels, shells."""

from __future__ import annotations

import json
import re
import sysconfig
import venv
from pathlib import Path

import pytest
from cells import Cells
from inline_snapshot import snapshot
from kernels import Kernel

from agent_magic.core.version import __version__
from agent_magic.models.select import model_table
from agent_magic.notebook.doctor.finding import Found
from agent_magic.view.drawing_code import is_built
from tests.notebook.doctor.machines import MANAGER, OLD, SECRET, Run, add_extension, masked, rows, skip

pytestmark = pytest.mark.usefixtures("no_embedded_model")


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


# -- whole machines --------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain")
def test_doctor_of_a_machine_without_widget_manager_and_model(run_doctor: Run, bare: Path, tmp_path: Path):
    path = (sysconfig.get_path("purelib"),)
    done = run_doctor(python=bare, path=path)
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
def test_doctor_of_the_oldest_jupyter_without_the_provider_library(run_doctor: Run, tmp_path: Path):
    if not OLD.is_file():
        skip("no old Jupyter here: set OLD_JUPYTER to its python")
    done = run_doctor(python=OLD)
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


def test_doctor_says_all_as_json_too(run_doctor: Run):
    done = run_doctor("--json")
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


def test_doctor_ends_with_0_where_nothing_failed(run_doctor: Run, tmp_path: Path):
    add_extension(tmp_path / "share", MANAGER)
    add_extension(tmp_path / "share", "anywidget")
    add_extension(tmp_path / "share", "agent-magic", __version__)
    done = run_doctor(OPENAI_API_KEY=SECRET, JUPYTER_PATH=str(tmp_path / "share"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "openai/gpt-5.4-mini because OPENAI_API_KEY is set" in done.stdout
    assert SECRET not in done.stdout


def test_doctor_imports_nothing_heavy_and_asks_no_address_but_loopback(run_doctor: Run, tmp_path: Path):
    # Read by Python at its start, before anything of ours.
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, sys\n"
        "asked = []\n"
        "sys.addaudithook(lambda event, given: asked.append(given[1]) if event == 'socket.connect' else None)\n"
        "names = lambda: {name.partition('.')[0] for name in sys.modules}\n"
        "atexit.register(lambda: print(repr((sorted(names()), asked)), file=sys.stderr))\n",
        encoding="utf-8",
    )
    done = run_doctor(path=(tmp_path,))
    modules, asked = eval(done.stderr)
    assert {address[0] for address in asked} == {"127.0.0.1"}
    heavy = {"IPython", "ipykernel", "ipywidgets", "anywidget", "jupyterlab", "jupyter_server", "litellm", "openai",
             "xllamacpp", "torch", "transformers", "pandas", "pydantic"}  # fmt: skip
    assert heavy & set(modules) == set()


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
