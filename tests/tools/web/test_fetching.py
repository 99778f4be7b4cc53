"""Fetching from a real server on loopback: limits, redirects, robots.txt, addresses."""

from __future__ import annotations

import gzip
import itertools
import threading
import tracemalloc
import zlib

import pytest
from inline_snapshot import snapshot
from websites import Answer, Website

from agent_magic.core.errors import ToolError
from agent_magic.tools.web.fetching import Fetched, Fetcher, Limits


@pytest.fixture
def site():
    with Website() as site:
        yield site


def to_loopback(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def fetcher(*, allow_private: bool = True, resolve=to_loopback, **limits) -> Fetcher:
    return Fetcher(limits=Limits(allow_private=allow_private, **limits), resolve=resolve)


def refusal(site: Website, text: str, **settings) -> str:
    with pytest.raises(ToolError) as caught:
        fetcher(**settings).fetch(text)
    return caught.value.message.replace(str(site.port), "PORT")


def fetch(site: Website, path: str, **settings) -> Fetched:
    return fetcher(**settings).fetch(f"http://site.example:{site.port}{path}")


# -- what is asked and given ---------------------------------------------------------------------


def test_fetch_says_who_asks_and_gives_the_body(site):
    site.answers["/page"] = Answer(body=b"hello", type="text/plain; charset=latin-1")
    got = fetch(site, "/page?q=1")
    assert (got.body, got.media_type, got.charset, got.is_cut) == (b"hello", "text/plain", "latin-1", False)
    (asked,) = site.asked
    assert asked.path == "/page?q=1"
    assert asked.headers["Host"] == f"site.example:{site.port}"
    assert asked.headers["User-Agent"].startswith("agent-magic/")
    assert "Cookie" not in asked.headers


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("x-gzip", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
    ],
)
def test_packed_body_is_unpacked(site, encoding, packed):
    site.answers["/page"] = Answer(body=packed, headers={"Content-Encoding": encoding})
    assert fetch(site, "/page").body == b"hello"


def test_statuses_are_told_with_what_to_do(site):
    for status in (403, 404, 429, 500, 599):
        site.answers[f"/{status}"] = Answer(status=status, headers={"Retry-After": "30"})
    said = [refusal(site, f"{site.url}/{status}") for status in (403, 404, 429, 500, 599)]
    assert said == snapshot(
        [
            "'http://127.0.0.1:PORT/403' was not read: 127.0.0.1 answered 403 (Forbidden). It does not let everybody read it: take another source.",
            "'http://127.0.0.1:PORT/404' was not read: 127.0.0.1 answered 404 (Not Found). There is no such page: check the address, or search for it.",
            "'http://127.0.0.1:PORT/429' was not read: 127.0.0.1 answered 429 (Too Many Requests). It is asked too much: try again after 30 s, once, or take another source.",
            "'http://127.0.0.1:PORT/500' was not read: 127.0.0.1 answered 500 (Internal Server Error). The fault is its own: try once more later, or take another source.",
            "'http://127.0.0.1:PORT/599' was not read: 127.0.0.1 answered 599 (unknown). The fault is its own: try once more later, or take another source.",
        ]
    )


# -- limits --------------------------------------------------------------------------------------


def test_endless_body_is_left_after_the_limit(site):
    site.answers["/1gb"] = Answer(body=itertools.repeat(b"x" * 65_536, 16_384))
    got = fetch(site, "/1gb", max_bytes=100_000)
    assert (len(got.body), got.is_cut) == (100_000, True)
    assert site.hung_up.wait(30)
    assert site.n_sent < 50_000_000


def test_gzip_bomb_is_unpacked_to_the_limit_only(site):
    bomb = gzip.compress(bytes(60_000_000), 1)
    site.answers["/bomb"] = Answer(body=bomb, headers={"Content-Encoding": "gzip"})
    fetch(site, "/bomb", max_bytes=10)  # so that what is imported late does not count
    tracemalloc.start()
    got = fetch(site, "/bomb", max_bytes=100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(got.body), got.is_cut) == (100_000, True)
    assert peak < 10_000_000


def test_bodies_that_cannot_be_read_are_told(site):
    site.answers["/pdf"] = Answer(body=b"%PDF", type="application/pdf")
    site.answers["/twice"] = Answer(body=b"x", headers={"Content-Encoding": "gzip, gzip"})
    site.answers["/broken"] = Answer(body=b"no gzip", headers={"Content-Encoding": "gzip"})
    site.answers["/short"] = Answer(body=iter([b"x"]), headers={"Content-Length": "50"})
    said = [refusal(site, f"{site.url}{path}") for path in ("/pdf", "/twice", "/broken", "/short")]
    assert said == snapshot(
        [
            "'http://127.0.0.1:PORT/pdf' is of the type 'application/pdf', and only pages and text are read. Take a page that tells the same, or name the address in your answer.",
            "'http://127.0.0.1:PORT/twice' was sent packed as 'gzip, gzip', which was not asked for and cannot be read. Take another source.",
            "'http://127.0.0.1:PORT/broken' was sent broken: it could not be unpacked. Take another source.",
            "'http://127.0.0.1:PORT/short' was not read: the connection broke off (peer closed connection without sending complete message body (received 1 bytes, expected 50)). Try once more, or take another source.",
        ]
    )


def test_server_that_says_nothing_is_given_up(site):
    over = threading.Event()

    def wait() -> Answer:
        over.wait(60)
        return Answer()

    site.answers["/slow"] = wait
    said = refusal(site, f"{site.url}/slow", max_wait_s=0.3)
    over.set()
    assert said == snapshot(
        "'http://127.0.0.1:PORT/slow' took longer than 0.3 s and was given up. Take another source, or try once more."
    )


def test_server_that_drips_is_given_up_in_all_at_the_same_time(site):
    over = threading.Event()

    def drip():
        while not over.wait(0.02):
            yield b"x"

    site.answers["/drip"] = Answer(body=drip())
    said = refusal(site, f"{site.url}/drip", max_wait_s=0.5)
    over.set()
    assert "took longer than 0.5 s" in said


# -- redirects -----------------------------------------------------------------------------------


def test_redirect_is_followed_and_says_where_it_led(site):
    site.answers["/old"] = Answer(status=301, headers={"Location": "new?x=1#part"})
    site.answers["/new"] = b"here"
    got = fetch(site, "/old")
    assert (str(got.url), got.body) == (f"http://site.example:{site.port}/new?x=1", b"here")


def test_redirect_to_what_must_not_be_read_is_refused_at_that_hop(site):
    to = (
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        f"http://me:secret@site.example:{site.port}/",
        "/loop",
    )
    site.answers |= {f"/{n}": Answer(status=302, headers={"Location": where}) for n, where in enumerate(to)}
    site.answers["/loop"] = Answer(status=302, headers={"Location": "/loop"})

    def resolve(host: str, _port: int) -> list[str]:
        return [host if host[0].isdigit() else "127.0.0.1"]

    base = f"http://site.example:{site.port}"
    assert [refusal(site, f"{base}/{n}", resolve=resolve) for n in range(len(to))] == snapshot(
        [
            "'http://169.254.169.254/latest/meta-data/' was not read: 169.254.169.254 is an address at which machines are told their own settings and keys, and only public addresses are read. Take another source, or say in your answer what could not be read.",
            "'file:///etc/passwd' was not read: its scheme is file, and only http and https are. Give the whole address of a page, such as https://example.org/page.",
            "'http://…@site.example:PORT/' was not read: a name or password stands before its host 'site.example'. Give the address without it.",
            "'http://site.example:PORT/3' was not read: it leads from one address to the next, more than 5 times. Take another source.",
        ]
    )


def test_headers_of_a_fetch_go_to_its_own_host_alone(site):
    site.answers["/here"] = Answer(status=302, headers={"Location": "/there"})
    site.answers["/there"] = Answer(status=302, headers={"Location": f"http://other.example:{site.port}/end"})
    site.answers["/end"] = b"end"
    fetcher().fetch(f"http://site.example:{site.port}/here", headers={"X-Key": "k"})
    assert [asked.headers.get("X-Key") for asked in site.asked] == ["k", "k", None]


# -- machines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "site.example"]
)
def test_this_machine_is_not_reached_by_any_name(site, host):
    from agent_magic.tools.web.connecting import resolve

    said = refusal(
        site,
        f"http://{host}:{site.port}/",
        allow_private=False,
        resolve=to_loopback if host == "site.example" else resolve,
    )
    assert "is this machine itself" in said or "which is this machine itself" in said
    assert (site.asked, site.n_robots) == ([], 0)


def test_name_with_one_closed_address_among_public_ones_is_refused(site):
    said = refusal(
        site,
        f"http://mixed.example:{site.port}/",
        allow_private=False,
        resolve=lambda _host, _port: ["93.184.216.34", "10.0.0.7"],
    )
    assert said == snapshot(
        "'http://mixed.example:PORT/' was not read: mixed.example is 10.0.0.7, which is inside a private network, and only public addresses are read unless the person sets allow_private=True. Take another source, or say in your answer what could not be read."
    )


def test_name_that_changes_its_address_is_checked_at_each_connection(site):
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    said = refusal(
        site, f"http://rebind.example:{site.port}/", allow_private=False, resolve=lambda _h, _p: next(answers)
    )
    assert "rebind.example is 127.0.0.1, which is this machine itself" in said
    assert (site.asked, site.n_robots) == ([], 0)


def test_host_that_is_not_there_is_told(site):
    def nowhere(_host: str, _port: int) -> list[str]:
        raise OSError

    with Website() as gone:
        port = gone.port
    said = [
        refusal(site, "http://nowhere.example/", resolve=nowhere),
        refusal(site, f"http://127.0.0.1:{port}/").replace(str(port), "CLOSED"),
        refusal(site, f"https://127.0.0.1:{site.port}/"),
    ]
    assert said == snapshot(
        [
            "'http://nowhere.example/' was not read: no host of the name 'nowhere.example' was found. Check the spelling, or search for the page.",
            "'http://127.0.0.1:CLOSED/' was not read: its host takes no connection. Check the address, or take another source.",
            "'https://127.0.0.1:PORT/' was not read: its host takes no secure connection. Check the address, or take another source.",
        ]
    )


# -- robots.txt ----------------------------------------------------------------------------------


def test_robots_txt_is_honoured_and_asked_once(site):
    site.answers["/robots.txt"] = Answer(
        body=b"User-agent: *\nDisallow: /\n\nUser-agent: agent-magic\nDisallow: /*/private\nAllow: /\n",
        type="text/plain",
    )
    site.answers["/open"] = b"open"
    reader = fetcher()
    assert reader.fetch(f"{site.url}/open").body == b"open"
    with pytest.raises(ToolError) as caught:
        reader.fetch(f"{site.url}/a/private")
    assert caught.value.message.replace(str(site.port), "PORT") == snapshot(
        "'http://127.0.0.1:PORT/a/private' was not read: the robots.txt of 127.0.0.1 does not let programs read it. Take another source, or name the page in your answer for the person to read."
    )
    assert ([asked.path for asked in site.asked], site.n_robots) == (["/open"], 1)


def test_robots_txt_that_fails_forbids_and_one_that_is_missing_does_not(site):
    site.answers["/page"] = b"page"
    assert fetch(site, "/page").body == b"page"
    site.answers["/robots.txt"] = Answer(status=503)
    assert refusal(site, f"{site.url}/page") == snapshot(
        "'http://127.0.0.1:PORT/page' was not read: 127.0.0.1 failed to give its robots.txt (status 503), so it is not known whether programs may read it. Take another source, or try once more later."
    )


def test_robots_txt_of_each_host_of_a_redirect_is_asked(site):
    with Website() as other:
        other.answers["/robots.txt"] = Answer(body=b"User-agent: *\nDisallow: /\n", type="text/plain")
        site.answers["/page"] = Answer(status=302, headers={"Location": f"{other.url}/page"})
        assert "does not let programs read it" in refusal(site, f"{site.url}/page")
        assert (other.n_robots, other.asked) == (1, [])
