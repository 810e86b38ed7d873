"""Who may cite a capture, and how secret a memory is that does."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from access import call, join
from helpers import write
from operations.erasure.conftest import Desk
from races import overlap
from reviewing import HOME, ask, decide, reviewer
from write.evidence.conftest import DOCS, TEA, WORDS, Heard, capture, cite, kept, turn

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World


def shape(answer: DictRow) -> dict[str, Any]:
    """All that an answer says, but for its own number."""
    own = ("request_id", "item_id", "version_id", "retry_after")
    return {name: value for name, value in answer.items() if name not in own}


def hidden(heard: Heard) -> dict[str, str]:
    """Uris of captures that bear the claim out and that the writer may not cite, by the bar."""
    elsewhere = Heard(heard.world)
    neighbour = f"/org/{heard.org}/user/bo"
    heard.world.scope(neighbour)
    bo = join(heard.world, neighbour)
    secretary = join(heard.world, heard.home, clearance="restricted", domains=["medicine"])
    shown: dict[str, Any] = {"captured_for": [heard.writer_name]}
    call(
        heard.world.admin,
        "define_capture_source",
        source="letters",
        org=heard.org,
        citable_by=[heard.broker_name],
    )
    heard.capture(turn(), external_id="for bo", captured_for=[bo.info.user])
    return {
        "another organisation": elsewhere.capture(turn()),
        "a scope": capture(bo, turn()),
        "a scope, though captured for the writer": capture(
            bo, turn(), captured_for=[heard.writer_name]
        ),
        "a clearance": capture(secretary, turn(), classification="restricted", **shown),
        "a domain": capture(secretary, turn(), domains=["medicine"], **shown),
        "captured for another": heard.capture(turn(), captured_for=[bo.info.user]),
        "captured at home": capture(join(heard.world, heard.home), turn()),
        "captured for nobody": heard.capture(turn(), captured_for=[]),
        "its source": heard.capture(turn(), "letters"),
        "its source, though captured for the writer": heard.capture(
            turn(), "letters", captured_for=[heard.writer_name]
        ),
        "by its name": f"memwarden:capture/{heard.broker_name}/chat/for%20bo",
    }


def nothing(like: str) -> str:
    """A uri of the same form that names nothing."""
    head, _, last = like.rpartition("/")
    return f"{head}/{'nobody' if last == 'for%20bo' else uuid.uuid4()}"


@pytest.mark.parametrize("beside", [False, True])
def test_a_capture_that_the_writer_may_not_cite_answers_as_none(heard: Heard, beside: bool) -> None:
    """Alone and beside a document, with the words of the capture and with others.

    Proves: V9, Z16 (no capture is found out by citing it)
    """
    more = [cite("https://docs.example.org/1", TEA)] if beside else []
    for n, (name, uri) in enumerate(hidden(heard).items()):
        for m, said in enumerate((None, WORDS, "I prefer black coffee.")):
            answers = []
            for place, each in enumerate((uri, nothing(uri))):
                answer = heard.write(
                    f"{TEA} {n} {m} {place}" if beside else TEA, *more, cite(each, said)
                )
                answers.append(shape(answer) | {"said": None})
            assert answers[0] == answers[1], name


def held_by_policy(heard: Heard) -> Connection[DictRow]:
    """Have a policy keep all but one team from what bears the domain law; somebody of the team."""
    call(heard.world.admin, "define_attribute", bearer="agent", name="team", org=heard.org)
    call(
        heard.world.admin,
        "define_policy_set",
        name="law",
        default_effect="allow",
        operations=["READ"],
        org=heard.org,
    )
    call(
        heard.world.admin,
        "set_policy",
        policy_set="law",
        name="team",
        effect="deny",
        condition="'law' = ANY(item.domains) AND agent.team IS NULL",
        org=heard.org,
    )
    heard.world.admin.execute(
        "UPDATE memwarden_data.principal SET domains = '{law}' WHERE name = %s",
        (heard.writer_name,),
    )
    return join(heard.world, heard.home, domains=["law"], attributes={"team": "care"})


CALLS = """
SELECT s.funcname, s.calls
  FROM pg_stat_xact_user_functions AS s JOIN pg_proc AS p ON p.oid = s.funcid
 WHERE s.schemaname ~ '^memwarden' AND p.provolatile <> 'i'"""


def work(writer: Connection[DictRow], heard: Heard, uri: str) -> dict[str, int]:
    """How often each function runs in a write that cites this: the least of several."""
    ran: list[dict[str, int]] = []
    for _ in range(8):
        with writer.transaction():
            before = {each["funcname"]: each["calls"] for each in writer.execute(CALLS)}
            heard.write(TEA, cite(uri, WORDS), by=writer)
            after = {each["funcname"]: each["calls"] for each in writer.execute(CALLS)}
        ran.append({name: calls - before.get(name, 0) for name, calls in after.items()})
    names = set().union(*ran)
    least = {name: min(each.get(name, 0) for each in ran) for name in names}
    return {name: calls for name, calls in least.items() if calls}


@pytest.mark.every_version
@pytest.mark.parametrize("policies", [False, True])
def test_the_answer_takes_the_same_work(heard: Heard, policies: bool) -> None:
    """Each function runs as often, whether the capture is there or not.

    Proves: V9, Z16 (in equal time)
    """
    found = hidden(heard)
    if policies:
        found["a policy"] = capture(
            held_by_policy(heard), turn(), domains=["law"], captured_for=[heard.writer_name]
        )
    heard.world.admin.execute(f"ALTER ROLE {heard.writer_name} SET track_functions = 'all'")
    writer = heard.world.connect(heard.writer_name)
    for name, uri in found.items():
        assert work(writer, heard, uri) == work(writer, heard, nothing(uri)), name


@pytest.mark.every_version
def test_the_list_has_what_may_be_cited_and_nothing_else(heard: Heard) -> None:
    """Newest first and without the words; of the rest the caller does not learn that it is there.

    Proves: V9, Z16 (no capture is found out by listing them)
    """
    writer = heard.world.connect(heard.writer_name)
    others = set(hidden(heard).values())
    policed = capture(
        held_by_policy(heard), turn(), domains=["law"], captured_for=[heard.writer_name]
    )
    mine = [heard.capture(turn()), capture(writer, turn())]
    mine.append(heard.capture(turn(), external_id="7", captured_for=[heard.writer_name]))
    # Who only reads makes no label: what no policy could judge yet is left out.
    with writer.transaction():
        writer.execute("SET TRANSACTION READ ONLY")
        found = writer.execute("SELECT * FROM memwarden.citable()").fetchall()
    assert {each["uri"] for each in found} <= {*mine}
    listed = writer.execute("SELECT * FROM memwarden.citable()").fetchall()
    assert [each["uri"] for each in listed] == mine[::-1]
    assert (listed[0]["recorder"], listed[0]["external_id"]) == (heard.broker_name, "7")
    assert WORDS not in str(listed)
    assert not {policed, *others} & {each["uri"] for each in listed}
    assert len(writer.execute("SELECT * FROM memwarden.citable(2)").fetchall()) == 2
    call(heard.world.admin, "define_capture_source", source="chat", org=heard.org, citable_by=[])
    assert [each["uri"] for each in writer.execute("SELECT * FROM memwarden.citable()")] == [
        mine[1]
    ]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        writer.execute("SELECT * FROM memwarden.citable(0)")


def test_those_whom_source_or_capture_names_may_cite_it(heard: Heard) -> None:
    """By default the agent whose home it is; the recorder itself; else whom one of the two names.

    Proves: V9, Z16 (citable_by)
    """
    shared = f"/org/{heard.org}/user/all"
    heard.world.scope(shared)
    members = [join(heard.world, f"/org/{heard.org}/user/{name}") for name in ("bo", "cy")]
    for name in (heard.broker_name, *(each.info.user for each in members)):
        call(heard.world.admin, "grant_scope", agent=name, scope=shared, writes=True)
    bo, cy = members

    def cites(by: Connection[DictRow], uri: str) -> bool:
        answer = heard.write(f"{TEA} {uuid.uuid4().hex}", cite(uri), by=by, layer="episodic")
        found = answer["detail"] or {"evidence": heard.grounds(answer)}
        return bool(found["evidence"][0]["registered"])

    assert not cites(bo, heard.capture(turn(), scope=shared))
    assert cites(heard.broker, heard.capture(turn(), scope=shared))
    for_bo = heard.capture(turn(), scope=shared, captured_for=[bo.info.user])
    assert (cites(bo, for_bo), cites(cy, for_bo)) == (True, False)
    by_source = partial(call, heard.world.admin, "define_capture_source", org=heard.org)
    by_source(source="chat", citable_by=[cy.info.user])
    assert (cites(bo, for_bo), cites(cy, for_bo)) == (False, True)
    by_source(source="chat", citable_by=["*"])
    assert (cites(bo, for_bo), cites(cy, for_bo)) == (True, True)
    assert not cites(heard.writer, for_bo)
    by_source(source="chat")
    assert (cites(bo, for_bo), cites(cy, for_bo)) == (True, False)


def test_a_memory_is_as_secret_as_what_it_cites(heard: Heard) -> None:
    """Its classification and domains are raised to those of all that it cites.

    Proves: V9, Z16 (as secret as what it cites), A3
    """
    writer = join(heard.world, heard.home, clearance="restricted", domains=["law", "medicine"])
    recorder = join(heard.world, heard.home, clearance="restricted", domains=["law", "medicine"])
    shown: dict[str, Any] = {"captured_for": [writer.info.user]}
    heard.source("capture:mail/*", "human_input", issuer=recorder.info.user)
    uris = [
        capture(
            recorder, turn(), "mail", classification="confidential", domains=["medicine"], **shown
        ),
        capture(recorder, turn(), "mail", classification="public", domains=["law"], **shown),
    ]
    answer = heard.write(
        TEA, *map(cite, uris), by=writer, layer="episodic", classification="public"
    )
    assert answer["outcome"] == "COMMITTED", str(answer)
    (row,) = writer.execute(
        "SELECT classification, domains FROM memwarden.items WHERE item_id = %s",
        (answer["item_id"],),
    ).fetchall()
    assert (row["classification"], row["domains"]) == ("confidential", ["law", "medicine"])
    coffee = capture(recorder, turn("I prefer coffee."), "mail", domains=["law"], **shown)
    answer = heard.write(
        "Ana prefers coffee.",
        cite(coffee),
        by=writer,
        layer="episodic",
        classification="restricted",
    )
    assert answer["outcome"] == "COMMITTED", str(answer)
    (row,) = writer.execute(
        "SELECT classification, domains FROM memwarden.items WHERE item_id = %s",
        (answer["item_id"],),
    ).fetchall()
    assert (row["classification"], row["domains"]) == ("restricted", ["law"])
    assert heard.writer.execute("SELECT FROM memwarden.items").fetchall() == []


def test_a_memory_is_as_secret_as_the_memories_that_it_cites(heard: Heard) -> None:
    """In whatever layer; and what the writer may not read changes nothing.

    Proves: V9, Z16 (as secret as what it cites), A3
    """
    trusted: dict[str, Any] = {"clearance": "restricted", "domains": ["law", "medicine"]}
    doctor, writer = (join(heard.world, heard.home, **trusted) for _ in range(2))
    plain = join(heard.world, heard.home)
    known = [
        heard.write(words, cite(DOCS, words), by=doctor, layer="episodic", **marks)
        for words, marks in (
            ("Petra takes warfarin.", {"classification": "confidential", "domains": ["medicine"]}),
            ("Petra sues the clinic.", {"classification": "public", "domains": ["law"]}),
        )
    ]
    cited = [{"uri": f"memwarden:item/{each['item_id']}"} for each in known]

    def marks(by: Connection[DictRow], words: str) -> tuple[Any, ...]:
        evidence = (cite(DOCS, words), *cited)
        answer = heard.write(words, *evidence, by=by, layer="session", classification="public")
        assert answer["outcome"] == "COMMITTED", answer
        query = (
            "SELECT l.classification, l.domains FROM memwarden_data.item AS i"
            "  JOIN memwarden_data.label AS l USING (label_id) WHERE i.item_id = %s"
        )
        (row,) = heard.world.rows(query, answer["item_id"])
        return row["classification"], row["domains"]

    level = heard.world.value(
        "SELECT level FROM memwarden_data.classification WHERE name = 'confidential'"
    )
    assert marks(writer, "Petra bleeds easily.") == (level, ["law", "medicine"])
    seen = plain.execute("SELECT count(*) AS n FROM memwarden.items").fetchone()
    assert seen == {"n": 0}
    assert marks(plain, "Petra reads novels.") == (0, [])


def test_no_recall_returns_a_capture_that_was_cited(heard: Heard) -> None:
    """The memory is returned, and of the capture the one sentence that it rests on.

    Proves: F1, Z16 (never served to recall), V9 (captures)
    """
    uri = heard.capture(turn(f"The heron sleeps. {WORDS}"))
    heard.write(TEA, cite(uri))
    rows = heard.writer.execute("SELECT * FROM memwarden.recall('heron green tea')").fetchall()
    assert len(rows) == 1
    told = [
        str(heard.writer.execute(f"SELECT * FROM memwarden.{what}").fetchall())
        for what in ("items", "recall('heron')", "as_of(now())", f"get('{rows[0]['item_id']}')")
    ]
    assert not any("heron" in each for each in told)
    assert WORDS in told[0]


@pytest.mark.parametrize("first", ["writer", "end", "erasure"])
def test_a_capture_that_ends_while_it_is_cited(heard: Heard, first: str) -> None:
    """Whoever comes first, no memory rests on words that were not there when it was stored.

    Proves: V9, Z16 (at the same moment), A3
    """
    world = heard.world
    uri = heard.capture(turn(WORDS, "Ana"))
    number = uri.rpartition("/")[2]
    writer, job = world.log_in(heard.writer_name), world.log_in("postgres")

    def cites() -> DictRow:
        return heard.write(TEA, cite(uri), by=writer)

    def end() -> None:
        job.execute("SET LOCAL session_replication_role = replica")
        job.execute(
            "UPDATE memwarden_data.capture SET recorded_at = '2020-01-01' WHERE capture_id = %s",
            (number,),
        )
        job.execute("SET LOCAL session_replication_role = origin")
        job.execute(
            "UPDATE memwarden_data.capture SET content = NULL WHERE capture_id IN"
            " (SELECT capture_id FROM memwarden_data.capture WHERE capture_id = %s FOR UPDATE)",
            (number,),
        )

    def erase() -> None:
        call(job, "erase_subject", subject="Ana", reason="she asked", org=heard.org)

    if first == "writer":
        writer.execute("SET lock_timeout = '60s'")
        answers: list[DictRow] = []

        def then_end() -> None:
            with job.transaction():
                end()

        overlap(world.admin, writer, lambda: answers.append(cites()), job, then_end)
        (reference,) = kept(heard, answers[0])
        assert reference["excerpt"] == WORDS
        return
    answer = overlap(world.admin, job, end if first == "end" else erase, writer, cites)
    assert answer["outcome"] == "REJECTED", str(answer)


def test_who_speaks_in_a_capture_is_erased_from_what_cites_it(heard: Heard) -> None:
    """Also when the capture has ended and the memory names nobody.

    Proves: R1, Z16 (captures), V9
    """
    desk = Desk(heard.world, heard.org)
    uris = [
        heard.capture(turn(f"The {plant} blooms in May.", speaker))
        for plant, speaker in (("rose", "Petra"), ("lily", "Petra"), ("tulip", "Bo"))
    ]
    answers = [
        heard.write(f"The {plant} blooms in May.", cite(uri))
        for plant, uri in zip(("rose", "lily", "tulip"), uris, strict=True)
    ]
    assert {answer["outcome"] for answer in answers} == {"COMMITTED"}
    with heard.world.admin.transaction():
        heard.world.admin.execute("SET LOCAL session_replication_role = replica")
        heard.world.admin.execute(
            "DELETE FROM memwarden_data.capture WHERE capture_id = %s",
            (uris[0].rpartition("/")[2],),
        )
    assert desk.erase("Petra")["status"] == "COMPLETED"
    left = heard.world.rows(
        "SELECT item_id FROM memwarden_data.item WHERE item_id = ANY (%s)",
        [answer["item_id"] for answer in answers],
    )
    assert [row["item_id"] for row in left] == [answers[2]["item_id"]]
    assert desk.findings() == []


def test_what_is_kept_of_a_capture_is_encrypted_where_the_memory_is(heard: Heard) -> None:
    """Sentence and speaker are legible by the key of the subject alone.

    Proves: V9, Z16 (encrypted memories)
    """
    heard.world.admin.execute(
        "SELECT memwarden.define_write_class('personal', encrypted => true, org => %s)",
        (heard.org,),
    )
    uri = heard.capture(turn(WORDS, "Ana Zwiebel"))
    about: dict[str, Any] = {"subject": "Ana Zwiebel", "predicate": "prefers", "class": "personal"}
    answer = heard.write({"drink": "green tea"}, cite(uri), **about)
    (reference,) = kept(heard, answer)
    assert (reference["excerpt"], reference["recorded"]["speaker"]) == (WORDS, "Ana Zwiebel")
    clear = heard.world.value(
        "SELECT evidence FROM memwarden_data.version WHERE version_id = %s", answer["version_id"]
    )
    assert clear == [{"uri": uri}]


def test_a_request_that_waits_keeps_what_it_cites(world: World) -> None:
    """A capture may end before a person has decided; a right that was withdrawn counts.

    Proves: V9
    """
    ask(world)
    world.admin.execute("UPDATE memwarden_data.layer SET fact_threshold = 0.5")
    agent, person = world.agent(HOME), reviewer(world)
    recorder = world.agent(HOME)
    call(world.admin, "define_source", uri_pattern="capture:chat/*", type="human_input", org="acme")
    uris = [capture(recorder, turn(), captured_for=[agent.info.user]) for _ in range(2)]
    asked = [
        write(agent, "semantic", f"{TEA} {n}", evidence=[cite(uri)]) for n, uri in enumerate(uris)
    ]
    assert {answer["outcome"] for answer in asked} == {"DEFERRED"}, str(asked)
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute(
            "DELETE FROM memwarden_data.capture WHERE capture_id = %s",
            (uris[0].rpartition("/")[2],),
        )
    call(world.admin, "define_capture_source", source="chat", org="acme", citable_by=[])
    first, second = (decide(person, "approve", str(answer["request_id"])) for answer in asked)
    authority = world.value(
        "SELECT record #>> '{evidence,0,authority}' FROM memwarden_data.whole_provenance"
        " WHERE version_id = %s",
        first["version_id"],
    )
    assert (first["outcome"], float(authority)) == ("COMMITTED", 1)
    assert second["outcome"] == "REJECTED"
