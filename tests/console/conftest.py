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
        made = Office(shared_world, stack)
        yield made
        made.close()


@pytest.fixture(scope="module")
def rita(office: Office) -> Person:
    """Somebody who reviews."""
    return office.person()


@pytest.fixture
def app(office: Office) -> Flask:
    """A console that nobody has used."""
    return office.app()


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    """Somebody who has not logged in."""
    return Visitor(app, URL)


@pytest.fixture
def reviewer(visitor: Visitor, rita: Person) -> Visitor:
    """Somebody who has."""
    assert visitor.log_in(*rita).status_code == 303
    return visitor


@pytest.fixture(autouse=True)
def _log_everybody_out(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "office" in request.fixturenames and "url" not in request.fixturenames:
        office: Office = request.getfixturevalue("office")
        office.close()
