"""What an HTML parser finds in a page, and strings that try to become markup."""

from __future__ import annotations

from html.parser import HTMLParser

ELEMENTS = {"div", "span", "details", "summary", "pre", "code", "table", "tr", "td"}
ATTRIBUTES = {"style", "class", "open"}

ATTACKS = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=alert(1)><script>window.hit=1</script></details>",
    '"><svg onload=alert(1)>',
    "'><iframe srcdoc='<script>1</script>'>",
    '" onmouseover="alert(1)" x="',
    "</pre></code></td></table></div></details></summary><style>*{display:none}</style>",
    '</pre><button data-commandlinker-command="x:y" onclick="document.title=1">Run</button>',
    "<a href='javascript:alert(1)'>x</a>",
    "<!-- --><b>x</b><!--",
    "<![CDATA[<script>1</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "<\x00script>alert(1)</scr\x1b[0mipt>",
    "<scr\x1b[31mipt>alert(1)</script>",
    "\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
    "a\ud800<b>\udfff",
    "\u202e<evil>\u2066</evil>",
    "````\n<script>1</script>\n````\n[x](javascript:alert(1)) ![y](http://127.0.0.1/z)",
    "``` \n# heading\n```text\n~~~\n<b>",
    "`</code><b>x` ``y``",
    "[link](javascript:alert(1)) <http://127.0.0.1> **bold**",
    "$\\href{javascript:alert(1)}{x}$ $$y$$",
    "{{7*7}} {% raw %} ${x} %s {0}",
    "<details open><summary>",
    "line\r\n<b>two</b>\rthree\u2028four",
]


class Page(HTMLParser):
    """The elements of a page, their attributes, its text, and whether each element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.others: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.is_balanced = True
        self.feed(page)
        self.close()
        self.is_balanced &= not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.is_balanced &= bool(self.open) and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def styles(page: Page) -> set[str]:
    return {value or "" for name, value in page.attributes if name == "style"}
