"""Which names an agent may use, and where its results go."""

from __future__ import annotations

import threading

import pytest

from agent_magic.core.state import AgentState, DictState, is_usable_name, parse_reference

# -- open names ------------------------------------------------------------------------------


def _state(**names: object) -> AgentState:
    return AgentState(DictState(names))


def test_dict_state_binds_like_a_dictionary() -> None:
    state = DictState(a=1)
    state.bind("b", 2)
    assert state == {"a": 1, "b": 2}


def test_lookup_refuses_a_name_that_is_not_open() -> None:
    state = _state(secret=1)
    with pytest.raises(KeyError):
        state.lookup("secret")
    assert not state.is_open("secret")


def test_lookup_gives_the_live_value_of_an_open_name() -> None:
    value = object()
    state = _state(df=value)
    state.open("df")
    assert state.lookup("df") is value


def test_lookup_follows_a_name_that_is_bound_anew() -> None:
    base = DictState(df=1)
    state = AgentState(base, opened=["df"])
    base["df"] = 2
    assert state.lookup("df") == 2


def test_open_name_is_closed_while_nothing_has_it() -> None:
    base = DictState(df=1)
    state = AgentState(base, opened=["df", "missing"])
    assert state.open_names() == ["df"]
    del base["df"]
    assert state.open_names() == []
    with pytest.raises(KeyError):
        state.lookup("df")
    base["df"] = 3
    assert state.lookup("df") == 3


def test_scope_all_opens_every_name() -> None:
    base = DictState(a=1, b=2)
    state = AgentState(base, scope="all")
    base["c"] = 3
    assert state.open_names() == ["a", "b", "c"]
    assert state.lookup("c") == 3
    with pytest.raises(KeyError):
        state.lookup("d")


def test_open_names_come_oldest_first_and_once() -> None:
    state = _state(a=1, b=2, c=3)
    for name in ("c", "a", "c"):
        state.open(name)
    assert state.open_names() == ["c", "a"]


def test_reading_by_brackets_is_not_limited_to_open_names() -> None:
    state = _state(a=1)
    assert state["a"] == 1
    assert "a" in state
    assert state.get("a") == 1
    assert state.get("b", "other") == "other"
    with pytest.raises(KeyError):
        state["b"]


def test_iteration_gives_every_name_once() -> None:
    state = AgentState(DictState(a=1, obs_1="theirs"), layer={"obs_1": "ours"})
    assert list(state) == ["obs_1", "a"]


def test_get_gives_a_none_that_is_bound() -> None:
    assert _state(a=None).get("a", "other") is None


# -- nearest ---------------------------------------------------------------------------------


def test_nearest_names_open_names_only_nearest_first() -> None:
    state = _state(sales=1, sales_2024=2, sails=3, weather=4)
    for name in ("sales", "sales_2024", "weather"):
        state.open(name)
    assert state.nearest("sale") == ["sales", "sales_2024"]


def test_nearest_gives_at_most_three() -> None:
    state = AgentState(DictState({f"frame{i}": i for i in range(9)}), scope="all")
    assert len(state.nearest("frame")) == 3


def test_nearest_gives_nothing_when_nothing_looks_alike() -> None:
    assert AgentState(DictState(weather=1), scope="all").nearest("qq") == []


# -- fork and join ---------------------------------------------------------------------------


def test_fork_shares_the_base_and_the_layer() -> None:
    state = _state(a=1)
    run = state.fork()
    run.base.bind("b", 2)
    name = run.keep("long text")
    assert state["b"] == 2
    assert state[name] == "long text"


def test_fork_opens_names_for_its_run_alone() -> None:
    state = _state(a=1, b=2)
    state.open("a")
    run = state.fork(opened=["b"])
    assert run.open_names() == ["a", "b"]
    assert state.open_names() == ["a"]


def test_fork_keeps_extra_values_for_its_run_alone() -> None:
    state = _state(a=1)
    run = state.fork(extra={"budget": 5, "a": "hides"})
    assert run.lookup("budget") == 5
    assert run.lookup("a") == "hides"
    assert "budget" not in state
    assert state["a"] == 1
    assert state.base["a"] == 1


def test_fork_when_fresh_forgets_what_was_open_but_not_what_is_kept() -> None:
    state = _state(a=1, b=2)
    state.open("a")
    state.join(state.fork(extra={"old": 1}))
    state.keep("long")
    run = state.fork(opened=["b"], fresh=True)
    assert run.open_names() == ["b", "obs_1"]


def test_fork_keeps_scope_and_references() -> None:
    run = AgentState(DictState(a=1), scope="all", references="exact").fork()
    assert (run.scope, run.references) == ("all", "exact")


def test_join_takes_over_what_a_run_had_open() -> None:
    state = _state(a=1, b=2)
    run = state.fork(extra={"budget": 5}, opened=["b"])
    name = run.bind_result("load", [1])
    state.join(run)
    assert state.open_names() == ["b", name, "budget"]
    assert state.lookup("budget") == 5


def test_close_names_keeps_variables_and_kept_texts() -> None:
    state = _state(a=1)
    state.open("a")
    state.join(state.fork(extra={"budget": 5}))
    state.keep("long")
    state.close_names()
    assert state.open_names() == ["obs_1"]
    assert state["a"] == 1
    assert "budget" not in state


# -- results ---------------------------------------------------------------------------------


def test_bind_result_takes_the_first_free_name_and_opens_it() -> None:
    state = _state()
    first, second = object(), object()
    assert state.bind_result("load", first) == "load_1"
    assert state.bind_result("load", second) == "load_2"
    assert state.base["load_1"] is first
    assert state.lookup("load_2") is second


def test_bind_result_never_takes_a_name_that_exists() -> None:
    state = _state(load_1="the person's", load_3="too")
    run = state.fork(extra={"load_2": "an argument"})
    assert run.bind_result("load", "new") == "load_4"
    assert run.base["load_1"] == "the person's"
    assert run.lookup("load_2") == "an argument"


def test_bind_result_never_takes_one_name_twice_when_threads_meet() -> None:
    state = _state()
    runs = [state.fork() for _ in range(8)]
    names: list[str] = []
    barrier = threading.Barrier(8)

    def bind(run: AgentState) -> None:
        barrier.wait()
        names.extend(run.bind_result("load", object()) for _ in range(50))

    threads = [threading.Thread(target=bind, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names, key=lambda name: int(name[5:])) == [f"load_{n}" for n in range(1, 401)]


def test_keep_counts_over_the_life_of_the_agent() -> None:
    state = _state()
    assert not state.has_kept
    assert state.fork().keep("one") == "obs_1"
    state.close_names()
    assert state.fork(fresh=True).keep("two") == "obs_2"
    assert state.has_kept
    assert (state["obs_1"], state["obs_2"]) == ("one", "two")


def test_keep_stays_in_the_layer_and_hides_a_variable_of_that_name_from_the_agent_alone() -> None:
    state = _state(obs_1="the person's")
    state.keep("ours")
    assert state.base["obs_1"] == "the person's"
    assert state["obs_1"] == "ours"
    assert state.lookup("obs_1") == "ours"


# -- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@df", "df"),
        ("@_x1", "_x1"),
        ("@größe", "größe"),
        ("df", None),
        ("@", None),
        ("@1a", None),
        ("@a b", None),
        (" @df", None),
        ("@df\n", None),
        ("@df.head", None),
        ("me@df", None),
        ("@@df", None),
        ("", None),
    ],
)
def test_parse_reference_reads_an_at_name_and_nothing_else(text: str, name: str | None) -> None:
    assert parse_reference(text) == name


@pytest.mark.parametrize(
    ("name", "is_usable"),
    [("df", True), ("größe", True), ("class", False), ("1a", False), ("a b", False), ("", False)],
)
def test_is_usable_name_takes_identifiers_that_are_no_keywords(name: str, is_usable: bool) -> None:
    assert is_usable_name(name) is is_usable


def test_names_that_are_lost_are_not_given_again() -> None:
    state = AgentState(DictState())
    state.restore("obs_3", "three")
    state.lose("obs_5")
    state.lose("look_1")
    run = state.fork()
    assert (run.keep("six"), state.keep("seven")) == ("obs_6", "obs_7")
    assert run.bind_result("look", object()) == "look_2"
    assert (run.is_lost("obs_5"), run.is_lost("obs_3"), run.is_lost("other")) == (True, False, False)
    assert not run.is_open("obs_5")


def test_name_that_was_lost_is_back_once_something_has_it() -> None:
    base = DictState()
    state = AgentState(base)
    state.lose("df")
    state.open("df")
    assert (state.is_lost("df"), state.is_open("df")) == (True, False)
    base.bind("df", 1)
    assert (state.is_lost("df"), state.is_open("df")) == (False, True)


def test_what_was_kept_can_be_let_go() -> None:
    state = AgentState(DictState())
    state.keep("one")
    state.lose("obs_2")
    state.forget_kept()
    assert not state.has_kept
    assert state.keep("new") == "obs_1"


def test_what_is_kept_gets_no_name_that_was_handed_over() -> None:
    run = AgentState().fork(extra={"obs_1": "theirs"})
    assert run.keep("mine") == "obs_2"
    assert (run["obs_1"], run["obs_2"]) == ("theirs", "mine")


def test_state_apart_is_on_the_same_base_and_knows_nothing_else() -> None:
    state = AgentState(DictState(df=1), opened=["df"])
    state.keep("long")
    apart = state.apart()
    assert apart.base is state.base
    assert apart.open_names() == []
    assert "obs_1" not in apart
    apart.bind_result("load", object())
    assert state.open_names() == ["df", "obs_1"]
