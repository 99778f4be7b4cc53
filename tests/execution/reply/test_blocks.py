"""The code of a reply is found in whatever form it comes, and a reply without any is told the form."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ParsingError
from agent_magic.execution.reply.blocks import FoundCode, find_code, read_structured


def code_of(text: str) -> str:
    return find_code(text, finish_reason="stop").code


def fault(text: str, finish_reason: str | None = "stop") -> str:
    with pytest.raises(ParsingError) as caught:
        find_code(text, finish_reason=finish_reason)
    return caught.value.message


# Tags


def test_code_between_tags_is_found_with_the_thought_before_it() -> None:
    found = find_code("I add.\n<code>\nx = 1\nprint(x)\n</code>\nThat was it.", finish_reason="stop")
    assert found == snapshot(
        FoundCode(
            code="""\
x = 1
print(x)\
""",
            start=7,
            end=36,
            mended="""\
I add.
<code>
x = 1
print(x)
</code>\
""",
        )
    )
    assert found.mended[: found.start] == "I add.\n"


def test_closing_tag_is_put_in_where_the_stop_sequence_took_it() -> None:
    found = find_code("I add.\n<code>\nx = 1\n", finish_reason="stop")
    assert (found.code, found.mended) == ("x = 1", "I add.\n<code>\nx = 1\n</code>")
    assert found.mended[found.start : found.end] == "<code>\nx = 1\n</code>"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            '<code>\npage = "<p>use <code>x</code> here</p>"\nprint(page)\n</code>',
            'page = "<p>use <code>x</code> here</p>"\nprint(page)',
        ),
        ("<code>\nx = '''\n</code>\n'''\n</code>", "x = '''\n</code>\n'''"),
        ("<code>x = 1  # don't</code>", "x = 1  # don't"),
        ("<code>x = 'it\\'s </code>'\n</code>", "x = 'it\\'s </code>'"),
        ("<CODE >\nx = 1\n</Code>", "x = 1"),
        ('<code lang="python">x = 1</code>', "x = 1"),
        ("<code>\nx = 1\n</code></code>", "x = 1"),
        ("Write `<code>` first: <code>x = 1</code>", "x = 1"),
        ("I write a <code> block.\n<code>\nx = 1\n</code>", "x = 1"),
        ("See <code>df</code>:\n<code>\nprint(df)\n</code>", "print(df)"),
        ("<code>x = 1\n<code>\ny = 2\n</code>", "x = 1\ny = 2"),
        ("<code>\n```python\nx = 1\n```\n</code>", "x = 1"),
        ("```python\n<code>\nx = 1\n</code>\n```", "x = 1"),
        ("```python\npage = '<code>x</code>'\nprint(page)\n```", "page = '<code>x</code>'\nprint(page)"),
        ("<code>\ndf\n</code>", "df"),
        ("<code>\n    x = 1\n    if x:\n        y = 2\n    </code>", "x = 1\nif x:\n    y = 2"),
        ("1: <code>x = 1\n   y = 2\n   </code>", "x = 1\ny = 2"),
        ("<code>\nx = = 3\n</code>", "x = = 3"),
        ("<code>\n%matplotlib inline\n!echo hi\n", "%matplotlib inline\n!echo hi"),
        ("<code>\n\n\nx = 1\n\n\n</code>", "x = 1"),
        ("```html\n<code>no</code>\n```\n<code>yes = 1</code>", "yes = 1"),
    ],
)
def test_tags_are_read_as_they_are_meant(text: str, code: str) -> None:
    assert code_of(text) == code


def test_windows_line_ends_and_byte_order_mark_go() -> None:
    found = find_code("\ufeff<code>\r\nif True:\r\n    y = 1\r\n</code>\r\n", finish_reason="stop")
    assert found == FoundCode(
        code="if True:\n    y = 1", start=0, end=33, mended="<code>\nif True:\n    y = 1\n</code>"
    )


# Fences and bare text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("```py\nx = 1\n```", "x = 1"),
        ("``` Python3 \nx = 1\n```", "x = 1"),
        ("```{python}\nx = 1\n```", "x = 1"),
        ("```\nprint(1)\n```", "print(1)"),
        ("~~~python\nx = ~1\n~~~", "x = ~1"),
        ("````python\nx = '```'\n````", "x = '```'"),
        ("```python x = 1```", "x = 1"),
        ("Do this: ```python\nx = 1\n```", "x = 1"),
        ("```python\nx = 1```", "x = 1"),
        (
            "```python\ntext = '''\n```\nno end\n```\n'''\nf(text)\n```",
            "text = '''\n```\nno end\n```\n'''\nf(text)",
        ),
        ("1. do this:\n   ```python\n   k = [1]\n   f(k)\n   ```\n", "k = [1]\nf(k)"),
        ("- ```python\n  x = 1\n  ```", "x = 1"),
        ("```bash\nls\n```\n```\nf(3)\n```", "f(3)"),
        ("```bash\nls\n```python\nx = 1\n```", "x = 1"),
        ("```\nResult: 3\n```\n```python\nx = 1\n```", "x = 1"),
        ("```py\nx = 1\n```python\ny = 2\n```", "x = 1\ny = 2"),
        ("```python\nx = 1\n</code>", "x = 1"),
        ("Thought: add.\n```python\nx = 1\nprint(x)\n", "x = 1\nprint(x)"),
        ("x = 20\nfinal_answer(x + 1)", "x = 20\nfinal_answer(x + 1)"),
        ("\n\nprint(1)\n</code>", "print(1)"),
        ("for i in 'ab':\n    pass", "for i in 'ab':\n    pass"),
        ("import math\nObservation: done", "import math"),
    ],
)
def test_fences_and_bare_code_are_read_as_they_are_meant(text: str, code: str) -> None:
    assert code_of(text) == code


def test_several_blocks_are_one_step_in_their_order() -> None:
    found = find_code(
        "First:\n```python\nx = 1\n```\nThen:\n```python\nfinal_answer(x)\n```\nDone.", finish_reason="stop"
    )
    assert found.code == "x = 1\nfinal_answer(x)"
    assert found.mended.startswith("First:")
    assert found.mended.endswith("final_answer(x)\n```")


@pytest.mark.parametrize(
    "text",
    [
        "<code>x = 1</code>\nObservation: 3\n<code>y = 2</code>",
        "<code>x = 1\nObservation: 3\nThe answer is 3",
        "<code>x = 1</code>\n**Observation:** 3\n```python\ny = 2\n```",
    ],
)
def test_what_follows_a_dreamed_observation_is_cut(text: str) -> None:
    found = find_code(text, finish_reason="stop")
    assert found.code == "x = 1"
    assert "Observation" not in found.mended


def test_observation_inside_a_string_is_code() -> None:
    assert "Observation" in code_of("<code>\nx = '''\nObservation: 3\n'''\n</code>")


# No code


def test_reply_without_code_is_told_the_form() -> None:
    texts = (
        "I think we should look at the data first.",
        "I checked it. The final answer is 12.",
        "",
        "```bash\necho owned\n```",
        '{"name": "add", "arguments": {"a": 1, "b": 2}}',
        "<code></code>",
    )
    assert {text: fault(text) for text in texts} == snapshot(
        {
            "I think we should look at the data first.": """\
The reply has no code block, and nothing ran.
Write a short thought, then Python between `<code>` and `</code>`:
<code>
total = sum([1, 2, 3])
print(total)
</code>\
""",
            "I checked it. The final answer is 12.": """\
The reply has no code block, and nothing ran.
To give the final answer, call `final_answer` in a block of code between `<code>` and `</code>`:
<code>
final_answer("the answer")
</code>\
""",
            "": """\
The reply is empty, and nothing ran.
Write a short thought, then Python between `<code>` and `</code>`:
<code>
total = sum([1, 2, 3])
print(total)
</code>\
""",
            """\
```bash
echo owned
```\
""": """\
The reply has a block of 'bash' and none of Python; only Python runs, and nothing ran.
Write a short thought, then Python between `<code>` and `</code>`:
<code>
total = sum([1, 2, 3])
print(total)
</code>\
""",
            '{"name": "add", "arguments": {"a": 1, "b": 2}}': """\
The reply is data and no code, and nothing ran; a tool is called as a Python function.
Write a short thought, then Python between `<code>` and `</code>`:
<code>
total = sum([1, 2, 3])
print(total)
</code>\
""",
            "<code></code>": """\
The code block is empty, and nothing ran.
Write a short thought, then Python between `<code>` and `</code>`:
<code>
total = sum([1, 2, 3])
print(total)
</code>\
""",
        }
    )


@pytest.mark.parametrize(
    "text", ["Done", "12", "'text'", "[1, 2]", "Answer: 12", "a.b", "```\nDone\n```", "not a"]
)
def test_lone_name_or_literal_is_no_code(text: str) -> None:
    assert "<code>" in fault(text)


def test_reply_that_was_cut_off_by_length_is_told_apart() -> None:
    texts = (
        '<code>\nlog.append("ran")\ntext = """once upon',
        "<code>\nx = 1\n",
        "I think that",
        "x = 1\nprint(x)",
    )
    assert {text: fault(text, "length") for text in texts} == snapshot(
        {
            '''\
<code>
log.append("ran")
text = """once upon\
''': """\
The reply was cut off by the length limit in line 2 of its code, and nothing ran.
Send the work in smaller steps, one short block each.\
""",
            """\
<code>
x = 1
""": """\
The reply was cut off by the length limit in line 1 of its code, and nothing ran.
Send the work in smaller steps, one short block each.\
""",
            "I think that": """\
The reply was cut off by the length limit before its code, and nothing ran.
Think in fewer words, and send the work in smaller steps, one short block each.\
""",
            """\
x = 1
print(x)\
""": """\
The reply was cut off by the length limit in the middle of its code, and nothing ran.
Think in fewer words, and send the work in smaller steps, one short block each.\
""",
        }
    )


def test_reply_cut_off_after_its_code_is_whole() -> None:
    assert find_code("<code>x = 1</code>\nAnd so I", finish_reason="length").code == "x = 1"


def test_block_that_ends_within_a_statement_is_told_as_never_closed() -> None:
    texts = (
        "```python\nx = add(1, 2)\ny = add(x,",
        "<code>\ns = '''once\n",
        '<code>\npage = "<p>use <code>x',
    )
    assert {text: fault(text) for text in texts} == snapshot(
        {
            """\
```python
x = add(1, 2)
y = add(x,\
""": """\
The code block was never closed, and its code is cut off in line 2: `y = add(x,`. Nothing ran.
Send the whole code again, and end it with `</code>`; where a text in it needs that tag, write "</" + "code>".\
""",
            """\
<code>
s = '''once
""": """\
The code block was never closed, and its code is cut off in line 1: `s = '''once`. Nothing ran.
Send the whole code again, and end it with `</code>`; where a text in it needs that tag, write "</" + "code>".\
""",
            """\
<code>
page = "<p>use <code>x\
""": """\
The code block was never closed, and its code is cut off in line 1: `page = "<p>use <code>x`. Nothing ran.
Send the whole code again, and end it with `</code>`; where a text in it needs that tag, write "</" + "code>".\
""",
        }
    )


def test_character_that_python_cannot_read_is_named() -> None:
    assert "NUL character" in fault("```python\nx = 1\0\n```")
    assert "lone surrogate character, U+D83D" in fault("```python\nx = '\ud83d'\n```")


# Structured replies


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"thought": "I add.", "code": "x = 1\nprint(x)"}),
        json.dumps({"thought": "I add.", "code": "<code>\nx = 1\nprint(x)\n</code>"}),
        json.dumps({"thought": "I add.", "code": "```python\nx = 1\nprint(x)\n```"}),
        "```json\n" + json.dumps({"thought": "I add.", "code": "x = 1\nprint(x)"}) + "\n```",
        '{"thought": "I add.", "code": "x = 1\nprint(x)"}',
        "I add.\n<code>\nx = 1\nprint(x)\n</code>",
    ],
)
def test_structured_reply_is_read_in_any_form(text: str) -> None:
    found = read_structured(text, finish_reason="stop")
    assert found.code == "x = 1\nprint(x)"
    assert found.mended == "I add.\n<code>\nx = 1\nprint(x)\n</code>"
    assert found.mended[: found.start].strip() == "I add."


@pytest.mark.parametrize("text", ['{"thought": "x"}', '{"code": 3}', "[" * 100_000, '{"code": ""}', "prose"])
def test_structured_reply_without_code_is_refused(text: str) -> None:
    with pytest.raises(ParsingError):
        read_structured(text)


def test_structured_code_may_hold_tags_and_fences_in_strings() -> None:
    code = "page = '<code>x</code>'\nnote = '''\n```\n'''"
    assert read_structured(json.dumps({"thought": "a <code> b", "code": code})).code == code


# Size


HUGE = {
    "openers": "<code>" * 150_000,
    "pairs": "<code></code>" * 70_000,
    "fences": "```\n" * 200_000,
    "other fences": "```bash\n" * 120_000,
    "lines": "<code>\n" + "x=1\n" * 64_000 + "</code>",
    "megabyte": "<code>\n" + "x = 1\n" * 160_000,
    "closers": "<code>x=(</code>" + "</code>" * 100_000,
    "closers in a string": "<code>x='" + "</code>" * 100_000 + "'",
    "quotes": "<code>" + "'" * 900_000,
    "triple quotes": "<code>" + '"""a' * 200_000,
    "hashes": "<code>" + "#" * 900_000,
    "brackets": "(" * 900_000,
    "spaces": " " * 900_000,
    "observations": "Observation:\n" * 70_000,
    "backticks": "`" * 900_000,
    "backslashes": "<code>'" + "\\" * 800_000,
    "minus": "<code>" + "-" * 190_000 + "1</code>",
    "dots": "<code>a" + ".b" * 90_000 + "</code>",
    "tildes": "~~~\n" * 200_000,
    "text": "a b. " * 300_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_huge_reply_is_handled_quickly(text: str) -> None:
    started = time.perf_counter()
    with contextlib.suppress(ParsingError):
        find_code(text, finish_reason="stop")
    assert time.perf_counter() - started < 10


def test_huge_code_is_refused_with_its_size() -> None:
    assert fault(HUGE["lines"]) == snapshot("""\
The code has 256,007 characters on 64,001 lines; at most 200,000 on 10,000 can be run, and nothing ran.
Make large data in a loop or read it from where it is, and send the work in smaller steps.\
""")
    assert fault(HUGE["text"]) == snapshot("""\
The reply has 1,500,000 characters; at most 1,000,000 can be read, and nothing ran.
Send a short thought and one short block of code.\
""")
