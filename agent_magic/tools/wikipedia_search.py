"""`wikipedia_search`: the article of Wikipedia that fits best, and the titles of others.

It must not read anything but Wikipedia's interface for programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

import httpx
from bs4 import BeautifulSoup

from agent_magic.core.errors import OptionError, ToolError
from agent_magic.core.values import Value
from agent_magic.tools.web.address import refuse_secrets
from agent_magic.tools.web.untrusted import clean, tell_untrusted
from agent_magic.tools.web.web_tool import WebTool

_LANGUAGE = re.compile(r"[a-z]{2,}(-[a-z]+)*")
_LONGEST_QUERY = 300
_N_OTHERS = 5


class WikipediaSearch(WebTool):
    """Searches Wikipedia.

    Args:
        language: Of the Wikipedia, as in its address: `en`, `de`, `simple`.
        address: Of the interface of another MediaWiki: `https://wiki.example.org/w/api.php`.
        settings: Those of `WebTool`; `max_pages` are searches here.

    Raises:
        OptionError: A setting cannot be.
    """

    name = "wikipedia_search"
    description = "Search Wikipedia. Gives the text of the article that fits best, and the titles of others."
    inputs = {"query": {"type": "string", "description": "the title of an article, or a few words"}}  # noqa: RUF012 - the class form of a tool
    output_type = "string"

    def __init__(self, *, language: str = "en", address: str | None = None, **settings: Value) -> None:
        super().__init__(**settings)
        if not _LANGUAGE.fullmatch(language):
            raise OptionError(
                f"WikipediaSearch: language is {language!r}, expected one such as 'en' or 'de'."
            )
        self._address = address or f"https://{language}.wikipedia.org/w/api.php"

    def forward(self, query: str) -> str:
        """The text of the article, with where it is from."""
        query = " ".join(query.split())
        if not query or len(query) > _LONGEST_QUERY:
            raise ToolError(
                f"wikipedia_search: the query has {len(query)} characters, expected 1 to {_LONGEST_QUERY}. Give a title or a few words."
            )
        refuse_secrets(query, "The query")
        self.budget.take_page(self.name, "searches")
        hits = _listed(self._ask(list="search", srsearch=query, srlimit=str(_N_OTHERS + 1)), "search")
        if not hits:
            raise ToolError(f"wikipedia_search found no article for {query!r}. Try fewer or other words.")
        best = str(hits[0].get("title"))
        pages = _listed(
            self._ask(prop="extracts|info", inprop="url", explaintext="1", redirects="1", titles=best),
            "pages",
        )
        page = pages[0] if pages else {}
        text = str(page.get("extract") or "").strip()
        if not text:
            raise ToolError(f"wikipedia_search: the article {best!r} has no text. Try other words.")
        others = "\n".join(f"- {hit.get('title')}: {_plain(hit.get('snippet'))}" for hit in hits[1:])
        told = f"# {best}\n{page.get('fullurl') or ''}\n\n{self.budget.cut(text)}"
        if others:
            told += f"\n\nOther articles, to be searched by their title:\n{others}"
        return tell_untrusted(f"The article of Wikipedia that fits {query!r} best.", clean(told))

    def _ask(self, **asked: str) -> Mapping[str, Value]:
        """One part of an answer of the interface: what stands under `query`."""
        url = httpx.URL(self._address).copy_merge_params(
            {"action": "query", "format": "json", "formatversion": "2", **asked}
        )
        fetched = self.fetcher.fetch(str(url), asks_robots=False)
        try:
            answer: Value = json.loads(fetched.body)
        except (ValueError, RecursionError):
            answer = None
        found: Value = (
            cast("Mapping[str, Value]", answer).get("query") if isinstance(answer, Mapping) else None
        )
        if not isinstance(found, Mapping):
            raise ToolError(
                f"wikipedia_search: {url.host} gave no answer that could be read. Try once more, or do without."
            )
        return cast("Mapping[str, Value]", found)


def _listed(found: Mapping[str, Value], name: str) -> list[Mapping[str, Value]]:
    values: Value = found.get(name)
    items = cast("list[Value]", values) if isinstance(values, list) else []
    return [cast("Mapping[str, Value]", item) for item in items if isinstance(item, Mapping)]


def _plain(snippet: Value) -> str:
    return " ".join(BeautifulSoup(str(snippet or ""), "lxml").get_text().split())[:_LONGEST_QUERY]
