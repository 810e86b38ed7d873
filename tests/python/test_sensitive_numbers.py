"""Cards, accounts and ids are found by their check digits; other numbers are left alone."""

from __future__ import annotations

import datetime
from importlib import import_module

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memwarden_core.sensitive.validators import IBAN_LENGTHS, is_card, is_iban
from python.sensitive_samples import (
    CARDS,
    FRAMES,
    IBANS,
    NATIONAL,
    SSNS,
    Frame,
    kinds,
    national,
    places,
    with_luhn,
)


@given(CARDS, FRAMES)
def test_a_payment_card_is_found_in_any_sentence(card: str, frame: Frame) -> None:
    """Proves: L10."""
    assert places(frame(card), "pii.card") == [card]


@given(CARDS, st.sampled_from("0123456789"))
def test_a_card_with_a_wrong_check_digit_is_none(card: str, digit: str) -> None:
    """Proves: L10."""
    assume(digit != card[-1])
    assert places(f"Card {card[:-1]}{digit} was declined.", "pii.card") == []


@given(IBANS, FRAMES)
def test_an_iban_is_found_in_any_sentence(iban: str, frame: Frame) -> None:
    """Proves: L10."""
    assume(is_iban(iban))
    assert places(frame(iban), "pii.iban") == [iban]


def test_the_lengths_of_ibans_are_those_of_the_registry() -> None:
    """Proves: L10."""
    iban = import_module("stdnum.iban")
    for country, length in IBAN_LENGTHS.items():
        info = iban._ibandb.info(country + "00")[0][1]
        if info and "bban" in info:
            sizes = [
                int("".join(filter(str.isdigit, part))) for part in info["bban"].split("!")[:-1]
            ]
            assert 4 + sum(sizes) == length, country


@given(SSNS, FRAMES)
def test_a_social_security_number_is_found_in_any_sentence(ssn: str, frame: Frame) -> None:
    """Proves: L10."""
    assert places(frame(ssn), "pii.ssn") == [ssn]


@pytest.mark.parametrize(
    "text",
    [
        "000-12-3456 was never issued",
        "666-12-3456 was never issued",
        "123-00-4567 was never issued",
        "123-45-0000 was never issued",
        "Part 123-45-6789-B is out of stock",
        "the code 123-45-67890 is too long",
        "123456789 rows were read",
        "Order 123-45-6789 was shipped",
    ],
)
def test_what_is_no_social_security_number_is_left_alone(text: str) -> None:
    """Proves: L10."""
    assert kinds(text) == set()


@pytest.mark.parametrize(
    ("text", "ssn"),
    [
        ("my social security number is 123456789", "123456789"),
        ("SSN 123 45 6789", "123 45 6789"),
        ('{"ssn": "123456789"}', "123456789"),
        ("jo@mail.example123-45-6789", "123-45-6789"),
    ],
)
def test_a_named_number_needs_no_dashes(text: str, ssn: str) -> None:
    """Proves: L10."""
    assert places(text, "pii.ssn") == [ssn]


NUMBERS = st.one_of(
    st.integers(10_000, 10**12).map(lambda n: f"Order {n} was shipped."),
    st.integers(10**15, 10**19).map(lambda n: f"Tracking number {n}"),
    st.integers(10**15, 10**16 - 1).map(lambda n: f"trace id {n}"),
    st.datetimes().map(lambda d: f"It happened on {d:%Y-%m-%d at %H:%M:%S}."),
    st.datetimes().map(lambda d: f"The report of {d:%d.%m.%Y} and {d:%d/%m/%Y}"),
    st.dates().map(lambda d: f"{d:%B %d, %Y} was a good day"),
    st.tuples(*[st.integers(0, 400)] * 4).map(lambda v: "version {}.{}.{}.{}".format(*v)),
    st.tuples(*[st.integers(0, 99)] * 3).map(lambda v: "We run v{}.{}.{} now".format(*v)),
    st.decimals(0, 10**9, places=2).map(lambda p: f"It costs ${p:,} or \u20ac{p}."),
    st.uuids().map(lambda u: f"Request {u} failed"),
    st.binary(min_size=20, max_size=20).map(lambda b: f"commit {b.hex()}"),
    st.binary(min_size=32, max_size=32).map(lambda b: f"sha256:{b.hex()}"),
    st.integers(1_000_000, 2_000_000_000).map(lambda n: f"at {n} seconds since the epoch"),
    st.lists(st.integers(0, 9999), min_size=3, max_size=8).map(lambda v: f"scores: {v}"),
    st.tuples(st.integers(0, 23), st.integers(0, 59)).map(lambda t: "at {:02}:{:02}".format(*t)),
    st.floats(-90, 90).map(lambda f: f"latitude {f:.6f}, longitude {f * 2:.6f}"),
)


@settings(max_examples=600)
@given(NUMBERS)
def test_other_numbers_are_left_alone(text: str) -> None:
    """Orders, dates, versions, prices, hashes, UUIDs, places, lists of numbers. Proves: L10."""
    assert kinds(text) == set()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("CPF 450.749.528-83", "450.749.528-83"),
        ("NHS number: 817 238 0836", "817 238 0836"),
        ("AHV 756.3107.9077.24", "756.3107.9077.24"),
        ("Mein Steuer-ID lautet 85127498362", "85127498362"),
        ("\u8eab\u4efd\u8bc1 11010119540320245X", "11010119540320245X"),
        ("codice fiscale RVYQBB68P20H501P", "RVYQBB68P20H501P"),
        ("his PESEL is 51030853696", "51030853696"),
        ("Aadhaar 4104 0541 5723", "4104 0541 5723"),
    ],
)
def test_national_ids_are_found(text: str, number: str) -> None:
    """Proves: L10."""
    assert places(text, "pii.national_id") == [number]


@pytest.mark.parametrize("sign", "+-YXWVUABCDEF")
@given(st.dates(datetime.date(1900, 3, 1), datetime.date(1999, 12, 31)), st.integers(2, 999))
def test_a_finnish_code_is_found_with_any_sign_of_a_century(
    sign: str, day: datetime.date, serial: int
) -> None:
    """Since 2023 there are more signs; numbers from 900 are given for a time. Proves: L10."""
    assume((day.month, day.day) != (2, 29))
    digits = f"{day:%d%m%y}{serial:03d}"
    checks = "0123456789ABCDEFHJKLMNPRSTUVWXY"
    check = checks[int(digits) % 31]
    code = f"{digits[:6]}{sign}{digits[6:]}{check}"
    assert places(f"Her code is {code}.", "pii.national_id") == [code]
    # With a figure it may be a Swedish number.
    wrong = code[:-1] + ("W" if check != "W" else "X")
    assert places(f"Hetu: {wrong}", "pii.national_id") == []


@pytest.mark.parametrize(
    "text",
    [
        # German: pension and health insurance, tax.
        "Rentenversicherungsnummer 15070649C103",
        "SV-Nummer: 15070649C103",
        "German pension insurance number 15070649C103",
        "the pensioner 15 070649 C 103",
        "Krankenversichertennummer: A123456780",
        "KVNR A123456780",
        "German tax number 181/815/08155",
        "Steuer-ID 86 095 742 719",
        # What a number looks like where the usual form is used up, or of who is not a citizen.
        "D-nummer: 610272 63037",
        "codice fiscale RASIFT79B27H50MN",
        "codice fiscale rvyqbb68p20h501p",
        "num\u00e9ro BIS 58.27.07-135.24",
        "SVNR 1008 231393",
        "rodn\u00e9 \u010d\u00edslo 480712/056",
    ],
)
def test_a_number_of_a_rare_form_is_found(text: str) -> None:
    """Proves: L10."""
    [number] = places(text, "pii.national_id")
    assert text.endswith(number)


@pytest.mark.parametrize(
    "text",
    [
        "Rentenversicherungsnummer 15070649C104",
        "Rentenversicherungsnummer 15071349C103",
        "KVNR A123456781",
        "part 15070649C103 is out of stock",
        "Model A123456780",
        "num\u00e9ro BIS 58.33.07-135.24",
        "codice fiscale RASIFT79B27H50ML",
    ],
)
def test_a_number_whose_check_is_wrong_or_that_nothing_names_is_left_alone(text: str) -> None:
    """Proves: L10."""
    assert places(text, "pii.national_id") == []


CALLS = [
    "{word}: {number}",
    "{word} {number}.",
    "Note that {word} is {number}, please",
    "{number} ({word})",
]


@settings(max_examples=400)
@given(NATIONAL, st.data())
def test_a_national_number_is_found_where_it_is_named_and_its_check_is_right(
    index: int, data: st.DataObject
) -> None:
    """Of every shipped rule, by each of its names, before the number and behind it.

    Proves: L10
    """
    numbers = national(index)
    example = data.draw(st.sampled_from(numbers.examples))
    digits = data.draw(st.text("0123456789", max_size=6))
    call = data.draw(st.sampled_from(CALLS))
    word = data.draw(st.sampled_from(numbers.words))
    number = numbers.like(example, digits, right=True) or example
    assert numbers.places(call.format(word=word, number=number)) == [number]
    wrong = numbers.like(example, digits, right=False)
    if wrong is not None:
        assert numbers.places(call.format(word=word, number=wrong)) == []
    assert numbers.places(f"The word is {word}.") == []


@pytest.mark.parametrize(
    "text",
    [
        "my number is 447911123457",
        "Product identification number 4006381333939",
        "HP 1500000 is left",
        "cell 1234567 of the table",
    ],
)
def test_words_of_every_day_name_no_number(text: str) -> None:
    """Proves: L10."""
    assert kinds(text) == set()


def test_a_card_is_not_taken_out_of_a_longer_number() -> None:
    """Proves: L10."""
    card = with_luhn("401288888888188")
    assert is_card(card)
    for text in (f"9{card}", f"{card}1", f"0.{card}", f"a{card}", f"{card}-1234", f"id_{card}"):
        assert places(text, "pii.card") == []


# A name, and the number as it is written there.
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Téléphone : 01-23-45-67-89", "01-23-45-67-89"),
        ("Mobil: 20 12 34 56", "20 12 34 56"),
        ("我的手机号是13800138000", "13800138000"),
        ("電話番号は03-1234-5678です", "03-1234-5678"),
        ("휴대폰 010-1234-5678", "010-1234-5678"),
        ("Телефон: 8 (912) 345-67-89", "8 (912) 345-67-89"),
        ("Puhelinnumero on 040 1234567", "040 1234567"),
        ("मोबाइल 98765 43210", "98765 43210"),
        ("Her phone number is 2345678.", "2345678"),
        ("celular: 11 2345-6789", "11 2345-6789"),
    ],
)
def test_a_phone_number_that_is_named_may_have_any_grouping(text: str, number: str) -> None:
    """In the languages of the world's larger countries.

    Proves: L10
    """
    assert places(text, "pii.phone") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "The phone costs 1200000 won",
        "Mobile traffic grew to 1234567 requests",
        "My phone bill was 1.234.567 pesos",
        "The cell has 1 250 000 entries",
        "phone 2024-01-15 14:32",
        "phone serial number 352099001761481",
    ],
)
def test_a_number_that_only_stands_near_a_phone_is_left_alone(text: str) -> None:
    """Proves: L10."""
    assert "pii.phone" not in kinds(text)
