"""Nobody has to configure anything not to lose what is not English; a scope may have a language."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write_many

# Thirty alike each, of which one answers; asked in other forms of its words than it has.
CHINESE = [
    f"{who}在{where}买了一{what}"
    for who, where, what in zip(
        "张王李赵陈杨黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程",
        ["上海", "北京", "广州", "深圳", "杭州", "南京"] * 5,
        ["本书", "辆自行车", "台电脑", "把雨伞", "张桌子"] * 6,
        strict=True,
    )
]
JAPANESE = [
    f"{who}さんは{where}で{what}を食べました"
    for who, where, what in zip(
        ["田中", "鈴木", "佐藤", "高橋", "伊藤", "渡辺", "山本", "中村", "小林", "加藤"] * 3,
        ["京都", "大阪", "東京", "札幌", "福岡", "名古屋"] * 5,
        [*["ラーメン", "寿司", "うどん", "カレー"] * 7, "天ぷら", "お好み焼き"],
        strict=True,
    )
]
GERMAN = [
    f"Die {first}{second} hat am {day} geöffnet"
    for first, second, day in zip(
        ["Stadt", "Kinder", "Dorf", "Schul", "Wander"] * 6,
        ["bücherei", "bäckerei", "apotheke", "werkstatt", "sparkasse", "gärtnerei"] * 5,
        ["Montag", "Dienstag", "Mittwoch"] * 10,
        strict=True,
    )
]
RUSSIAN = [
    f"{who} переехала {where} и купила {what}"
    for who, where, what in zip(
        ["Анна", "Ольга", "Мария", "Елена", "Ирина"] * 6,
        ["в Москву", "в Самару", "в Казань", "на Камчатку", "в Одессу", "в Ригу"] * 5,
        ["собаку", "машину", "кошку"] * 10,
        strict=True,
    )
]
ARABIC = [
    f"{who} يعمل في {where} ويحب {what}"
    for who, where, what in zip(
        ["أحمد", "محمد", "علي", "عمر", "خالد"] * 6,
        ["المستشفى", "المدرسة", "المصنع", "المكتبة", "المطعم", "المطار"] * 5,
        ["القراءة", "السباحة", "الطبخ"] * 10,
        strict=True,
    )
]
MIXED = [
    f"Ticket {n}: {who} によると {what} が落ちた"
    for n, who, what in zip(
        range(30),
        ["Ana", "Bob", "Eve"] * 10,
        ["payment サーバー", "検索エンジン", "login 画面", "メール配信", "報告書"] * 6,
        strict=True,
    )
]


@pytest.mark.parametrize(
    ("memories", "answer", "question"),
    [
        pytest.param(CHINESE, CHINESE[6], "谁在上海买了自行车?黄", id="chinese"),
        pytest.param(CHINESE, CHINESE[13], "高先生在北京买了什么", id="chinese name"),
        pytest.param(JAPANESE, JAPANESE[28], "小林さんが食べた天ぷらはどこでしたか", id="japanese"),
        pytest.param(RUSSIAN, RUSSIAN[3], "Где на Камчатке собака Елены?", id="russian"),
        pytest.param(ARABIC, ARABIC[10], "من يعمل في مطعم ويقرأ؟ أحمد والسباحة", id="arabic"),
        pytest.param(MIXED, MIXED[10], "Bob payment サーバ Ticket 10", id="mixed"),
    ],
)
def test_the_right_memory_is_first_by_its_words(
    shared_world: World, home: str, memories: list[str], answer: str, question: str
) -> None:
    """Of thirty alike, with the settings of an empty store. Proves: L6 (keyword search)."""
    reader = shared_world.agent(home)
    remember_all(reader, memories)
    assert first(reader, question) == answer


def test_parts_of_joined_words_are_found_where_the_language_joins_words(
    world: World,
) -> None:
    """German, by the language of the scope; a whole word counts more than a part."""
    world.admin.execute("SELECT memwarden.create_scope('/org/bau/domain/de')")
    world.admin.execute("SELECT memwarden.set_scope_language('/org/bau', 'german')")
    reader = world.agent("/org/bau/domain/de")
    remember_all(reader, GERMAN)
    assert "Dorfbäckerei" in first(reader, "Wann öffnet die Bäckerei im Dorf?")
    assert "Dorfapotheke" in first(reader, "Welche Apotheken gibt es im Dorf?")
    assert "Kinderbäckerei" in first(reader, "Bäckerei für Kinder")
    assert "Schulwerkstatt" in first(reader, "die Werkstätten der Schule, eine Werkstatt")
    # A whole word counts more than one that it is a part of.
    remember_all(reader, ["Im Dorf ist die Apotheke zu"])
    assert first(reader, "Apotheke Dorf") == "Im Dorf ist die Apotheke zu"


def remember_all(agent: Connection[DictRow], texts: list[str]) -> None:
    """Write them all; none may be lost."""
    rows = write_many(agent, [{"layer": "episodic", "content": {"text": text}} for text in texts])
    assert {row["outcome"] for row in rows} == {"COMMITTED"}, rows


def first(agent: Connection[DictRow], question: str) -> str:
    """Return what is found first by words alone."""
    found = recall(agent, query=question, weights={"keyword": 1}, k=1)
    text: str = found[0]["text"]
    return text


def test_a_language_is_inherited_and_changed_later(world: World) -> None:
    """What is there is indexed anew, batch by batch, by a job that may be killed between two."""
    for path in ("/org/bau/domain/de", "/org/bau/domain/en"):
        world.admin.execute("SELECT memwarden.create_scope(%s)", (path,))
    agent = world.agent("/org/bau/domain/de")
    texts = [f"{number}: die Häuser wurden gestrichen" for number in range(5)]
    remember_all(agent, texts)
    assert found(agent, "Häusern") == []

    assert world.value("SELECT memwarden.set_scope_language('/org/bau', 'german')") == 3
    assert world.value("SELECT memwarden.set_scope_language('/org/bau/domain/en', NULL)") == 1
    world.admin.execute("SELECT memwarden_internal.reindex_next(2)")
    world.admin.execute("SELECT memwarden_internal.reindex_next(2)")
    world.admin.execute("SELECT memwarden_internal.reindex_next(2)")
    assert 0 < len(found(agent, "Häusern")) <= 5
    world.admin.execute("CALL memwarden.reindex_words()")
    assert len(found(agent, "Häusern")) == 5
    # A scope made later speaks as the one above it does.
    world.admin.execute("SELECT memwarden.create_scope('/org/bau/domain/de/task/t1')")
    below = world.agent("/org/bau/domain/de/task/t1")
    remember_all(below, ["Männer im Garten"])
    assert found(below, "Mann") == ["Männer im Garten"]
    # Heads made anew have the same words, and a language taken back is that of the layer again.
    assert world.value("SELECT memwarden.set_scope_language('/org/bau', NULL)") == 3
    world.admin.execute("CALL memwarden.reindex_words()")
    assert found(below, "Mann") == []
    assert found(below, "Männer") == ["Männer im Garten"]


def test_the_job_may_run_twice_at_once_and_be_killed(world: World) -> None:
    """Two do not take the same scope, and what is taken back is done again."""
    agent = world.agent("/org/bau/user/ana")
    remember_all(agent, [f"{number}: die Häuser wurden gestrichen" for number in range(5)])
    world.value("SELECT memwarden.set_scope_language('/org/bau/user/ana', 'german')")
    with (
        psycopg.connect(world.dsn, autocommit=True) as one,
        psycopg.connect(world.dsn, autocommit=True) as other,
    ):
        step = "SELECT memwarden_internal.reindex_next(3)"
        with one.transaction(force_rollback=True):
            assert one.execute(step).fetchone() == (True,)
            assert other.execute(step).fetchone() == (False,)
        # What waits is found by the words that it will have.
        assert len(found(agent, "Häusern")) == 5
        other.execute("CALL memwarden.reindex_words()")
        assert other.execute(step).fetchone() == (False,)
    assert len(found(agent, "Häusern")) == 5


def test_a_scope_made_meanwhile_has_the_language_too(world: World) -> None:
    """Whoever sets it waits for who makes a scope below."""
    world.admin.execute("SELECT memwarden.create_scope('/org/bau/domain/de')")
    with (
        psycopg.connect(world.dsn) as maker,
        psycopg.connect(world.dsn, autocommit=True) as setter,
        ThreadPoolExecutor(1) as pool,
    ):
        maker.execute("SELECT memwarden.create_scope('/org/bau/domain/de/task/t1')")
        setting = pool.submit(
            setter.execute, "SELECT memwarden.set_scope_language('/org/bau/domain/de', 'german')"
        )
        while not world.value(
            "SELECT cardinality(pg_blocking_pids(%s)) > 0", setter.info.backend_pid
        ):
            assert not setting.done()
        maker.commit()
        setting.result()
    agent = world.agent("/org/bau/domain/de/task/t1")
    remember_all(agent, ["Bäume im Garten"])
    assert found(agent, "Baum") == ["Bäume im Garten"]


@pytest.mark.parametrize(("path", "language"), [("/org/none", "german"), ("/org/bau", "klingon")])
def test_no_language_of_what_does_not_exist(world: World, path: str, language: str) -> None:
    """42704, for an unknown scope as for an unknown language."""
    world.admin.execute("SELECT memwarden.create_scope('/org/bau')")
    with pytest.raises(psycopg.errors.UndefinedObject):
        world.admin.execute("SELECT memwarden.set_scope_language(%s, %s)", (path, language))


def test_an_agent_sets_no_language(world: World) -> None:
    """Who administers the organisation does."""
    agent = world.agent("/org/bau/user/ana")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT memwarden.set_scope_language('/org/bau/user/ana', 'german')")


def found(agent: Connection[DictRow], question: str) -> list[str]:
    """Return what has any of the words."""
    rows = recall(agent, query=question, weights={"keyword": 1}, k=100)
    return sorted(row["text"] for row in rows if row["keyword_score"] > 0)
