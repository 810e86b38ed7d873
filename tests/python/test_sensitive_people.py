"""E-mail addresses, phone numbers, addresses of machines, births and homes."""

from __future__ import annotations

import pytest
from hypothesis import given

from python.sensitive_samples import EMAILS, FRAMES, Frame, found, kinds, places


@given(EMAILS, FRAMES)
def test_an_email_address_is_found_in_any_sentence(email: str, frame: Frame) -> None:
    """Proves: L10."""
    assert places(frame(email), "pii.email") == [email]


@pytest.mark.parametrize(
    ("text", "email"),
    [
        ("\u6211\u7684\u90ae\u7bb1\u662fxiao@mail.example", "xiao@mail.example"),
        ("j\u00fcrgen@post.example", "j\u00fcrgen@post.example"),
        ("jo [at] mail [dot] example", "jo [at] mail [dot] example"),
        ("jo at mail dot org", "jo at mail dot org"),
        ("mailto:jo@mail.example?subject=x", "jo@mail.example"),
        ("<jo.o'neil@mail.example>", "jo.o'neil@mail.example"),
    ],
)
def test_addresses_in_other_dress_are_found(text: str, email: str) -> None:
    """Proves: L10."""
    assert places(text, "pii.email") == [email]


@pytest.mark.parametrize(
    "text",
    [
        "@everyone is invited",
        "npm install left-pad@1.3.0",
        "git clone git@code.example:team/app.git",
        "icon@2x.png",
        "3 apples @ 2.50 each",
        "user@ and @host",
        "@Autowired private Service service;",
        "We met at the dot on the map.",
        "follow @jo@social.example",
    ],
)
def test_an_at_sign_alone_is_no_address(text: str) -> None:
    """Proves: L10."""
    assert kinds(text) == set()


@pytest.mark.parametrize(
    ("text", "phone"),
    [
        ("+44 20 7946 0958", "+44 20 7946 0958"),
        ("Call +1 (212) 555-0187 now", "+1 (212) 555-0187"),
        ("call 212.555.0187 today", "212.555.0187"),
        ("(212) 555-0187", "(212) 555-0187"),
        ("Tel.: 030 901820", "030 901820"),
        ("my mobile is 07700 900123", "07700 900123"),
        ("phone: 2125550187", "2125550187"),
        ("T\u00e9l\u00e9phone 01 42 68 53 00", "01 42 68 53 00"),
        ('{"phone":"+4915123456789"}', "+4915123456789"),
        ("tel:+49-30-901820", "+49-30-901820"),
        ("WhatsApp +55 11 91234-5678", "+55 11 91234-5678"),
    ],
)
def test_phone_numbers_are_found(text: str, phone: str) -> None:
    """Proves: L10."""
    assert places(text, "pii.phone") == [phone]


@pytest.mark.parametrize(
    "text",
    [
        "Order number 2125550187",
        "Part 212-555-0187-A",
        "2024-01-15 14:32:01",
        "Version 10.0.19045.3803",
        "It sold 1 250 000 copies",
        "call me at 9:30 on 12.05.2024",
        "ISBN 978-3-16-148410-0",
        "the years 1914-1918 and 1939-1945",
        "about 3,000,000,000 people",
        "call the function 1000000 times",
    ],
)
def test_what_is_no_phone_number_is_left_alone(text: str) -> None:
    """Proves: L10."""
    assert "pii.phone" not in kinds(text)


def test_addresses_of_every_machine_are_told_and_do_not_matter() -> None:
    """Proves: L10."""
    assert [f.level for f in found("ping 127.0.0.1")] == ["none"]
    assert kinds("from 203.0.113.9") == {"pii.ip"}
    assert kinds("from 2001:db8::8a2e:370:7334") == {"pii.ip"}
    for text in ("version 1.2.3.4", "section 1.2.3.4", "at 12:30:45", "std::map", "256.1.1.1"):
        assert kinds(text) == set()


def test_births_and_homes_are_suspicious_where_the_text_calls_them_so() -> None:
    """Proves: L10."""
    assert kinds("date of birth: 1990-01-31") == {"pii.birth_date"}
    assert kinds("She was born on 5 March 1990.") == {"pii.birth_date"}
    assert kinds("The invoice of 1990-01-31") == set()
    assert kinds("My home address is 123 Main Street.") == {"pii.address"}
    assert kinds("123 Main Street is closed.") == set()
    assert all(f.level == "suspicious" for f in found("DOB 03/15/1989"))
