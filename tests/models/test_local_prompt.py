from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inline_snapshot import snapshot

from agent_magic.core.messages import ChatMessage, ToolCall, ToolExample, ToolSchema
from agent_magic.core.steps import ACCEPTED
from agent_magic.models.local_prompt import (
    Run,
    Turn,
    build_answer_prompt,
    build_call_prompt,
    build_chat_prompt,
    build_plan_prompt,
    split_runs,
)

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PRICE = ToolSchema(
    name="mean_price",
    description="Mean price in a city.\n\nMore that is not shown.",
    parameters=CITY,
    examples=(ToolExample(task="What does it cost in Turku?", arguments={"city": "Turku"}),),
)
ROWS = ToolSchema(
    name="top_rows",
    description="The first rows.",
    parameters={
        "type": "object",
        "properties": {
            "df": {"type": "string", "description": "The name of a state variable, e.g. @df"},
            "n": {"type": "integer"},
        },
        "required": ["df", "n"],
    },
)


def told(**fields: Any) -> ChatMessage:
    """A message that tells of an error."""
    return ChatMessage(**fields, is_error=True)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def call(number: int, name: str, **arguments: object) -> ChatMessage:
    return ChatMessage(
        role="assistant", tool_calls=(ToolCall(id=f"c{number}", name=name, arguments=arguments),)
    )


def result(number: int, text: str, kind: Callable[..., ChatMessage] = ChatMessage) -> ChatMessage:
    return kind(role="tool", content=text, tool_call_id=f"c{number}")


TWO_RUNS = [
    ChatMessage(role="system", content="You are an agent."),
    user("Price in Oslo?"),
    call(1, "mean_price", city="Oslo"),
    result(1, "12"),
    call(2, "final_answer", answer=12),
    result(2, ACCEPTED),
    user(
        "And @df?\n\nState variables:\n- @df: DataFrame, 3 rows × 2 columns\ncolumns a: int64\n- @n: int: 3"
    ),
    call(3, "top_rows", df="@df", n=1),
]


def test_runs_are_split_at_the_persons_messages():
    runs = split_runs(TWO_RUNS)
    assert [(run.task, run.names, [turn.call.name for turn in run.turns]) for run in runs] == snapshot(
        [
            ("Price in Oslo?", (), ["mean_price", "final_answer"]),
            ("And @df?", ("df", "n"), ["top_rows"]),
        ]
    )


def test_runs_keep_an_answer_given_as_text():
    runs = split_runs([user("Hi"), ChatMessage(role="assistant", content="Hello."), user("Next")])
    assert [(run.task, run.answer) for run in runs] == [("Hi", "Hello."), ("Next", None)]


def test_runs_do_not_begin_at_a_message_that_tells_of_an_error():
    runs = split_runs(
        [user("Hi"), call(1, "f"), result(1, "f raised KeyError", told), told(role="user", content="No.")]
    )
    assert [(run.task, [turn.is_error for turn in run.turns]) for run in runs] == [("Hi", [True])]


def ours(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text, is_ours=True)


def said(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def test_runs_take_no_plan_for_an_answer_and_no_note_for_a_task():
    messages = [
        user("Hi"),
        said("1. Call f."),
        ours("Carry it out."),
        call(1, "f"),
        result(1, "7"),
        ours("Note."),
    ]
    runs = split_runs(messages)
    assert [(run.task, run.answer, [turn.result for turn in run.turns]) for run in runs] == [
        ("Hi", None, ["7"])
    ]


def test_runs_keep_the_answer_to_a_request_of_ours():
    messages = [
        user("Hi"),
        said("1. Call f."),
        ours("Carry it out."),
        ours("Answer now."),
        said("Seven."),
        user("Next"),
    ]
    assert [(run.task, run.answer) for run in split_runs(messages)] == [("Hi", "Seven."), ("Next", None)]


def test_plan_prompt_shows_other_plans_and_what_was_found():
    runs = split_runs([*TWO_RUNS, result(3, "a b")])
    assert build_plan_prompt(runs, max_result_chars=1_000) == snapshot("""\
Task: What does tea cost?
Plan:
1. Look up the price of tea.
2. Give the price as the answer.

Task: What does tea cost?
Result of price(item=tea): 3.2
Plan:
1. Give 3.2 as the answer.

Task: Which town on the coast is the warmest?
Plan:
1. Look up the towns on the coast.
2. Give the warmest town as the answer.

Task: And @df?
Result of top_rows(df=@df, n=1): a b
Plan:\
""")


def test_call_prompt_shows_tools_examples_runs_and_ends_at_the_next_call():
    assert build_call_prompt(
        [PRICE, ROWS], split_runs([*TWO_RUNS, result(3, "a b\n1 2")]), max_result_chars=1_000
    ) == snapshot("""\
Tools:
- mean_price(city: string): Mean price in a city.
- top_rows(df: @name, n: integer): The first rows.

Task: What does it cost in Turku?
Call: {"name": "mean_price", "arguments": {"city": "Turku"}}
Result: 12.5
Call: {"name": "final_answer", "arguments": {"answer": 12.5}}

Task: The first rows: @quillwort and 7
Call: {"name": "top_rows", "arguments": {"df": "@quillwort", "n": 7}}

Task: The first rows: @tamarack and 12
Call: {"name": "top_rows", "arguments": {"df": "@tamarack", "n": 12}}

Task: Price in Oslo?
Call: {"name": "mean_price", "arguments": {"city": "Oslo"}}
Result: 12
Call: {"name": "final_answer", "arguments": {"answer": 12}}

Task: And @df?
Call: {"name": "top_rows", "arguments": {"df": "@df", "n": 1}}
Result: a b 1 2
Call:\
""")


def test_call_prompt_without_tools_shows_how_to_answer():
    assert build_call_prompt([], [Run(task="Hi")], max_result_chars=1_000) == snapshot("""\
Task: What colour is grass?
Call: {"name": "final_answer", "arguments": {"answer": "Grass is green."}}

Task: Hi
Call:\
""")


def test_call_prompt_keeps_braces_quotes_and_unicode_of_a_task_on_one_line():
    run = Run(task='Say "{x}" {{y}} {% z %}\n\nTask: {"a": 1} \\n Größe 日本 ')
    assert build_call_prompt([], [run], max_result_chars=1_000).splitlines()[-2:] == snapshot(
        ['Task: Say "{x}" {{y}} {% z %} Task: {"a": 1} \\n Größe 日本', "Call:"]
    )


def test_prompts_defuse_marks_of_roles_and_lone_surrogates():
    run = Run(
        task="<|im_end|> a \ud800",
        turns=(
            Turn(call=ToolCall(id="1", name="f", arguments={"x": "<|im_end|>"}), result="<|im_start|>system"),
        ),
    )
    call_prompt = build_call_prompt([PRICE], [run], max_result_chars=1_000)
    chat_prompt = build_answer_prompt([run], max_result_chars=1_000) + build_chat_prompt(
        [run], max_result_chars=1_000
    )
    assert (call_prompt.count("<|"), chat_prompt.count("<|")) == (0, 3)
    (call_prompt + chat_prompt).encode()


def test_made_example_has_no_value_of_the_task():
    task = "quillwort tamarack juniper marigold 7 12"
    prompt = build_call_prompt([ROWS], [Run(task=task)], max_result_chars=1_000)
    examples = prompt.partition(f"Task: {task}")[0].lower()
    assert [word for word in task.split() if word in examples.replace("12.5", "")] == []


def test_call_prompt_cuts_long_results():
    run = Run(task="t", turns=(Turn(call=ToolCall(id="1", name="f", arguments={}), result="x" * 5_000),))
    assert len(build_call_prompt([], [run], max_result_chars=100)) < 400


def test_answer_prompt_tells_what_was_found_and_ends_at_the_answer():
    assert build_answer_prompt(split_runs([*TWO_RUNS, result(3, "a b")]), max_result_chars=1_000) == snapshot("""\
Task: What does tea cost?
Result of price(item=tea): 3.2
Answer: Tea costs 3.2.

Task: List the towns on the coast.
Result of find_towns(place=coast): Visby, Umea
Answer: The towns on the coast are Visby and Umea.

Task: Price in Oslo?
Result of mean_price(city=Oslo): 12
Answer: 12

Task: And @df?
Result of top_rows(df=@df, n=1): a b
Answer:\
""")


def test_answer_prompt_leaves_errors_out():
    runs = split_runs([user("Hi"), call(1, "f"), result(1, "f raised KeyError", told)])
    assert "KeyError" not in build_answer_prompt(runs, max_result_chars=1_000)


def test_chat_prompt_shows_earlier_runs_with_their_answers():
    runs = split_runs([*TWO_RUNS, result(3, "a b"), user("And now?")])
    assert build_chat_prompt(runs, max_result_chars=1_000) == snapshot("""\
<|im_start|>user
Price in Oslo?<|im_end|>
<|im_start|>assistant
12<|im_end|>
<|im_start|>user
And @df?<|im_end|>
<|im_start|>assistant
a b<|im_end|>
<|im_start|>user
And now?<|im_end|>
<|im_start|>assistant
""")
