"""Page text: what a page says, as Markdown, from the bytes that were fetched.

It must not fetch, nor trust what it reads.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import httpx
from bs4 import BeautifulSoup, Tag
from bs4.dammit import EncodingDetector
from markdownify import MarkdownConverter

from agent_magic.tools.web.fetching import Fetched
from agent_magic.tools.web.untrusted import clean

_MARKUP = ("text/html", "application/xhtml+xml", "")
_NOT_READ = (
    "script, style, noscript, template, svg, canvas, iframe, object, head, nav, form, dialog, [hidden]"
)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MARKDOWN = MarkdownConverter(
    heading_style="ATX",
    autolinks=False,
    escape_asterisks=False,
    escape_underscores=False,
    table_infer_header=True,
)
_LEAST_MAIN = 200
"""Characters below which `<main>` is not taken for what the page says."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDER = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
"""Charsets that pages name and mean more by, as browsers read them."""
_OF_TEXTS = re.compile(
    r"utf-8(-sig)?|utf-16(-[lb]e)?|iso8859-\d+|cp\d+|koi8-\w|gb18030|big5\w*|euc_\w+|shift_jis\w*|iso2022_\w+|mac-\w+|tis-620"
)
_EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """What a page says, in words of strangers."""

    title: str
    text: str


def to_page_text(fetched: Fetched) -> PageText:
    """What was fetched as text: Markdown where it is a page, else as it stands."""
    if fetched.media_type not in _MARKUP or not _is_markup(fetched):
        return PageText(title="", text=clean(_decoded(fetched)).strip())
    soup = parse_html(fetched)
    title = " ".join(soup.title.get_text().split())[:200] if soup.title else ""
    for found in soup.select(_NOT_READ):
        found.decompose()
    for found in soup.find_all(style=_UNSEEN):
        if not found.decomposed:
            found.decompose()
    main = soup.find("main")
    root = main if main is not None and len(main.get_text()) >= _LEAST_MAIN else soup
    return PageText(title=clean(title), text=clean(_to_markdown(root, fetched.url)))


def parse_html(fetched: Fetched) -> BeautifulSoup:
    """The tree of a page, in whatever charset it is."""
    # Of Python's own parser and lxml's, only the latter takes time in proportion to a hostile page.
    return BeautifulSoup(_decoded(fetched), "lxml")


def _to_markdown(root: Tag, base: httpx.URL) -> str:
    for link in root.find_all("a", href=True):
        href = _absolute(str(link["href"]), base)
        if href is None:
            del link["href"]
        else:
            link["href"] = href
    for picture in root.find_all("img"):
        picture.replace_with(f" {picture.get('alt') or ''} ")
    try:
        text = _MARKDOWN.convert_soup(root)
    except RecursionError:  # thousands of tags inside each other: no page that somebody wrote
        text = root.get_text("\n", strip=True)
    return _EMPTY_LINES.sub("\n\n", text).strip()


def _absolute(href: str, base: httpx.URL) -> str | None:
    """Where a link leads to; None if that is no other page."""
    if href.startswith("#"):
        return None
    try:
        url = base.join(href)
    except (httpx.InvalidURL, ValueError):
        return None
    return str(url) if url.scheme in ("http", "https") else None


def _is_markup(fetched: Fetched) -> bool:
    return bool(fetched.media_type) or fetched.body.lstrip()[:1] == b"<"


def _decoded(fetched: Fetched) -> str:
    """The body as text: by its first bytes, its header, what the page says itself, else UTF-8 or Windows-1252."""
    by_page = EncodingDetector.find_declared_encoding(
        fetched.body, is_html=True, search_entire_document=False
    )
    declared = [*map(_codec_of, (_by_mark(fetched.body), fetched.charset, by_page))]
    names = [name for name in declared if name]
    for name in [*names, "utf-8"]:
        try:
            # A body that was cut may end inside a character.
            return codecs.getincrementaldecoder(name)().decode(fetched.body, not fetched.is_cut)
        except UnicodeError:
            continue
    return fetched.body.decode(names[0] if names else "cp1252", "replace")


def _by_mark(body: bytes) -> str | None:
    return next((name for mark, name in _MARKS if body.startswith(mark)), None)


def _codec_of(charset: str | None) -> str | None:
    """Python's name of a charset of the web; None if there is none, or it is no charset of texts."""
    try:
        name = codecs.lookup((charset or "").strip()).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if _OF_TEXTS.fullmatch(name) else None
