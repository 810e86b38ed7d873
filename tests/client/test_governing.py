"""Consents, packs, classes and proposals through the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from access import curator
from memwarden import Client, InvalidArgument, NotAllowed, WriteRequest

if TYPE_CHECKING:
    from conftest import World


def test_consent_and_packs_decide_about_classes(shared_world: World, home: str) -> None:
    """Granted, written, withdrawn; allowed by one version of a pack and not by the next.

    Proves: R7, F4, F5 (through the client)
    """
    shared_world.scope(home)
    desk_role = curator(shared_world, home.split("/user/")[0]).info.user
    with (
        Client.connect(make_conninfo(shared_world.dsn, user=desk_role)) as desk,
        Client.connect(make_conninfo(shared_world.dsn, user=shared_world.register(home))) as memory,
    ):
        said: dict[str, Any] = {
            "subject": "Ana",
            "predicate": "drinks",
            "write_class": "preference",
        }
        assert memory.write("semantic", "tea", **said).reason == "CONSENT_MISSING"
        proof = [{"uri": "form:1"}]
        assert desk.record_consent("Ana", "personalisation", "granted", evidence=proof).version == 7
        assert memory.write("semantic", "tea", **said).outcome == "COMMITTED"
        requests: list[WriteRequest | dict[str, Any]] = [
            WriteRequest(layer="semantic", content="green tea", **said),
            {"layer": "semantic", "content": "white tea", "subject": "Ana", "class": "preference"},
        ]
        assert {each.outcome for each in memory.write_many(requests)} == {"COMMITTED"}
        assert desk.define_pack("house", {"write_classes_allowed": ["preference"]}) == 1
        assert desk.define_pack("house", {"write_classes_allowed": []}) == 2
        desk.use_pack("house")
        assert memory.write("semantic", "black tea", **said).reason == "CLASS_NOT_IN_PACK"
        desk.use_pack("house", 1)
        assert memory.write("semantic", "black tea", **said).outcome == "COMMITTED"
        desk.use_pack(None)
        desk.record_consent("ana", "personalisation", "withdrawn")
        assert memory.recall("tea") == []
        assert memory.write("semantic", "tea", **said).reason == "CONSENT_WITHDRAWN"
        with pytest.raises(InvalidArgument):
            desk.define_pack("house", {"write_classes_allowed": "all"})
        with pytest.raises(NotAllowed):
            memory.record_consent("Ana", "personalisation", "granted")
