"""What search engines found, read from the page or the JSON that each gives.

It must not ask an engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qs, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from agent_magic.core.errors import ToolError
from agent_magic.core.values import Value
from agent_magic.tools.web.fetching import Fetched
from agent_magic.tools.web.page_text import parse_html

_LONGEST_TITLE = 200
_LONGEST_URL = 500
_LONGEST_SNIPPET = 500
_OTHERWISE = "Visit a page that you know, or say in your answer that nothing could be searched."


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One page that was found, in words of strangers."""

    title: str
    url: str
    snippet: str = ""


def read_duckduckgo(fetched: Fetched) -> list[Found]:
    """From the page for browsers without scripts.

    Raises:
        ToolError: It wants to know whether a person asks, or is no page of results.
    """
    soup = parse_html(fetched)
    found: list[Found] = []
    for result in soup.select(".result"):
        link, snippet = result.select_one("a.result__a"), result.select_one(".result__snippet")
        classes = result.get("class") or []
        if link is None or "result--ad" in classes:
            continue
        url = _behind(urljoin(str(fetched.url), str(link.get("href") or "")))
        if url:
            found.append(_found(_text(link), url, _text(snippet) if snippet else ""))
    if found or soup.select_one(".no-results"):
        return found
    if fetched.status == 202 or soup.select_one("#challenge-form, .anomaly-modal__title"):
        raise ToolError(
            f"web_search: DuckDuckGo does not answer programs from here at the moment. {_OTHERWISE}"
        )
    raise ToolError(
        f"web_search: the search engine gave a page in which no results could be read. {_OTHERWISE}"
    )


def read_brave(fetched: Fetched) -> list[Found]:
    """From the answer of the Brave Search API."""
    web = _mapping(_parse_json(fetched).get("web"))
    return _listed(web.get("results"), snippet="description")


def read_searxng(fetched: Fetched) -> list[Found]:
    """From the answer of a SearXNG instance in its format json."""
    return _listed(_parse_json(fetched).get("results"), snippet="content")


def _behind(url: str) -> str:
    """The address behind the engine's own counting one; empty if it is none of the web."""
    parts = urlsplit(url)
    if parts.hostname and parts.hostname.endswith("duckduckgo.com"):
        if parts.path != "/l/":
            return ""  # an advertisement
        url = parse_qs(parts.query).get("uddg", [""])[0]
    return url if urlsplit(url).scheme in ("http", "https") else ""


def _listed(results: Value, *, snippet: str) -> list[Found]:
    found: list[Found] = []
    for result in cast("list[Value]", results) if isinstance(results, list) else []:
        one = _mapping(result)
        url = str(one.get("url") or "")
        if url.startswith(("http://", "https://")):
            texts = (one.get("title"), one.get(snippet))
            title, text = (
                BeautifulSoup(str(said or ""), "lxml").get_text(" ") for said in texts
            )  # bold words are tags
            found.append(_found(title, url, text))
    return found


def _found(title: str, url: str, snippet: str) -> Found:
    return Found(
        title=" ".join(title.split())[:_LONGEST_TITLE],
        url="".join(url.split())[:_LONGEST_URL],
        snippet=" ".join(snippet.split())[:_LONGEST_SNIPPET],
    )


def _parse_json(fetched: Fetched) -> Mapping[str, Value]:
    try:
        return _mapping(json.loads(fetched.body))
    except (ValueError, RecursionError):
        raise ToolError(
            f"web_search: the search engine gave no JSON that could be read. {_OTHERWISE}"
        ) from None


def _mapping(value: Value) -> Mapping[str, Value]:
    return cast("Mapping[str, Value]", value) if isinstance(value, Mapping) else {}


def _text(tag: Tag) -> str:
    return tag.get_text(" ")
