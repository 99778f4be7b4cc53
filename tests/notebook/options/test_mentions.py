from __future__ import annotations

import math
import os
import types

import pytest
from inline_snapshot import snapshot

from agent_magic.core.state import DictState
from agent_magic.notebook.options.mentions import parse_mentions, unfinished_mention

NAMES = DictState(
    {
        "df": [1],
        "mean_price": len,
        "prices": [2],
        "data": 3,
        "math": math,
        "os": os,
        "संख्या": 4,
        "café": 5,
        "fi": 6,
    }
)


@pytest.mark.parametrize(
    "body",
    [
        "@df", "See @df", "See\n@df", "\t@df", "\r\n@df", "\u3000@df", "(@df)", "[@df]", "{@df}", '"@df"', "'@df'",
        "“@df”", "‘@df’", "„@df“", "«@df»", "（@df）", "「@df」", "@df.", "@df, then", "@df's", "@df.price", "@df['a']", "@df-x",
        "@df@df", "@df\\",
    ],
)  # fmt: skip
def test_name_is_mentioned_after_start_space_bracket_or_quote(body):
    mentions = parse_mentions(body, NAMES)
    assert (mentions.names, mentions.text) == (("df",), body)


@pytest.mark.parametrize(
    "body",
    [
        "a@df",
        "me@df.com",
        "/@df",
        "x,@df",
        "*@df*",
        "@@df",
        "@ df",
        "@",
        "df",
        "@1",
        "1@df",
        "请@df",
        "_@df",
        ")@df",
    ],
)
def test_name_is_not_mentioned_elsewhere(body):
    assert parse_mentions(body, NAMES) == parse_mentions(body, DictState())
    assert parse_mentions(body, NAMES).text == body


@pytest.mark.parametrize("body", ["@dfx", "@df_", "@df2", "@df计算", "@DF", "@d"])
def test_only_a_whole_name_is_mentioned(body):
    assert parse_mentions(body, NAMES).names == ()


def test_each_name_is_mentioned_once_in_order_of_appearance():
    assert parse_mentions("@prices, then @df, @prices and @mean_price", NAMES).names == (
        "prices",
        "df",
        "mean_price",
    )


@pytest.mark.parametrize(
    ("body", "name"), [("@संख्या?", "संख्या"), ("@cafe\u0301.", "café"), ("@café", "café"), ("@ﬁ", "fi")]
)
def test_name_of_any_script_is_mentioned_and_sent_as_written(body, name):
    assert parse_mentions(body, NAMES).names == (name,)
    assert parse_mentions(body, NAMES).text == body


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"\@df", "@df"),
        (r"see \@df and \@nobody.", "see @df and @nobody."),
        (r"(\@df)", "(@df)"),
        ("\\@df\r\n\\@df", "@df\r\n@df"),
    ],
)
def test_backslash_makes_text_of_a_mention(body, text):
    mentions = parse_mentions(body, NAMES)
    assert (mentions.text, mentions.names, mentions.near_misses) == (text, (), ())


def test_mention_beside_an_escaped_one_counts():
    mentions = parse_mentions(r"\@df is the name of @df", NAMES)
    assert (mentions.text, mentions.names) == ("@df is the name of @df", ("df",))


@pytest.mark.parametrize(
    "body",
    [
        r"\\@df",
        r"me\@home.org",
        r"\w+\@\w+",
        r"\@ df",
        r"\@",
        r"C:\@dir\df" + "\\",
        r"`\@df`",
        "```\n\\@df\n```",
    ],
)
def test_other_backslashes_stay(body):
    assert parse_mentions(body, NAMES).text == body


@pytest.mark.parametrize(
    "body",
    [
        "```\n@df\n```", "```python\n@df\ndef f(): ...\n```", "```\r\n@df\r\n```\r\n", "  ```\n  @df\n  ```", "> ```\n> @df\n> ```",
        "````\n```\n@df\n````", "```\n`` @df\n```", "```\n@df", "```\n\n@df\n\n``` x\n@df",
        "`@df`", "` @df `", "``a ` @df``", "say ```@df``` x", "`a\n@df`",
    ],
)  # fmt: skip
def test_nothing_is_mentioned_in_code(body):
    mentions = parse_mentions(body, NAMES)
    assert (mentions.names, mentions.text, mentions.near_misses) == ((), body, ())


@pytest.mark.parametrize(
    "body",
    [
        "```\n@data\n```\n@df", "```\r\nx\r\n```\r\n@df\r\n", "`@data` @df", "a ` b @df", "one ` here\n\nand ` @df", "one ` here\r\n\r\nand ` @df",
        "`` a ` @df", "````\n@data\n````\n@df", "```x``` @df",
    ],
)  # fmt: skip
def test_name_is_mentioned_outside_of_code(body):
    assert parse_mentions(body, NAMES).names == ("df",)


def test_text_is_byte_for_byte():
    body = (
        "\ufeff  {x} {{y}} %s %% $HOME ${x} \\n \\\\ 'a' \"b\" <b>&amp; 请总结 \u200fمرحبا\u200f שלום 👩‍👩‍👧 e\u0301 "
        "\u3000x \x00\x1b[1m\r\n\tline two\r\n\r\n"
    )
    assert parse_mentions(body, NAMES).text == body


def test_near_miss_is_reported_with_the_nearest_names():
    mentions = parse_mentions("Use @dff and @meanprice, @dff, on @Df", NAMES)
    assert mentions.names == ()
    assert [str(miss) for miss in mentions.near_misses] == snapshot(
        [
            "@dff is no variable and was sent as text. Nearest: @df.",
            "@meanprice is no variable and was sent as text. Nearest: @mean_price.",
            "@Df is no variable and was sent as text. Nearest: @df.",
        ]
    )


@pytest.mark.parametrize("body", ["me@dff.com", "@dataclass\nclass A: ...", "@someone", "@property"])
def test_word_near_nothing_is_not_reported(body):
    assert parse_mentions(body, NAMES).near_misses == ()


def test_part_of_a_module_is_no_mention_and_hints_how_to_hand_it_over():
    mentions = parse_mentions("@math.sqrt, @math.pi, @os.path.join, @os.PathLike", NAMES)
    assert (mentions.names, mentions.near_misses) == ((), ())
    assert list(mentions.hints) == snapshot(
        [
            "math.sqrt is a function in a module; write sqrt = math.sqrt in a cell and mention @sqrt.",
            "math.pi is a value in a module; write pi = math.pi in a cell and mention @pi.",
            "os.path.join is a function in a module; write join = os.path.join in a cell and mention @join.",
            "os.PathLike is a class in a module; write PathLike = os.PathLike in a cell and mention @PathLike.",
        ]
    )


@pytest.mark.parametrize("body", ["@math", "@math.", "@math. Then", "@math.nothing_like_it"])
def test_module_itself_is_mentioned(body):
    assert (parse_mentions(body, NAMES).names, parse_mentions(body, NAMES).hints) == (("math",), ())


def test_module_that_fails_to_give_its_part_is_mentioned():
    module = types.ModuleType("lazy")
    module.__getattr__ = lambda name: 1 / 0  # type: ignore[method-assign]
    assert parse_mentions("@lazy.part", DictState(lazy=module)).names == ("lazy",)


@pytest.mark.parametrize(
    ("before", "name"),
    [("@", ""), ("use @me", "me"), ("(@me", "me"), ("`@x` @m", "m"), ("a@m", None), ("@m ", None), ("@m.", None), ("", None),
     ("```\n@m", None), ("\\@m", None), ("m", None)],
)  # fmt: skip
def test_unfinished_mention_is_what_stands_after_the_at_sign(before, name):
    assert unfinished_mention(before) == name


def test_large_body_is_read_at_once():
    body = '{"a": "`x` ``@df"} ' * 20_000 + "@df"
    assert parse_mentions(body, NAMES).text == body
