from __future__ import annotations

import importlib
import json
import re
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import agent_magic
from agent_magic.core.version import __version__

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).relative_to(ROOT)
README = (ROOT / "README.md").read_text(encoding="utf-8")
DECISIONS = sorted((ROOT / "notebooks/decisions").glob("*"))


def _files() -> list[Path]:
    """What is, or would be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


FILES = _files()
TEXT_SUFFIXES = {".py", ".md", ".toml", ".yaml", ".ipynb", ".txt", ".json", ".ts", ".js", ".mjs", ".css", ""}
TEXTS = {
    file: (ROOT / file).read_text(encoding="utf-8")
    for file in FILES
    if file.suffix in TEXT_SUFFIXES and file != HERE
}


def test_top_level_shows_only_what_was_agreed():
    assert sorted({file.parts[0] for file in FILES}) == snapshot(
        [
            ".ci",
            ".github",
            ".gitignore",
            "LICENSE",
            "README.md",
            "agent_magic",
            "labextension",
            "notebooks",
            "pyproject.toml",
            "tests",
        ]
    )


@pytest.mark.parametrize(
    "pattern",
    [
        r"https?://[\w.-]*(?:index|mirror|proxy|registry|artifactory|nexus)[\w.-]*",  # a host of one workplace
        r"--(?:extra-)?index-url",
        r"(?<![\w.~:/-])/(?:home|root|Users|work|mnt|srv)/\w+",  # a path of one machine
        r"(?<![\w.~:/-])/tmp/\w+",
        r"(?i)\bissue ?#?\d+",
        r"(?i)\bas an AI\b|\bLLM assistant\b",
    ],
)
def test_files_name_no_workplace(pattern):
    found = [
        f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for file, text in TEXTS.items()
        for match in re.finditer(pattern, text)
    ]
    assert found == []


def test_version_is_written_once():
    places = [
        str(file)
        for file, text in TEXTS.items()
        if not {"notebooks", "tests", "__tests__"} & set(file.parts)  # records of runs name what made them
        if file.name not in {"package.json", "package-lock.json"}  # compared below
        if re.search(rf"['\"]{re.escape(__version__)}['\"]", text)
    ]
    assert places == ["agent_magic/core/version.py"]


def test_version_of_the_front_end_is_that_of_the_package():
    package, lock = (
        json.loads((ROOT / "labextension" / name).read_text(encoding="utf-8"))
        for name in ("package.json", "package-lock.json")
    )
    # npm takes semantic versions only: 1.2.0rc1 is 1.2.0-rc1 there.
    ours = re.sub(r"(?<=\d)(?=a|b|rc)", "-", __version__)
    assert (package["version"], lock["version"], lock["packages"][""]["version"]) == (ours, ours, ours)


def test_lock_of_the_front_end_names_no_host():
    lock = json.loads((ROOT / "labextension/package-lock.json").read_text(encoding="utf-8"))
    packages = {name: about for name, about in lock["packages"].items() if name}
    assert packages
    assert [name for name, about in packages.items() if "resolved" in about] == []
    assert [
        name for name, about in packages.items() if not about.get("integrity") and not about.get("inBundle")
    ] == []


def test_no_source_file_is_a_drawer_for_anything():
    names = {"base", "utils", "helpers", "common", "misc", "manager"}
    assert [str(file) for file in FILES if file.stem in names] == []


def test_every_public_name_resolves():
    assert agent_magic.__all__
    for name in agent_magic.__all__:
        assert getattr(agent_magic, name) is not None, name
    assert set(agent_magic.__all__) <= set(dir(agent_magic))


def test_every_module_says_what_it_owns():
    for file in FILES:
        if file.parts[0] == "agent_magic" and file.suffix == ".py":
            module = importlib.import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
            assert module.__doc__, file


@pytest.mark.parametrize("record", DECISIONS, ids=lambda record: record.stem[:4])
def test_decision_is_short_and_has_its_four_parts(record):
    text = record.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences", "Rejected"]
    title = re.match(r"# (\d{4}) (.+)\n", text)
    assert title
    assert record.name.startswith(title[1] + "-")


def test_decisions_are_numbered_without_a_gap():
    assert [record.name[:4] for record in DECISIONS] == [f"{n:04}" for n in range(1, len(DECISIONS) + 1)]


def test_changelog_lines_are_short_and_sorted():
    lines = (ROOT / "notebooks/changelog.md").read_text(encoding="utf-8").splitlines()
    assert lines[2] == "## Unreleased"
    assert {line[4:] for line in lines if line.startswith("### ")} <= {"Added", "Changed", "Fixed", "Removed"}
    assert [line for line in lines if line.startswith("- ") and len(line[2:].split()) > 25] == []
    assert [line for line in lines if line and line[0] not in "#-"] == []


def test_readme_is_short_before_its_floor_plan():
    before, _, _ = README.partition("## Floor plan")
    assert before != README
    assert len(before.split()) <= 400


def test_readme_floor_plan_is_the_tree():
    plan = re.search(r"## Floor plan\n.*?```(?:text)?\n(.*?)```", README, re.DOTALL)
    assert plan
    assert _planned(plan[1]) == {
        str(file.relative_to("agent_magic"))
        for file in FILES
        if file.parts[0] == "agent_magic" and file.suffix in {".py", ".yaml"}
        if file.name != "__init__.py" or file.parts[1] == "__init__.py"
    }


def _planned(plan: str) -> set[str]:
    """Paths below the package, from lines such as `  core/ …` and `    errors.py …`."""
    paths: set[str] = set()
    folders: dict[int, str] = {}
    is_package = False
    for line in plan.splitlines():
        match = re.match(r"( *)([\w.]+/?)(?: |$)", line)
        if match and not match[1]:
            is_package = match[2] == "agent_magic/"
        if not match or not match[1] or not is_package:
            continue
        depth = len(match[1])
        folders = {other: folder for other, folder in folders.items() if other < depth}
        if match[2].endswith("/"):
            folders[depth] = match[2]
        elif "." in match[2]:
            paths.add("".join(folders.values()) + match[2])
    return paths


def test_readme_rows_name_tests_that_exist():
    proofs = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", README)
    assert proofs
    for path, name in proofs:
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), (
            f"{path}::{name}"
        )


def test_readme_test_command_is_what_ci_runs():
    last = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()[-1]
    assert last.endswith("poe check")
    assert last in README


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *(ROOT / "notebooks").glob("*.md"), ROOT / ".github/CONTRIBUTING.md"]
)
def test_page_links_to_files_that_exist(page):
    text = page.read_text(encoding="utf-8")
    linked = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    for target in linked:
        assert (page.parent / target).exists(), f"{page.name}: {target}"
