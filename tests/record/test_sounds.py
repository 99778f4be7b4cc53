from __future__ import annotations

from view.samples import action, call, run

from agent_magic.core.sound import Sound
from agent_magic.core.steps import ActionStep
from agent_magic.record.clean import stored_size
from agent_magic.record.run import MAX_BYTES, to_record
from agent_magic.record.schema import SoundRecord


def speaks(n: int, n_bytes: int, text: str = "said") -> ActionStep:
    sound = Sound(data=b"x" * n_bytes, media_type="audio/ogg")
    return action(n, call("say", {}, f"say_{n}", observation=text, sounds=(sound,)))


def sounds_of(*steps: ActionStep) -> list[SoundRecord]:
    record = to_record(run(*steps))
    assert stored_size(record) <= MAX_BYTES
    return [call["sounds"][0] for step in record["steps"] for call in step["calls"]]  # type: ignore[typeddict-item] # actions


def test_sound_stands_in_a_record_as_words_and_a_url() -> None:
    assert sounds_of(speaks(1, 3)) == [{"words": "sound (ogg)", "url": "data:audio/ogg;base64,eHh4"}]


def test_sound_that_was_not_kept_is_told_in_words() -> None:
    assert sounds_of(speaks(1, 0)) == [{"words": "sound (ogg)"}]


def test_newest_sounds_are_kept_where_there_is_no_room_for_all() -> None:
    kept = sounds_of(*(speaks(n, 30_000) for n in range(1, 7)))
    assert ["url" in sound for sound in kept] == [False, False, False, True, True, True]


def test_sounds_give_way_to_the_texts_of_a_run() -> None:
    kept = sounds_of(*(speaks(n, 20_000, "x" * 7_900) for n in range(1, 47)))
    assert not any("url" in sound for sound in kept)
