"""The built-in detectors, by the names that rules call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import sensitive_exfiltration as exfiltration
from . import sensitive_injection as injection
from . import sensitive_invisible as invisible
from . import sensitive_markup as markup
from . import sensitive_network as network
from . import sensitive_numbers as numbers
from . import sensitive_override as override
from . import sensitive_oversight as oversight
from . import sensitive_people as people
from . import sensitive_phones as phones
from . import sensitive_readers as readers
from . import sensitive_roles as roles
from . import sensitive_secrets as secrets
from . import sensitive_tongues as tongues
from .sensitive_findings import Hit

# Given a text and the same in lower case; what it yields are places in it.
Detector = Callable[[str, str], Iterable[Hit]]

DETECTORS: dict[str, Detector] = {
    "card": numbers.cards,
    "iban": numbers.ibans,
    "ssn": numbers.social_security,
    "email": people.emails,
    "birth_date": people.births,
    "address": people.addresses,
    "phone": phones.phones,
    "ip": network.addresses,
    "special_ip": network.special_addresses,
    "url_password": secrets.url_passwords,
    "private_key": secrets.private_keys,
    "jwt": secrets.jwts,
    "assigned_secret": secrets.assigned_secrets,
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
