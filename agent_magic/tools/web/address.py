"""Addresses: what a model may name as one, and which machines may be reached by it.

It must not resolve a name nor open a connection.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote

import httpx

from agent_magic.core.errors import ToolError
from agent_magic.core.redact import redact
from agent_magic.core.text import first_line, to_display

IP = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST = 2_000
_SHOWN = 200
_BARE = re.compile(r"[\w-]+(\.[\w-]+)*\.[a-z]{2,}(:\d+)?([/?#]|$)", re.IGNORECASE)
"""`example.org/page`, as people write it."""

_KEEPS_CREDENTIALS = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"))
)
"""Where clouds tell a machine its own keys, beside the link-local 169.254.169.254."""
_THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
_V4_IN_LAST_BITS = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))


def parse_url(text: str, *, base: httpx.URL | None = None) -> httpx.URL:
    """An address of the web, whole and without its fragment.

    Args:
        text: As a model or a page wrote it; `example.org/page` is read as https.
        base: The page that `text` may be relative to.

    Raises:
        ToolError: It is none, or one that must not be asked for.
    """
    text = text.strip()
    shown = show_url(text)
    if len(text) > _LONGEST:
        raise ToolError(
            f"The address {shown} has {len(text):,} characters; at most {_LONGEST:,} are taken. Give a shorter one."
        )
    if base is None and _BARE.match(text):
        text = f"https://{text}"
    try:
        url = httpx.URL(text) if base is None else base.join(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise ToolError(
            f"{shown} is no address of a page: {first_line(str(error))}. Give one such as https://example.org/page."
        ) from None
    if url.scheme not in ("http", "https"):
        what = f"its scheme is {url.scheme}" if url.scheme else "it has no scheme"
        raise ToolError(
            f"{shown} was not read: {what}, and only http and https are. "
            "Give the whole address of a page, such as https://example.org/page."
        )
    if url.userinfo:
        raise ToolError(
            f"{shown} was not read: a name or password stands before its host {url.host!r}. Give the address without it."
        )
    if not url.host:
        raise ToolError(f"{shown} has no host. Give the whole address, such as https://example.org/page.")
    refuse_secrets(str(url), "The address")
    return url.copy_with(fragment=None)


def refuse_secrets(text: str, what: str) -> None:
    """Refuse to send a text to the web that holds a key or password of the person's.

    Raises:
        ToolError: It holds one.
    """
    for form in (text, unquote(text)):
        if redact(form) != form:
            raise ToolError(f"{what} holds a secret, and was not sent. Ask without keys and passwords.")


def show_url(text: str) -> str:
    """An address as an error names it: short, quoted, without secrets."""
    text = redact(re.sub(r"(?<=//)[^/?#@\s]*@", "…@", to_display(text)))
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def why_closed(address: IP, *, allow_private: bool) -> str | None:
    """Why a machine is not to be reached, as the end of `10.0.0.1 is …`; None if it may be.

    Addresses that hold another one, as of NAT64 or 6to4, are judged by that one too.

    Args:
        address: As it was resolved.
        allow_private: The person opened this machine and the networks around it. Where clouds
            keep a machine's credentials stays closed.
    """
    for one in (address, *_held_in(address)):
        if one.is_link_local or one in _KEEPS_CREDENTIALS:
            return "an address at which machines are told their own settings and keys"
        if one.is_multicast or one.is_unspecified or one in _THIS_NETWORK:
            return "an address of no single machine"
        if allow_private:
            continue
        if one.is_loopback:
            return "this machine itself"
        is_outside = isinstance(one, ipaddress.IPv6Address) and one not in _PUBLIC_V6
        if not one.is_global or (is_outside and not _held_in(one)):
            return "inside a private network"
    return None


def _held_in(address: IP) -> list[IP]:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback or address.is_unspecified:
        return []
    teredo = address.teredo
    found = [address.ipv4_mapped, address.sixtofour, teredo[1] if teredo else None]
    if any(address in network for network in _V4_IN_LAST_BITS):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [one for one in found if one is not None]
