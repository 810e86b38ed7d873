"""The ``format`` values that are asserted. A schema naming any other is refused when defined.

Written here because the checks of the JSON Schema library depend on which optional packages a
machine has: the server and the client would judge the same content differently.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Callable

from ..late import late

# Every pattern is matched from its start to the end, and none can backtrack more than linearly.
_DATE = late(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = late(
    r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_DURATION = late(
    r"P(?=[0-9T])([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?"
    r"(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)"
)
_UUID = late(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LABEL = late(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_LOCAL_PART = late(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}")
_URI = late(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.date(int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_hostname(text: str) -> bool:
    return len(text) <= 253 and all(_LABEL.fullmatch(label) for label in text.split("."))


def _is_email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    dots = local.startswith(".") or local.endswith(".") or ".." in local
    return _LOCAL_PART.fullmatch(local) is not None and not dots and _is_hostname(domain)


def _is_address(version: type[ipaddress.IPv4Address | ipaddress.IPv6Address], text: str) -> bool:
    try:
        version(text)
    except ValueError:
        return False
    return text.isascii() and "%" not in text


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "duration": lambda text: _DURATION.fullmatch(text) is not None,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": lambda text: _is_address(ipaddress.IPv4Address, text),
    "ipv6": lambda text: _is_address(ipaddress.IPv6Address, text),
    "time": _is_time,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}
