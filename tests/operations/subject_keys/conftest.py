"""What the tests of encrypted memories share: a class that is encrypted, and whom to write of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write
from operations.erasure.conftest import Desk


@dataclass
class Vault(Desk):
    """An organisation in which the class ``personal`` is encrypted."""

    def __post_init__(self) -> None:
        """Define the class."""
        super().__post_init__()
        self.world.admin.execute(
            "SELECT memwarden.define_write_class('personal', encrypted => true, org => %s)",
            (self.org,),
        )


def keep(agent: Connection[DictRow], content: Any, **arguments: Any) -> DictRow:
    """Write something personal of Petra that is committed; the answer."""
    arguments = {"subject": "Petra Horvat", "class": "personal"} | arguments
    row = write(agent, arguments.pop("layer", "semantic"), content, **arguments)
    assert row["outcome"] in ("COMMITTED", "MERGED"), row
    return row


@pytest.fixture
def vault(shared_world: World) -> Vault:
    """An organisation of the test's own in a database that tests share."""
    return Vault(shared_world)
