"""A memory or evidence that the writer may not read is to it as one that does not exist."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from access import join
from helpers import write
from write.evidence.conftest import DOCS, TEA, Office, cite, item

if TYPE_CHECKING:
    from psycopg.rows import DictRow


def hidden(office: Office) -> dict[str, str]:
    """Uris of what exists and the office's writer may not read, by what hides it."""
    elsewhere = Office(office.world)
    elsewhere.source(f"{DOCS}*")
    elsewhere.source("chat:*", "human_input", issuer=elsewhere.broker_name)
    foreign = elsewhere.write(
        {"drink": "green tea"}, cite(DOCS, TEA), subject="Ana", predicate="prefers"
    )
    secretary = join(office.world, office.home, clearance="restricted")
    secret = office.write(
        {"drink": "green tea"},
        cite(DOCS, TEA),
        by=secretary,
        subject="Ana",
        predicate="prefers",
        classification="restricted",
    )
    neighbour = f"/org/{office.org}/user/bo"
    office.world.scope(neighbour)
    bo = join(office.world, neighbour)
    private = office.write(
        {"drink": "green tea"}, cite(DOCS, TEA), by=bo, subject="Ana", predicate="prefers"
    )
    office.source("bo:*", issuer=bo.info.user)
    kept = bo.execute("SELECT memwarden.record_evidence('bo:1', %s) AS uri", (TEA,)).fetchone()
    assert kept is not None
    return {
        "another organisation": item(foreign)["uri"],
        "a clearance": item(secret)["uri"],
        "a scope": item(private)["uri"],
        "evidence of another organisation": elsewhere.record(TEA),
        "evidence of another scope": kept["uri"],
    }


def shape(answer: DictRow) -> dict[str, Any]:
    """All that an answer says, but for its own number."""
    return {
        name: value
        for name, value in answer.items()
        if name not in ("request_id", "item_id", "version_id", "retry_after")
    }


@pytest.mark.parametrize("beside", [False, True])
def test_a_hidden_reference_answers_as_one_that_is_not_there(office: Office, beside: bool) -> None:
    """Alone and beside a document, in outcome, reason and detail, with and without a version named.

    Proves: A4
    """
    # What is unclear would wait, and the same again would be told so.
    office.world.admin.execute("UPDATE memwarden_data.layer SET unclear = 'refuse'")
    known = hidden(office)
    for name, uri in known.items():
        kind = uri[: uri.index("/") + 1]
        for layer in ("episodic", "semantic"):
            answers = []
            for cited in (uri, f"{kind}{uuid.uuid4()}"):
                evidence = [
                    *([cite(DOCS, TEA)] if beside else []),
                    cite(cited),
                    cite(cited, TEA, type="document", version_id=str(uuid.uuid4())),
                ]
                about: dict[str, Any] = {"subject": "Bo", "predicate": f"likes {name}"}
                answers.append(
                    shape(office.write({"drink": "green tea"}, *evidence, layer=layer, **about))
                )
            assert answers[0] == answers[1], name


def test_a_record_of_what_was_hidden_says_no_more(shared_world: Any) -> None:
    """Where the write commits, its grounds are the same too.

    Proves: A4
    """
    office = Office(shared_world)
    shared_world.admin.execute(
        "UPDATE memwarden_data.layer SET fact_threshold = 0, min_external = 0, min_authority "
        "= 0, self_reference = 'allow'"
    )
    office.source(f"{DOCS}*")
    office.source("chat:*", "human_input", issuer=office.broker_name)
    known = hidden(office)
    for name, uri in known.items():
        grounds = []
        for cited in (uri, f"{uri[: uri.index('/') + 1]}{uuid.uuid4()}"):
            answer = write(office.writer, "semantic", {"x": cited}, evidence=[cite(cited)])
            (ground,) = office.grounds(answer)
            grounds.append({k: v for k, v in ground.items() if k not in ("uri", "accessed_at")})
        assert grounds[0] == grounds[1], name


def test_a_hidden_holder_of_the_key_closes_no_circle(shared_world: Any) -> None:
    """The write makes an item beside it, so there is none.

    Proves: X3
    """
    office = Office(shared_world)
    shared_world.admin.execute(
        "UPDATE memwarden_data.layer SET fact_threshold = 0, min_external = 0, min_authority "
        "= 0, self_reference = 'allow'"
    )
    secretary = join(office.world, office.home, clearance="restricted")
    secret = write(
        secretary, "semantic", {"v": 0}, subject="plan", predicate="is", classification="restricted"
    )
    derived = write(
        secretary,
        "semantic",
        {"v": 1},
        subject="rumour",
        predicate="is",
        classification="internal",
        evidence=[item(secret)],
    )
    assert derived["outcome"] == "COMMITTED"
    answer = write(
        office.writer,
        "semantic",
        {"v": 2},
        subject="plan",
        predicate="is",
        evidence=[item(derived)],
    )
    assert answer["outcome"] == "COMMITTED"
    refused = write(
        secretary,
        "semantic",
        {"v": 3},
        subject="plan",
        predicate="is",
        classification="restricted",
        evidence=[item(derived)],
    )
    assert refused["reason"] == "PROVENANCE_CYCLE"
