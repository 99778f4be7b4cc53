"""The columns of the matrix: what a provider answers, and what a run must come to then.

Each is strict: whatever differs from it is a clause of its own in the report.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.providers.dialect import Dialect
from tests.providers.said import Answer, Call, Counted, Said
from tests.providers.seen import Seen
from tests.providers.server import Answering

WAIT_S = 0.15
"""That a provider asks for: shorter than any wait of ours."""
SHORT_TIMEOUT_S = 3.0
THOUGHT = "I add them first."
THINKING = "Adding is easy."
ADD = Call(id="call_a", name="add", arguments={"a": 1, "b": 2}, signature="c2lnbmVkLWNhbGw=")
ADD_MORE = Call(id="call_b", name="add", arguments={"a": 3, "b": 4})
FINAL = Said(calls=(Call(id="call_z", name="final_answer", arguments={"answer": 3}),))
HALF = Said(text="Half of this is shown.", calls=(ADD, ADD_MORE))
"""A reply that is to break off."""

Judge = Callable[[Seen, Dialect], Sequence[str]]
_SOON = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One fault, or one kind of right reply."""

    name: str
    answers: Callable[[Dialect], list[Answering]]
    came: str | Callable[[Dialect], str]
    """As `Seen.came` puts it."""
    n_requests: int = 2
    added: tuple[tuple[int, int], ...] = ()
    judge: Judge = lambda seen, dialect: ()
    timeout_s: float = 60.0
    is_stream_only: bool = False

    def wrong(self, seen: Seen, dialect: Dialect) -> list[str]:
        """What is not as it must be; nothing if all is."""
        came = self.came if isinstance(self.came, str) else self.came(dialect)
        pairs: list[tuple[str, Any, Any]] = [
            (f"came to, after {[wait.reason for wait in seen.waits]},", seen.came, came),
            ("requests", seen.n_requests, self.n_requests),
            ("calls made", sorted(seen.added), sorted(self.added)),
        ]
        if came.startswith("answered"):
            pairs += [("answer", seen.result.value, 3), ("error", seen.error, "")]
        found = [f"{what}: {is_!r} instead of {right!r}" for what, is_, right in pairs if is_ != right]
        return found + list(self.judge(seen, dialect)) + _secrets(seen, dialect)


def _secrets(seen: Seen, dialect: Dialect) -> list[str]:
    texts = [seen.error, *(wait.reason for wait in seen.waits)]
    return ["the key is shown"] if any(dialect.key in text for text in texts) else []


def _then_final(*said: Said) -> Callable[[Dialect], list[Answering]]:
    return lambda dialect: [*map(dialect.say, said), dialect.say(FINAL)]


def _waits(*between: tuple[float, float]) -> Judge:
    """Each wait lies between two limits, and the requests lie as far apart."""

    def judge(seen: Seen, dialect: Dialect) -> list[str]:
        delays = [wait.delay_s or 0.0 for wait in seen.waits]
        found = [
            f"waits {delay:.2f} s, not {low} to {high}"
            for delay, (low, high) in zip(delays, between, strict=False)
            if not low <= delay <= high
        ]
        times = [one.at for one in seen.received]
        gaps = [after - before for before, after in itertools.pairwise(times)]
        return found + [
            f"asked again after {gap:.2f} s"
            for gap, (low, _) in zip(gaps, between, strict=False)
            if gap < 0.9 * low
        ]

    return judge


_OWN_WAIT = (0.5, 1.0)


def _reason(*words: str) -> Judge:
    """The first wait says why."""

    def judge(seen: Seen, dialect: Dialect) -> list[str]:
        reason = seen.waits[0].reason if seen.waits else ""
        reason = reason.replace(f"({dialect.crash_told_as})", "(CRASH)")
        return [f"{word!r} is not in {reason!r}" for word in (dialect.model_id, *words) if word not in reason]

    return judge


def _both(*judges: Judge) -> Judge:
    return lambda seen, dialect: [one for judge in judges for one in judge(seen, dialect)]


# -- right replies -------------------------------------------------------------------------------


def _thought(seen: Seen, dialect: Dialect) -> list[str]:
    first = seen.result.actions[0]
    found = [] if first.model_output == THOUGHT else [f"text: {first.model_output!r}"]
    if THOUGHT not in seen.texts and seen.texts:
        found.append(f"shown: {seen.texts!r}")
    # It goes back beside the call, in the next request.
    return found + ([] if THOUGHT in seen.body_text(2) else ["the text does not go back"])


def _observed(*values: str) -> Judge:
    def judge(seen: Seen, dialect: Dialect) -> list[str]:
        observed = tuple(result.observation for result in seen.result.actions[0].tool_results)
        ids = [call.id for call in seen.result.actions[0].tool_calls]
        found = [] if observed == values else [f"observed: {observed}"]
        return found + ([] if len(set(ids)) == len(values) else [f"ids: {ids}"])

    return judge


_COUNTED = Counted(input=1_000, output=40, cached=800, reasoning=30)


def _counts(seen: Seen, dialect: Dialect) -> list[str]:
    usage = seen.result.actions[0].token_usage
    wanted = {
        "input_tokens": 1_000,
        "output_tokens": 40,
        "cached_tokens": 800 if "cached" in dialect.reports else None,
        "reasoning_tokens": 30 if "reasoning" in dialect.reports else None,
    }
    told = usage.to_dict() if usage else {}
    return [f"{name}: {told.get(name)}" for name, right in wanted.items() if told.get(name) != right]


def _counts_nothing(seen: Seen, dialect: Dialect) -> list[str]:
    usage = seen.result.actions[0].token_usage
    return [] if usage is None else [f"usage: {usage}"]


def _thinks(text: str) -> Judge:
    def judge(seen: Seen, dialect: Dialect) -> list[str]:
        first = seen.result.actions[0]
        found = [] if first.reasoning == THINKING else [f"reasoning: {first.reasoning!r}"]
        found += [] if first.model_output == text else [f"text: {first.model_output!r}"]
        return found + (["thinking is shown as text"] if THINKING in seen.texts else [])

    return judge


# -- faults --------------------------------------------------------------------------------------


def _teaches(*words: str) -> Judge:
    """The run's error names the model and these; `KEY` and `CRASH` stand for the key's variable and the status."""

    def judge(seen: Seen, dialect: Dialect) -> list[str]:
        provider = dialect.model_id.partition("/")[0].upper()
        variable = dialect.key_variable or f"{provider}_API_KEY"
        wanted = [
            dialect.model_id,
            *(word.replace("KEY", variable).replace("CRASH", str(dialect.crash_told_as)) for word in words),
        ]
        return [f"{word!r} is not in {seen.error!r}" for word in wanted if word not in seen.error]

    return judge


def _breaks(end: Any) -> Callable[[Dialect], list[Answering]]:
    def answers(dialect: Dialect) -> list[Answering]:
        def first(path: str, body: Any) -> Answer:
            whole = dialect.answer(HALF, is_stream=dialect.streams(path, body))
            return Answer(media_type=whole.media_type, pieces=whole.pieces, end=end)

        return [first, dialect.say(FINAL)]

    return answers


def _nothing_of_the_half(seen: Seen, dialect: Dialect) -> list[str]:
    kept = [step.model_output for step in seen.result.actions if "Half" in step.model_output]
    return [f"kept: {kept}"] * bool(kept) + ["sent back"] * ("Half" in seen.body_text(seen.n_requests))


def _slow(dialect: Dialect) -> list[Answering]:
    said = Said(text="One after the other, and all of it takes its time.", calls=(ADD,))

    def first(path: str, body: Any) -> Answer:
        whole = dialect.answer(said, is_stream=dialect.streams(path, body))
        n_pieces = len(whole.pieces)
        pause_s = 0.5 if n_pieces == 1 else 1.2 * SHORT_TIMEOUT_S / n_pieces
        return Answer(media_type=whole.media_type, pieces=whole.pieces, pause_s=pause_s)

    return [first, dialect.say(FINAL)]


def _unreadable(dialect: Dialect) -> list[Answering]:
    def first(path: str, body: Any) -> Answer:
        if not dialect.streams(path, body):
            return Answer(pieces=(b'{"id": "1", "choices": [{"mess',))
        events = dialect.events(HALF)
        return Answer(media_type=dialect.sse_type, pieces=(*events[:3], dialect.broken_event(), *events[3:]))

    return [first, dialect.say(FINAL)]


def _page(dialect: Dialect) -> list[Answering]:
    page = Answer(media_type="text/html", pieces=(b"<html><body><h1>It works!</h1></body></html>",))
    return [lambda path, body: page, dialect.say(FINAL)]


COLUMNS: tuple[Column, ...] = (
    Column(
        name="text+call",
        answers=_then_final(Said(text=THOUGHT, calls=(ADD,))),
        came="answered",
        added=((1, 2),),
        judge=_both(_thought, _observed("3")),
    ),
    Column(
        name="null+call",
        answers=_then_final(Said(calls=(ADD,))),
        came="answered",
        added=((1, 2),),
        judge=_observed("3"),
    ),
    Column(
        name="parallel",
        answers=_then_final(Said(calls=(ADD, ADD_MORE))),
        came="answered",
        added=((1, 2), (3, 4)),
        judge=_observed("3", "7"),
    ),
    Column(
        name="usage",
        answers=_then_final(Said(calls=(ADD,), counted=_COUNTED)),
        came="answered",
        added=((1, 2),),
        judge=_counts,
    ),
    Column(
        name="reasoning",
        answers=_then_final(Said(text=THOUGHT, thinking=THINKING, signature="c2lnbmVk", calls=(ADD,))),
        came="answered",
        added=((1, 2),),
        judge=_thinks(THOUGHT),
    ),
    Column(
        name="list",
        answers=_then_final(
            Said(text=THOUGHT, thinking=THINKING, signature="c2lnbmVk", calls=(ADD,), shape="list")
        ),
        came="answered",
        added=((1, 2),),
        judge=_thinks(THOUGHT),
    ),
    Column(
        name="no usage",
        answers=_then_final(Said(calls=(ADD,), counted=None)),
        came="answered",
        added=((1, 2),),
        judge=_counts_nothing,
    ),
    Column(name="null", answers=_then_final(Said(shape="null")), came="answered (told)"),
    Column(
        name="only thinking",
        answers=_then_final(Said(thinking=THINKING, signature="c2lnbmVk")),
        came="answered (told)",
        judge=_thinks(""),
    ),
    Column(
        name="no choice",
        answers=_then_final(Said(shape="no choice")),
        came=lambda dialect: f"answered ({dialect.says_nothing})",
    ),
    Column(
        name="401",
        answers=lambda dialect: [dialect.refuse("key")],
        came="failed",
        n_requests=1,
        judge=_teaches("refused the key", "KEY"),
    ),
    Column(
        name="404",
        answers=lambda dialect: [dialect.refuse("model")],
        came="failed",
        n_requests=1,
        judge=_teaches("was not found (404)", "model id"),
    ),
    Column(
        name="408",
        answers=lambda dialect: [dialect.refuse("timeout"), dialect.say(FINAL)],
        came="answered (retried)",
        judge=_waits(_OWN_WAIT),
    ),
    Column(
        name="429+wait",
        answers=lambda dialect: [dialect.refuse("rate", WAIT_S), dialect.say(FINAL)],
        came="answered (retried)",
        judge=_both(_waits((WAIT_S, WAIT_S)), _reason("too many requests", "(429)")),
    ),
    Column(
        name="429",
        answers=lambda dialect: [dialect.refuse("rate"), dialect.say(FINAL)],
        came="answered (retried)",
        judge=_waits(_OWN_WAIT),
    ),
    Column(
        name="500",
        answers=lambda dialect: [dialect.refuse("crash"), dialect.say(FINAL)],
        came="answered (retried)",
        judge=_both(_waits(_OWN_WAIT), _reason("its server failed (CRASH)")),
    ),
    Column(
        name="503 × 3",
        answers=lambda dialect: [*[dialect.refuse("overload", _SOON)] * 3, dialect.say(FINAL)],
        came="answered (3 more tries)",
        n_requests=4,
        judge=_waits(*[(_SOON, _SOON)] * 3),
    ),
    Column(
        name="down",
        answers=lambda dialect: [dialect.refuse("crash", _SOON)],
        came="failed (3 more tries)",
        n_requests=4,
        judge=_teaches("its server failed (CRASH)", "(tried 4 times)"),
    ),
    Column(
        name="error amid",
        answers=lambda dialect: [dialect.break_off(HALF, "overload"), dialect.say(FINAL)],
        came="answered (retried)",
        judge=_nothing_of_the_half,
        is_stream_only=True,
    ),
    Column(name="cut", answers=_breaks("cut"), came="answered (retried)", judge=_nothing_of_the_half),
    Column(name="reset", answers=_breaks("reset"), came="answered (retried)", judge=_nothing_of_the_half),
    Column(name="slow", answers=_slow, came="answered", added=((1, 2),), timeout_s=SHORT_TIMEOUT_S),
    Column(
        name="silent",
        answers=_breaks("stall"),
        came="answered (retried)",
        judge=_both(_nothing_of_the_half, _reason("did not answer in time")),
        timeout_s=SHORT_TIMEOUT_S,
    ),
    Column(name="wrong JSON", answers=_unreadable, came="answered (retried)", judge=_nothing_of_the_half),
    Column(name="web page", answers=_page, came="answered (retried)"),
)
