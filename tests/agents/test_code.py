"""How a code agent acts: code found in the reply, run, observed, answered; its tools as functions."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.events import StepEnded, ToolCallEnded, ToolCallStarted
from agent_magic.core.memory import AgentMemory
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool


def code(text: str, thought: str = "") -> str:
    """A reply with one block of code."""
    return f"{thought}\n<code>\n{text}\n</code>".lstrip("\n")


def agent_of(*blocks: str | dict[str, Any], **options: Any) -> CodeAgent:
    replies = [block if isinstance(block, dict) or "<code>" in block else code(block) for block in blocks]
    return CodeAgent(model=ScriptedModel(replies), **options)


def told(agent: CodeAgent, call: int) -> str:
    """The last message of a request, counted from 1."""
    return agent.model.requests[call - 1].messages[-1]["content"]  # type: ignore[attr-defined]


def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: first
        b: second
    """
    return a + b


# -- what is sent --------------------------------------------------------------------------------


def test_request_has_no_schemas_and_stops_at_the_closing_tag() -> None:
    agent = agent_of("final_answer(3)", tools=[add])
    assert agent.run("1 + 2").value == 3
    (request,) = agent.model.requests
    assert request.tools == []
    assert request.stop == ("</code>", "Observation:")
    assert "def add(a: int, b: int) -> int:" in request.messages[0]["content"]


def test_step_is_told_as_the_reply_and_an_observation() -> None:
    agent = agent_of(code("x = add(1, 2)\nprint('sum', x)\nx", "I add."), "final_answer(x)", tools=[add])
    agent.run("1 + 2")
    assert agent.model.requests[1].messages[-2:] == snapshot(
        [
            {
                "role": "assistant",
                "content": """\
I add.
<code>
x = add(1, 2)
print('sum', x)
x
</code>\
""",
            },
            {
                "role": "user",
                "content": """\
Observation:
sum 3
Value of the last line: 3\
""",
            },
        ]
    )


def test_summary_view_has_the_code_alone() -> None:
    agent = agent_of(code("x = 1", "I think."), "final_answer(x)")
    agent.run("one")
    step = agent.memory.steps[1]
    assert [message.content for message in step.to_messages(summary_mode=True)] == snapshot(
        [
            """\
<code>
x = 1
</code>\
""",
            """\
Observation:
The code ran. It printed nothing, and its last line has no value.\
""",
        ]
    )


def test_closing_tag_that_the_provider_cut_is_put_back_in_the_record() -> None:
    agent = agent_of({"content": "Thought.\n<code>\nx = 2\n"}, "final_answer(x)")
    assert agent.run("two").value == 2
    assert agent.result.actions[0].model_output == "Thought.\n<code>\nx = 2\n</code>"
    assert agent.result.actions[0].code_action == "x = 2"


def test_structured_mode_asks_for_thought_and_code_as_json_where_the_model_can() -> None:
    model = ScriptedModel(
        [{"content": '{"thought": "I answer.", "code": "final_answer(4)"}'}],
        capabilities=Capabilities(response_format=True),
    )
    agent = CodeAgent(model=model, structured=True)
    assert agent.run("four").value == 4
    (request,) = model.requests
    assert request.options["response_format"]["json_schema"]["schema"]["required"] == ["thought", "code"]
    assert request.stop == ()
    assert agent.result.actions[0].code_action == "final_answer(4)"


def test_model_that_cannot_write_code_is_refused_before_any_call() -> None:
    model = ScriptedModel([], capabilities=Capabilities(code=False))
    with pytest.raises(OptionError) as refused:
        CodeAgent(model=model).run("anything")
    assert str(refused.value) == snapshot(
        "The model scripted cannot write code, only pick tools. Give a model that can (--model provider/name), or an agent of mode tools."
    )


# -- the answer ----------------------------------------------------------------------------------


def test_answer_is_the_object_itself() -> None:
    held: dict[str, Any] = {"thing": object()}
    agent = agent_of("final_answer(thing)", state=held)
    assert agent.run("give it").value is held["thing"]


@pytest.mark.parametrize("value", ["None", "0", "''", "[]", "False"])
def test_falsy_answer_ends_the_run_after_one_call(value: str) -> None:
    agent = agent_of(f"final_answer({value})", max_steps=3)
    result = agent.run("give it")
    assert (result.status, result.value) == ("answered", eval(value))
    assert len(agent.model.requests) == 1


def test_answer_of_a_declared_type_is_checked_and_converted() -> None:
    agent = agent_of("final_answer('many')", "final_answer(3)", answer_type=int)
    assert agent.run("how many?").value == 3
    assert told(agent, 2) == snapshot("""\
Observation:
final_answer: argument 'answer' is 'many'; expected int. Call final_answer(answer=<int>).
  line 1: `final_answer('many')`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_refused_answer_keeps_what_was_printed() -> None:
    agent = agent_of(
        "print('looked')\nfinal_answer(1)", "final_answer(2)", final_answer_checks=[lambda answer: answer > 1]
    )
    assert agent.run("more than one").value == 2
    assert told(agent, 2) == snapshot("""\
Observation:
looked
The answer was not accepted: the check <lambda> refused it (it returned False). Mend the answer and give it again.\
""")


def test_later_run_is_told_the_answer_of_the_one_before() -> None:
    agent = agent_of("print('hm')\nfinal_answer([1, 2])", "final_answer(3)")
    agent.run("first")
    agent.run("second", reset=False)
    assert agent.model.requests[1].messages[-2]["content"] == snapshot("""\
Observation:
hm
The answer was given: [1, 2]\
""")


def test_answer_whose_repr_never_ends_is_given_all_the_same() -> None:
    endless = (
        "class Slow:\n    def __repr__(self):\n        while True:\n            pass\nfinal_answer(Slow())"
    )
    agent = agent_of(endless, step_timeout_s=0.5)
    result = agent.run("slow")
    assert type(result.value).__name__ == "Slow"
    assert result.actions[0].observations == snapshot("The answer was given: <Slow whose repr does not end>")


# -- tools as functions --------------------------------------------------------------------------


def test_calls_of_code_stand_in_its_step_with_arguments_results_and_errors() -> None:
    def divide(a: float, b: float) -> float:
        """Divide."""
        print("dividing")
        return a / b

    agent = agent_of(
        "x = divide(1, b=2)\ntry:\n    divide(1, 0)\nexcept ZeroDivisionError:\n    pass\nfinal_answer(x)",
        tools=[divide],
    )
    assert agent.run("divide").value == 0.5
    (result,) = agent.result.actions[0].tool_results
    shown = [
        (call.call.name, call.call.arguments, call.output, call.fault and call.fault.message, call.printed)
        for call in result.calls
    ]
    assert shown == snapshot(
        [
            ("divide", {"a": 1, "b": 2}, 0.5, None, "dividing\n"),
            (
                "divide",
                {"a": 1, "b": 0},
                None,
                """\
divide raised ZeroDivisionError: float division by zero
Call it with other arguments, or use another tool.\
""",
                "dividing\n",
            ),
        ]
    )


def test_wrong_arguments_are_told_with_the_call_and_its_line_and_the_body_is_not_run() -> None:
    entered: list[int] = []

    def count(n: int) -> int:
        """Count."""
        entered.append(n)
        return n

    agent = agent_of("x = 1\ncount('many')", "final_answer(count(n=2))", tools=[count])
    assert agent.run("count").value == 2
    assert entered == [2]
    assert told(agent, 2) == snapshot("""\
Observation:
count: argument 'n' is 'many'; expected int. Call count(n=<int>).
  line 2: `count('many')`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_async_tool_can_be_awaited() -> None:
    async def fetch(n: int) -> int:
        """Fetch."""
        await asyncio.sleep(0.01)
        return n * 2

    agent = agent_of(
        "import asyncio\nfound = await asyncio.gather(fetch(1), fetch(2))\nfinal_answer(found)",
        tools=[fetch],
    )
    assert agent.run("fetch").value == [2, 4]
    assert [call.output for call in agent.result.actions[0].tool_results[0].calls] == [2, 4]


def test_time_in_an_async_tool_is_not_the_codes() -> None:
    async def fetch(n: int) -> int:
        """Fetch."""
        await asyncio.sleep(0.6)
        return n

    agent = agent_of("final_answer(await fetch(3))", tools=[fetch], step_timeout_s=0.3)
    assert agent.run("fetch").value == 3


def test_tool_keeps_what_its_body_changes_in_place() -> None:
    log: list[str] = []

    def note(text: str) -> None:
        """Note."""
        held["log"].append(text)

    held = {"log": log}
    agent = agent_of("note('a')\nlog.append('b')\nfinal_answer(1)", tools=[note], state=held)
    agent.run("note")
    assert log == ["a"]


def test_requires_refuses_a_call_of_code_before_its_body() -> None:
    entered: list[str] = []

    @tool(requires=lambda: (False, "the shop is closed"))
    def buy(what: str) -> str:
        """Buy."""
        entered.append(what)
        return what

    agent = agent_of("buy('milk')", "final_answer(0)", tools=[buy])
    agent.run("buy")
    assert entered == []
    assert told(agent, 2) == snapshot("""\
Observation:
buy was not called, as its condition does not hold: the shop is closed. See to it that the condition holds, or do without this call.
  line 1: `buy('milk')`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_events_of_code_come_in_order_when_nobody_listens() -> None:
    agent = agent_of("final_answer(add(1, 2))", tools=[add])
    events = [
        (type(event).__name__, event.inside is not None)
        for event in agent.stream("add")
        if isinstance(event, ToolCallStarted | ToolCallEnded)
    ]
    assert events == snapshot(
        [
            ("ToolCallStarted", False),
            ("ToolCallStarted", True),
            ("ToolCallEnded", True),
            ("ToolCallEnded", False),
        ]
    )


def test_who_listens_hears_of_calls_while_the_code_runs() -> None:
    heard: list[str] = []
    agent = agent_of(
        "add(1, 2)\nprint(len(heard))\nfinal_answer(len(heard))", tools=[add], state={"heard": heard}
    )
    yielded = [
        event
        for event in agent.stream("add", listen=lambda event: heard.append(type(event).__name__))
        if isinstance(event, ToolCallStarted | ToolCallEnded) and event.inside
    ]
    assert heard == ["ToolCallStarted", "ToolCallEnded"]
    assert yielded == []
    assert agent.result.value == 2


def test_tool_that_runs_another_code_agent_gets_its_answer() -> None:
    def ask(question: str) -> int:
        """Ask."""
        inner = agent_of("y = 5\nfinal_answer(y)", state=held)
        return inner.run(question).value

    held: dict[str, Any] = {}
    agent = agent_of("v = ask('five')\nfinal_answer(v + 1)", tools=[ask], state=held)
    assert agent.run("six").value == 6


# -- approvals -----------------------------------------------------------------------------------


def _answering(agent: CodeAgent, *answers: dict[str, Any]) -> threading.Thread:
    """Answers, in another thread, each question that arises, in turn."""
    left = list(answers)

    def answer() -> None:
        while left:
            for question in agent.approvals.open:
                for item in question.items:
                    if left and agent.approvals.is_open(item.id):
                        agent.approvals.answer(item.id, digest=item.digest, **left.pop(0))
            threading.Event().wait(0.01)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    return thread


def test_code_is_edited_by_the_person_and_the_model_is_told() -> None:
    agent = agent_of("final_answer(1)", "final_answer(3)", approve="code")
    with agent.approvals.attended():
        _answering(
            agent,
            {"verdict": "edit", "arguments": {"code": "print('mine')"}},
            {"verdict": "approve"},
        )
        assert agent.run("one").value == 3
    assert told(agent, 2) == snapshot("""\
Observation:
(the person changed the arguments to this code:
print('mine'))
mine\
""")


def test_code_that_is_rejected_does_not_run() -> None:
    held: dict[str, Any] = {}
    agent = agent_of("made = 1", "final_answer(2)", approve="code", state=held)
    with agent.approvals.attended():
        _answering(agent, {"verdict": "reject", "reason": "too early"}, {"verdict": "approve"})
        agent.run("two")
    assert "made" not in held
    assert told(agent, 2) == snapshot("""\
Observation:
The person refused this code: too early. It was not run. Do not write it again: do it another way, or give the final answer with what is known.\
""")


def test_calls_of_code_are_asked_for_one_by_one_under_approve_tools() -> None:
    agent = agent_of("final_answer(add(1, 2))", tools=[add], approve="tools")
    with agent.approvals.attended():
        _answering(agent, {"verdict": "edit", "arguments": {"a": 10, "b": 2}})
        assert agent.run("add").value == 12


# -- errors, and the record ----------------------------------------------------------------------


def test_prose_is_an_error_step_that_shows_the_form() -> None:
    agent = agent_of({"content": "The final answer is 12."}, "final_answer(12)", max_steps=3)
    assert agent.run("twelve").value == 12
    assert told(agent, 2) == snapshot("""\
The reply has no code block, and nothing ran.
To give the final answer, call `final_answer` in a block of code between `<code>` and `</code>`:
<code>
final_answer("the answer")
</code>\
""")


def test_error_of_code_keeps_what_was_printed_and_names_the_line() -> None:
    agent = agent_of("print('before')\ntotal = 1\ntotal / 0", "final_answer(0)")
    agent.run("divide")
    assert told(agent, 2) == snapshot("""\
Observation:
before
ZeroDivisionError: division by zero
  line 3: `total / 0`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_same_code_that_fails_four_times_ends_the_run() -> None:
    agent = agent_of(*["1 / 0"] * 6)
    result = agent.run("divide")
    assert (result.status, len(result.actions)) == ("failed", 4)


def test_memory_of_code_goes_to_json_and_back() -> None:
    agent = agent_of(code("x = add(1, 2)\nx", "I add."), "1 / 0", "final_answer(x)", tools=[add])
    agent.run("add")
    again = AgentMemory.from_dict(agent.memory.to_dict())
    assert [step.to_messages() for step in again.steps] == [step.to_messages() for step in agent.memory.steps]
    assert [getattr(step, "code_action", None) for step in again.steps] == snapshot(
        [
            None,
            """\
x = add(1, 2)
x\
""",
            "1 / 0",
            "final_answer(x)",
            None,
        ]
    )


def test_names_made_under_writes_none_stay_with_the_agent() -> None:
    held: dict[str, Any] = {"base": 1}
    agent = agent_of("mine = base + 1", "final_answer(mine + 1)", state=held, writes="none")
    assert agent.run("three").value == 3
    assert held == {"base": 1}
    assert agent.state["mine"] == 2


def test_long_output_is_cut_and_the_whole_is_kept() -> None:
    agent = agent_of("for i in range(3000): print(i)", "final_answer(obs_1[-5:].strip())")
    assert agent.run("count").value == "2999"
    assert "the whole is in the variable obs_1" in told(agent, 2)


def test_each_step_is_in_memory_before_its_event() -> None:
    agent = agent_of("x = 1", "final_answer(x)")
    for event in agent.stream("one"):
        if isinstance(event, StepEnded):
            assert any(step is event.step for step in agent.memory.steps)


def test_code_with_a_character_that_cannot_be_encoded_is_not_run() -> None:
    agent = agent_of("x = '\ud83d'", "final_answer(1)")
    assert agent.run("one").value == 1
    assert told(agent, 2) == snapshot(
        "The code has a character that cannot be encoded (a lone surrogate, or U+FFFD), and nothing ran. Write it as an escape, such as '\\ufffd', or leave it out."
    )


def test_secrets_that_code_prints_or_gives_reach_neither_model_nor_record() -> None:
    held = {"API_TOKEN": "hunter2-hunter2", "other": "sk-canary-5d1c0e7f9a2b4c6d"}
    agent = agent_of(
        "print(API_TOKEN, other)\n[API_TOKEN]",
        "raise ValueError(API_TOKEN)",
        "final_answer(API_TOKEN)",
        state=held,
    )
    result = agent.run("tell")
    assert result.value == "hunter2-hunter2", "the answer is the person's, whole"
    assert [told(agent, call) for call in (2, 3)] == snapshot(
        [
            """\
Observation:
[redacted] [redacted]
Value of the last line: ['[redacted]']\
""",
            """\
Observation:
ValueError: [redacted]
  line 1: `raise ValueError(API_TOKEN)`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
        ]
    )
    assert result.actions[2].observations == snapshot("The answer was given: '[redacted]'")


def test_async_tool_that_is_not_awaited_is_told_and_nothing_warns() -> None:
    async def fetch(n: int) -> int:
        """Fetch."""
        return n

    agent = agent_of("fetch(1)\nprint('sent')", "final_answer(await fetch(2))", tools=[fetch])
    assert agent.run("fetch").value == 2
    assert told(agent, 2) == snapshot("""\
Observation:
(fetch is async and was not awaited, so it did not run. Write `await fetch(…)`.)
sent\
""")
    (call,) = agent.result.actions[0].tool_results[0].calls
    assert call.fault is not None


def test_what_a_tool_prints_stands_among_what_the_code_prints() -> None:
    def noisy(n: int) -> int:
        """Say it."""
        print("in the tool")
        return n

    agent = agent_of("print('before')\nnoisy(1)\nprint('after')", "final_answer(0)", tools=[noisy])
    agent.run("say it")
    assert told(agent, 2) == "Observation:\nbefore\nin the tool\nafter"


def test_code_is_the_main_module() -> None:
    held: dict[str, Any] = {}
    agent = agent_of("if __name__ == '__main__':\n    made = 1", "final_answer(made)", state=held)
    assert agent.run("main").value == 1
    assert list(held) == ["made"]


def test_value_that_is_given_with_a_task_is_protected_under_its_name_there() -> None:
    prices = [1, 2]
    model = ScriptedModel(["<code>mine.append(3)\nprint(mine)</code>", "<code>final_answer(mine)</code>"])
    agent = CodeAgent(model=model, state={"prices": prices})
    result = agent.run("Look.", additional_args={"mine": prices})
    assert (result.value, prices) == (prices, [1, 2])
    assert "mine was put back" in (result.actions[0].observations or "")
    assert "prices" not in (result.actions[0].observations or "")


def test_named_value_that_is_given_with_a_task_is_protected_under_its_name_there() -> None:
    prices = [1, 2]
    model = ScriptedModel(["<code>mine.append(3)</code>", "<code>final_answer(mine)</code>"])
    agent = CodeAgent(model=model, state={"prices": prices}, protect=["prices"])
    result = agent.run("Look.", additional_args={"mine": prices})
    assert (result.value, prices) == (prices, [1, 2])
    assert "mine was put back" in (result.actions[0].observations or "")
    assert "prices" not in (result.actions[0].observations or "")


def test_value_that_is_given_with_a_task_may_be_changed_where_nothing_is_protected() -> None:
    prices = [1, 2]
    model = ScriptedModel(["<code>mine.append(3)\nfinal_answer(1)</code>"])
    CodeAgent(model=model, protect=()).run("Look.", additional_args={"mine": prices})
    assert prices == [1, 2, 3]


def test_value_that_a_manager_hands_over_is_protected() -> None:
    prices = [1, 2]
    child = CodeAgent(
        model=ScriptedModel(["<code>mine.append(3)</code>", "<code>final_answer(1)</code>"]), name="child"
    )
    call = ScriptedModel.calls(("child", {"task": "Look.", "additional_args": {"mine": "@prices"}}))
    manager = ToolCallingAgent(
        managed_agents=[child], model=ScriptedModel([call, ScriptedModel.final(1)]), state={"prices": prices}
    )
    result = manager.run("Look.")
    assert (result.status, prices) == ("answered", [1, 2])
