"""Memory notes; it does not archive: a layer bounds the text of its memories."""

from __future__ import annotations

import psycopg
import pytest

from access import call
from conftest import World
from helpers import write


def test_a_text_longer_than_the_layer_allows_is_refused(world: World) -> None:
    """The bound counts the characters of the text, not the bytes of the content.

    Proves: N6
    """
    agent = world.agent()
    call(world.admin, "configure_layer", layer="session", settings='{"max_text_length": 10}')
    assert write(agent, "session", {"text": "\u00e9" * 10})["outcome"] == "COMMITTED"
    answer = write(agent, "session", {"text": "\u00e9" * 11})
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "TEXT_TOO_LONG")
    assert answer["detail"]["errors"][0]["message"] == "11 characters, of at most 10"
    call(world.admin, "configure_layer", layer="session", settings='{"max_text_length": null}')
    assert write(agent, "session", {"text": "\u00e9" * 11})["outcome"] == "COMMITTED"
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(world.admin, "configure_layer", layer="session", settings='{"max_text_length": 0}')


def test_what_the_organisation_stands_by_is_short(world: World) -> None:
    """As shipped, durable alone is bounded, to as much as is compared with canonical sources.

    Proves: N6
    """
    shipped = world.rows("SELECT layer, max_text_length FROM shipped.layer WHERE layer = 'durable'")
    assert shipped == [{"layer": "durable", "max_text_length": 8000}]
    agent = world.agent()
    assert write(agent, "durable", {"text": "x" * 8000})["outcome"] == "COMMITTED"
    assert write(agent, "durable", {"text": "x" * 8001})["reason"] == "TEXT_TOO_LONG"
