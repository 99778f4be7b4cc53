from __future__ import annotations

from typing import get_args

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.execution.request import Writes
from agent_magic.notebook.options.commands import LINE_COMMANDS
from agent_magic.notebook.options.options import (
    ONE_CELL,
    OPTIONS,
    STICKY,
    WRITES,
    AgentOptions,
    parse_line,
)


def error_of(line: str) -> str:
    with pytest.raises(OptionError) as caught:
        parse_line(line)
    return caught.value.message


def test_line_that_is_empty_gives_nothing():
    assert parse_line("") == AgentOptions() == parse_line(" \t ")


def test_line_gives_every_option():
    line = (
        "analyst --tools mean_price, @load --state all --model openai/gpt-5 --model-args temperature=0 "
        '--max-steps 7 --max-tool-threads 4 --images none --as answer --new --description "Knows prices" '
        "--instructions 'Answer in one word' --no-raise --quiet"
    )
    assert parse_line(line) == AgentOptions(
        name="analyst",
        tools=("mean_price", "load"),
        state="all",
        model="openai/gpt-5",
        model_args={"temperature": 0},
        max_steps=7,
        max_tool_threads=4,
        images="none",
        as_name="answer",
        new=True,
        description="Knows prices",
        instructions="Answer in one word",
        raises=False,
        quiet=True,
    )


def test_line_gives_define_and_raise():
    assert parse_line("boss --define --raise") == AgentOptions(name="boss", define=True, raises=True)


@pytest.mark.parametrize(
    "line", ["--quiet analyst", "analyst --quiet", "--max-steps 3 analyst", "--as=x analyst --new"]
)
def test_name_may_stand_between_options(line):
    assert parse_line(line).name == "analyst"


def test_options_are_exactly_these():
    assert [option.flag for option in OPTIONS] == snapshot(
        [
            "--tools",
            "--state",
            "--model",
            "--model-args",
            "--mode",
            "--max-steps",
            "--max-tool-threads",
            "--plan",
            "--summary-mode",
            "--check",
            "--answer-type",
            "--approve",
            "--writes",
            "--protect",
            "--imports",
            "--step-timeout",
            "--max-time",
            "--max-cost",
            "--max-total-tokens",
            "--prompts",
            "--images",
            "--as",
            "--new",
            "--define",
            "--resume",
            "--description",
            "--instructions",
            "--raise",
            "--no-raise",
            "--quiet",
        ]
    )


def test_each_option_fills_a_field_of_its_own_lifetime():
    fields = set(AgentOptions.__dataclass_fields__) - {"name"}
    assert set(STICKY) | set(ONE_CELL) == fields
    assert not set(STICKY) & set(ONE_CELL)
    assert ONE_CELL == ("as_name", "new", "define", "resume", "raises", "quiet")


@pytest.mark.parametrize("line", ["bot\r", "bot --as x\r", "bot --tools f\r\n", 'bot --instructions "a b"\r'])
def test_line_end_gets_into_no_value(line):
    assert "\\r" not in repr(parse_line(line))
    assert parse_line(line) == parse_line(line.rstrip("\r\n"))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"Don\'t guess"', "Don't guess"),
        ("'say \"no\"'", 'say "no"'),
        (r'"say \"no\" to C:\new \\"', 'say "no" to C:\\new \\'),
        ('"-- be brief"', "-- be brief"),
        ("'--new'", "--new"),
        ("one", "one"),
        ('"{df} $df 100% 简短"', "{df} $df 100% 简短"),
        ('"#1"', "#1"),
    ],
)
def test_text_is_what_stands_between_the_quotes(written, text):
    options = parse_line(f"bot --instructions {written} --new")
    assert (options.instructions, options.new) == (text, True)


@pytest.mark.parametrize(
    "line",
    [
        "--tools a b",
        "--tools @a @b",
        "--tools a,b",
        "--tools @a, b",
        "--tools=a b",
        "--tools a --tools b",
        "--tools a b a",
    ],
)
def test_tools_may_be_written_in_all_these_ways(line):
    assert parse_line(line).tools == ("a", "b")


def test_tools_end_at_the_next_option():
    assert parse_line("bot --tools a b --as c").as_name == "c"


def test_names_are_spelled_as_python_spells_them():
    assert parse_line("ﬁ --tools 𝐱 --as ﬂ") == AgentOptions(name="fi", tools=("x",), as_name="fl")


@pytest.mark.parametrize(
    ("written", "settings"),
    [
        ("temperature=0", {"temperature": 0}),
        ("temperature=0.5,top_p=1e-1", {"temperature": 0.5, "top_p": 0.1}),
        (
            "stream=true,logprobs=False,user=None,seed=null",
            {"stream": True, "logprobs": False, "user": None, "seed": None},
        ),
        ('stop="a,b",n=1', {"stop": "a,b", "n": 1}),
        ("stop='a b'", {"stop": "a b"}),
        ('stop=["a","b"]', {"stop": ["a", "b"]}),
        ("\"stop=['a', 'b'], n=2\"", {"stop": ["a", "b"], "n": 2}),
        ('extra={"a":[1,2]},n=1', {"extra": {"a": [1, 2]}, "n": 1}),
        ("reasoning_effort=low", {"reasoning_effort": "low"}),
        ("api_base=http://127.0.0.1:1/v1?a=b", {"api_base": "http://127.0.0.1:1/v1?a=b"}),
        (r"pattern=\d+", {"pattern": r"\d+"}),
        ("a=1 --model-args b=2,a=3", {"a": 3, "b": 2}),
    ],
)
def test_model_args_are_literals(written, settings):
    assert parse_line(f"--model-args {written}").model_args == settings


@pytest.mark.parametrize("model", ["openai/gpt-5", "local", "@m", "openrouter/meta-llama/llama-3:free"])
def test_model_is_an_id_or_local_or_a_variable(model):
    assert parse_line(f"--model {model}").model == model


def test_scalar_given_twice_is_the_last():
    assert parse_line("--max-steps 3 --max-steps 4").max_steps == 4


def test_unknown_option_is_told_with_the_nearest():
    assert error_of("bot --maxsteps 3") == snapshot(
        "%%agent: unknown option '--maxsteps'. Nearest: --max-steps. %agent help lists all."
    )


def test_unknown_option_like_no_other_is_told_without_one():
    assert error_of("bot --zz 3") == snapshot("%%agent: unknown option '--zz'. %agent help lists all.")


def test_option_with_the_long_dash_of_an_editor_is_told_with_the_nearest():
    assert error_of("bot —tools f") == snapshot(
        "%%agent: unknown option '—tools'. Nearest: --tools. %agent help lists all."
    )


def test_option_with_one_dash_is_unknown():
    assert error_of("bot -new") == snapshot(
        "%%agent: unknown option '-new'. Nearest: --new. %agent help lists all."
    )


def test_word_that_is_an_option_without_dashes_is_told_so():
    assert error_of("bot new") == snapshot("%%agent: 'new' is one word too many. As an option it is --new.")


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "many"])
def test_number_that_is_none_is_told(value):
    assert error_of(f"--max-steps {value}") == (
        f"%%agent --max-steps: '{value}' is not allowed: a whole number of at least 1."
    )


def test_choice_that_is_none_is_told_with_the_nearest():
    assert error_of("--state al") == snapshot(
        "%%agent --state: 'al' is not allowed: named or all. Nearest: all."
    )
    assert error_of("--images never") == snapshot("%%agent --images: 'never' is not allowed: auto or none.")


def test_model_that_is_no_id_is_told_the_forms():
    assert error_of("--model gpt5") == snapshot(
        "%%agent --model: 'gpt5' is not a model id. Write provider/name, e.g. openai/gpt-5, local for the embedded model, or @m for a Model object m."
    )


def test_key_in_a_wrong_value_is_not_shown():
    assert "sk-proj-0123456789abcdef0123" not in error_of("--model sk-proj-0123456789abcdef0123")


@pytest.mark.parametrize("line", ["--max-steps", "--max-steps --new", "--max-steps=", "bot --max-steps"])
def test_missing_value_is_told(line):
    assert error_of(line) == "%%agent --max-steps: its value is missing. Write --max-steps N."


def test_missing_names_are_told():
    assert error_of("--tools --new") == snapshot(
        "%%agent --tools: its value is missing. Write --tools NAME…."
    )
    assert error_of("--tools , --new") == snapshot(
        "%%agent --tools: no name is given. Write the names after it, with or without @."
    )


def test_empty_text_is_told():
    assert error_of('--instructions " "') == snapshot(
        "%%agent --instructions: the text is empty. Write it in quotes after --instructions, or leave --instructions out."
    )


def test_switch_with_a_value_is_told():
    assert error_of("--quiet=yes") == snapshot(
        "%%agent --quiet: it takes no value, but has 'yes'. Write --quiet alone."
    )


def test_quote_that_is_never_closed_is_told():
    assert error_of("bot --instructions Don't guess") == snapshot(
        "%%agent: the quote ' before 't guess' is never closed. Put the whole value in quotes: --instructions \"Don't guess\"."
    )


def test_model_args_without_equals_are_told():
    assert error_of("--model-args temperature") == snapshot(
        "%%agent --model-args: 'temperature' is not key=value. Write several with commas, in quotes if there are spaces: --model-args temperature=0,top_p=0.9."
    )


def test_part_of_a_module_is_told_how_to_be_handed_over():
    assert error_of("--tools np.mean") == snapshot(
        "%%agent --tools: 'np.mean' is a part of something, not a name. Write mean = np.mean in a cell and give mean."
    )


def test_name_that_is_none_is_told():
    assert error_of("2nd") == snapshot(
        "%%agent: '2nd' is not a name: letters, digits and _, not beginning with a digit. Choose another, such as analyst."
    )
    assert error_of("@analyst") == snapshot(
        "%%agent: '@analyst' is not a name. Write it without the @: analyst."
    )
    assert error_of("bot --as 'two words'") == snapshot(
        "%%agent --as: 'two words' is not a name: letters, digits and _, not beginning with a digit. Choose another, such as analyst."
    )


def test_name_that_is_a_keyword_is_told():
    assert error_of("class") == snapshot("%%agent: 'class' is a word of Python's own. Choose another name.")


@pytest.mark.parametrize("name", list(LINE_COMMANDS))
def test_name_that_is_a_command_is_told(name):
    assert error_of(name) == (
        f"%%agent: '{name}' is a command of %agent, so no agent can have this name. Choose another; "
        f"for the command write %agent {name} (one %)."
    )


@pytest.mark.parametrize("line", ["In", "--as Out", "--as _", "--as _12", "--as __name__", "exit"])
def test_name_of_the_kernel_is_refused(line):
    assert "belongs to Python and IPython" in error_of(line)


def test_second_name_is_told():
    assert error_of("bot which is best") == snapshot(
        "%%agent: 'which' is one word too many after the name 'bot'. The task goes on the lines below; a value with spaces goes in quotes."
    )


def test_name_that_is_also_a_tool_is_told():
    assert error_of("bot --tools bot") == snapshot(
        "%%agent --tools: 'bot' is the agent itself. Give the agent or the tool another name."
    )
    assert "'agent' is the agent itself" in error_of("--tools agent")


def test_answer_is_not_bound_over_the_agent():
    assert error_of("bot --as bot") == snapshot(
        "%%agent --as: 'bot' is the agent itself. Choose another name for the answer."
    )
    assert "'agent' is the agent itself" in error_of("--as agent")


def test_raise_with_no_raise_is_told():
    assert (
        error_of("--raise --no-raise")
        == error_of("--no-raise --raise")
        == snapshot("%%agent: --raise and --no-raise are given together. Write one of them.")
    )


def test_as_with_define_is_told():
    assert error_of("bot --define --as x") == snapshot(
        "%%agent: --as binds an answer, and with --define nothing is run. Leave out one of them."
    )


# -- planning, checks, types, budgets, prompts, resuming -------------------------------------------


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("--plan 3", "planning_interval", 3),
        ("--plan off", "planning_interval", "off"),
        ("--plan 3 --plan off", "planning_interval", "off"),
        ("--summary-mode all", "summary_mode", "all"),
        ("--summary-mode off", "summary_mode", "off"),
        ("--check a @b", "final_answer_checks", ("a", "b")),
        ("--check a --check b", "final_answer_checks", ("a", "b")),
        ("--check none", "final_answer_checks", "off"),
        ("--check none --check a", "final_answer_checks", ("a",)),
        ("--check a --check none", "final_answer_checks", "off"),
        ("--answer-type float", "answer_type", "float"),
        ("--answer-type list[str]", "answer_type", "list[str]"),
        ("--answer-type int | None", "answer_type", "int | None"),
        ("--answer-type int |None", "answer_type", "int |None"),
        ('--answer-type Literal["a", "b"]', "answer_type", 'Literal["a", "b"]'),
        ('--answer-type \'Literal["a b", "]"]\'', "answer_type", 'Literal["a b", "]"]'),
        ('--answer-type "dict[str, int]"', "answer_type", "dict[str, int]"),
        ("--answer-type any", "answer_type", "off"),
        ("--max-time 2.5", "max_time_s", 2.5),
        ("--max-time none", "max_time_s", "off"),
        ("--max-cost 0.01", "max_cost_usd", 0.01),
        ("--max-total-tokens 1000", "max_total_tokens", 1000),
        ("--max-total-tokens none", "max_total_tokens", "off"),
        ("--prompts 'my prompts.yaml'", "prompt_templates", "my prompts.yaml"),
        ("--prompts none", "prompt_templates", "off"),
        ("--resume", "resume", True),
    ],
)
def test_line_gives_the_settings_of_a_run(line, field, value):
    options = parse_line(f"bot {line}")
    assert options == AgentOptions(name="bot", **{field: value})


def test_type_with_spaces_ends_where_it_is_whole():
    options = parse_line("--answer-type int | None bot --plan 2")
    assert (options.answer_type, options.name, options.planning_interval) == ("int | None", "bot", 2)


def test_setting_that_cannot_be_is_told():
    lines = [
        "--plan 0",
        "--plan -1",
        "--plan never",
        "--plan 1.5",
        "--plan",
        "--summary-mode al",
        "--summary-mode",
        "--check",
        "--check np.all",
        "--answer-type",
        "--max-time 0",
        "--max-time 30s",
        "--max-time inf",
        "--max-cost nan",
        "--max-cost -0.1",
        "--max-total-tokens 1e3",
        "--max-tokens 5",
        "--prompts",
        "--prompts ''",
        "--resume=now",
        "--resume --new",
        "--resume --define",
        "resume",
        "--resum",
    ]
    assert {line: error_of(line) for line in lines} == snapshot(
        {
            "--plan 0": "%%agent --plan: '0' is not allowed: a whole number of at least 1, or off.",
            "--plan -1": "%%agent --plan: '-1' is not allowed: a whole number of at least 1, or off.",
            "--plan never": "%%agent --plan: 'never' is not allowed: a whole number of at least 1, or off.",
            "--plan 1.5": "%%agent --plan: '1.5' is not allowed: a whole number of at least 1, or off.",
            "--plan": "%%agent --plan: its value is missing. Write --plan N|off.",
            "--summary-mode al": "%%agent --summary-mode: 'al' is not allowed: plan, all or off. Nearest: all.",
            "--summary-mode": "%%agent --summary-mode: its value is missing. Write --summary-mode plan|all|off.",
            "--check": "%%agent --check: its value is missing. Write --check FUNC…|none.",
            "--check np.all": "%%agent --check: 'np.all' is a part of something, not a name. Write all = np.all in a cell and give all.",
            "--answer-type": "%%agent --answer-type: its value is missing. Write --answer-type TYPE|any.",
            "--max-time 0": "%%agent --max-time: '0' is not allowed: a number of seconds over 0, or none.",
            "--max-time 30s": "%%agent --max-time: '30s' is not allowed: a number of seconds over 0, or none.",
            "--max-time inf": "%%agent --max-time: 'inf' is not allowed: a number of seconds over 0, or none.",
            "--max-cost nan": "%%agent --max-cost: 'nan' is not allowed: a number of US dollars over 0, or none.",
            "--max-cost -0.1": "%%agent --max-cost: '-0.1' is not allowed: a number of US dollars over 0, or none.",
            "--max-total-tokens 1e3": "%%agent --max-total-tokens: '1e3' is not allowed: a whole number of at least 1, or none.",
            "--max-tokens 5": "%%agent: unknown option '--max-tokens'. Nearest: --max-total-tokens. %agent help lists all.",
            "--prompts": "%%agent --prompts: its value is missing. Write --prompts FILE|none.",
            "--prompts ''": "%%agent --prompts: the text is empty. Write it in quotes after --prompts, or leave --prompts out.",
            "--resume=now": "%%agent --resume: it takes no value, but has 'now'. Write --resume alone.",
            "--resume --new": "%%agent: --resume goes on with the agent's last run, and --new forgets it. Leave out one of them.",
            "--resume --define": "%%agent: --resume goes on with the agent's last run, and --define runs nothing. Leave out one of them.",
            "resume": "%%agent: 'resume' is a command of %agent, so no agent can have this name. Choose another; for the command write %agent resume (one %).",
            "--resum": "%%agent: unknown option '--resum'. Nearest: --resume. %agent help lists all.",
        }
    )


# -- code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("--mode code", "mode", "code"),
        ("--mode=tools", "mode", "tools"),
        ("--imports sklearn", "imports", ("sklearn",)),
        ("--imports a,b c", "imports", ("a", "b", "c")),
        ("--imports a --imports scipy.stats", "imports", ("a", "scipy.stats")),
        ("--imports *", "imports", ("*",)),
        ("--imports none", "imports", "off"),
        ("--imports a --imports none", "imports", "off"),
        ("--step-timeout 2.5", "step_timeout_s", 2.5),
        ("--step-timeout none", "step_timeout_s", "off"),
        ("--writes new", "writes", "new"),
        ("--writes all", "writes", "all"),
        ("--writes none", "writes", "none"),
        ("--protect df", "protect", ("df",)),
        ("--protect @df, rows", "protect", ("df", "rows")),
        ("--protect none", "protect", "off"),
        ("--approve code", "approve", "code"),
    ],
)
def test_line_says_how_code_is_run(line, field, value):
    assert parse_line(f"bot {line}") == AgentOptions(name="bot", **{field: value})


def test_writes_are_those_that_an_executor_knows():
    assert get_args(Writes) == WRITES


def test_list_of_modules_ends_at_the_next_option():
    options = parse_line("bot --imports a, b.c --step-timeout 5")
    assert (options.imports, options.step_timeout_s) == (("a", "b.c"), 5.0)


def test_setting_of_code_that_cannot_be_is_told():
    lines = [
        "--mode cod",
        "--mode",
        "--imports",
        "--imports ,",
        "--imports import a",
        "--imports sk-learn",
        "--imports a.",
        "--step-timeout 0",
        "--step-timeout 30s",
        "--writes nwe",
        "--writes off",
        "--protect",
        "--protect df.price",
        "--approve effects",
    ]
    assert {line: error_of(f"bot {line}") for line in lines} == snapshot(
        {
            "--mode cod": "%%agent --mode: 'cod' is not allowed: tools or code. Nearest: code.",
            "--mode": "%%agent --mode: its value is missing. Write --mode tools|code.",
            "--imports": "%%agent --imports: its value is missing. Write --imports MODULE…|none.",
            "--imports ,": "%%agent --imports: no module is given. Write the names after it, or none.",
            "--imports import a": "%%agent --imports: 'import' is not a module. Write names as after `import`, such as --imports sklearn,scipy.stats, or * for all.",
            "--imports sk-learn": "%%agent --imports: 'sk-learn' is not a module. Write names as after `import`, such as --imports sklearn,scipy.stats, or * for all.",
            "--imports a.": "%%agent --imports: 'a.' is not a module. Write names as after `import`, such as --imports sklearn,scipy.stats, or * for all.",
            "--step-timeout 0": "%%agent --step-timeout: '0' is not allowed: a number of seconds over 0, or none.",
            "--step-timeout 30s": "%%agent --step-timeout: '30s' is not allowed: a number of seconds over 0, or none.",
            "--writes nwe": "%%agent --writes: 'nwe' is not allowed: new, all or none. Nearest: new.",
            "--writes off": "%%agent --writes: 'off' is not allowed: new, all or none.",
            "--protect": "%%agent --protect: its value is missing. Write --protect NAME…|none.",
            "--protect df.price": "%%agent --protect: 'df.price' is a part of something, not a name. Give df: what is in it is protected with it.",
            "--approve effects": "%%agent --approve: 'effects' is not allowed: never, code, tools or all.",
        }
    )
