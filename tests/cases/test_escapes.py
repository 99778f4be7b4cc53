"""What a code agent's guard does, each case as one step of a real agent in a real kernel."""

from __future__ import annotations

import pytest
import yaml
from cases import escaping
from cases.escaping import Case, read, run_case
from kernels import Kernel


@pytest.fixture
def kernel(kept_kernel: Kernel) -> Kernel:
    """One process for all; each case empties the namespace."""
    return kept_kernel


@pytest.mark.kernel
@pytest.mark.parametrize("case", read("escapes.yaml"), ids=lambda case: case.id)
def test_escape_has_its_outcome(kernel: Kernel, case: Case) -> None:
    assert list(run_case(kernel, case).wrong) == []


@pytest.mark.kernel
@pytest.mark.parametrize("case", read("limits.yaml"), ids=lambda case: case.id)
def test_what_the_guard_does_not_stop_is_still_so(kernel: Kernel, case: Case) -> None:
    assert case.says
    assert list(run_case(kernel, case).wrong) == []


def test_ids_of_cases_are_unique() -> None:
    ids = [case.id for name in ("escapes.yaml", "limits.yaml") for case in read(name)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("key", "value"),
    [("guard", "maybe"), ("also_ok", ["fine"]), ("extra", 1), ("names", [])],
    ids=["outcome", "also_ok", "key", "names"],
)
def test_file_with_what_is_not_known_is_refused(tmp_path, monkeypatch, key, value) -> None:
    case = {"id": "X", "category": "c", "code": "1", "guard": "blocked", "names": ["a"], key: value}
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump({"cases": [case]}))
    monkeypatch.setattr(escaping, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"^X: "):
        read("odd.yaml")
