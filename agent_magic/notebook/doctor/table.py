"""The doctor: all checks as one table, and what they found as text or JSON.

It must not look at anything itself, nor let one check keep the others from being made.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from agent_magic.core.redact import redact
from agent_magic.core.text import to_display
from agent_magic.notebook.doctor import packages
from agent_magic.notebook.doctor.finding import Check, Found, Scene, Status, failure
from agent_magic.notebook.kernel.notebook_folder import folder_of_notebook

Table = Sequence[tuple[str, Check]]
"""Checks, each with its name."""

FIRST: Table = (
    ("Python", packages.python),
    ("agent-magic", packages.package),
    ("packages", packages.packages),
)


def _others() -> Table:
    """The checks that cannot be made where a package is missing; by now that was told."""
    from agent_magic.notebook.doctor import disk, models, pages  # noqa: PLC0415 - as said

    return (
        ("IPython", packages.ipython),
        ("ipykernel", packages.ipykernel),
        ("widgets", pages.widgets),
        ("widget manager", pages.widget_manager),
        ("live view", pages.live_view),
        ("JupyterLab", pages.jupyterlab),
        ("Lab extension", pages.extension),
        ("front end", pages.front_end),
        ("magics", pages.magics),
        ("%config", pages.config),
        ("model", models.model),
        ("keys", models.keys),
        ("last runs", models.last_runs),
        ("local servers", models.servers),
        ("embedded model", models.embedded_model),
        ("LiteLLM", packages.litellm),
        ("proxies", models.proxies),
        ("kept runs", disk.journal),
        ("disk", disk.disk),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found, with its name."""

    check: str
    status: Status
    found: str
    fix: str | None


def report(magics: Any, *, is_json: bool) -> str:
    """What `%agent doctor` prints in a notebook."""
    findings = examine(Scene(magics=magics, folder=folder_of_notebook(magics.shell)))
    return to_json(findings) if is_json else to_text(findings)


def examine(scene: Scene) -> list[Finding]:
    """Make all checks that there is something to look at for, in the order of the table."""
    findings = [_make(name, check, scene) for name, check in FIRST]
    try:
        others = _others()
    except ImportError as error:
        findings.append(
            _to_finding(
                "other checks",
                failure(f"they cannot be made: {error}", "Do what stands above, then ask again."),
            )
        )
    else:
        findings += [_make(name, check, scene) for name, check in others]
    return [finding for finding in findings if finding is not None]


def is_well(findings: Sequence[Finding]) -> bool:
    """Whether nothing failed; a warning is no failure."""
    return all(finding.status != "failure" for finding in findings)


def to_text(findings: Sequence[Finding]) -> str:
    """One line for each check, the fix under each that is not ok, and how many there are of each kind."""
    width = max(len(finding.check) for finding in findings)
    lines = [_to_lines(finding, width) for finding in findings]
    return "\n".join([*chain.from_iterable(lines), _summary(findings)])


def to_json(findings: Sequence[Finding]) -> str:
    """A list of mappings: check, status, found, fix."""
    return json.dumps(list(map(dataclasses.asdict, findings)), ensure_ascii=False, indent=2)


def _make(name: str, check: Check, scene: Scene) -> Finding | None:
    try:
        found = check(scene)
    except Exception as error:  # noqa: BLE001 - a fault of one check, whatever it is, is told as its result
        found = failure(
            f"could not be looked at: {type(error).__name__}: {error}",
            "Report this as a fault of agent-magic.",
        )
    return None if found is None else _to_finding(name, found)


def _to_finding(name: str, found: Found) -> Finding:
    return Finding(
        check=name,
        status=found.status,
        found=_clean(found.text),
        fix=None if found.fix is None else _clean(found.fix),
    )


def _clean(text: str) -> str:
    """One line without secrets or control characters."""
    return " ".join(to_display(redact(text)).split())


def _to_lines(finding: Finding, width: int) -> list[str]:
    lines = [f"{finding.status:7}  {finding.check:{width}}  {finding.found}"]
    if finding.fix is not None:
        lines.append(f"{'':7}  {'':{width}}  fix: {finding.fix}")
    return lines


def _summary(findings: Sequence[Finding]) -> str:
    n_of = {
        status: sum(finding.status == status for finding in findings)
        for status in ("ok", "warning", "failure")
    }
    return (
        f"{len(findings)} checks: {n_of['ok']} ok, {n_of['warning']} warning{'s' * (n_of['warning'] != 1)}, "
        f"{n_of['failure']} failure{'s' * (n_of['failure'] != 1)}."
    )
