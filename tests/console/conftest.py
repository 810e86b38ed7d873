"""A store in which facts wait for a person, a console on it, and those who visit that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from console.office import URL, Office, Person
from console.visitor import Visitor

if TYPE_CHECKING:
    from flask import Flask

    from conftest import World


@pytest.fixture(scope="module")
def office(shared_world: World) -> Iterator[Office]:
    """One organisation."""
    with ExitStack() as stack:
        yield Office(shared_world, stack)


@pytest.fixture(scope="module")
def rita(office: Office) -> Person:
    """Somebody who reviews."""
    return office.person()


@pytest.fixture
def app(office: Office) -> Iterator[Flask]:
    """A console that nobody has used."""
    made = office.app()
    yield made
    made.extensions["memwarden"].close_all()


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    """Somebody who has not logged in."""
    return Visitor(app, URL)


@pytest.fixture
def reviewer(visitor: Visitor, rita: Person) -> Visitor:
    """Somebody who has."""
    assert visitor.log_in(*rita).status_code == 303
    return visitor
