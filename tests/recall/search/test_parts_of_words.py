"""Words without accents, and parts of names and codes, are found as `memwarden init` leaves it."""

from __future__ import annotations

import unicodedata
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

import stored
from conftest import World
from databases import empty_database, install
from helpers import recall, write, write_many
from server_checkout import REPOSITORY
from shipped import SCOPE, Shipped

from .test_nothing_known import LANGUAGES


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as it is shipped."""
    return shipped.world


# How a name is written, and what a keyboard without its letters makes of it.
ACCENTS = {
    "French": ("café", "cafe"),
    "French ligature": ("cœur", "coeur"),
    "German": ("Zürich", "zurich"),
    "German sharp s": ("Straßenfest", "strassenfest"),
    "Danish": ("Søren", "soren"),
    "Danish ligature": ("Ærø", "aero"),
    "Swedish": ("Åhus", "ahus"),
    "Icelandic": ("Guðrún", "gudrun"),
    "Icelandic thorn": ("Þingvellir", "thingvellir"),
    "Polish": ("Łódź", "lodz"),
    "Czech": ("Jiří", "jiri"),
    "Slovak": ("Ľubomír", "lubomir"),
    "Croatian": ("Đurđevac", "durdevac"),
    "Turkish": ("Işıklar", "isiklar"),  # noqa: RUF001
    "Turkish capital": ("İzmir", "izmir"),
    "Vietnamese": ("Nguyễn", "nguyen"),
    "Vietnamese d": ("Đặng", "dang"),
    "Romanian comma": ("Iași", "iasi"),
    "Romanian cedilla": ("Timiş", "timis"),
    "Hungarian": ("Győr", "gyor"),
    "Spanish": ("Logroño", "logrono"),
    "Portuguese": ("São", "sao"),
    "Catalan": ("Façana", "facana"),
    "Latvian": ("Jūrmala", "jurmala"),
    "Lithuanian": ("Šiauliai", "siauliai"),
    "Estonian": ("Põlva", "polva"),
    "Maltese": ("Għajnsielem", "ghajnsielem"),
    "Azerbaijani": ("Gəncə", "gence"),
    "Sami": ("Kárášjohka", "karasjohka"),
    "Esperanto": ("Ĉiĉo", "cico"),
    "Welsh": ("Tŷ-mawr", "ty-mawr"),
    "Hausa": ("Ɗanja", "danja"),
    "ligature of a font": ("ﬁligran", "filigran"),
    "full width": ("Ｋｙｏｔｏ", "kyoto"),  # noqa: RUF001
}
DECOMPOSED = ("Málaga", unicodedata.normalize("NFD", "Málaga"))


def remember(agent: Connection[DictRow], texts: list[str]) -> None:
    """Write them all; none may be lost."""
    rows = write_many(agent, [{"layer": "episodic", "content": {"text": text}} for text in texts])
    assert {row["outcome"] for row in rows} == {"COMMITTED"}, rows


def found(agent: Connection[DictRow], query: str, **arguments: object) -> list[str]:
    """What a question is answered with, best first, with the settings of the store."""
    return [row["text"] for row in recall(agent, query=query, **arguments) if row["item_id"]]


def test_a_word_is_found_without_its_accents_and_with_them(world: World) -> None:
    """Both ways, in every Latin alphabet, among all of them; the exact spelling comes first.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    remember(
        agent,
        [
            f"{word} is on page {page} of the {book} book"
            for page, pair in enumerate(ACCENTS.values())
            for word, book in zip(pair, ("red", "blue"), strict=True)
        ],
    )
    wrong = {}
    for name, pair in ACCENTS.items():
        for word, other in (pair, pair[::-1]):
            first = found(agent, word, k=2)
            if [text.split()[0] for text in first] != [word, other]:
                wrong[name, word] = first
    assert not wrong
    remember(agent, [f"{DECOMPOSED[0]} is by the sea", f"{DECOMPOSED[1]} has a harbour"])
    for word in (*DECOMPOSED, "malaga", "MALAGA"):
        assert {text[7:].strip() for text in found(agent, word, k=2)} == {
            "is by the sea",
            "has a harbour",
        }, word


# What is written, what somebody asks for of it, and something alike that has no such part.
CODES = [
    ("Edit /etc/nginx/sites-available on the proxy", ["nginx", "sites-available", "sites"]),
    ("The logs of ~/deploy/run_all.sh are kept", ["deploy", "run_all"]),
    (r"The share is D:\Vertrieb\Angebote.xlsx", ["Vertrieb", "Angebote"]),
    ("JIRA-4712 waits for Omar", ["4712", "jira 4712"]),
    ("Invoice RE2024/00815 was paid late", ["00815", "RE2024"]),
    ("OrderServiceImpl.processRefund throws", ["processRefund", "refund", "process refund"]),
    ("customer_birth_date may be null", ["birth", "birth_date"]),
    ("blue-green-rollout takes an hour", ["green", "rollout"]),
    ("HTTPGatewayTimeout came twice", ["gateway", "timeout"]),
    ("Firmware v7.4.2 is out", ["7.4.2", "v7.4.2"]),
    ("Mail petra.horvat@kanzlei.example about it", ["horvat", "kanzlei", "petra"]),
    ("https://wiki.intranet.example/teams/falcon?page=onboarding", ["falcon", "intranet"]),
    ("Ask @jdoe_sales for the list", ["@jdoe_sales", "jdoe"]),
    ("Tagged #SummerParty by the team", ["#SummerParty", "summer", "summer party"]),
    ("The replica is db03.lisbon.example.net", ["lisbon", "db03"]),
    ("Galaxy phone GalaxyFold17 was lost", ["fold", "GalaxyFold17"]),
    ("std::map<Warehouse,int> is slow", ["warehouse"]),
    ("The party was great 🎉", ["🎉"]),
    ("She moved to 🇵🇹 for good", ["🇵🇹"]),
    ("Approved 👍🏽 by Lena", ["👍🏽", "👍"]),
]


def test_parts_of_paths_codes_and_names_are_words(world: World) -> None:
    """And so is the whole, which comes before what has a part of it.

    Proves: L6
    """
    agent = world.agent(SCOPE)
    remember(agent, [text for text, _ in CODES])
    wrong = {
        part: found(agent, part, k=1)
        for text, parts in CODES
        for part in parts
        if found(agent, part, k=1) != [text]
    }
    assert not wrong
    part, whole = "A nginx of its own serves the intranet", CODES[0][0]
    remember(agent, [part])
    assert found(agent, "/etc/nginx/sites-available")[:2] == [whole, part]
    assert found(agent, "nginx")[:2] == [part, whole]


# Letters with marks that are other letters, and what is written without them.
OTHERS = [
    ("мой", "мои"),
    ("が", "か"),
    ("ばす", "はす"),
    ("पानी", "पान"),
    ("กิน", "กาน"),
    ("كتاب", "كتب"),
    ("강", "간"),
    ("ελιά", "ελια"),
]


def test_letters_of_other_scripts_keep_their_marks(world: World) -> None:
    """No word of theirs becomes another; each emoji, number and word is one word still."""
    words = "SELECT tsvector_to_array(memwarden_internal.words_of('english', %s))"
    plain = "SELECT memwarden_internal.parts_of_text(%s, false)"
    for text in ("мой ёж", "が ばす", "पानी की", "กินข้าว", "كِتاب", "강", "ελιά", "שָׁלוֹם", "தமிழ்"):
        assert not [word for word in world.value(plain, text) if word and word.strip()], text
        assert world.value(words, text)
    for one, other in OTHERS[:7]:
        assert set(world.value(words, one)).isdisjoint(world.value(words, other)), one
    assert world.value(plain, "мой café")[0].split() == ["cafe"]
    # Neither keys nor hashes have parts, nor do numbers with points.
    for text in ("a1b2c3d4e5", "0123456789abcdef0123456789abcdef01", "192.168.0.17", "3.14"):
        assert world.value(words, text) == [text]
    # Whoever writes no such thing has what the database makes of it.
    text = "Ana's well-known parcel, no. 14, is here (since 10:30); it can't wait."
    assert world.value("SELECT memwarden_internal.words_of('english', %s)", text) == world.value(
        "SELECT to_tsvector('english', %s)", text
    )


def test_every_latin_letter_with_a_mark_is_found_without_it(world: World) -> None:
    """All that Unicode names as a letter WITH something, and that a living alphabet has.

    Proves: L6
    """
    letters = {}
    for letter in map(chr, (*range(0xC0, 0x2B0), *range(0x1E00, 0x1F00), *range(0x2C60, 0x2C80))):
        base, _, mark = unicodedata.name(letter, "").partition(" WITH ")
        # Not those that are two letters, as ǅ, nor signs of phonetics: they have no capital.
        is_alphabet = letter.lower() != letter.upper()
        if base.startswith("LATIN ") and mark and "LETTER" not in mark and is_alphabet:
            letters[letter] = base.split()[-1].lower()
    letters = {letter: base for letter, base in letters.items() if base == "ae" or len(base) == 1}
    assert len(letters) > 550
    made = world.value(
        "SELECT memwarden_internal.parts_of_text(%s, false)",
        " ".join(f"x{one}x" for one in letters),
    )
    wrong = {
        letter: part
        for (letter, base), part in zip(letters.items(), made[0].split(), strict=True)
        if part != f"x{base}x"
    }
    assert not wrong


MIGRATION = REPOSITORY / "migrations/0049_parts_of_words.sql"
OLD_WORDS = (
    "UPDATE memwarden_data.item AS i SET search_vector = memwarden_internal.indexed_words("
    "    to_tsvector('english', memwarden_internal.said_text(v.search_text, v.subject_key_id,"
    "        v.sealed, v.schema_id, v.subject, v.predicate)), v.subject_key_id)"
    "  FROM memwarden_data.version AS v"
    " WHERE v.org_id = i.org_id AND v.version_id = i.version_id"
)
STATUS = "SELECT detail FROM memwarden.status() WHERE component = 'words'"


def test_words_of_before_an_update_are_made_anew_in_batches(world: World) -> None:
    """Old and new are found meanwhile; two jobs share the work, and a killed one loses nothing.

    Proves: L6
    """
    admin, agent = world.admin, world.agent(SCOPE)
    admin.execute("SELECT memwarden.define_write_class('sealed', encrypted => true, org => 'acme')")
    old = [f"Table {n} of the café by the Łódź bridge, JIRA-471{n}" for n in range(4)]
    remember(agent, old)
    secret = "Petra keeps the café of Łódź, see JIRA-4719"
    done = write(agent, "episodic", {"text": secret}, subject="Petra", **{"class": "sealed"})
    assert done["outcome"] == "COMMITTED", done
    admin.execute(OLD_WORDS)
    admin.execute(MIGRATION.read_text())
    assert world.value(STATUS).startswith("5 of 5 memories wait")
    assert agent.execute(STATUS).fetchall()[0]["detail"].startswith("some memories wait")
    new = "Lena is asked about her cafe in Lodz, JIRA-4720"
    remember(agent, [new])

    def answers(query: str) -> set[str]:
        return set(found(agent, query, k=10))

    def is_alike() -> bool:
        """Whether each question finds old and new; whoever asks for a number finds its own."""
        numbers = {query: found(agent, query, k=1) for query in ("4713", "4719", "4720")}
        return {answers(q) == {*old, secret, new} for q in ("the café of Łódź", "cafe lodz")} == {
            True
        } and numbers == {"4713": [old[3]], "4719": [secret], "4720": [new]}

    assert is_alike()
    with (
        psycopg.connect(world.dsn) as killed,
        psycopg.connect(world.dsn, autocommit=True) as other,
    ):
        step = "SELECT memwarden_internal.reindex_next(2)"
        assert killed.execute(step).fetchone() == (True,)
        assert other.execute(step).fetchone() == (False,)
        killed.rollback()
        assert other.execute(step).fetchone() == (True,)
        assert world.value(STATUS).startswith("4 of 6 memories wait")
        assert is_alike()
        world.connect("memwarden_jobs").execute("CALL memwarden.reindex_words()")
        assert other.execute(step).fetchone() == (False,)
    assert world.rows(STATUS) == []
    assert is_alike()
    stored.check(admin)


def test_a_scope_with_a_shelf_is_asked_by_the_words_of_today_meanwhile(world: World) -> None:
    """Its index has the words of before: what they do not tell is found, and found as beside it.

    Proves: L6
    """
    admin, agent = world.admin, world.agent(SCOPE)
    admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 200")
    old = ["The café of Łódź is shut", "Ask JIRA-4712 for the key"]
    remember(agent, [*old, *(f"Parcel {n} is from Łódź in case {n}" for n in range(300))])
    admin.execute(OLD_WORDS)
    admin.execute("CALL memwarden.arrange_shelves()")
    admin.execute(MIGRATION.read_text())
    shelves = "SELECT count(*) FROM memwarden_data.shelf WHERE vacated_at IS NULL AND shelf > 0"
    assert world.value(shelves) == 1
    new = ["A cafe is by the sea", "Ticket 4712 is about a lamp"]
    remember(agent, new)
    asked: list[dict[str, Any]] = [
        {"query": query, "k": 5, **how}
        for query in ("cafe", "4712")
        for how in ({}, {"weights": {"keyword": 1}})
    ]
    meanwhile = [found(agent, **question) for question in asked]
    assert [{*answer[:2]} for answer in meanwhile[::2]] == [{old[0], new[0]}, {old[1], new[1]}]
    admin.execute("CALL memwarden.reindex_words()")
    assert meanwhile == [found(agent, **question) for question in asked]


def test_what_was_said_at_a_time_is_found_without_accents_and_by_parts(world: World) -> None:
    """as_of() asks for words as recall() does, and for phrases as before."""
    agent = world.agent(SCOPE)
    texts = ["The café noir of Zürich is in /etc/menu/list", "Анна купила кафе", "Ake"]
    remember(agent, texts)
    for query, answer in {
        "cafe zurich": texts[:1],
        "CAFÉ": texts[:1],
        '"café noir"': texts[:1],
        "menu": texts[:1],
        "zurich -café": [],
        "кафе -Köln": texts[1:2],
        "купила": texts[1:2],
        "ⱥke": texts[2:],
    }.items():
        rows = agent.execute("SELECT text FROM memwarden.as_of(query => %s)", (query,)).fetchall()
        assert [row["text"] for row in rows] == answer, query


@pytest.mark.every_version
def test_a_database_whose_locale_knows_no_letters_has_the_same_words(
    shared_world: World,
) -> None:
    """LOCALE 'C': our own folding serves, for every script."""
    texts = [word for pair in ACCENTS.values() for word in pair]
    texts += [text for pair in LANGUAGES.values() for text in pair] + [text for text, _ in CODES]
    texts += [text for one in OTHERS for text in one] + ["“ÉCOLE”—l’été… 3 €", "ΕΛΙΆ", "ÅNGSTRÖM"]  # noqa: RUF001
    texts += [text.upper() for text in texts]
    words = (
        "SELECT t.config, t.text, ARRAY(SELECT w FROM unnest(tsvector_to_array("
        '           memwarden_internal.words_of(t.config, t.text))) AS w ORDER BY w COLLATE "C")'
        "       AS said, ARRAY(SELECT (q.lexeme, q.share)::text"
        "               FROM memwarden_internal.query_words(t.config, t.text) AS q"
        '              ORDER BY q.lexeme COLLATE "C") AS asked'
        "  FROM (SELECT c.config, t.text FROM unnest(%s::text[]) AS t (text),"
        "               unnest('{english,german,simple}'::text[]) AS c (config)) AS t"
    )
    with empty_database(shared_world.admin, "template0", "LOCALE 'C'") as plain:
        install(plain.admin)
        assert plain.value("SELECT lower('É')") == "É"
        there = plain.rows(words, texts)
        # A whole store of it writes, keeps versions, and finds, both ways.
        agent = plain.agent(SCOPE)
        pairs = [ACCENTS[name] for name in ("French", "German", "Polish", "Turkish capital")]
        remember(agent, [text for pair in (*pairs, *LANGUAGES.values()) for text in pair])
        for pair in (pair for one in pairs for pair in (one, one[::-1])):
            assert set(found(agent, pair[0].upper(), k=2)) == set(pair)
            said = agent.execute("SELECT text FROM memwarden.as_of(query => %s)", pair[:1])
            assert {row["text"] for row in said} == set(pair)
        for _, text in LANGUAGES.values():
            assert found(agent, text.upper(), k=1) == [text]
        assert plain.rows(STATUS) == []
        stored.check(plain.admin)
    here = shared_world.rows(words, texts)
    for one, other in zip(here, there, strict=True):
        assert one == other
