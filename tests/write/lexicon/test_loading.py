"""Dictionaries are loaded all at once, by administrators and a job; the judge asks them."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row

import tiny_lexicon
from access import call
from conftest import World, deploy_server
from helpers import write
from races import together
from write.judgement.test_constraint_graph import HOME, configure
from write.judgement.test_gates import VECTOR, near

HAS = "Ana keeps a theorbo in the hall"
COUNTS = (
    "SELECT (SELECT count(*) FROM memwarden_data.lexicon_word) AS words,"
    " (SELECT count(*) FROM memwarden_data.lexicon_sense) AS senses,"
    " (SELECT count(*) FROM memwarden_data.lexicon WHERE loaded_at IS NOT NULL) AS loaded"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server reads, with a tiny dictionary."""
    found = Path(deploy_server("shared"), f"lexicon-{uuid.uuid4().hex[:8]}")
    found.mkdir(mode=0o755)
    fill(found)
    yield found
    shutil.rmtree(found)


def fill(folder: Path, synsets: tuple[tiny_lexicon.Synset, ...] = tiny_lexicon.SYNSETS) -> None:
    """Write the files of a dictionary."""
    for name, text in tiny_lexicon.files(synsets).items():
        (folder / name).write_text(text, encoding="ascii")
        (folder / name).chmod(0o644)


def load(admin: Connection[DictRow], folder: Path | str, language: str = "tiny") -> DictRow:
    """Load, and return what the call says."""
    row = admin.execute(
        "SELECT * FROM memwarden.load_lexicon(%s, %s)", (str(folder), language)
    ).fetchone()
    assert row is not None
    return row


STATUS = "SELECT detail, state FROM memwarden.status() WHERE component = 'lexicon'"


def status(world: World) -> Any:
    """What is shown of dictionaries."""
    return world.value(STATUS)


def test_after_setup_alone_status_says_which_figures_hold(world: World, folder: Path) -> None:
    """Those without a dictionary, until a job or an administrator has loaded it.

    Proves: V10
    """
    page = (Path(__file__).parents[3] / "docs/judge.md").read_text()
    assert "without a dictionary" in page
    name = f"bare_{uuid.uuid4().hex[:8]}"
    dsn = make_conninfo(world.dsn, dbname=name)
    with psycopg.connect(make_conninfo(world.dsn, dbname="postgres"), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as admin:
            admin.execute("CREATE EXTENSION memwarden CASCADE")
            admin.execute("SELECT FROM memwarden.setup()")
            (row,) = admin.execute(STATUS).fetchall()
            assert row["state"] == "ok"
            assert row["detail"].startswith("english: ")
            assert row["detail"].endswith("the figures without a dictionary in docs/judge.md")
            admin.execute("UPDATE memwarden_data.lexicon SET folder = %s", (str(folder),))
            (row,) = admin.execute(STATUS).fetchall()
            assert "a job does it at night, SELECT memwarden.load_lexicon() now" in row["detail"]
            load(admin, folder, "english")
            (row,) = admin.execute(STATUS).fetchall()
            assert re.fullmatch(r"english: \d+ words", row["detail"])
        server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.mark.every_version
def test_the_judge_asks_what_an_administrator_loads(world: World, folder: Path) -> None:
    """Loaded, again, with other files, given up. Proves: V4, V10."""
    configure(world, conflict="coexist")
    agent = world.agent(HOME, role="curator")
    admin = world.connect(world.role("memwarden_admin"))
    assert status(world) == "none: the judge knows its own lists only"
    plain = write(agent, "semantic", HAS, embedding=VECTOR)
    other = write(agent, "semantic", "Ana keeps a crumhorn in the hall", embedding=near(0.9))
    marked = "SELECT item_id FROM memwarden.items WHERE contradicted"
    assert not agent.execute(marked).fetchall()

    loaded = load(admin, folder)
    assert (loaded["words"], loaded["senses"], loaded["is_new"]) == (31, 28, True)
    assert load(admin, folder)["is_new"] is False
    assert status(world) == "tiny: 31 words"
    notice = world.value("SELECT notice FROM memwarden_data.lexicon")
    assert notice == "A tiny dictionary for tests.\nIt may be copied."
    third = write(agent, "semantic", "Ana keeps a glass harp in the hall", embedding=near(0.95))
    assert third["outcome"] == "COMMITTED"
    found = {row["item_id"] for row in agent.execute(marked)}
    # Between the first two nobody knew of a conflict.
    assert found == {plain["item_id"], other["item_id"], third["item_id"]}

    fill(folder, tiny_lexicon.SYNSETS[:-1])
    world.connect("memwarden_jobs").execute("CALL memwarden.load_lexicons()")
    assert status(world) == "tiny: 30 words"
    for dropped in (True, False):
        assert call(admin, "drop_lexicon", language="tiny") == [{"drop_lexicon": dropped}]
    assert world.rows(COUNTS) == [{"words": 0, "senses": 0, "loaded": 0}]


def test_only_administrators_change_what_everybody_is_judged_by(world: World, folder: Path) -> None:
    """Nobody reads or writes the tables; row security is forced; what is no dictionary is refused.

    Proves: V10
    """
    admin = world.connect(world.role("memwarden_admin"))
    load(admin, folder)
    before = world.rows(COUNTS)
    groups = ("agent", "reviewer", "curator", "auditor", "broker", "jobs", "worker", "monitor")
    for group in groups:
        hostile = world.connect(world.role(f"memwarden_{group}"))
        for statement in (
            "SELECT FROM memwarden_data.lexicon_word",
            "INSERT INTO memwarden_data.lexicon_word VALUES ('hall', 'tiny', 1, 1)",
            "UPDATE memwarden_data.lexicon_sense SET against = above",
            "DELETE FROM memwarden_data.lexicon",
            "SELECT memwarden.load_lexicon()",
            "SELECT memwarden.drop_lexicon('tiny')",
            "SELECT memwarden_internal.look_up('{theorbo}')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                hostile.execute(statement)
    forced = world.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'memwarden_data'::regnamespace"
        " AND relkind = 'r' AND relname ~ '^lexicon' AND relforcerowsecurity AND relrowsecurity"
    )
    assert len(forced) == 3
    (folder / "data.verb").write_text("no such format\n")
    for given, language, code in (
        (folder, "tiny", "22023"),
        ("/nowhere", "tiny", "42704"),
        ("nowhere", "tiny", "22023"),
        ("/" + "x" * 1000, "tiny", "22023"),
        (folder, "No Name", "22023"),
        (folder, None, "22023"),
    ):
        with pytest.raises(psycopg.Error) as refused:
            load(admin, given, language)  # type: ignore[arg-type]
        assert refused.value.sqlstate == code
    assert world.rows(COUNTS) == before


def test_two_load_at_once_and_one_is_killed(world: World, folder: Path) -> None:
    """The second finds the work done; of who is killed nothing stays. Proves: V10."""
    killed = world.log_in("postgres", autocommit=False)
    load(killed, folder)
    world.admin.execute("SELECT pg_terminate_backend(%s)", (killed.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        killed.execute("COMMIT")
    killed.close()
    assert world.rows(COUNTS) == [{"words": 0, "senses": 0, "loaded": 0}]
    admins = [world.log_in("postgres") for _ in range(2)]
    rows = together([partial(load, admin, folder) for admin in admins])
    assert sorted(row["is_new"] for row in rows) == [False, True]
    assert world.value("SELECT count(*) FROM memwarden_data.lexicon_sense") == 28
