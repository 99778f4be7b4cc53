"""Which addresses are taken, and which machines are reached."""

from __future__ import annotations

import ipaddress

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolError
from agent_magic.tools.web.address import parse_url, refuse_secrets, why_closed


def refusal(text: str) -> str:
    with pytest.raises(ToolError) as caught:
        parse_url(text)
    return caught.value.message


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("93.184.216.34", None),
        ("2606:2800:220:1::1", None),
        ("64:ff9b::5db8:d822", None),
        ("127.0.0.1", "this machine itself"),
        ("127.8.9.1", "this machine itself"),
        ("::1", "this machine itself"),
        ("::ffff:127.0.0.1", "inside a private network"),
        ("::7f00:1", "this machine itself"),
        ("64:ff9b::7f00:1", "this machine itself"),
        ("2002:7f00:1::", "this machine itself"),
        ("10.0.0.1", "inside a private network"),
        ("172.16.5.4", "inside a private network"),
        ("192.168.1.1", "inside a private network"),
        ("100.64.0.1", "inside a private network"),
        ("240.0.0.1", "inside a private network"),
        ("fc00::1", "inside a private network"),
        ("fec0::1", "inside a private network"),
        ("64:ff9b::a00:1", "inside a private network"),
    ],
)
def test_why_closed_lets_public_addresses_through_alone(address, reason):
    assert why_closed(ipaddress.ip_address(address), allow_private=False) == reason
    assert why_closed(ipaddress.ip_address(address), allow_private=True) is None


@pytest.mark.parametrize("allow_private", [False, True])
@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "fe80::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "ff02::1",
    ],
)
def test_why_closed_never_opens_where_credentials_are_told_nor_what_is_no_machine(address, allow_private):
    assert why_closed(ipaddress.ip_address(address), allow_private=allow_private) is not None


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org/a b#part", "https://example.org/a%20b"),
        (" example.org/page ", "https://example.org/page"),
        ("www.example.org:8080", "https://www.example.org:8080"),
        ("HTTP://EXAMPLE.org/é", "http://example.org/%C3%A9"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_parse_url_is_lenient_on_form(text, url):
    assert str(parse_url(text)) == url


def test_parse_url_takes_what_a_page_is_relative_to():
    assert str(parse_url("../b", base=parse_url("https://example.org/x/a"))) == "https://example.org/b"


def test_parse_url_says_what_is_wrong():
    assert [
        refusal(text)
        for text in (
            "file:///etc/passwd",
            "cats and dogs",
            "http:///page",
            "https://good.example:pw@evil.example/",
            "https://example.org:port/",
            "https://example.org/?" + "x" * 3_000,
        )
    ] == snapshot(
        [
            "'file:///etc/passwd' was not read: its scheme is file, and only http and https are. Give the whole address of a page, such as https://example.org/page.",
            "'cats and dogs' was not read: it has no scheme, and only http and https are. Give the whole address of a page, such as https://example.org/page.",
            "'http:///page' has no host. Give the whole address, such as https://example.org/page.",
            "'https://…@evil.example/' was not read: a name or password stands before its host 'evil.example'. Give the address without it.",
            "'https://example.org:port/' is no address of a page: Invalid port: 'port'. Give one such as https://example.org/page.",
            "The address 'https://example.org/?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' has 3,021 characters; at most 2,000 are taken. Give a shorter one.",
        ]
    )


def test_secret_is_not_sent(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "correct horse/battery")
    said = [
        refusal("https://evil.example/?q=correct%20horse%2Fbattery"),
        refusal("https://evil.example/sk-proj-abcdefghijklmnopqrstuv"),
    ]
    with pytest.raises(ToolError) as caught:
        refuse_secrets("what is correct horse/battery", "The query")
    assert [*said, caught.value.message] == snapshot(
        [
            "The address holds a secret, and was not sent. Ask without keys and passwords.",
            "The address holds a secret, and was not sent. Ask without keys and passwords.",
            "The query holds a secret, and was not sent. Ask without keys and passwords.",
        ]
    )
