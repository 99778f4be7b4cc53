from __future__ import annotations

from cases.conftest import read_cases
from cases.counts import count, ids_in


def test_every_case_of_the_file_has_its_test_and_every_test_its_case():
    assert set(ids_in("test_*.py")) == set(read_cases())


def test_every_case_that_speaks_of_code_has_its_test_with_an_agent_that_writes_code():
    speaking = [name for name, case in read_cases().items() if case.speaks_of_code]
    in_code = ids_in("test_in_code_*.py")
    assert set(speaking) <= set(in_code) <= set(read_cases())
    assert len(set(in_code)) == len(in_code)


def test_no_case_has_two_tests_of_one_kind():
    others = [name for name in ids_in("test_*.py") if name not in ids_in("test_in_code_*.py")]
    assert len(set(others)) == len(others)


def test_every_file_of_cases_is_counted_and_no_case_is_without_a_test():
    counts = list(count())
    assert [one for one in counts if one.without or one.n_tests < one.n_cases] == []
    assert {one.file for one in counts} == {"field_cases", "bad_model_outputs", "escapes", "limits"}
    assert min(one.n_cases for one in counts) > 0
