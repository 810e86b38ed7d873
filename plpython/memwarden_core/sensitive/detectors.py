"""The built-in detectors, by the names that rules call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .decoding import invisible
from .findings import Hit
from .instructions import (
    exfiltration,
    injection,
    markup,
    override,
    oversight,
    readers,
    roles,
    tongues,
)
from .personal import cards, network, numbers, people, phones, secrets, wallets

# Given a text and the same in lower case; what it yields are places in it.
Detector = Callable[[str, str], Iterable[Hit]]

DETECTORS: dict[str, Detector] = {
    "card": cards.cards,
    "iban": numbers.ibans,
    "ssn": numbers.social_security,
    "email": people.emails,
    "birth_date": people.births,
    "address": people.addresses,
    "phone": phones.phones,
    "ip": network.addresses,
    "special_ip": network.special_addresses,
    "hardware_address": network.hardware_addresses,
    "wallet": wallets.wallets,
    "wallet_key": wallets.wallet_keys,
    "url_password": secrets.url_passwords,
    "private_key": secrets.private_keys,
    "jwt": secrets.jwts,
    "assigned_secret": secrets.assigned_secrets,
    "prefixed_key": secrets.prefixed_keys,
    "random_secret": secrets.random_secrets,
    "pin": secrets.pins,
    "hidden_characters": invisible.hidden,
    "direction_controls": invisible.bidi,
    "tag_characters": invisible.tags,
    "variation_selectors": invisible.selectors,
    "override": override.override,
    "foreign_override": override.foreign_override,
    "role": roles.role,
    "exfiltration": exfiltration.exfiltration,
    "autonomy": oversight.autonomy,
    "memory": oversight.memory,
    "fake_role": roles.fake_roles,
    "tool_call": exfiltration.tool_calls,
    "trigger": readers.trigger,
    "standing_order": readers.standing,
    "claimed_wish": readers.claimed_wish,
    "persistence": readers.persistence,
    "dressed": markup.dressed,
    "hidden_comment": markup.hidden_comment,
    "foreign_order": tongues.foreign_orders,
    "blatant": injection.blatant,
}
