"""A person is found beside the items: in recorded evidence, encrypted values, provenance."""

from __future__ import annotations

import pytest
from psycopg.errors import InternalError_

from helpers import write
from operations.erasure.conftest import Desk, holding, remember


def test_recorded_evidence_goes_with_what_rests_on_it(desk: Desk) -> None:
    """An excerpt that names the person; what cites it; other evidence of the same source stays.

    Proves: R1 (everywhere content can sit), R2
    """
    role = desk.world.register(desk.home, role="curator")
    desk.world.admin.execute(
        "SELECT memwarden.define_source('chat:*', 'human_input', issuer => %s, org => %s)",
        (role, desk.org),
    )
    agent = desk.world.connect(role)
    uris = []
    for words in ("Zelda Zqv called about the invoice", "Somebody asked for tea"):
        row = agent.execute(
            "SELECT memwarden.record_evidence('chat:7', %s) AS uri", (words,)
        ).fetchone()
        assert row is not None
        uris.append(row["uri"])
    cited = [{"type": "human_input", "uri": uri} for uri in uris]
    remember(agent, "invoices are late", evidence=cited[:1])
    kept = remember(agent, "tea is liked", evidence=cited[1:])
    done = desk.erase("Zelda Zqv", "zelda zqv")
    assert (done["items"], done["evidence"]) == (1, 1)
    assert holding(desk.world, "zqv") == set()
    rows = desk.world.rows(
        "SELECT item_id FROM memwarden_data.item AS i JOIN memwarden_data.organisation AS o"
        " USING (org_id) WHERE o.name = %s",
        desk.org,
    )
    assert [row["item_id"] for row in rows] == [kept]
    left = desk.world.rows(
        "SELECT excerpt FROM memwarden_data.evidence WHERE issuer_id ="
        " (SELECT principal_id FROM memwarden_data.principal_login"
        "   WHERE login_role = %s)",
        role,
    )
    assert left == [{"excerpt": "Somebody asked for tea"}]
    assert desk.findings() == []
    (entry,) = [e for e in desk.export() if e["evidence"]]
    assert entry["certificate"]["evidence"] == 1


def test_nothing_is_certified_while_something_is_left(desk: Desk) -> None:
    """Somebody's trigger keeps a row that the erasure deletes: the search afterwards finds it.

    Proves: R2
    """
    role = desk.world.register(desk.home, role="curator")
    desk.world.admin.execute(
        "SELECT memwarden.define_source('chat:*', 'human_input', issuer => %s, org => %s)",
        (role, desk.org),
    )
    agent = desk.world.connect(role)
    agent.execute("SELECT memwarden.record_evidence('chat:7', 'Zelda Zqw called')")
    desk.world.admin.execute("CREATE SCHEMA IF NOT EXISTS kept")
    desk.world.admin.execute(
        "CREATE FUNCTION kept.row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    )
    desk.world.admin.execute(
        "CREATE TRIGGER kept BEFORE DELETE ON memwarden_data.evidence"
        " FOR EACH ROW EXECUTE FUNCTION kept.row()"
    )
    try:
        with pytest.raises(InternalError_, match="1 pieces of evidence"):
            desk.erase("Zelda Zqw", "zelda zqw")
    finally:
        desk.world.admin.execute("DROP SCHEMA kept CASCADE")
    assert desk.erase("Zelda Zqw", "zelda zqw")["evidence"] == 1
    certificates = (
        "SELECT count(*) FROM memwarden_data.erasure AS e"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s"
    )
    assert desk.world.value(certificates, desk.org) == 1


def test_an_encrypted_value_is_found_in_clear(desk: Desk) -> None:
    """The content has a token in its place; the value, and its item, go.

    Proves: R1 (everywhere content can sit), L10 (encrypted values follow erasure)
    """
    desk.world.admin.execute(
        "SELECT memwarden.set_sensitivity_action('encrypt', kind => 'pii.email', org => %s)",
        (desk.org,),
    )
    agent = desk.agent()
    item = remember(agent, "Write to zelda.zqx@example.org for an offer")
    kept = remember(agent, "Write to somebody.else@example.org for an offer")
    values = "SELECT item_id FROM memwarden_data.sensitive_value WHERE item_id = ANY (%s)"
    assert {row["item_id"] for row in desk.world.rows(values, [item, kept])} == {item, kept}
    assert holding(desk.world, "zelda.zqx") == set()
    assert desk.erase("nobody", "Zelda.Zqx@example.org")["items"] == 1
    assert [row["item_id"] for row in desk.world.rows(values, [item, kept])] == [kept]
    assert desk.findings() == []


def test_provenance_that_names_the_person_takes_its_item(desk: Desk) -> None:
    """What is said of the origin of a memory counts as the memory does.

    Proves: R1 (direct matches)
    """
    agent = desk.agent()
    remember(agent, "tea", origin={"kind": "user_stated", "task": "for zqw"})
    assert desk.erase("nobody", "zqw")["items"] == 1
    assert holding(desk.world, "zqw") == set()
    assert desk.findings() == []


def test_synonyms_predicates_and_kept_settings_lose_the_name(desk: Desk) -> None:
    """Each entry that names the person goes; the others stay, and keys follow them.

    Proves: R1 (everywhere content can sit)
    """
    admin, word = desk.world.admin, "zqkonrad"
    agent = desk.agent()
    admin.execute(
        "SELECT memwarden.set_synonyms(%s, %s::jsonb)",
        (desk.org, f'{{"boss": "{word}", "{word} junior": "heir", "prefers": "likes"}}'),
    )
    for predicate, more in (
        (f"works for {word}", {}),
        ("reports to", {"disjoint": [f"ignores {word}", "avoids"]}),
        ("leads", {"ends": [f"obeys {word}"]}),
    ):
        arguments = {"predicate": predicate, "org": desk.org} | more
        named = ", ".join(f"{name} => %({name})s" for name in arguments)
        admin.execute(f"SELECT memwarden.define_predicate({named})", arguments)
    kept = remember(agent, "tea", subject="Bo", predicate="likes")
    assert holding(desk.world, word) >= {"vocabulary", "predicate", "kept_terms"}
    assert desk.erase("nobody", word)["status"] == "COMPLETED"
    assert holding(desk.world, word) == set()
    org_id = "(SELECT org_id FROM memwarden_data.organisation WHERE name = %s)"
    assert desk.world.value(
        f"SELECT synonyms FROM memwarden_data.vocabulary WHERE org_id = {org_id}", desk.org
    ) == {"prefers": "likes"}
    rows = desk.world.rows(
        "SELECT predicate, disjoint, ends FROM memwarden_data.predicate"
        f" WHERE org_id = {org_id} ORDER BY predicate",
        desk.org,
    )
    assert [tuple(row.values()) for row in rows if row["predicate"] in ("leads", "reports to")] == [
        ("leads", [], []),
        ("reports to", ["avoids"], []),
    ]
    # Writers go on with what is left.
    again = write(agent, "semantic", "tea", subject="Bo", predicate="prefers")
    assert again["item_id"] == kept, again
    assert desk.findings() == []


def test_the_certificate_lists_what_remains(desk: Desk) -> None:
    """Log and requests by number, and names that administrators gave; signed like the rest.

    Proves: R1 (the certificate)
    """
    word, admin = f"zq{desk.org}", desk.world.admin
    desk.world.scope(f"/org/{desk.org}/user/{word}")
    admin.execute("SELECT memwarden.define_write_class(%s, 'of hers', org => %s)", (word, desk.org))
    agent = desk.agent()
    remember(agent, f"{word} likes tea")
    remember(agent, "tea")
    assert desk.erase("nobody", word)["status"] == "COMPLETED"
    (row,) = desk.world.rows(
        "SELECT remains, log_entries, requests, signature FROM memwarden.erasures WHERE org = %s",
        desk.org,
    )
    names = {"scope": 1, "write_class": 1}
    # Who defined the class, and as what, is on record.
    assert row["remains"] == names | {"log": 1, "write_request": 1, "access_log": 1}
    assert (row["log_entries"], row["requests"], row["signature"]) == (1, 1, "GENUINE")
    assert holding(desk.world, word) == {*names, "access_log"}
