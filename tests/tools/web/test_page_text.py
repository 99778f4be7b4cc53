"""Pages as Markdown: charsets, what no reader sees, hostile pages."""

from __future__ import annotations

import codecs

import httpx
import pytest
from inline_snapshot import snapshot

from agent_magic.tools.web.fetching import Fetched
from agent_magic.tools.web.page_text import PageText, to_page_text


def page(body: bytes, content_type: str = "text/html", *, is_cut: bool = False) -> PageText:
    url = httpx.URL("https://example.org/dir/page")
    return to_page_text(
        Fetched(url=url, status=200, headers={"content-type": content_type}, body=body, is_cut=is_cut)
    )


def test_page_becomes_markdown():
    body = b"""<!doctype html><html><head><title> A
      title </title><style>p {}</style></head><body><nav><a href=/>Home</a></nav>
      <h1>Prices</h1><p>In <b>Oslo</b>, see <a href="../list?a=1&amp;b=2#top">the list</a>,
      <a href="#below">below</a> or <a href="javascript:alert(1)">this</a>. snake_case * 2</p>
      <img src="data:image/png;base64,AAAA" alt="A chart"><ul><li>one<li>two</ul>
      <table><tr><td>city<td>price<tr><td>Oslo<td>61000</table><pre>x = 1
y = 2</pre><script>alert(1)</script></body></html>"""
    assert page(body) == snapshot(
        PageText(
            title="A title",
            text="""\
# Prices

In **Oslo**, see [the list](https://example.org/list?a=1&b=2#top),
below or this. snake_case * 2

 A chart

* one
* two

| city | price |
| --- | --- |
| Oslo | 61000 |

```
x = 1
y = 2
```\
""",
        )
    )


def test_main_part_is_taken_where_there_is_one():
    body = b"<p>Cookies?</p><main>" + b"What it is about. " * 20 + b"</main><footer>Imprint</footer>"
    assert "Cookies" not in page(body).text
    assert "What it is about." in page(body).text


def test_what_no_reader_sees_is_left_out():
    body = (
        "<p>Seen.</p><p hidden>h1</p><div style='DISPLAY : none'>h2<p style='display:none'>h3</p></div>"
        "<span style='visibility:hidden'>h4</span><!-- h5 --><template>h6</template>"
        "<p>a\u200bb\U000e0068\U000e0069\u202ec\x1b[31m</p>"
    ).encode()
    assert page(body, "text/html; charset=utf-8").text == "Seen.\n\nabc"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Grüße 価格</p>".encode(), "text/html; charset=utf-8"),
        ("<p>Grüße 価格</p>".encode(), "text/html"),
        (codecs.BOM_UTF8 + "<p>Grüße 価格</p>".encode(), "text/html; charset=latin-1"),
        ("\ufeff<p>Grüße 価格</p>".encode("utf-16-le"), "text/html"),
        (
            "<meta charset=shift_jis><p>Gr\u00fc\u00dfe 価格</p>".encode("shift_jis", "xmlcharrefreplace"),
            "text/html",
        ),
        ("<p>Grüße 価格</p>".encode("gb18030"), 'text/html; charset="GB2312"'),
        ("<p>Grüße 価格</p>".encode(), "text/html; charset=no-such"),
        ("<p>Grüße 価格</p>".encode(), "text/html; charset=unicode_escape"),
        ("<p>Grüße 価格</p>".encode() + "é".encode()[:1], "text/html; charset=utf-8"),
    ],
)
def test_page_is_read_in_its_charset(body, content_type):
    assert page(body, content_type, is_cut=True).text.startswith("Grüße 価格")


def test_page_that_names_no_charset_and_is_no_utf8_is_windows_1252():
    assert page("<p>Preis: 5 € – “gut”</p>".encode("cp1252")).text == "Preis: 5 € – “gut”"
    assert page("<p>Preis: 5 €</p>".encode("cp1252"), "text/html; charset=iso-8859-1").text == "Preis: 5 €"


def test_what_is_no_page_stays_as_it_is():
    assert page(b'{"a": [1, "<b>"]}', "application/json").text == '{"a": [1, "<b>"]}'
    assert page(b"a,b\r\n1,2\r\n", "text/csv").text == "a,b\n1,2"
    assert page(b"1 < 2", "").text == "1 < 2"
    assert page(b"<p>x</p>", "").text == "x"


@pytest.mark.parametrize(
    "body",
    [b"<div>" * 5_000 + b"x", b"<b><i>" * 5_000 + b"x", b"<table><tr><td>" * 3_000 + b"x"],
    ids=["div", "inline", "table"],
)
def test_page_of_tags_inside_each_other_is_read(body):
    assert page(body).text in ("x", "")


@pytest.mark.parametrize(
    "piece", [b"<!--", b"</", b"<?", b"<![CDATA[", b'<a href="', b"<a b=", b"&#"], ids=repr
)
def test_page_of_unended_markup_costs_time_in_proportion(piece):
    # Quadratic readers take minutes for this, and the suite's own time limit would end the test.
    assert isinstance(page(piece * 250_000).text, str)
