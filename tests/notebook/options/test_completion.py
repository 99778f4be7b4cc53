from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from IPython.core.completer import provisionalcompleter, rectify_completions

from agent_magic.notebook.options import completion
from agent_magic.tools.default_tools import DEFAULT_TOOLS

NAMES = """
def mean_price(city): ...
def load(path): ...
prices = [1]
profile = {}
"""


@pytest.fixture
def shell(shell):
    shell.run_cell(NAMES)
    completion.install(
        shell, agents=lambda: ["analyst", "boss"], model_ids=lambda: ["openai/gpt-5", "ollama/qwen3"]
    )
    return shell


def offers(shell, code: str) -> list[str]:
    """What Tab offers at `|`, as a kernel and a terminal ask for it."""
    cursor = code.index("|")
    code = code.replace("|", "")
    with provisionalcompleter():
        return [c.text for c in rectify_completions(code, shell.Completer.completions(code, cursor))]


def completed(shell, code: str) -> str:
    """The cell after its only offer was taken."""
    cursor = code.index("|")
    code = code.replace("|", "")
    with provisionalcompleter():
        (offer,) = shell.Completer.completions(code, cursor)
    return code[: offer.start] + offer.text + code[offer.end :]


def test_completion_offers_all_options(shell):
    assert offers(shell, "%%agent bot --|") == snapshot(
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


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%%agent bot --t|", ["--tools"]),
        ("%%agent bot --T|", ["--tools"]),
        ("\n\n%%agent bot --t|\ntask", ["--tools"]),
        ("%%agent --max-steps 3 --max-t|", ["--max-tool-threads", "--max-time", "--max-total-tokens"]),
        ("%%agent --tools load --to|", ["--tools"]),
        ("%%agent --state |", ["named", "all"]),
        ("%%agent --state n|", ["named"]),
        ("%%agent --state=a|", ["all"]),
        ("%%agent --images |\ntask", ["auto", "none"]),
        ("%%agent --model |", ["local", "openai/gpt-5", "ollama/qwen3"]),
        ("%%agent --model openai/|", ["openai/gpt-5"]),
        ("%%agent --model @pro|", ["@profile"]),
        ("%%agent --tools |", ["mean_price", "load", *DEFAULT_TOOLS]),
        ("%%agent --tools load |", ["mean_price", *DEFAULT_TOOLS]),
        ("%%agent --tools load,|", ["mean_price", *DEFAULT_TOOLS]),
        ("%%agent --tools @m|", ["@mean_price"]),
        ("%%agent --tools load,@m|", ["@mean_price"]),
        ("%%agent a|", ["analyst"]),
        ("%%agent --new b|", ["boss"]),
        ("%agent s|", ["steps"]),
        ("x = 1\n%agent res|", ["resume", "reset"]),
        ("r = %agent mo|", ["models"]),
        (
            "%agent |",
            [
                "list",
                "tools",
                "preview",
                "steps",
                "undo",
                "blame",
                "resume",
                "retry",
                "reset",
                "models",
                "doctor",
                "help",
            ],
        ),
        ("%agent steps |", ["analyst", "boss"]),
        ("%agent resume b|", ["boss"]),
        ("%agent blame |", ["mean_price", "load", "prices", "profile"]),
        ("%agent blame @p|", ["@prices", "@profile"]),
        ("%agent blame prices |", ["analyst", "boss"]),
        ("%agent doctor |", ["--json"]),
        ("%agent models |", ["openai/gpt-5", "ollama/qwen3"]),
        ("%agent models gpt|", ["openai/gpt-5"]),
        ("%agent models Qwen|", ["ollama/qwen3"]),
        ("%agent models ll qw|", ["ollama/qwen3"]),
        ("%agent preview |", ["analyst", "boss", "act", "plan", "final", "--summary-mode"]),
        ("%agent preview boss 3 |", ["act", "plan", "final", "--summary-mode"]),
        ("%agent preview boss plan --|", ["--summary-mode"]),
        ("%agent preview --summary-mode |", ["plan", "all", "off"]),
        ("%%agent --plan |", ["off"]),
        ("%%agent --summary-mode |", ["plan", "all", "off"]),
        ("%%agent --check |", ["mean_price", "load", "none"]),
        ("%%agent --check load |", ["mean_price"]),
        ("%%agent --answer-type f|", ["float"]),
        ("%%agent --answer-type a|", ["any"]),
        ("%%agent --answer-type list[fl|", ["float"]),
        ("%%agent --max-time |", ["none"]),
        ("%%agent --max-total-tokens n|", ["none"]),
        ("%%agent --mode |", ["tools", "code"]),
        ("%%agent --approve |", ["never", "code", "tools", "all"]),
        ("%%agent --writes |", ["new", "all", "none"]),
        ("%%agent --step-timeout |", ["none"]),
        ("%%agent --protect |", ["mean_price", "load", "prices", "profile", "none"]),
        ("%%agent --protect prices @p|", ["@profile"]),
        ("%%agent --imports non|", ["none"]),
        ("%%agent --imports inline_sn|", ["inline_snapshot"]),
        ("%%agent --imports inline_snapshot,ipywid|", ["ipywidgets"]),
        ("%agent undo |", ["analyst", "boss", "--step"]),
        ("%agent undo boss --s|", ["--step"]),
    ],
)
def test_completion_offers(shell, code, expected):
    assert offers(shell, code) == expected


def test_completion_puts_an_id_of_a_model_in_the_place_of_its_part(shell):
    assert completed(shell, "%agent models gpt|") == "%agent models openai/gpt-5"


@pytest.mark.kernel
def test_completion_does_not_load_what_takes_seconds(kernel):
    assert kernel.execute("%load_ext agent_magic").error is None
    assert "openai/gpt-5.4-mini" in kernel.complete("%agent models gpt")
    assert kernel.execute("import sys\n'litellm' in sys.modules").result == "False"


def test_completion_offers_names_and_options_after_the_magic(shell):
    found = offers(shell, "%%agent |")
    assert found[:2] == ["analyst", "boss"]
    assert found[2] == "--tools"


@pytest.mark.parametrize("body", ["Use @m|", "Use (@m|) now", "one\ntwo\n@m|", "`@load` and @m|"])
def test_completion_offers_names_in_the_body(shell, body):
    assert completed(shell, f"%%agent bot\n{body}") == f"%%agent bot\n{body.replace('@m|', '@mean_price')}"


def test_completion_offers_all_variables_right_after_the_at_sign(shell):
    assert offers(shell, "%%agent bot\n@|") == ["@mean_price", "@load", "@prices", "@profile"]


def test_completion_puts_an_option_in_the_place_of_what_was_typed(shell):
    assert completed(shell, "%%agent bot --max-s| --new\ntask") == "%%agent bot --max-steps --new\ntask"


@pytest.mark.parametrize(
    "code",
    ["%%agent bot\nme@m|", "%%agent bot\n```\n@m|", "%%agents\n@m|", "@m|", "x = 1\n%%agent --t|", '%%agent --instructions "--t|', "%%agent --nonsense --t|", "%agent list |", "%%agent --quiet --q|"],
)  # fmt: skip
def test_completion_keeps_out_of_the_rest(shell, code):
    with provisionalcompleter():
        found = list(shell.Completer.completions(code.replace("|", ""), code.index("|")))
    assert not [c for c in found if c._origin == "agent_magic"]


def test_completion_leaves_python_cells_alone(shell):
    assert "mean_price" in offers(shell, "mean_|")


def test_completion_by_line_alone_offers_options(shell):
    with pytest.warns(PendingDeprecationWarning):
        assert shell.complete("", "%%agent bot --too", 17) == ("--too", ["--tools"])


def test_completion_without_a_list_of_agents_finds_them_among_the_variables(shell):
    from agent_magic import ScriptedModel, ToolCallingAgent

    shell.user_ns["clerk"] = ToolCallingAgent(model=ScriptedModel([]))
    completion.install(shell)
    assert offers(shell, "%agent steps |") == ["clerk"]
    assert "clerk" in offers(shell, "%%agent --tools |")
    assert "clerk" not in offers(shell, "%%agent --check |")


def test_completion_installed_twice_is_there_once(shell):
    completion.install(shell)
    completion.install(shell)
    assert len(shell.Completer.custom_matchers) == 1


def test_completion_uninstalled_leaves_nothing(shell):
    others = [lambda text: []]
    shell.Completer.custom_matchers.extend(others)
    completion.uninstall(shell)
    completion.uninstall(shell)
    assert shell.Completer.custom_matchers == others
    assert "--tools" not in offers(shell, "%%agent bot --t|")


@pytest.mark.kernel
def test_completion_reaches_a_front_end(kernel):
    kernel.execute(NAMES)
    done = kernel.execute(
        "from agent_magic.notebook.options import completion\ncompletion.install(get_ipython())"
    )
    assert done.error is None
    assert kernel.complete("%%agent bot --to") == ["--tools"]
    assert kernel.complete("%%agent bot --state ") == ["named", "all"]
    assert kernel.complete("%%agent bot\nUse @mea") == ["@mean_price"]
    assert kernel.complete("%agent mod") == ["models"]


def test_completion_offers_default_tools_once(shell):
    assert offers(shell, "%%agent bot --tools web_search vis|") == ["visit_webpage"]
    shell.run_cell("def web_search(query): ...")
    assert offers(shell, "%%agent bot --tools web|") == ["web_search"]
