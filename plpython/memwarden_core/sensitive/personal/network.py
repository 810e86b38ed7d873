# ruff: noqa: E501 - a pattern is easier to read whole
"""IP addresses, without version numbers that look like them, and hardware addresses."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ...light import TYPE_CHECKING
from ..context import Words, near
from ..findings import Hit

if TYPE_CHECKING:
    import ipaddress

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_V4 = late(rf"(?<![\w.\-])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w\-]|\.[0-9])")
_V6 = late(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]|\.[0-9])")
_V6_MAPPED = late(rf"(?<![\w:.])::(?:[Ff]{{4}}:)?(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.])")
_HARDWARE = late(
    r"(?<![\w:.\-])(?:[0-9a-f]{2}(?P<mark>[:\-])(?:[0-9a-f]{2}(?P=mark)){4}(?:[0-9a-f]{2}(?P=mark)){0,2}[0-9a-f]{2}"
    r"|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})(?![\w:\-]|\.[0-9])"
)
_HARDWARE_WORDS = Words(
    ["mac", "hardware", "ethernet", "wifi", "wi-fi", "wlan", "lan", "bluetooth", "bssid", "nic", "eth0", "adapter",
     "arp", "dhcp", "device", "router", "physical address", "ether"]
)  # fmt: skip
_VERSION = Words(
    ["v", "version", "versions", "ver", "release", "releases", "build", "firmware", "driver", "section",
     "sec", "chapter", "clause", "upgrade*", "downgrade*", "patch", "update*", "§", "article", "assembly"]
)  # fmt: skip
_ADDRESS_WORDS = Words(
    ["ip", "ipv4", "ipv6", "host", "server", "address", "ping", "dns", "subnet", "gateway", "from", "client"]
)  # fmt: skip


def addresses(text: str, lower: str) -> Iterator[Hit]:
    """Yield addresses that belong to somebody: not loopback, unspecified, broadcast or multicast."""
    for start, end, address in _all(text, lower):
        if not _is_nobodys(address):
            yield Hit(start, end, 0.8 if address.is_global else 0.7)


def special_addresses(text: str, lower: str) -> Iterator[Hit]:
    """Yield addresses that every machine has, such as 127.0.0.1."""
    for start, end, address in _all(text, lower):
        if _is_nobodys(address):
            yield Hit(start, end, 0.6)


def hardware_addresses(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield MAC addresses (EUI-48, EUI-64) of devices: not of nobody, of everybody, or of a group."""
    for match in _HARDWARE.finditer(lower):
        digits = "".join(c for c in match[0] if c.isalnum())
        if len(set(digits)) < 3 or int(digits[:2], 16) & 1:
            continue
        named = near(_HARDWARE_WORDS, lower, *match.span(), 30, 20)
        # Digits alone may be times, dates or a number in groups.
        if named or any(c.isalpha() for c in digits):
            yield Hit(*match.span(), 0.8 if named else 0.7)


def _is_nobodys(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return (
        address.is_loopback
        or address.is_unspecified
        or address.is_multicast
        or str(address) == "255.255.255.255"
    )


def _all(
    text: str, lower: str
) -> Iterator[tuple[int, int, ipaddress.IPv4Address | ipaddress.IPv6Address]]:
    # Few texts have one, and every session would load it.
    import ipaddress

    for match in _V4.finditer(text):
        start, end = match.span()
        if near(_VERSION, lower, start, end, 12) and not near(
            _ADDRESS_WORDS, lower, start, end, 12
        ):
            continue
        yield start, end, ipaddress.ip_address(match[0])
    for pattern in (_V6, _V6_MAPPED):
        for match in pattern.finditer(text):
            token = match[0]
            if len(token) < 6 and token != "::1":
                continue
            if not any(c.isdigit() for c in token):
                continue
            try:
                address = ipaddress.ip_address(token)
            except ValueError:
                continue
            yield match.start(), match.end(), address
