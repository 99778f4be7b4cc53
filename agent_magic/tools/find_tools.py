"""Many tools: which of them a text is likely about, and `find_tools`, by which a model looks for others.

It must not know a memory: what was asked and found before is given to it.
"""

from __future__ import annotations

import json
import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from agent_magic.core.messages import ToolSchema
from agent_magic.core.text import first_line
from agent_magic.core.values import Value
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.tool import Tool

FIND_TOOLS = "find_tools"
MOST_TOOLS = 20
"""So many are all told; of more, the likely ones, so many of them at most."""
FEWEST_TOOLS = 8
"""So many are told at least, the first ones where a text is about fewer."""
MOST_FOUND = 5
_LEAST = 0.2
"""Of the score of the best: what fits less is left out."""
_MOST_NAMES = 40
_LONGEST_LINE = 200
_MOST_RANKINGS = 500
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME = re.compile(r"[^\W\d]\w*")
_ENDINGS = ("ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e")
_SHORTEST_STEM = 3
_EMPTY = frozenset(
    [
        *(
            "an",
            "and",
            "any",
            "are",
            "as",
            "at",
            "be",
            "been",
            "by",
            "can",
            "do",
            "does",
            "for",
            "from",
            "get",
            "give",
        ),
        *(
            "has",
            "have",
            "how",
            "if",
            "in",
            "into",
            "is",
            "it",
            "its",
            "me",
            "my",
            "no",
            "not",
            "of",
            "on",
            "one",
        ),
        *(
            "or",
            "our",
            "so",
            "than",
            "that",
            "the",
            "their",
            "them",
            "then",
            "there",
            "these",
            "this",
            "to",
            "use",
        ),
        *(
            "used",
            "using",
            "was",
            "we",
            "what",
            "when",
            "where",
            "which",
            "who",
            "will",
            "with",
            "you",
            "your",
        ),
    ]
)
"""Words that say nothing of what a tool does; so do single letters."""
_IN_NAME, _IN_DESCRIPTION, _IN_PARAMETERS = 4.0, 2.0, 1.0


class ToolFinder:
    """Ranks tools by what their schemas say; words of a schema are read once. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: dict[str, tuple[ToolSchema, Mapping[str, float]]] = {}
        self._ranked: dict[tuple[str, int], tuple[str, ...]] = {}

    def find(self, text: str, tools: Mapping[str, Tool], most: int = MOST_FOUND) -> tuple[str, ...]:
        """The names of the tools that a text is about, likeliest first; the same for the same tools."""
        with self._lock:
            self._read(tools)
            key = (text, most)
            if key not in self._ranked:
                if len(self._ranked) >= _MOST_RANKINGS:
                    self._ranked.clear()
                self._ranked[key] = self._rank(text, most)
            return self._ranked[key]

    def _read(self, tools: Mapping[str, Tool]) -> None:
        schemas = {name: tool.to_schema() for name, tool in tools.items()}
        known = self._words
        is_same = list(known) == list(schemas) and all(
            known[name][0] is schema for name, schema in schemas.items()
        )
        if is_same:
            return
        self._ranked.clear()
        self._words = {
            name: known[name] if name in known and known[name][0] is schema else (schema, _weights(schema))
            for name, schema in schemas.items()
        }

    def _rank(self, text: str, most: int) -> tuple[str, ...]:
        named = set(_NAME.findall(text)) & set(self._words)
        words = set(_stems(text))
        n_tools = len(self._words)
        n_with = Counter(word for _, weights in self._words.values() for word in weights if word in words)
        rarity = {word: math.log(n_tools / n) for word, n in n_with.items()}  # 0 of one that all have
        scores = {
            name: sum(rarity[word] * weights[word] for word in words if word in weights)
            for name, (_, weights) in self._words.items()
        }
        least = max(scores.values(), default=0.0) * _LEAST
        # Of equal ones the first given; one that is named is meant, however many are.
        order = sorted(self._words, key=lambda name: (name not in named, -scores[name]))
        return tuple(
            name
            for at, name in enumerate(order)
            if name in named or (at < most and scores[name] and scores[name] >= least)
        )


def likely_tools(finder: ToolFinder, text: str, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    """The tools that a task is likely to need, in the order that they have: some always, whatever it says."""
    likely = set(finder.find(text, tools, MOST_TOOLS))
    for name in tools:
        if len(likely) >= FEWEST_TOOLS:
            break
        likely.add(name)
    return tuple(name for name in tools if name in likely)


def make_find_tools(
    current: Callable[[], Mapping[str, Tool]],
    finder: ToolFinder,
    show: Callable[[Tool], str],
    *,
    is_code: bool = False,
) -> Tool:
    """The tool by which a model looks for tools that it is not told of.

    Args:
        current: The tools as they are when it is called.
        finder: Ranks them.
        show: A found tool, as this model is to be told of it.
        is_code: It is called by code, whose prints alone are told.
    """

    def find_tools(query: str) -> str:
        tools = current()
        found = finder.find(query, tools)
        if not found:
            return f"No tool fits {query!r}. Say it in other words. All tools: {listed(tools)}."
        shown = "\n".join(show(tools[name]) for name in found)
        return f"Found, and ready to be called:\n{shown}"

    how = "Print what it returns." if is_code else "What it finds can be called in your next turn."
    find_tools.__doc__ = (
        f"Find more tools: only the likeliest of them are listed here. {how}\n\n"
        "Args:\n    query: What the tool should do, in a few words.\n"
    )
    return tool_from(find_tools, name=FIND_TOOLS)


def show_briefly(tool: Tool) -> str:
    """A found tool for a model that gets its schema with the next request."""
    return f"- {tool.name}: {first_line(tool.description, _LONGEST_LINE)}"


def show_whole(tool: Tool) -> str:
    """A found tool for a model that reads its tools in the prompt, as it stands there."""
    schema = tool.to_schema()
    arguments = json.dumps(schema.parameters, ensure_ascii=False)
    return f"- {schema.name}: {schema.description}\n  Arguments, as JSON Schema: {arguments}"


def listed(names: Iterable[str]) -> str:
    """The names in a row; of many the first, and how many more there are."""
    every = list(names)
    if len(every) <= _MOST_NAMES:
        return ", ".join(every)
    return f"{', '.join(every[:_MOST_NAMES])} and {len(every) - _MOST_NAMES:,} more"


def _weights(schema: ToolSchema) -> dict[str, float]:
    properties = cast("Mapping[str, Mapping[str, Value]]", schema.parameters.get("properties", {}))
    described = [f"{name} {spec.get('description', '')}" for name, spec in properties.items()]
    texts: Sequence[tuple[str, float]] = (
        (schema.name, _IN_NAME),
        (schema.description, _IN_DESCRIPTION),
        (" ".join([*described, *(example.task for example in schema.examples)]), _IN_PARAMETERS),
    )
    weights: dict[str, float] = {}
    for text, weight in texts:
        for word in set(_stems(text)):
            weights[word] = max(weights.get(word, 0.0), weight)
    return weights


def _stems(text: str) -> Iterable[str]:
    """The words of a text, folded; of scripts that put no spaces between words, each two neighbours."""
    folded = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text)).casefold()
    plain = "".join(sign for sign in folded if not unicodedata.combining(sign))
    for word in _WORD.findall(plain):
        if word in _EMPTY or (len(word) == 1 and word.isascii()):
            continue
        if word.isascii() or not _is_unspaced(word):
            yield _stem(word)
        else:
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def _is_unspaced(word: str) -> bool:
    return any("\u0e00" <= sign <= "\u0eff" or "\u2e80" <= sign <= "\u9fff" for sign in word)
