"""Worked examples in docstrings."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.messages import ToolExample
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.decorator import tool
from agent_magic.tools.examples import parse_example


def test_example_is_carried_in_the_schema_and_not_in_the_text():
    def count(species: str, island: str = "", limit: int = 3) -> int:
        """Count penguins.

        Args:
            species: which kind
            island: where
            limit: at most

        Examples:
            How many Gentoo are there? -> count(species="Gentoo")
            - Adelie on Dream, "a -> b" -> penguins.count("Adelie", island="x -> y", limit=-1)

        Returns:
            a number
        """
        return 1

    schema = tool_from(count).to_schema()
    assert schema.description == "Count penguins."
    assert schema.parameters["properties"]["limit"]["description"] == "at most"
    assert schema.examples == snapshot(
        (
            ToolExample(task="How many Gentoo are there?", arguments={"species": "Gentoo"}),
            ToolExample(
                task='Adelie on Dream, "a -> b"',
                arguments={"species": "Adelie", "island": "x -> y", "limit": -1},
            ),
        )
    )
    assert tool_from(count).warnings == ()


def test_example_that_cannot_be_read_becomes_a_warning():
    def count(species: str) -> int:
        """Count penguins.

        Args:
            species: which kind

        Examples:
            no arrow here
            a call is missing -> species
            no literal -> count(species=df.species)
            unknown name -> count(kind="Gentoo")
            too many -> count("a", "b")
            -> count(species="Gentoo")
            all good -> count(species="Gentoo")
        """
        return 1

    tool = tool_from(count)
    assert [example.task for example in tool.to_schema().examples] == ["all good"]
    assert tool.warnings == snapshot(
        (
            "Tool 'count': example 'a call is missing -> species' is left out: what follows '->' is no call. Write: task in words -> count(species=…)",
            "Tool 'count': example 'no literal -> count(species=df.species)' is left out: 'df.species' is no literal. Write: task in words -> count(species=…)",
            "Tool 'count': example 'unknown name -> count(kind=\"Gentoo\")' is left out: there is no parameter 'kind'. Write: task in words -> count(species=…)",
            "Tool 'count': example 'too many -> count(\"a\", \"b\")' is left out: it has more values than there are parameters. Write: task in words -> count(species=…)",
            "Tool 'count': example '-> count(species=\"Gentoo\")' is left out: it has no task in words. Write: task in words -> count(species=…)",
        )
    )


def test_prose_without_an_arrow_is_no_example():
    def count(species: str) -> int:
        """Count penguins.

        Args:
            species: which kind

        Examples:
            Counting all Gentoo penguins:

            >>> count("Gentoo")
            124

            or those of another kind.
        """
        return 1

    tool = tool_from(count)
    assert (tool.description, tool.warnings, tool.to_schema().examples) == ("Count penguins.", (), ())


def test_example_given_by_its_author_needs_an_arrow():
    @tool(examples=["no arrow"])
    def count(species: str) -> int:
        """Count penguins.

        Args:
            species: which kind
        """
        return 1

    assert tool_from(count).warnings == snapshot(
        (
            "Tool 'count': example 'no arrow' is left out: it has no '->'. Write: task in words -> count(species=…)",
        )
    )


def test_doctests_are_no_examples():
    def double(x: int) -> int:
        """Double it.

        Args:
            x: number

        Example:
            >>> double(2)
            4
            >>> double(
            ...     3)
            6
        """
        return 2 * x

    tool = tool_from(double)
    assert (tool.description, tool.warnings, tool.to_schema().examples) == ("Double it.", (), ())


def test_the_word_example_in_prose_starts_no_section():
    def double(x: int) -> int:
        """Double it.

        Example

        of a text. Example: two gives four.

        Args:
            x: number
        """
        return 2 * x

    assert tool_from(double).description == snapshot("""\
Double it.

Example

of a text. Example: two gives four.\
""")


@pytest.mark.parametrize(
    ("line", "example"),
    [
        ("ask -> f()", ToolExample(task="ask", arguments={})),
        (
            '"quoted task" → f(a=[1, {"b": None}])',
            ToolExample(task="quoted task", arguments={"a": [1, {"b": None}]}),
        ),
        ("in code -> `f(a=True)`", ToolExample(task="in code", arguments={"a": True})),
    ],
)
def test_example_line_is_read(line, example):
    assert parse_example(line) == example


def test_example_line_runs_nothing():
    with pytest.raises(ValueError, match="no literal"):
        parse_example("x -> f(a=__import__('os').getpid())")
