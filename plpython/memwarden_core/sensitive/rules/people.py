# ruff: noqa: E501 - a pattern is easier to read whole
"""Shipped rules for what leads to a person."""

from __future__ import annotations

from ...light import Any

PEOPLE_RULES: list[dict[str, Any]] = [
    {
        "id": "pii.email",
        "version": 1,
        "kind": "pii.email",
        "level": "suspicious",
        "action": "flag",
        "detector": "email",
        "prefilter": ["@", "(at)", "[at]", "{at}", " at "],
        "tests": {
            "positive": [
                "Write to jo.doe+list@mail.example.org.",
                "jo [at] example [dot] org",
                "max at beispiel dot de",
            ],
            "negative": [
                "@jo said so",
                "npm i left-pad@1.3.0",
                "logo@2x.png",
                "git@github.com:a/b.git",
                "We met at noon.",
            ],
        },
    },
    {
        "id": "pii.phone",
        "version": 1,
        "kind": "pii.phone",
        "level": "suspicious",
        "action": "flag",
        "detector": "phone",
        "prefilter_pattern": r"[0-9](?:[ ./()\-]{0,3}[0-9]){6}",
        "tests": {
            "positive": [
                "+44 20 7946 0958",
                "Call (212) 555-0187",
                "Tel. 030 901820",
                "text me on 07700 900123",
            ],
            "negative": [
                "2024-01-15 14:32",
                "Order 2125550187",
                "Version 10.0.19045.3803",
                "It cost 1 250 000 yen",
                "Part 555-123-4567-A",
            ],
        },
    },
    {
        "id": "pii.ip",
        "version": 1,
        "kind": "pii.ip",
        "level": "suspicious",
        "action": "flag",
        "detector": "ip",
        "prefilter_pattern": r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]|[0-9a-f:]:[0-9a-f]{0,4}:[0-9a-f]",
        "tests": {
            "positive": [
                "from 203.0.113.9",
                "host 2001:db8::8a2e:370:7334",
                "[198.51.100.7] denied",
            ],
            "negative": ["version 1.2.3.4", "256.1.1.1", "at 12:30:45", "std::vector", "127.0.0.1"],
        },
    },
    {
        "id": "pii.special_ip",
        "version": 1,
        "kind": "pii.special_ip",
        "level": "none",
        "action": "allow",
        "detector": "special_ip",
        "prefilter_pattern": r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]|::1",
        "tests": {
            "positive": ["ping 127.0.0.1", "bind 0.0.0.0", "255.255.255.255 is broadcast"],
            "negative": ["203.0.113.9", "version 0.0.0.1", "127.0.0"],
        },
    },
    {
        "id": "pii.hardware_address",
        "version": 1,
        "kind": "pii.hardware_address",
        "level": "suspicious",
        "action": "flag",
        "detector": "hardware_address",
        "prefilter_pattern": r"[0-9a-f]{2}[:\-][0-9a-f]{2}[:\-][0-9a-f]{2}[:\-]|[0-9a-f]{4}\.[0-9a-f]{4}\.",
        "tests": {
            "positive": [
                "The laptop's MAC is 3c:22:fb:8a:01:9d.",
                "DHCP gave it to 00-1B-63-84-45-E6",
                "switch port 001b.6384.45e6",
            ],
            "negative": [
                "ff:ff:ff:ff:ff:ff is everybody",
                "at 12:30:45:10:20:30",
                "2001:db8::8a2e:370:7334",
            ],
        },
    },
    {
        "id": "pii.birth_date",
        "version": 1,
        "kind": "pii.birth_date",
        "level": "suspicious",
        "action": "flag",
        "detector": "birth_date",
        "prefilter": [
            "dob",
            "d.o.b",
            "birth",
            "born",
            "gebor",
            "geburt",
            "naissance",
            "nacid",
            "nacimiento",
            "nascita",
            "né",
            "nascimento",
            "geboorte",
        ],
        "tests": {
            "positive": [
                "DOB 03/15/1989",
                "She was born on March 5, 1990",
                "date of birth: 1990-01-31",
            ],
            "negative": ["Meeting on March 15, 1989", "Born to run", "DOB 13/32/1989"],
        },
    },
    {
        "id": "pii.address",
        "version": 1,
        "kind": "pii.address",
        "level": "suspicious",
        "action": "flag",
        "detector": "address",
        "prefilter_pattern": r"[0-9]{1,5}[a-z]? [a-z0-9'.]+ |(?:stra(?:ß|ss)e|str\.|weg|allee|platz|gasse) [0-9]",
        "tests": {
            "positive": [
                "My home address is 123 Main Street",
                "Ship to 12 Oak Ave, Springfield, IL 62704",
                "Ich wohne in der Lindenstraße 12",
            ],
            "negative": [
                "We ran 12 Miles today",
                "The 3 Way Match",
                "123 Main Street has a new bakery",
            ],
        },
    },
]
