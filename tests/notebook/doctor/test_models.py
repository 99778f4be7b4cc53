"""What the doctor says of keys and of models."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_magic.notebook.doctor.finding import Found, Scene
from agent_magic.notebook.doctor.keys import key_fault
from agent_magic.notebook.doctor.models import embedded_model, keys, model, proxies, servers
from tests.models.openai_server import serve
from tests.notebook.doctor.machines import SECRET, Run, masked, rows

pytestmark = pytest.mark.usefixtures("no_embedded_model")


def test_wrong_key_is_told_by_the_name_of_its_variable(run_doctor: Run):
    done = run_doctor("--json", OPENAI_API_KEY=f'"{SECRET}"')
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
