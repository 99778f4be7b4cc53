"""`visit_webpage`: a page of the web as Markdown.

It must not follow a link on its own.
"""

from __future__ import annotations

from agent_magic.core.errors import ToolError
from agent_magic.tools.web.address import show_url
from agent_magic.tools.web.page_text import to_page_text
from agent_magic.tools.web.untrusted import tell_untrusted
from agent_magic.tools.web.web_tool import WebTool


class VisitWebpage(WebTool):
    """Reads pages and texts; robots.txt is honoured."""

    name = "visit_webpage"
    description = (
        "Read a page of the web, or a text or JSON file there, as Markdown. It tells also where links lead."
    )
    inputs = {"url": {"type": "string", "description": "its whole address, such as https://example.org/page"}}  # noqa: RUF012 - the class form of a tool
    output_type = "string"

    def forward(self, url: str) -> str:
        """What the page says, with where it was found."""
        self.budget.take_page(self.name)
        fetched = self.fetcher.fetch(url)
        page = to_page_text(fetched)
        if not page.text:
            raise ToolError(
                f"{show_url(str(fetched.url))} has no text: it may be made by scripts, which are not run. Take another source."
            )
        found = str(fetched.url)
        if fetched.is_cut:
            found += f"\n(the first {len(fetched.body):,} bytes of it)"
        if page.title and f"# {page.title}\n" not in page.text[:1_000]:
            found += f"\n\n# {page.title}"
        return tell_untrusted(f"What {show_url(url)} says.", self.budget.cut(f"{found}\n\n{page.text}"))
