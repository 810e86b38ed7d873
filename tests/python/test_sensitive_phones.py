"""Phone numbers are found as people of a country write them, and other numbers are left alone."""

from __future__ import annotations

import datetime
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from python.sensitive_samples import kinds, places


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    """The command that measures it."""
    path = Path(__file__).parents[2] / "tools/measure_phones.py"
    spec = importlib.util.spec_from_file_location("measure_phones", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_of_64_countries_are_found_in_national_form(measure: ModuleType) -> None:
    """Valid numbers by the library of Google, in seven spellings. Proves: L10, Z3."""
    shares = {key: found / total for key, (found, total) in measure.measured(1).items()}
    assert shares["named in English"] >= 0.98
    assert shares["named in its language"] >= 0.99
    assert shares["not named, as the country does"] >= 0.75
    assert shares["not named, with dots"] >= 0.7


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Ana: 020 7946 0958", "020 7946 0958"),
        ("Reception 06 12 34 56 78.", "06 12 34 56 78"),
        ("Dr. Meyer 030 901820 (Berlin)", "030 901820"),
        ("Luz 612 34 20 97", "612 34 20 97"),
        ("Bia (11) 96123-0873", "(11) 96123-0873"),
        ("mein B\u00fcro, 089/12345678", "089/12345678"),
        ("mi n\u00famero es 612342097", "612342097"),
        ("her number is 0612345678", "0612345678"),
    ],
)
def test_a_number_that_a_countrys_plan_knows_needs_no_name(text: str, number: str) -> None:
    """Where it is written as there, or somebody's. Proves: L10."""
    assert places(text, "pii.phone") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "Date: Fri Jul 15 22:44:03 2022 -0400",
        "Invoice 06 12 34 56 78",
        "It cost 612 345 678 euros",
        "sizes 512 640 1024 2048",
        "the calls of 20170617 failed",
        "my number is 447911123457",
        "version 08.12.35.22",
        "from 10.0.12.34 to 192.168.178.20",
        "on 01-02-2024, 03-04-2024 and 05/06/24",
        "scores 21 17 25 19 15 12",
        "0.123 456 789",
        "part 0123-45-6789-A",
        "IBAN 0123 4567 8901",
    ],
)
def test_dates_amounts_invoices_and_addresses_are_no_phone_numbers(text: str) -> None:
    """Proves: L10."""
    assert "pii.phone" not in kinds(text)


OTHERS = st.one_of(
    st.datetimes(datetime.datetime(1000, 1, 1)).map(lambda d: f"{d:%d %m %Y %H %M}"),
    st.datetimes().map(lambda d: f"{d:%a %b %d %H:%M:%S %Y} -0400"),
    st.datetimes().map(lambda d: f"{d:%d.%m.%Y} - {d:%d.%m.%Y}"),
    st.integers(10**6, 10**11).map(lambda n: f"a sum of {n:,}".replace(",", " ")),
    st.tuples(*[st.integers(1, 255)] * 4).map(lambda v: "host {}.{}.{}.{}".format(*v)),
    st.integers(1, 10**8).map(lambda n: f"INV-{n:010d}"),
    st.lists(st.integers(1, 99), min_size=4, max_size=4).map(lambda v: f"odds {v}"),
)


@settings(max_examples=300)
@given(OTHERS)
def test_other_numbers_in_groups_are_left_alone(text: str) -> None:
    """Proves: L10."""
    assert "pii.phone" not in kinds(text)
