from __future__ import annotations

import re

import pytest
from inline_snapshot import snapshot
from view.code_samples import code_call, code_run, code_step
from view.markup import ATTACKS
from view.samples import planned_record, record_full_of, run, small_run

from agent_magic.record.run import to_record
from agent_magic.view.markdown import fence, span, to_markdown


def outside_of_code(markdown: str) -> str:
    """What a CommonMark reader does not take as code: fences first, then spans."""
    lines: list[str] = []
    closing: str | None = None
    for line in markdown.split("\n"):
        ticks = re.match(r" {0,3}(`{3,})", line)
        if closing is None and ticks:
            closing = ticks[1]
        elif closing is not None:
            if re.fullmatch(rf" {{0,3}}{closing}`*[ \t]*", line):
                closing = None
        else:
            lines.append(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    assert closing is None
    return "\n".join(lines)


def test_markdown_of_a_small_run() -> None:
    assert to_markdown(
        to_record(small_run(), reason="the only key found", warnings=["@x is no variable"])
    ) == snapshot("""\
**Agent** `analyst` · **answered** · `openai/gpt-5 · the only key found`

`4 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s`

⚠ `@x is no variable`

**Task**

```text
Which island has the heaviest penguins?
```

- `@penguins`: `DataFrame, 344 rows × 8 columns: columns species: str, island: str`

**Step 1** `mean_mass(table=@penguins, island="Biscoe", weights={"male": 0.5, "female": 0.5})` → `4716.0` · `501 tokens in, 40 out · 1.2 s`

*Reasoning*

```text
The person asks for the heaviest penguins. A mean for each island is needed.
```

*Thought*

```text
I look at one island first, with the average of both sexes.
```

*Call* `mean_mass`

```text
table = @penguins
island = "Biscoe"
weights = {"male": 0.5, "female": 0.5}
```

(`penguins read as @penguins`)

*Printed*

```text
dropped 2 rows without a mass
```

*Observation*

```text
4716.0
```

**Step 2** `mean_mass(table=@penguins, island="Dreem")` ✗ `ToolError` · `by_island(table=@penguins)` → `by_island_1: Table, 3 rows × 2 columns` · `502 tokens in, 40 out · 1.2 s`

*Call* `mean_mass`

```text
table = @penguins
island = "Dreem"
```

**Error** `ToolError`

```text
No island 'Dreem'. Islands: Biscoe, Dream, Torgersen.
Use one of these.
```

*Call* `by_island`

```text
table = @penguins
```

*Observation*

```text
DataFrame, 3 rows × 2 columns
  island    mass
0 Biscoe  4716.0
1 Dream   3712.9
```

Kept as `by_island_1` `Table, 3 rows × 2 columns`

**Step 3** `✗ ParsingError` · `503 tokens in, 40 out · 1.2 s`

*Thought*

```text
It is clear now: Biscoe.
```

**Error** `ParsingError`

```text
No tool call could be read in the reply. Call final_answer.
```

**Step 4** `final_answer(answer="Biscoe.")` · `504 tokens in, 40 out · 1.2 s`

*Call* `final_answer`

```text
answer = "Biscoe."
```

**Answer**

```text
The penguins of Biscoe are the heaviest: 4,716 g on average, about 1 kg more than those of Dream (3,713 g) and Torgersen (3,706 g).
```
""")


def test_markdown_of_a_planned_run() -> None:
    assert to_markdown(planned_record()) == snapshot("""\
**Agent** `analyst` · **budget used up** · **check refused** · `openai/gpt-5`

`2 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s`

**Task** `goes on with run_0 · pinned`

```text
Which island has the heaviest penguins?
```

**Plan** `3 steps` · `300 tokens in, 60 out · 0.4 s`

*Reasoning*

```text
Three steps will do.
```

*Plan*

```text
1. Look at the islands.
2. Compare the means.
3. Answer.
```

**Step 1** `by_island(table=@penguins)` → `three islands` · `501 tokens in, 40 out · 1.2 s` `sent shortened: observation`

- `summary_mode is 'all' from the next call`

*Call* `by_island`

```text
table = @penguins
```

*Observation*

```text
three islands
```

*Namespace*

```text
added by_island_1: DataFrame, 3 rows × 2 columns
changed in place penguins: DataFrame, columns + heavy
```

**Plan** `3 steps · 1 added, 1 dropped` · `300 tokens in, 60 out · 0.4 s` `summary view · edited by person, 2027-01-15 08:00 UTC`

*Plan*

```text
1. Compare the means.
2. Count the sexes.
3. Answer.
```

*Added*

```text
2. Count the sexes.
```

*Dropped*

```text
1. Look at the islands.
```

*As the model wrote it*

```text
1. Compare the means.
2. Answer.
```

**Step 2** `count(of="sex")` → `165, 168` · `502 tokens in, 40 out · 1.2 s` `hidden from the model · 1 warning`

⚠ `slow`

*Call* `count`

```text
of = "sex"
```

*Observation*

```text
165, 168
```

**Plan** `✗ GenerationError` · `300 tokens in, 60 out · 0.4 s`

**Error** `GenerationError`

```text
openai/gpt-5: 503, overloaded.
```

**Error** `BudgetError`

```text
max_total_tokens is 2,000.
```

**Best guess, no answer**

```text
Biscoe, I think.
```

- `Checks passed: is_text, is_short`

⚠ `Check refused: names_a_mass: There is no number in it.`
""")


LENGTHS = re.compile(r"\((?:as edited|\d+ lines?|\d+ calls?)(?:, (?:\d+ lines?|\d+ calls?))*\)")
"""How long code is, which differs from text to text."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_markdown_keeps_every_text_in_code(attack: str) -> None:
    attacked, harmless = (
        LENGTHS.sub("", outside_of_code(to_markdown(record_full_of(text)))) for text in (attack, "text")
    )
    assert attacked.split() == harmless.split()


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a", "`a`"),
        ("a `b` c", "`` a `b` c ``"),
        ("``", "``` `` ```"),
        ("two\nlines", "`two lines`"),
        ("", ""),
    ],
)
def test_span_holds_the_text_whole(text: str, markdown: str) -> None:
    assert span(text) == markdown


def test_fence_is_longer_than_any_in_the_text() -> None:
    assert fence("````\n```") == "`````text\n````\n```\n`````"


def test_markdown_of_a_run_of_code() -> None:
    assert to_markdown(to_record(code_run())) == snapshot("""\
**Agent** `analyst` · **answered** · `openai/gpt-5`

`4 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s`

**Task**

```text
Which of <b>Oslo</b> and Bergen has the higher mean price?
```

**Step 1** `for city in ["Oslo", "Bergen"]: …` (9 lines, 2 calls) → `'Oslo'` · `801 tokens in, 90 out · 1.2 s`

*Reasoning*

```text
Two calls are enough.
```

*Thought*

```text
I look at both cities at once, and draw them.
```

*Code*

```python
# Both cities, side by side
import pandas as pd

prices = {}
for city in ["Oslo", "Bergen"]:
    prices[city] = mean_price(city=city, listings=df)  # </code> is no end here
    print(f"{city}: {prices[city]:,.1f}")
pd.Series(prices).plot.bar()
max(prices, key=prices.get)
```

*Calls*

- `mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>)` → `4321.5`
- `mean_price(city="Bergen", listings=<Table, 3 rows × 2 columns>)` → `3900.0`

*Observation*

```text
Oslo: 4,321.5
Bergen: 3,900.0
(1 picture is shown.)
Value of the last line: 'Oslo'
```

- `image 32 × 24`

*Namespace*

```text
added prices: dict, 2 items
```

**Step 2** `top = prices["Oslo" + "!"] …` (2 lines, 1 call) ✗ `CodeExecutionError` · `802 tokens in, 90 out · 1.2 s`

*Thought*

```text
Now the answer.
```

*Code*

```python
top = prices["Oslo" + "!"]
final_answer(top)
```

*Calls*

- `mean_price(city="Atlantis")` ✗ `ToolError: No city 'Atlantis'.`

*Observation*

```text
looking
```

**Error** `CodeExecutionError`

```text
KeyError: 'Oslo!'
  line 1: top = prices["Oslo" + "!"]
Use a key that is there: Oslo, Bergen.
```

**Step 3** `✗ ParsingError` · `0.5 s`

*Thought*

```text
Oslo, I would say.
```

**Error** `ParsingError`

```text
No code could be read in the reply. Write it between tags.
```

**Step 4** `final_answer("Oslo")` (as edited) → `'Oslo'` · `804 tokens in, 90 out · 1.2 s`

*Code, as it was changed*

```python
final_answer("Oslo")
```

*As the model wrote it*

```python
final_answer(f"Oslo, by {prices['Oslo'] - prices['Bergen']:,.0f}")
```

*Observation*

```text
The answer was given: 'Oslo'
```

**Answer**

```text
Oslo
```
""")


def test_fence_of_code_is_longer_than_any_in_it() -> None:
    code = "text = '''\n```python\n# no end\n````\n'''"
    text = to_markdown(to_record(run(code_step(1, code_call(code)), mode="code")))
    assert f"`````python\n{code}\n`````" in text
