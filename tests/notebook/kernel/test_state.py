from __future__ import annotations

import pytest

from agent_magic.core.state import AgentState
from agent_magic.notebook.kernel.state import KernelState, is_kernel_internal

INTERNALS = ["In", "Out", "exit", "quit", "open", "get_ipython", "_", "__", "___", "_i", "_ii", "_iii", "_ih", "_oh", "_dh", "_i1", "_1", "__name__", "__builtins__"]  # fmt: skip


@pytest.fixture
def state(shell):
    return KernelState(shell)


def test_state_lists_the_variables_in_order(shell, state):
    shell.run_cell("b = 1\na = 2\ndef f(): ...\nimport math\n_own = 3", store_history=True)
    assert list(state) == ["b", "a", "f", "math", "_own"]


@pytest.mark.parametrize("name", INTERNALS)
def test_state_has_nothing_of_the_kernel(shell, state, name):
    shell.run_cell("1 + 1;\n'x'", store_history=True)
    shell.user_ns.setdefault("_1", "x")
    assert name in shell.user_ns
    assert name not in state
    assert name not in list(state)
    with pytest.raises(KeyError):
        state[name]


def test_state_gives_the_live_value(shell, state):
    shell.run_cell("rows = [1]")
    assert state["rows"] is shell.user_ns["rows"]
    shell.run_cell("rows = [2]")
    assert state["rows"] == [2]
    shell.run_cell("del rows")
    assert "rows" not in state


def test_state_has_a_kernel_name_that_the_person_has_bound(shell, state):
    shell.run_cell("open = 5\nIn = 'mine'")
    assert (state["open"], state["In"]) == (5, "mine")
    assert list(state) == ["In", "open"]


def test_state_does_not_list_what_was_there_at_the_start_but_gives_it(shell, state):
    shell.user_ns["helper"] = shell.user_ns_hidden["helper"] = len
    shell.user_ns["nothing"] = shell.user_ns_hidden["nothing"] = None
    assert list(state) == []
    assert state["helper"] is len
    shell.run_cell("helper = sum")
    assert list(state) == ["helper"]


def test_state_binds_a_variable_of_the_notebook(shell, state):
    state.bind("made", 7)
    with_it = shell.run_cell("made + 1")
    assert with_it.result == 8
    assert list(state) == ["made"]


def test_state_may_change_while_it_is_listed(shell, state):
    shell.run_cell("a = 1\nb = 2")
    for name in state:
        shell.user_ns[name + "_more"] = 1
    assert list(state) == ["a", "b", "a_more", "b_more"]


def test_state_passes_over_keys_that_are_no_names(shell, state):
    shell.user_ns[7] = "seven"
    assert list(state) == []
    assert 7 not in state
    del shell.user_ns[7]


def test_agent_with_the_whole_state_sees_no_internals(shell, state):
    shell.run_cell("df = 1")
    agent_state = AgentState(state, scope="all")
    assert agent_state.open_names() == ["df"]
    with pytest.raises(KeyError):
        agent_state.lookup("Out")


@pytest.mark.parametrize("name", sorted(set(INTERNALS) - {"open"}))
def test_kernel_internal_is_what_the_kernel_uses(name):
    assert is_kernel_internal(name)


@pytest.mark.parametrize("name", ["open", "i", "_own", "_input", "x_", "__private", "Inn"])
def test_kernel_internal_is_no_other_name(name):
    assert not is_kernel_internal(name)


def test_items_are_those_of_iteration(shell, state):
    shell.run_cell("1 + 1;\n'x'\nopen = 5\nb = 2\n_own = 3\n__private = 4\n_i7 = 1", store_history=True)
    shell.user_ns["helper"] = shell.user_ns_hidden["helper"] = len
    shell.user_ns["nothing"] = shell.user_ns_hidden["nothing"] = None
    shell.user_ns["changed"] = shell.user_ns_hidden["changed"] = len
    shell.run_cell("changed = sum")
    shell.user_ns[7] = "seven"
    try:
        assert state.items() == [(name, state[name]) for name in state]
        assert [name for name, _ in state.items()] == ["open", "b", "_own", "__private", "changed"]
    finally:
        del shell.user_ns[7]
