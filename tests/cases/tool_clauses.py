"""The clauses of bad replies that are prose, each with its assertion.

It must not know any other clause.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import nbformat
from cases.bad_replies import text_of
from cases.tool_replies import Seen

MAX_STEP_S = 2.0
_MAX_SENT = 300_000
"""Characters of all requests of a case together; those that are not about length have far fewer."""
_MAX_STORED = 900_000
_MAX_THREADS = 128


def check_prose_is_no_answer(seen: Seen) -> None:
    assert not seen.first.is_final
    assert seen.run.answer["value"] != text_of(seen.case)


def check_no_recursion_error(seen: Seen) -> None:
    assert "RecursionError" not in seen.stored
    assert "RecursionError" not in seen.sent


def check_run_went_on(seen: Seen) -> None:
    assert (seen.run.status, len(seen.run.steps)) == ("answered", 2)


def check_little_time(seen: Seen) -> None:
    assert seen.cpu_s < MAX_STEP_S


def check_echo_did_not_run(seen: Seen) -> None:
    assert [name for name, _ in seen.called if name == "echo"] == []


def check_add_did_not_run(seen: Seen) -> None:
    assert [name for name, _ in seen.called if name == "add"] == []


def check_no_eval(seen: Seen) -> None:
    (result,) = seen.first.results
    assert not result["has_run"]
    assert result["fault"] == result["told"]  # and no result of 1+1 beside it
    assert seen.called == []


def check_little_is_sent(seen: Seen) -> None:
    assert len(seen.sent) < _MAX_SENT


def check_little_is_stored(seen: Seen) -> None:
    assert len(seen.stored) < _MAX_STORED
    assert len(seen.shown["text/html"]) < _MAX_SENT


def check_surrogate_harms_nothing(seen: Seen) -> None:
    seen.cells.check_calls()
    seen.sent.encode("utf-8")
    for form in seen.shown.values():
        json.dumps(form, ensure_ascii=False).encode("utf-8")
    outputs = [{key: value for key, value in o.items() if key != "transient"} for o in seen.done.outputs]
    cell = nbformat.v4.new_code_cell("", outputs=nbformat.from_dict(outputs))
    nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode("utf-8")
    assert "UnicodeEncodeError" not in seen.stored


def check_no_escape_anywhere(seen: Seen) -> None:
    outputs = [seen.done.stdout, seen.done.stderr, seen.shown["text/plain"], seen.shown["text/html"]]
    for text in (*outputs, seen.shown["text/markdown"]):
        assert (
            re.search(
                r"[\x00-\x08\x0b-\x1f\x7f]|\[2J", text.replace("\\x1b[2J", "").replace("\\u001b[2J", "")
            )
            is None
        ), text


def check_sum_is_a_number(seen: Seen) -> None:
    assert [result["told"].splitlines()[-1] for result in seen.first.results] == ["3"]


def check_threads(seen: Seen) -> None:
    assert 1 <= seen.n_threads <= _MAX_THREADS  # one may be free again before the next call


def check_no_markup_of_the_content(seen: Seen) -> None:
    assert not {"img", "script", "a"} & set(seen.page.elements)
    assert [name for name, _ in seen.page.attributes if name.startswith("on")] == []
    assert [value for _, value in seen.page.attributes if "javascript" in (value or "")] == []
    assert '<img src=x onerror="document.title=' in seen.page.text  # it stands there, as text


def check_no_markup_of_the_argument(seen: Seen) -> None:
    assert not {"button", "style"} & set(seen.page.elements)
    assert "<button data-commandlinker-command" in seen.page.text


def check_boom_at_most_four_times(seen: Seen) -> None:
    assert 1 <= len(seen.called) <= 4


def check_no_answer_is_invented(seen: Seen) -> None:
    assert seen.run.answer == {"type": "NoneType", "is_held": True, "value": None}


NEVER: dict[str, Callable[[Seen], None]] = {
    "the prose as the final answer of this first reply": check_prose_is_no_answer,
    "RecursionError reaching the user": check_no_recursion_error,
    "the run ending": check_run_went_on,
    "parsing takes over 2 s": check_little_time,
    "echo runs": check_echo_did_not_run,
    "20 MB going back into the prompt": check_little_is_sent,
    "20 MB in the rendered view": check_little_is_stored,
    "UnicodeEncodeError on save, on render or at the next request": check_surrogate_harms_nothing,
    "the terminal cleared": check_no_escape_anywhere,
    "raw escape bytes in the rendered view": check_no_escape_anywhere,
    "add runs": check_add_did_not_run,
    "eval runs": check_no_eval,
    "the result is the text 12": check_sum_is_a_number,
    "more than 128 tool threads at once (max_tool_threads)": check_threads,
    "an img or script element, an on* attribute or a javascript link made from this text in the rendered view": check_no_markup_of_the_content,
    "a button or style element made from this text in the rendered view": check_no_markup_of_the_argument,
    "boom running more than 4 times": check_boom_at_most_four_times,
    "an invented answer": check_no_answer_is_invented,
}


def note_numbers_from_texts(seen: Seen) -> None:
    ((_, arguments),) = seen.called
    assert [(value, type(value)) for value in arguments.values()] == [(1, int), (2, int)]
    assert seen.first.notes == ["a: text '1' read as 1", "b: text '2' read as 2"]


def note_ids_are_unique(seen: Seen) -> None:
    ids = [result["id"] for result in seen.first.results]
    assert len(set(ids)) == len(ids) == 2


def note_each_has_its_own(seen: Seen) -> None:
    results = seen.first.results
    assert len({result["id"] for result in results}) == len(results) == 500
    assert {result["told"] for result in results} == {"2"}


def note_true_result_follows(seen: Seen) -> None:
    said = seen.case["content"]
    before, after = seen.requests[:2]
    ours = after[len(before) :]
    assert after[: len(before)] == before
    assert [message["role"] for message in after].count("system") == 1
    assistants = [message for message in ours if message["role"] == "assistant"]
    assert len(assistants) == 1
    assert said.strip() in assistants[0]["content"]
    assert [said in (message["content"] or "") for message in after if message["role"] != "assistant"] == [
        False
    ] * (len(after) - 1)
    follows = ours[ours.index(assistants[0]) + 1]
    assert re.search(r"(?:^|\n|: )3$", follows["content"])
    if seen.form == "native":
        assert (follows["role"], follows["content"]) == ("tool", "3")


def note_told_and_ended(seen: Seen) -> None:
    told = [step.told for step in seen.run.steps]
    assert ["failed before" in text for text in told] == [False, True, True, False][: len(told)]
    if seen.run.status == "failed":
        assert "4 times" in (seen.run.error or "")
    else:
        assert seen.run.status == "max_steps"


NOTES: dict[str, Callable[[Seen], None]] = {
    "a and b reach add as ints (CALLS holds 1 and 2, not texts); the step notes that text was read as a whole number": note_numbers_from_texts,
    "ids are made unique before they are stored": note_ids_are_unique,
    "each call with its own id and result": note_each_has_its_own,
    "stored as assistant text only, so the true result 3 is what follows": note_true_result_follows,
    "four equal failures running end the run as failed (max_repeats), or it stops at max_steps, where a last call for "
    "an answer is allowed; from the second on the model is told that the same call failed before": note_told_and_ended,
}
