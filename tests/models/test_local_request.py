from __future__ import annotations

import pytest

from agent_magic.models.local_request import find_answers


@pytest.mark.parametrize(
    ("result", "answers"),
    [
        ("5076.016260162602", [5076.016260162602]),
        ("NaN", ["NaN"]),
        ("sunny", ["sunny"]),
        ("Oslo, Bergen", ["Oslo, Bergen", "Oslo", "Bergen"]),
        ("a: 1\nb: 2", ["a: 1\nb: 2", "a: 1", "b: 2"]),
        ("[1, 2.5]", [[1, 2.5], 1, 2.5]),
        ('{"a": [1, 2]}', [{"a": [1, 2]}]),
        ("", [""]),
        ("(message read as @m)\n7", [7]),
        (
            'The result is in the variable top_1; refer to it as "@top_1".\nDataFrame, 2 rows',
            ["@top_1"],
        ),
        ('head … 9,000 characters cut; the whole is obs_1: peek(name="obs_1", start=0) … tail', ["@obs_1"]),
        ("x" * 700, ["x" * 600]),
    ],
)
def test_answers_are_the_result_or_parts_of_it(result: str, answers: list):
    assert find_answers(result) == answers
