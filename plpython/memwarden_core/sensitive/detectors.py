"""The built-in detectors, by the names that rules call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from .findings import Hit

# Given a text and the same in lower case; what it yields are places in it.
Detector = Callable[[str, str], Iterable[Hit]]


def _late(module: str, name: str) -> Detector:
    """A detector whose module is loaded when a text first asks for it."""

    def detector(text: str, lower: str) -> Iterable[Hit]:
        found: Iterable[Hit] = getattr(import_module(module, __package__), name)(text, lower)
        return found

    return detector


DETECTORS: dict[str, Detector] = {
    "card": _late(".personal.cards", "cards"),
    "iban": _late(".personal.numbers", "ibans"),
    "ssn": _late(".personal.numbers", "social_security"),
    "email": _late(".personal.people", "emails"),
    "birth_date": _late(".personal.people", "births"),
    "address": _late(".personal.people", "addresses"),
    "phone": _late(".personal.phones", "phones"),
    "ip": _late(".personal.network", "addresses"),
    "special_ip": _late(".personal.network", "special_addresses"),
    "hardware_address": _late(".personal.network", "hardware_addresses"),
    "wallet": _late(".personal.wallets", "wallets"),
    "wallet_key": _late(".personal.wallets", "wallet_keys"),
    "url_password": _late(".personal.secrets", "url_passwords"),
    "private_key": _late(".personal.secrets", "private_keys"),
    "jwt": _late(".personal.secrets", "jwts"),
    "assigned_secret": _late(".personal.secrets", "assigned_secrets"),
    "prefixed_key": _late(".personal.secrets", "prefixed_keys"),
    "random_secret": _late(".personal.secrets", "random_secrets"),
    "pin": _late(".personal.secrets", "pins"),
    "hidden_characters": _late(".decoding.invisible", "hidden"),
    "direction_controls": _late(".decoding.invisible", "bidi"),
    "tag_characters": _late(".decoding.invisible", "tags"),
    "variation_selectors": _late(".decoding.invisible", "selectors"),
    "override": _late(".instructions.override", "override"),
    "foreign_override": _late(".instructions.override", "foreign_override"),
    "role": _late(".instructions.roles", "role"),
    "exfiltration": _late(".instructions.exfiltration", "exfiltration"),
    "autonomy": _late(".instructions.oversight", "autonomy"),
    "memory": _late(".instructions.oversight", "memory"),
    "fake_role": _late(".instructions.roles", "fake_roles"),
    "tool_call": _late(".instructions.exfiltration", "tool_calls"),
    "trigger": _late(".instructions.readers", "trigger"),
    "standing_order": _late(".instructions.readers", "standing"),
    "claimed_wish": _late(".instructions.readers", "claimed_wish"),
    "persistence": _late(".instructions.readers", "persistence"),
    "dressed": _late(".instructions.markup", "dressed"),
    "hidden_comment": _late(".instructions.markup", "hidden_comment"),
    "foreign_order": _late(".instructions.tongues", "foreign_orders"),
    "blatant": _late(".instructions.injection", "blatant"),
}
