"""In a store as `memwarden init` leaves it: a question about something else is answered so."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from memwarden import Client
from memwarden.evaluation.recall.unknown import nearness
from shipped import SCOPE, Shipped

KNOWN = [
    "Omar plays cricket on Saturdays",
    "Ana is allergic to peanuts",
    "The boiler was repaired by Mr Novak in March",
]
NONSENSE = ["xyzzy", "qwfp zxcv", "capital of Mongolia", "how high is Mount Fuji?"]


@pytest.fixture
def agent(shipped: Shipped) -> Connection[DictRow]:
    """Its agent, which knows three things."""
    told = shipped.agent
    for text in KNOWN:
        assert write(told, "episodic", {"text": text})["outcome"] == "COMMITTED"
    return told


def known(agent: Connection[DictRow], query: str, **arguments: Any) -> list[str]:
    """The texts that a question is answered with."""
    return [row["text"] for row in recall(agent, query=query, **arguments) if row["item_id"]]


@pytest.mark.parametrize("among", [1, 5, 50, 500, 5000])
def test_the_evaluation_counts_memories_as_the_server_does(shipped: Shipped, among: int) -> None:
    """A threshold that it chooses means there what it means here.

    Proves: L12
    """
    asked = shipped.world.value("SELECT memwarden_internal.known_from(0.5, %s)", among)
    assert nearness(asked, among) == pytest.approx(0.5)


def test_nonsense_is_answered_with_unknown(agent: Connection[DictRow]) -> None:
    """One row, which says how near the nearest came, and what would have had to.

    Proves: L6, L12
    """
    for query in NONSENSE:
        (row,) = recall(agent, query=query)
        assert (row["standing"], row["item_id"], row["hedge"]) == ("unknown", None, "I don't know")
        gap = row["provenance"]["unknown"]
        assert (gap["near"], gap["coverage"]) == (3, "below")
        assert 0 <= gap["nearest"] < gap["threshold"]
        (line,) = agent.execute("SELECT * FROM memwarden.compile_context(%s)", (query,)).fetchall()
        assert (line["standing"], line["item_id"]) == ("unknown", None)
        steps = agent.execute("SELECT step FROM memwarden.explain_recall(%s)", (query,)).fetchall()
        assert "unknown" in {step["step"] for step in steps}


def test_unknown_tells_nothing_of_what_is_hidden(
    shipped: Shipped, agent: Connection[DictRow]
) -> None:
    """Neither how near it comes, nor how many there are: above the agent, and of somebody else.

    Proves: L12, A4
    """
    query = "capital of Mongolia"

    def told() -> list[list[DictRow]]:
        steps = "SELECT detail, facts FROM memwarden.explain_recall(%s) WHERE step = 'unknown'"
        context = "SELECT * FROM memwarden.compile_context(%s)"
        return [
            [{"unknown": row["provenance"]["unknown"]} for row in recall(agent, query=query)],
            agent.execute(steps, (query,)).fetchall(),
            agent.execute(context, (query,)).fetchall(),
        ]

    before = told()
    chief = shipped.world.agent(SCOPE, clearance="restricted")
    shipped.world.scope("/org/acme/user/bo")
    other = shipped.world.agent("/org/acme/user/bo")
    for n in range(30):
        fact = {"text": f"The capital of Mongolia is Ulaanbaatar, it says in book {n}"}
        for writer, more in ((chief, {"classification": "confidential"}), (other, {})):
            row = write(writer, "episodic", fact, **more)
            assert row["outcome"] == "COMMITTED", row
    assert known(chief, query)
    assert told() == before


def test_what_is_known_is_answered(agent: Connection[DictRow]) -> None:
    """Whether anything is known does not depend on how much is asked for."""
    for query, answer in (
        ("what is Ana allergic to?", KNOWN[1]),
        ("when does Omar play cricket?", KNOWN[0]),
        ("boiler", KNOWN[2]),
        ("who repaired the boiler?", KNOWN[2]),
    ):
        for k in (1, 10):
            assert known(agent, query, k=k)[0] == answer


def test_a_score_says_how_well_a_memory_answers(agent: Connection[DictRow]) -> None:
    """Not what share of the best it is, and not by what else is stored.

    Proves: L6
    """
    (about,) = recall(agent, query="food allergies of Omar", k=1, threshold=0)
    assert about["score"] == about["relevance"] < 0.5
    before = recall(agent, query="who repaired the boiler?", k=1)[0]
    assert before["score"] > 0.5
    assert all(row["score"] < 0.2 for row in recall(agent, query="xyzzy", threshold=0))
    write_many(
        agent,
        [
            {"layer": "episodic", "content": {"text": f"The boiler of house {n} is repaired"}}
            for n in range(20)
        ],
    )
    found = {
        row["item_id"]: row["score"]
        for row in recall(agent, query="who repaired the boiler?", k=30)
    }
    assert found[before["item_id"]] == before["score"]


def test_a_threshold_takes_the_place_of_the_default(
    shipped: Shipped, agent: Connection[DictRow]
) -> None:
    """That of the call, or of the layer, which belongs to an organisation or an agent; 0 is none.

    Proves: L12
    """
    assert len(known(agent, "xyzzy", threshold=0)) == 3
    assert known(agent, "boiler", threshold=0.99) == []
    admin = shipped.world.admin
    configure = "SELECT memwarden.configure_layer('episodic', %s, org => 'acme')"
    admin.execute(configure, ('{"relevance_threshold": 0}',))
    assert len(known(agent, "xyzzy")) == 3
    admin.execute(configure, ('{"relevance_threshold": 0.99}',))
    (row,) = recall(agent, query="who repaired the boiler?")
    assert row["standing"] == "unknown"
    admin.execute(configure, ('{"relevance_threshold": null}',))
    assert known(agent, "xyzzy") == []


def test_what_stands_beside_an_answer_comes_with_it(agent: Connection[DictRow]) -> None:
    """A turn that shares no word with the question, and pages after the first."""
    origin = {"session": "s7"}
    for text in ("Where do we sleep in Porto?", "The inn by the bridge."):
        write(agent, "episodic", {"text": text}, origin=origin)
    assert known(agent, "where do we sleep in Porto?", k=2)[1] == "The inn by the bridge."
    first: list[UUID] = [row["item_id"] for row in recall(agent, query="sleep in Porto", k=1)]
    rest = agent.execute(
        "SELECT item_id FROM memwarden.recall('sleep in Porto', exclude => %s)", (first,)
    ).fetchall()
    assert len(rest) == 4
    assert len(known(agent, "\t ")) == 5


def test_a_store_without_memories_gives_no_row(shipped: Shipped) -> None:
    """Nothing fell below anything."""
    assert recall(shipped.agent, query="xyzzy") == []


def test_the_client_says_unknown(agent: Connection[DictRow]) -> None:
    """`answer` with how near it came, `recall` and pages with nothing."""
    memory = Client(agent)
    answer = memory.answer("xyzzy")
    assert answer.items == []
    assert answer.unknown is not None
    assert answer.unknown.near == 3
    assert memory.recall("xyzzy") == []
    assert list(memory.recall_pages("xyzzy")) == []
    assert len(memory.recall("xyzzy", threshold=0)) == 3


# Questions and what answers them, in languages that nobody has configured.
LANGUAGES = {
    "German": ("Wo wohnt die Schwester von Lena?", "Die Schwester von Lena wohnt in Hamburg"),
    "French": ("Où habite la sœur de Paul ?", "La sœur de Paul habite à Lyon"),
    "Spanish": ("¿Dónde vive la hermana de Marta?", "La hermana de Marta vive en Sevilla"),
    "Portuguese": ("Onde trabalha o irmão do João?", "O irmão do João trabalha no porto"),
    "Polish": ("Gdzie mieszka siostra Marka?", "Siostra Marka mieszka w Krakowie"),
    "Turkish": ("Ayşe ne renk çay seviyor?", "Ayşe yeşil çay seviyor"),
    "Russian": ("Где живёт сестра Ивана?", "Сестра Ивана живёт в Казани"),
    "Arabic": ("أين تعيش أخت سامي؟", "تعيش أخت سامي في القاهرة"),
    "Chinese": ("安娜喜欢喝什么茶", "安娜喜欢喝绿茶"),
    "Japanese": ("太郎さんの妹はどこに住んでいますか", "太郎さんの妹は大阪に住んでいます"),
    "Korean": ("민수의 여동생은 어디에 살아요?", "민수의 여동생은 부산에 살아요"),
}
UNRELATED = {
    "German": "Wie hoch ist der Kilimandscharo?",
    "French": "Quelle équipe gagna le tournoi ?",
    "Spanish": "¿Cuánto cuesta un billete nuevo?",
    "Portuguese": "Quanto custa um bilhete novo?",
    "Polish": "Ile kosztuje nowy bilet?",
    "Turkish": "Bilet kaç lira?",
    "Russian": "Сколько стоит новый билет?",
    "Arabic": "كم ثمن التذكرة الجديدة؟",
    "Chinese": "火车票多少钱",
    "Japanese": "切符はいくらでしたか",
    "Korean": "기차표는 얼마였습니까?",
}


def test_no_language_is_silenced(shipped: Shipped) -> None:
    """Each question has its answer among all of them; one about something else mostly has none."""
    agent = shipped.agent
    for _, text in LANGUAGES.values():
        assert write(agent, "episodic", {"text": text})["outcome"] == "COMMITTED"
    wrong = {
        name: known(agent, question, k=1)
        for name, (question, text) in LANGUAGES.items()
        if known(agent, question, k=1) != [text]
    }
    assert not wrong
    answered = [name for name, question in UNRELATED.items() if known(agent, question)]
    assert len(answered) <= 3, answered


def test_a_model_has_a_threshold_of_its_own(world: World, home: str) -> None:
    """Given when it is registered; 0 for none. Proves: L12."""
    agent = world.agent(home, descendants=True)
    register = "SELECT memwarden.register_embedding_model(%s, 2, relevance_threshold => %s)"
    for name, threshold in (("sure", 0.9), ("any", 0)):
        world.admin.execute(register, (name, threshold))
        given = {"embedding": [1.0, 0.0], "embedding_model": name}
        stored = write(agent, "episodic", {"text": f"tea of {name}"}, **given)
        assert stored["outcome"] == "COMMITTED"
    asked: dict[str, Any] = {"query": "boats", "embedding": [0.0, 1.0]}
    assert known(agent, **asked, embedding_model="sure") == []
    assert len(known(agent, **asked, embedding_model="any")) == 2
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        world.admin.execute(register, ("none", 1.5))
