"""Which addresses a plug-in may connect to.

Settings come from the database, and whoever may set them must not reach through the worker what
only its machine reaches. Addresses of the internet are open. Those of this machine and of private
networks are open where the operator names the host, in the file of MEMWARDEN_HOSTS_FILE: a line for
each, `HOST` or `HOST:PORT` as the URL says it; lines that begin with # are comments. Link-local
addresses and those where a cloud tells machines their keys are never open.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

from memwarden.worker.plugin import PluginError

VARIABLE = "MEMWARDEN_HOSTS_FILE"
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Where clouds answer about a machine, besides 169.254.0.0/16: some lie outside what is link-local.
_METADATA = frozenset(
    ipaddress.ip_address(each)
    for each in (
        *("100.100.100.200", "168.63.129.16", "192.0.0.192"),  # Alibaba, Azure, Oracle
        *("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"),  # AWS, Google, Scaleway
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def check(address: str, host: str, port: int) -> None:
    """Raise PluginError where an address, to which `host` resolves, must not be connected to."""
    reached = _reached(ipaddress.ip_address(address.partition("%")[0]))
    if _is_never_open(reached):
        raise PluginError("the service has an address that is never open to plug-ins")
    if not reached.is_global and not _is_named(host, port):
        raise PluginError(
            f"the service is on this machine or in a private network, and no line of {VARIABLE} "
            "names its host"
        )


def _reached(address: Address) -> Address:
    """The address, or that of IPv4 which it leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_never_open(address: Address) -> bool:
    if address.is_loopback:
        return False
    return (
        address in _METADATA
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address.is_reserved
        or (isinstance(address, ipaddress.IPv6Address) and address.is_site_local)
    )


def _is_named(host: str, port: int) -> bool:
    path = os.environ.get(VARIABLE)
    if not path:
        return False
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise PluginError(f"the file of {VARIABLE} cannot be read") from None
    named = {line.strip().casefold() for line in lines if not line.lstrip().startswith("#")}
    bracketed = f"[{host}]" if ":" in host else host
    return not named.isdisjoint({host, bracketed, f"{bracketed}:{port}"})
