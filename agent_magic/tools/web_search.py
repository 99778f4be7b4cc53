"""`web_search`: what a search engine finds, as a list of titles, addresses and snippets.

It must not visit what was found.
"""

from __future__ import annotations

import os
from typing import Literal, get_args

import httpx

from agent_magic.core.errors import OptionError, ToolError
from agent_magic.core.values import Value
from agent_magic.tools.web.address import refuse_secrets
from agent_magic.tools.web.found import Found, read_brave, read_duckduckgo, read_searxng
from agent_magic.tools.web.untrusted import clean, tell_untrusted
from agent_magic.tools.web.web_tool import WebTool

Engine = Literal["auto", "duckduckgo", "brave", "searxng"]

BRAVE_KEY = "BRAVE_API_KEY"
"""The environment variable that holds the key of the Brave Search API."""
_ADDRESSES = {
    "duckduckgo": "https://html.duckduckgo.com/html/",
    "brave": "https://api.search.brave.com/res/v1/web/search",
}
_READERS = {"duckduckgo": read_duckduckgo, "brave": read_brave, "searxng": read_searxng}
_LONGEST_QUERY = 400


class WebSearch(WebTool):
    """Searches the web.

    Args:
        engine: `duckduckgo` needs no key, and refuses programs at times; `brave` is the Brave Search
            API, with a key; `searxng` is an instance of your own, whose settings allow the format
            json. `auto`: brave where `BRAVE_API_KEY` is set, else duckduckgo.
        address: Of the engine, if not the usual one; needed for `searxng`.
        key: Of the engine; by default the environment variable `BRAVE_API_KEY`.
        max_results: Of one search.
        settings: Those of `WebTool`; `max_pages` are searches here.

    Raises:
        OptionError: A setting cannot be.
    """

    name = "web_search"
    description = "Search the web. Gives titles, addresses and snippets of pages, the most fitting first."
    inputs = {"query": {"type": "string", "description": "a few words, as typed into a search engine"}}  # noqa: RUF012 - the class form of a tool
    output_type = "string"

    def __init__(
        self,
        *,
        engine: Engine = "auto",
        address: str | None = None,
        key: str | None = None,
        max_results: int = 10,
        **settings: Value,
    ) -> None:
        super().__init__(**settings)
        if engine not in get_args(Engine):
            raise OptionError(
                f"WebSearch: engine is {engine!r}, expected one of {', '.join(get_args(Engine))}."
            )
        if not 1 <= max_results <= 20:
            raise OptionError(f"WebSearch: max_results is {max_results!r}, expected 1 to 20.")
        if engine == "searxng" and address is None:
            raise OptionError(
                "WebSearch: engine 'searxng' needs the address of an instance, such as address=\"https://searx.example.org/search\"."
            )
        self.engine = engine
        self.max_results = max_results
        self._address = address
        self._key = key

    def forward(self, query: str) -> str:
        """What was found."""
        query = " ".join(query.split())
        if not query:
            raise ToolError('web_search: the query is empty. Call web_search with {"query": "a few words"}.')
        if len(query) > _LONGEST_QUERY:
            raise ToolError(
                f"web_search: the query has {len(query)} characters, at most {_LONGEST_QUERY} are taken. Give a few words."
            )
        refuse_secrets(query, "The query")
        self.budget.take_page(self.name, "searches")
        found = self._search(query)[: self.max_results]
        if not found:
            raise ToolError(f"web_search found nothing for {query!r}. Try fewer or other words.")
        lines = [
            f"{place}. {one.title}\n   {one.url}\n   {one.snippet}".rstrip()
            for place, one in enumerate(found, start=1)
        ]
        return tell_untrusted(
            f"{len(found)} result{'s' * (len(found) > 1)} for {query!r}.",
            self.budget.cut(clean("\n".join(lines))),
        )

    def _search(self, query: str) -> list[Found]:
        key = self._key or os.environ.get(BRAVE_KEY)
        engine = self.engine if self.engine != "auto" else "brave" if key else "duckduckgo"
        asked = {"q": query}
        headers: dict[str, str] = {}
        if engine == "searxng":
            asked["format"] = "json"
        if engine == "brave":
            if not key:
                raise ToolError(
                    f"web_search: the Brave Search API needs a key, and {BRAVE_KEY} is not set. Do without a search, and say so."
                )
            asked["count"] = str(self.max_results)
            headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        address = self._address or _ADDRESSES[engine]
        # The form that a person would fill in, or an address that is there for programs.
        fetched = self.fetcher.fetch(
            str(httpx.URL(address).copy_merge_params(asked)), headers=headers, asks_robots=False
        )
        return _READERS[engine](fetched)
