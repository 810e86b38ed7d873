"""Two sentences that differ in what they speak of do not contradict each other."""

from __future__ import annotations

import pytest

from memwarden_core.text import content_text
from memwarden_core.verdict.judge import Memory, Verdict, judge
from memwarden_core.verdict.neighbours import judge_neighbours


def of(new: str, old: str) -> Verdict:
    """The verdict on two texts without a key."""
    return judge(Memory(None, None, new, new), Memory(None, None, old, old))


def seen(new: str, old: str) -> str:
    """What a gate finds a text to be to one that a search has found near it."""
    near: dict[str, object] = {
        "item_id": 1,
        "version_id": 1,
        "similarity": 0.9,
        "confidence": 1.0,
        "mine": True,
    }
    near |= {"same_key": False, "exclusive": False, "subject": None, "predicate": None}
    near |= {"content": old, "text": old, "valid_from": None, "valid_to": None}
    return str(judge_neighbours((None, None, new, new, None, None), [near])[0]["relation"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tenant 4 moved to the yearly plan", "Tenant 5 moved to the yearly plan"),
        ("Ticket 17 is no longer open", "Ticket 18 is no longer open"),
        ("Meeting room 3 is now free", "Meeting room 4 is now free"),
        ("The blue team now leads", "The red team now leads"),
        ("The kitchen was painted recently", "The bathroom was painted recently"),
        ("Lena's bicycle is now repaired", "Omar's bicycle is now repaired"),
        ("Lena joined the harbour project", "Omar joined the harbour project"),
        ("The office in Oslo became larger", "The office in Madrid became larger"),
        ("Lena's favourite drink is tea", "Omar's favourite drink is coffee"),
        ("Tea became expensive", "Coffee became expensive"),
        ("The latest version of the editor is stable", "The latest version of the viewer is slow"),
        ("The pump in hall 2 has 4 valves", "The pump in hall 7 has 4 valves"),
        ("The 2019 survey is closed now", "The 2020 survey is closed now"),
        ("Kunde 4 ist jetzt im Jahresplan", "Kunde 5 ist jetzt im Jahresplan"),
    ],
)
def test_another_subject_is_neither_contradicted_nor_updated(one: str, other: str) -> None:
    """Numbers, names, owners, places and kinds before the verb tell things apart.

    Proves: V4 (no false alarms), V10
    """
    for new, old in ((one, other), (other, one)):
        assert of(new, old).relation == "unrelated", (new, old)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tenant 4 is on the yearly plan", "Tenant 4 is on the monthly plan"),
        ("The office in Oslo is open", "The office in Oslo is closed"),
        ("Lena scored 3 goals", "Lena scored 4 goals"),
        ("The ferry leaves at 10:15", "The ferry leaves at 11:15"),
        ("The cat jumped onto the table", "The cat jumped off the table"),
        ("Lena's birthday is on 3 March", "Lena's birthday is on 9 October"),
        ("Lena lives in a flat in Kobe", "Lena lives in a farmhouse in Nagano"),
        ("Lena graduated from Yale in 2010", "Lena graduated from Brown in 2010"),
        ("Lena works as a nurse in Oslo", "Lena works as a cook in Oslo"),
        ("Lena speaks three languages", "Lena speaks only one language"),
        ("Lena prefers tea to coffee", "Lena prefers coffee to tea"),
        ("Lena is older than Omar", "Omar is older than Lena"),
        ("Lena voted for the plan", "Lena voted against the plan"),
        ("Lena has two daughters", "Lena has no children"),
        ("Lena is allergic to nuts", "Lena is not allergic to anything"),
        ("The trial succeeded", "The trial failed"),
        ("The loan was approved", "The loan was denied"),
        ("The guide is a man", "The guide is a woman"),
        ("Omar is the eldest child", "Omar is the youngest child"),
        ("The box is inside the shed", "The box is outside the shed"),
        (
            "Lena showed Omar the way from the station to the old library",
            "Omar showed Lena the way from the station to the old library",
        ),
    ],
)
def test_another_value_of_one_subject_contradicts(one: str, other: str) -> None:
    """Proves: V4 (judged meaning)."""
    for new, old in ((one, other), (other, one)):
        assert of(new, old).relation == "contradicts", (new, old)


@pytest.mark.parametrize(
    ("old", "new", "decisive"),
    [
        ("Lena lives in Oslo", "Lena moved to Madrid", False),
        ("The deadline is on Monday", "The deadline is now on Friday", True),
        ("Lena works for Acme", "Lena moved to Madrid", False),
        ("A friend lives in Oslo", "A friend moved to Madrid", False),
        ("Lena often lives in Oslo", "Lena moved to Madrid", False),
    ],
)
def test_news_is_decisive_where_both_name_one_thing(old: str, new: str, decisive: bool) -> None:
    """Proves: V10."""
    found = of(new, old)
    assert found.why.get("decisive", False) is decisive
    assert not decisive or found.relation == "updates"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("His blood type is O", "His blood type is A"),
        ("The report got grade B", "The report got grade A"),
        ("Omar passed the ball to Lena", "Lena passed the ball to Omar"),
    ],
)
def test_a_letter_or_an_order_that_differs_is_no_more_of_the_same(new: str, old: str) -> None:
    """An A at the end is no article, so B says nothing more than A. Proves: D3."""
    for one, other in ((new, old), (old, new)):
        assert of(one, other).relation not in ("same", "narrower", "wider"), (one, other)


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("A porter is sitting in the hall", "A porter is standing in the hall", "unrelated"),
        ("Two boys are lifting the crate", "Two boys are lowering the crate", "unrelated"),
        ("Lena is sitting in the hall", "Lena is standing in the hall", "contradicts"),
        ("A tall porter is in the hall", "A short porter is in the hall", "contradicts"),
        (
            "Lena Ode has a keen eye for maps",
            "Lena Ode has a keen eye for rare coins",
            "contradicts",
        ),
    ],
)
def test_what_somebody_without_a_name_does_now_is_of_a_moment(
    one: str, other: str, relation: str
) -> None:
    """Proves: V4 (false alarms)."""
    assert of(one, other).relation == of(other, one).relation == relation


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A porter is opening a small crate", "A porter is opening a large crate"),
        ("An old cook is carrying a full pot", "An old cook is carrying an empty pot"),
        ("Two porters are waiting inside the hall", "Two porters are waiting outside the hall"),
        ("Some sailors are working on a wet deck", "Some sailors are working on a dry deck"),
        ("Children are playing inside the hall", "Children are playing outside the hall"),
        ("A young cook is slowly tasting the soup", "An old cook is slowly tasting the soup"),
        ("A sailor is climbing up the ladder", "A sailor is climbing down the ladder"),
        ("A girl is jumping onto the crate", "A girl is jumping off the crate"),
        ("A sailor with a hat is waving", "A sailor without a hat is waving"),
    ],
)
def test_what_one_of_many_is_doing_may_be_of_two(one: str, other: str) -> None:
    """Each tells of somebody: nobody knows that both tell of one. Proves: V4 (false alarms)."""
    assert of(one, other).relation == of(other, one).relation == "unrelated"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The porter is opening the small crate", "The porter is opening the large crate"),
        ("Lena is opening a small crate", "Lena is opening a large crate"),
        ("She is opening a small crate", "She is opening a large crate"),
        ("I am opening a small crate", "I am opening a large crate"),
        ("My porter is opening a small crate", "My porter is opening a large crate"),
        ("Lena's dog is jumping onto the crate", "Lena's dog is jumping off the crate"),
        ("The porters are waiting inside the hall", "The porters are waiting outside the hall"),
        ("A porter opens small crates", "A porter opens large crates"),
        ("A porter has an empty crate", "A porter has a full crate"),
        ("Prices are falling up north", "Prices are rising up north"),
        ("A crate is wet", "A crate is dry"),
        ("Two porters are waiting in the hall", "Three porters are waiting in the hall"),
        ("A porter is painting a red crate", "A porter is painting a blue crate"),
        ("A porter is opening a crate", "A porter is not opening a crate"),
    ],
)
def test_what_is_known_or_lasting_has_its_opposite(one: str, other: str) -> None:
    """A known subject, what holds for longer, a figure, a colour, a denial. Proves: V4."""
    assert of(one, other).relation == of(other, one).relation == "contradicts"


@pytest.mark.parametrize("one", ["A man sits. 1", "A man is sitting. 1", "1", "Tea. 3 kg", "2024."])
def test_a_figure_alone_is_a_sentence_without_a_word(one: str) -> None:
    """It is compared with another figure, and no word is looked for in it. Proves: V4."""
    other = one.translate(str.maketrans("1234", "5678"))
    assert of(one, other).relation in ("contradicts", "updates", "unrelated")


# What is told of a thing: its name in place of the first pair of braces, a value in the second.
NUMBERED = (
    "{} runs at {} rpm",
    "the pump in {} runs at {} rpm",
    "The pump runs at {1} rpm in {0}",
    "There are {1} beds in {0}",
    "{1} beds are in {0}",
    "We keep {1} beds in {0}",
    "The limit of {} is {}",
    "The limit is {1} for {0}",
    "{}: {}",
    "Speed of {}: {}",
    "In {} the limit is {}",
    "From now on there are {1} beds in {0}",
    "Use port {1} for {0}",
    "From now on {} is set to {} degrees",
    "Die Pumpe in {} läuft mit {} rpm",
    "La bomba de {} va a {} rpm",
    "La pompe de {} tourne à {} rpm",
    "A bomba de {} roda a {} rpm",
    "La pompa di {} gira a {} rpm",
    "De pomp in {} draait op {} rpm",
    "Pompa w {} pracuje z {} rpm",
    "Двигатель {} работает на {} rpm",
    "المضخة في {} تعمل بسرعة {}",
    "{} 的 速度 是 {}",
)
NAMED = (
    ("hall 0", "hall 4"),
    ("hall A", "hall B"),
    ("Room 12", "Room 13"),
    ("srv-12", "srv-13"),
    ("Flat 3B", "Flat 3C"),
    ("version 2.1", "version 2.2"),
    ("port 80", "port 8080"),
    ("the second floor", "the third floor"),
    ("0号厅", "4号厅"),
)


@pytest.mark.parametrize("told", NUMBERED)
@pytest.mark.parametrize("names", NAMED)
def test_numbered_things_are_two(told: str, names: tuple[str, str]) -> None:
    """A number, a letter or a code tells things apart wherever it stands, in every language.

    Proves: V4 (no false alarms), D3
    """
    one, other = (told.format(name, value) for name, value in zip(names, (3, 31), strict=True))
    for new, old in ((one, other), (other, one)):
        assert seen(new, old) == "unrelated", (new, old)
        assert seen(f"{new} now", old) == "unrelated", (new, old)


@pytest.mark.parametrize("name", [names[0] for names in NAMED[:5]])
@pytest.mark.parametrize("told", NUMBERED[:4])
def test_a_numbered_thing_has_its_value(told: str, name: str) -> None:
    """The same thing with another figure is contradicted. Proves: V4 (judged meaning)."""
    assert seen(told.format(name, 31), told.format(name, 3)) == "contradicts"


def test_fields_that_differ_twice_may_be_of_two_things() -> None:
    """Of one subject: {"hall": 0, "rpm": 3}, {"hall": 4, "rpm": 31}. Proves: V4."""

    def against(new: dict[str, object], old: dict[str, object]) -> str:
        ours, theirs = (
            Memory("plant", None, each, content_text(each, None, "plant")) for each in (new, old)
        )
        return str(judge(ours, theirs).relation)

    hall: dict[str, object] = {"hall": 0, "rpm": 3}
    assert against(hall, {"hall": 4, "rpm": 31}) == "unrelated"
    assert against(hall, {"hall": 0, "rpm": 31}) == "contradicts"
    assert against({"room": "A", "beds": 3}, {"room": "B", "beds": 4}) == "unrelated"
    assert against({"host": "srv-12", "ram": 3}, {"host": "srv-13", "ram": 4}) == "unrelated"
