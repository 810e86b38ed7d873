"""What a later statement tells of the attribute of an earlier one."""

from __future__ import annotations

import pytest

from memwarden_core.attribute_keys import attribute_key
from memwarden_core.verdict.attribute import attribute_of
from memwarden_core.verdict.neighbours import judge_neighbours

CHANGES = [
    ("Bo leaves from gate C2.", "Bo is boarding at gate F22 and not C2."),
    ("The service listens on port 8080.", "The service has been switched to port 9000."),
    ("The service runs on Python 3.9.", "As of this sprint the service is pinned to Python 3.11."),
    (
        "We have the review every Monday.",
        "As of this month the review is on Fridays rather than Mondays.",
    ),
    (
        "The timeout in auth is 30 seconds.",
        "Set the timeout in auth to 45 seconds because of complaints.",
    ),
    (
        "We are on the Team plan with Figma.",
        "With Figma we have switched from Team to Business.",
    ),
    ("Ana writes all code in VS Code.", "Ana dropped VS Code for Vim."),
    ("Ana is learning the banjo.", "Ana dropped the banjo in favour of the piano."),
    ("The rabbit eats the grain-free mix.", "The rabbit no longer eats the grain-free mix."),
    ("The toolbox is kept in the pantry.", "The toolbox isn't in the pantry any more."),
    ("Bo gets to work by car.", "Bo no longer gets to work by car but by ferry."),
    (
        "The 6:42 to Lyon leaves from platform 12.",
        "The 6:42 to Lyon has been switched to platform 7.",
    ),
    ("The shop sponsor is Acme.", "The shop has a new sponsor, Globex."),
    ("Ana leads the support desk.", "Bo is the new lead of the support desk."),
    ("The job starts at 04:00.", "Edited the table: the job starts at 05:45, was 04:00."),
    ("The hall seats 120 people.", "The hall now seats 150 people."),
    ("The hall holds 120 people.", "The hall holds 90 people now."),
    ("The rent for the studio is 900 euros.", "The rent for the studio has gone up to 950 euros."),
    ("Ana's salary is 3,000 euros.", "Ana's salary has been raised to 3,200 euros."),
    ("The wifi password is tulip42.", "The wifi password has been changed to rose77."),
    ("The guest wifi password is tulip42.", "The guest wifi password is now rose77."),
    ("Ana's favourite colour is blue.", "Ana's favourite colour is green now."),
    ("Jonas drives a Volvo.", "Jonas now drives a Tesla."),
    ("The support team has 12 members.", "The support team now has 15 members."),
    ("The support team has 12 members.", "The support team has grown to 15 members."),
    (
        "The speed limit on Mill Lane is 50 km/h.",
        "The speed limit on Mill Lane has been lowered to 30 km/h.",
    ),
    ("The staff meeting starts at 9 am.", "The staff meeting starts at 10 am now."),
    ("The yoga class lasts 60 minutes.", "The yoga class now lasts 75 minutes."),
    ("Priya studies at Hill College.", "Priya now studies at Park College."),
    ("Priya attends Hill School.", "Priya now attends Park School."),
    ("The newsletter is sent every week.", "The newsletter is now sent every month."),
    ("The newsletter comes out weekly.", "The newsletter now comes out monthly."),
    ("The bus to Linden leaves from platform 3.", "The bus to Linden now leaves from platform 5."),
    ("The bakery buys its flour from Meyer.", "The bakery now buys its flour from Olsen."),
    ("The kiosk belongs to Marta.", "The kiosk now belongs to Viktor."),
    ("The kiosk is owned by Marta.", "The kiosk has been sold to Viktor."),
    ("The owner of the kiosk is Marta.", "The new owner of the kiosk is Viktor."),
    ("Marta owns the kiosk.", "Viktor has bought the kiosk from Marta."),
    ("The treasurer of the club is Marta.", "Viktor is the club's new treasurer."),
    ("Marta is the treasurer of the club.", "Viktor has replaced Marta as treasurer of the club."),
    ("Marta chairs the committee.", "Viktor chairs the committee now."),
    ("Marta is the captain of the team.", "Viktor is now the captain of the team."),
    ("Marta teaches the pottery class.", "The pottery class is now taught by Viktor."),
    ("Jonas works nights.", "Jonas now works days."),
    ("Jonas works as a waiter.", "Jonas now works as a cook."),
    ("Jonas is a junior developer.", "Jonas has been promoted to senior developer."),
    ("The server runs Ubuntu 20.04.", "The server now runs Ubuntu 24.04."),
    ("The project's budget is 20,000 euros.", "The project's budget has been cut to 15,000 euros."),
    ("The front door is white.", "The front door is now green."),
    ("The company is called Brightsoft.", "The company has been renamed Clearsoft."),
    ("The company is called Brightsoft.", "The company is now called Clearsoft."),
    ("Ana's email address is ana@old.org.", "Ana's new email address is ana@new.org."),
    ("Ana is single.", "Ana is married now."),
    ("Ana banks with Nordea.", "Ana has switched from Nordea to Danske."),
    ("The team uses Slack for chat.", "The team has switched from Slack to Zumo for chat."),
    ("The team uses Slack.", "The team now uses Zumo instead of Slack."),
    ("The delivery comes on Tuesdays.", "The delivery now comes on Thursdays."),
    ("Rubbish is collected on Tuesdays.", "Rubbish is now collected on Fridays."),
    ("The market takes place on Saturdays.", "The market now takes place on Sundays."),
    ("The library is open until 6 pm.", "The library is now open until 8 pm."),
    ("The library closes at 6 pm.", "From Monday on the library closes at 8 pm."),
    ("Entry to the museum is 12 euros.", "Entry to the museum is 14 euros now."),
    ("Tickets cost 12 euros.", "The price of tickets has risen to 14 euros."),
    ("The exam is on 12 May.", "The exam has been postponed to 19 May."),
    ("Mr Okafor's doctor is Dr Lind.", "Mr Okafor's doctor is now Dr Holm."),
    ("My flatmate is called Tom.", "My new flatmate is called Jim."),
    (
        "The dentist's practice is on Park Street.",
        "The dentist's practice has moved to Hill Street.",
    ),
    ("The office is on the second floor.", "The office has moved to the fourth floor."),
    ("Ana plays for Rovers.", "Ana now plays for United."),
    ("The heating is set to 19 degrees.", "The heating is now set to 21 degrees."),
    ("The road is closed.", "The road is open again."),
    ("Ana works at Acme.", "Ana doesn't work at Acme anymore."),
    ("Ana works at Acme.", "Ana has left Acme."),
    ("Ana commutes by train.", "Ana now commutes by bike."),
    ("The contact for billing is Marta.", "The contact for billing is now Viktor."),
    ("The standup is at 9:15.", "The standup has been moved to 9:30."),
    ("The standup is at 9:15.", "The standup is at 9:30 now."),
    ("The default port is 8080.", "The default port has changed to 9090."),
    ("The retry limit is 3.", "The retry limit is now 5."),
    ("The store's opening day is 3 June.", "The store's opening day is now 10 June."),
    ("My sister lives in Rome.", "My sister moved to Bern."),
    ("I live in Rome.", "I moved to Bern last month."),
    ("I work at Acme.", "I now work at Globex."),
    ("Ana: I live in Rome.", "Ana: I've moved to Bern."),
]
APART = [
    ("Ana has the keys.", "Ana picked up the keys."),
    ("Ana uses the printer.", "Ana set up the printer."),
    ("Ana writes the report.", "Ana signed off the report."),
    ("Ana has the parcel.", "Ana dropped off the parcel at noon."),
    ("Bo runs the archive server.", "Bo backed up the archive server."),
    ("Ana works in the office.", "Ana left the office at 5 pm."),
    ("Ana lives in Rome.", "Ana left Rome on Monday."),
    ("Ana lives in Rome.", "Ana came over from Rome."),
    ("Ana lives in Rome.", "Ana went from Rome to Bern by train."),
    ("Ana has the vase.", "Ana dropped the vase."),
    ("Bo owns the kiosk.", "Bo closed the kiosk at 6 pm."),
    ("Ana's phone number is 555-0142.", "Ana's new work phone number is 555-0199."),
    ("The choir meets on Mondays.", "The choir changed its name on Tuesday."),
    ("The choir meets on Mondays.", "The youth choir now meets on Tuesdays."),
    ("Ana weighs 60 kg.", "Ana now lifts 80 kg."),
    (
        "The shop is in Rome.",
        "The shop ordered flour from Rome to save money, and changed its sign.",
    ),
    ("Ana reads the report.", "Ana looked up the report."),
    ("Ana teaches the class.", "Ana wrapped up the class."),
    ("The team uses Slack.", "The team set up Slack."),
    ("The team uses Slack.", "The team rolled out Slack instead of a pilot."),
    ("Ana drinks tea.", "Ana brought up tea in the meeting."),
    ("The lamp is in the hall.", "Bo turned off the lamp in the hall."),
    ("Ana lives in Rome.", "Ana took off from Rome."),
    ("The train leaves from platform 3.", "The train took off from platform 3."),
    ("Ana lives in Bern.", "Ana changed trains in Bern."),
    ("Ana works at Acme.", "Ana moved from Acme's second floor to the third."),
    ("Ana is in room 12.", "Ana has left room 13."),
    ("Ana works at Acme.", "Ana left Acme's offices early."),
    ("The meeting is in room 12.", "The new meeting is in room 13."),
    ("Bo likes jazz.", "Bo stopped by the jazz club."),
    ("The file is on the desk.", "Ana left the file on the desk."),
    ("The bike is in the shed.", "Bo left the bike in the shed."),
    ("The dog sleeps in the hall.", "The dog was left in the hall."),
    ("Ana has a son.", "Ana left a son behind."),
    ("The gate is open.", "The gate was closed off."),
    ("The price is 4 euros.", "The price of the other one went from 4 to 6 euros."),
    ("Ana's salary is 3000 euros.", "Ana's brother's salary went from 3000 to 3200 euros."),
    ("Ana has two cats.", "Ana now feeds three cats."),
    ("The audit is due on 3 May.", "The audit team has moved to 9 May Street."),
    ("Room 4 seats 20 people.", "Room 4 has been moved to hall 20."),
    ("The bus stops at Mill Lane.", "The bus no longer stops at Mill Lane bridge."),
    ("Ana is allergic to nuts.", "Ana is not allergic to nuts in cakes."),
    ("Kim lives in Oslo.", "Kim quit smoking in Oslo."),
    ("Ana has the flu.", "Ana replaced Bo, who has the flu."),
    ("We meet Dr Lind.", "We cancelled Dr Lind's parking."),
    ("Ana is the captain.", "Ana left the captain a note."),
    ("The report is in the folder.", "The report was dropped in the folder."),
    ("The heating is set to 19 degrees.", "The oven has been set to 180 degrees."),
    (
        "The heating in the hall is set to 19 degrees.",
        "The heating in the hall was set to 21 degrees for the party.",
    ),
    ("The heating is set to 19 degrees.", "The heating was raised to 21 degrees for an hour."),
    ("Someone left a note for order 1001.", "Someone left a note for order 1002."),
    (
        "The shuttle leaves from the old pier at 9:15.",
        "The shuttle leaves from the old pier at 11:15.",
    ),
    ("Ana works at Acme.", "Ana has left Globex."),
    ("Ana likes tea.", "Ana no longer drinks tea in the evening."),
    ("Ana lives in Rome.", "Ana no longer works in Rome but in Bern."),
    ("Ana lives in Rome.", "Ana's brother no longer lives in Rome."),
    ("Ana lives in Rome.", "Ana flew from Rome to Bern."),
    ("Ana works for Acme.", "Ana's partner has left Acme."),
    ("The office is in Rome.", "The office in Rome has a new desk."),
    ("The choir meets on Mondays.", "The choir runs a second evening on Tuesdays now."),
    ("The choir meets on Mondays.", "This week only the choir meets on Tuesday instead."),
    ("The flight BA 117 leaves from gate C2.", "The flight after BA 117 now leaves from gate D4."),
    ("The shop opens at 9 am.", "The café opposite the shop now opens at 8 am."),
    ("The rent for the flat is 900 euros.", "The deposit for the flat is now 1,800 euros."),
    ("Ana leads the mobile team.", "Ana is the new lead of the data team."),
    (
        "The alarm code of the hall is 4418.",
        "The code of the shed behind the hall was changed to 7023.",
    ),
    ("Ana's office is in Rome.", "Ana has moved to Bern."),
    (
        "The deadline for the audit is 3 May.",
        "The invoice date for the audit has changed to 9 May.",
    ),
    ("Ana goes to Hill School.", "Ana gave up the drums and takes lessons on the oboe instead."),
    ("The youth choir meets on Mondays.", "The choir has moved to Wednesdays."),
    ("The choir meets on Mondays.", "The orchestra has moved to Wednesdays."),
    ("The choir meets on Mondays.", "The choir meets on Wednesdays."),
    ("The choir meets on Mondays.", "The choir also meets on Wednesdays."),
    ("The choir met on Monday.", "The choir met on Wednesday."),
    ("The choir meets on Mondays.", "The choir has moved to a new hall."),
    ("Ana lives in Rome.", "Ana works in Bern now."),
    ("Ana lives in Rome.", "Bo lives in Bern now."),
    ("Ana lives in Rome.", "Ana's sister lives in Bern now."),
    ("Ana lives in Rome.", "Ana lives with her brother now."),
    ("Ana works at Acme.", "Ana volunteers at the shelter now."),
    ("Ana works at Acme.", "Ana now works at night."),
    ("Ana works at Acme.", "Ana now works from home."),
    ("Ana likes tea.", "Ana now likes coffee."),
    ("Ana likes tea.", "Ana likes coffee."),
    ("Ana owns a house.", "Ana now owns a boat."),
    ("Ana owns a house in Rome.", "Ana owns a house in Bern."),
    ("Ana is allergic to nuts.", "Ana is now allergic to eggs."),
    ("Ana speaks Dutch.", "Ana now speaks Greek."),
    ("Ana plays the oboe.", "Ana now plays the piano."),
    ("Ana has a dog.", "Ana now has a cat."),
    ("Ana has two dogs.", "Ana now has three cats."),
    ("Ana knows Bo.", "Ana knows Kim now."),
    ("Ana's sister is Bea.", "Ana's sister is Carla."),
    ("Ana's brother lives in Rome.", "Ana's brother works in Bern now."),
    ("Ana's friend is Bea.", "Ana's friend is Carla."),
    ("Ana's dog is called Rex.", "Ana's dog is called Max."),
    ("Ana has a son called Rex.", "Ana has a son called Max."),
    ("Ana is tired.", "Ana is happy now."),
    ("Ana is a nurse.", "Ana is a mother now."),
    ("Ana is in Rome.", "Ana is in love now."),
    ("The soup is hot.", "The soup is salty now."),
    ("The project is on hold.", "The project is in Rome."),
    ("The shop opens at 9 am.", "The shop closes at 6 pm now."),
    ("The shop opens at 9 am on Sundays.", "The shop opens at 8 am on Mondays now."),
    ("The shop opens at 9 am.", "The shop on Hill Road opens at 8 am now."),
    ("The coffee costs 4 euros.", "The tea costs 5 euros now."),
    ("A coffee at the bakery costs 4 euros.", "A coffee at the pharmacy costs 5 euros now."),
    ("The ticket costs 4 euros.", "The ticket for children costs 2 euros now."),
    ("Ana pays 500 euros rent.", "Ana earns 3,000 euros now."),
    ("The concert is on 3 May.", "The concert is on 9 May."),
    ("The exam is on Monday.", "The exam is on Friday."),
    ("The meeting is at 9.", "The meeting is at 11."),
    ("The trip to Rome is on 3 May.", "The trip to Bern has been moved to 9 May."),
    ("Order 1001 has been moved to Monday.", "Order 1002 has been moved to Friday."),
    ("Ana flew to Rome in March.", "Ana flew to Bern in May."),
    ("Ana moved to Rome in 2012.", "Ana moved to Bern in 2015."),
    ("Ana is in charge of the audit.", "Ana is in charge of the Falcon project now."),
    ("The badge no longer opens the shed.", "The badge no longer opens the barn."),
    ("The key stopped working at the shed.", "The key stopped working at the barn."),
    ("Ana visited Rome.", "Ana now visits Bern."),
    ("The team uses Slack for chat.", "The team now uses Jira for tickets."),
    ("The team uses Slack.", "The team now uses Jira."),
    ("Ana lives in Rome.", "Ana wants to live in Bern."),
    ("Ana lives in Rome.", "Ana may move to Bern."),
    ("Ana lives in Rome.", "Bo said that Ana lives in Bern now."),
    ("Ana lives in Rome.", "Does Ana live in Bern now?"),
    ("Ana lives in Rome.", "If Ana moves to Bern, she sells the flat."),
    ("Ana lives in Rome.", "Ana would have moved to Bern."),
    ("Ana lives in Rome.", "Ana is going to move to Bern."),
    ("Ana lives in Rome.", "Ana's firm has moved to Bern."),
    ("Ana lives in Rome.", "Ana has moved to the second row."),
    ("She lives in Rome.", "She lives in Bern now."),
    ("He works at Acme.", "He works at Globex now."),
    ("Ana: I live in Rome.", "Bo: I live in Bern now."),
    ("Ana: I work at Acme.", "Bo: I've moved to Globex."),
    (
        "The deadline for the report is 3 May.",
        "The deadline for the audit has been moved to 9 May.",
    ),
    (
        "The deadline for the report is 3 May.",
        "The meeting about the report has been moved to 9 May.",
    ),
    ("The Falcon project is led by Ana.", "The Falcon project is reviewed by Bo now."),
    ("The Falcon project is led by Ana.", "Bo now leads the Eagle project."),
    ("Ana is the manager of the shop.", "Bo is the treasurer of the shop now."),
    ("Ana is the manager of the shop.", "Bo is the manager of the bar now."),
    ("Ana's phone number is 555-0142.", "Ana's fax number is now 555-0177."),
    ("Ana's home phone number is 555-0142.", "Ana's mobile phone number is 555-0177."),
    ("Ana's phone number is 555-0142.", "Bo's phone number is 555-0177."),
    ("Room 12 is free.", "Room 13 is free now."),
    ("Room 12 has 20 seats.", "Room 13 has 30 seats now."),
    ("The capital of France is Paris.", "The capital of Spain is Madrid."),
    ("The population of Rome is 3 million.", "The area of Rome is 1,285 square km."),
    ("Ana takes the train to work.", "Ana takes the bus to school."),
    ("Ana drinks tea in the morning.", "Ana now drinks coffee in the evening."),
    ("Ana eats cheese.", "Ana now eats olives."),
    ("The bus leaves at 8:15.", "The bus leaves at 8:45."),
    ("The pharmacy is open on Mondays.", "The pharmacy is open on Tuesdays."),
    ("Ana swims on Mondays.", "Ana now dances on Fridays."),
    ("Ana swims on Mondays.", "Ana now runs on Fridays."),
    ("Ana wohnt in Rom.", "Bo wohnt jetzt in Bern."),
    ("Ana mag Tee.", "Ana mag jetzt Kaffee."),
    ("Ana arbeitet bei Acme.", "Ana arbeitet jetzt nachts."),
    ("Step 2 takes 10 minutes.", "Step 3 takes 15 minutes."),
    ("The first lesson starts at 9 am.", "The second lesson starts at 10 am."),
    ("My sister lives in Rome.", "My brother lives in Bern now."),
    ("Ana's car is red.", "Ana's car is fast."),
    ("Ana's hair is long.", "Ana's hair is red now."),
    ("Ana's opinion of Bo is good.", "Ana's opinion of Kim is bad now."),
    ("The price of oil is 80 dollars.", "The price of gas has risen to 90 dollars."),
    (
        "The price of the ticket to Rome is 80 euros.",
        "The price of the ticket to Bern has risen to 90 euros.",
    ),
    ("Ana met Bo at Acme.", "Ana met Kim at Globex."),
    ("The office in Rome has 12 desks.", "The office in Bern now has 15 desks."),
    ("The office has 12 desks.", "The office now has 15 chairs."),
    ("The team lost 2 games.", "The team has won 3 games."),
    ("The film starts at 8 pm.", "The film starts at 10 pm."),
]


def newer(new: object, old: object, *, one_writer: bool = True) -> bool:
    """Whether the new text, or the content with a text, tells another value than the old one."""
    text = new["text"] if isinstance(new, dict) else str(new)
    near = told(old["text"] if isinstance(old, dict) else str(old))
    near |= {"content": old, "mine": one_writer}
    [found] = judge_neighbours((None, None, new, text, None, None), [near])
    return bool(found["relation"] == "updates")


@pytest.mark.parametrize(("earlier", "later"), CHANGES)
def test_a_change_is_seen(earlier: str, later: str) -> None:
    """And both are found by one key.

    Proves: V10
    """
    assert newer(later, earlier)
    key, is_sought = attribute_key(None, later, later, None, None)
    if key is not None and key == attribute_key(None, earlier, earlier, None, None)[0]:
        # However unlike they are.
        assert is_sought
        far = told(earlier) | {"similarity": None}
        [found] = judge_neighbours((None, None, later, later, None, None), [far])
        assert found["relation"] == "updates"


@pytest.mark.parametrize(
    ("new", "is_compared"),
    [
        ("Ana keeps the ladder near the bridge.", False),
        ("The choir meets on Fridays in the hall.", False),
        ("Jonas likes figs.", False),
        ("Ana lives in Bergen.", True),
        ("The door is open.", True),
        ("The choir meets on Fridays now.", True),
        ("Bo plays for United instead of Rovers.", False),
        ("Ana has left Acme.", True),
    ],
)
def test_what_ends_nothing_is_compared_with_what_is_near_alone(
    new: str, *, is_compared: bool
) -> None:
    """What is of the same attribute and not near costs a write as much as what is near.

    Proves: V10
    """
    far, held = (
        told("Ana has a boat.") | {"similarity": None, "same_key": k} for k in (False, True)
    )
    found = judge_neighbours((None, None, new, new, None, None), [told(new), far, held])
    assert [each["similarity"] for each in found] == (
        [0.8, None, None] if is_compared else [0.8, None]
    )
    assert found[-1]["same_key"]
    key, is_sought = attribute_key(None, new, new, None, None)
    assert is_sought == (is_compared and key is not None)


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_things_are_no_change(one: str, other: str) -> None:
    """In either order.

    Proves: V10
    """
    assert not newer(other, one)
    assert not newer(one, other)


@pytest.mark.parametrize(("earlier", "later"), CHANGES)
def test_the_same_again_is_no_change(earlier: str, later: str) -> None:
    """Proves: V10."""
    assert not newer(earlier, earlier)
    assert not newer(later, later)


@pytest.mark.parametrize(("earlier", "later"), CHANGES)
@pytest.mark.parametrize(
    "frame",
    [
        "Bo said that {}",
        "Maybe {}",
        "I dreamt that {}",
        "If {}, we will see",
        'The sign says "{}"',
        "Is it true that {}?",
        "Bo wonders whether {}",
    ],
)
def test_what_is_not_said_to_be_so_changes_nothing(earlier: str, later: str, frame: str) -> None:
    """A report, a guess, a dream, a condition, a quotation, a question.

    Proves: V10
    """
    inner = later.strip(".")
    assert not newer(frame.format(inner[0].lower() + inner[1:]), earlier)
    assert not newer(frame.format(inner), earlier)


def test_who_says_i_is_the_speaker_of_the_record() -> None:
    """Else the name before the words, else the writer.

    Proves: V10
    """
    rome, bern = "I live in Rome.", "I live in Bern now."
    ana, bo = ({"speaker": name, "text": bern} for name in ("Ana", "Bo"))
    was = {"speaker": "Ana", "text": rome}
    assert newer(ana, was)
    assert newer(ana, was, one_writer=False)
    assert newer("Ana: " + bern, "Ana: " + rome, one_writer=False)
    assert not newer("Bo: " + bern, "Ana: " + rome)
    assert not newer(bo, was)
    assert newer("Ana lives in Bern now.", was)
    assert newer("Ana: " + bern, was)
    assert not newer({"speaker": "Bo", "text": "Ana: " + bern}, was)
    assert newer(bern, rome)
    assert not newer(bern, rome, one_writer=False)
    assert not newer(bern, was)


@pytest.mark.parametrize(
    "text",
    [
        "The choir also meets on Mondays.",
        "She lives in Rome.",
        "A man lives in Rome.",
        "Ana likes tea.",
        "Ana flew to Rome in March.",
        "Does the choir meet on Mondays?",
        "",
        "x" * 5000,
        "The " * 80,
        ", , ,",
        "The choir has been to",
        "has has moved to to to",
    ],
)
def test_what_tells_of_no_attribute_has_no_key(text: str) -> None:
    """Proves: V10."""
    assert attribute_of(text, text, None) is None


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("The choir meets on Mondays.", "The choir also meets on Wednesdays.", "unrelated"),
        ("The exam is at 9:15.", "The exam is at 10:15 too.", "unrelated"),
        ("Ana has a son called Rex.", "Ana has a son called Max.", "unrelated"),
        ("Ana's son is called Rex.", "Ana's son is called Max.", "contradicts"),
        ("The choir meets on Mondays.", "The choir meets on Wednesdays.", "contradicts"),
        ("Ana drinks tea.", "Ana also does not drink tea.", "contradicts"),
    ],
)
def test_what_is_told_beside_another_value_contradicts_nothing(
    one: str, other: str, relation: str
) -> None:
    """A word that adds, and a thing that is brought in; a denial stays one.

    Proves: V10
    """
    assert judge_neighbours((None, None, other, other, None, None), [told(one)])[0]["relation"] == (
        relation
    )


def told(text: str) -> dict[str, object]:
    """A memory that is there, as the search tells it."""
    return {
        "item_id": "1", "version_id": "1", "similarity": 0.8, "confidence": 0.5, "mine": True,
        "same_key": False, "exclusive": False, "subject": None, "predicate": None,
        "content": text, "text": text, "valid_from": None, "valid_to": None,
    }  # fmt: skip


def test_a_verdict_never_replaces_for_it() -> None:
    """It marks: it is not decisive, and what has a key of its own is left alone.

    Proves: V10
    """
    old = told("The choir meets on Mondays.")
    new = "The choir has moved to Wednesdays."
    [found] = judge_neighbours((None, None, new, new, None, None), [old])
    assert (found["relation"], found["decisive"], found["method"]) == (
        "updates",
        False,
        "attribute",
    )
    keyed = old | {"subject": "choir", "predicate": "meets"}
    [found] = judge_neighbours((None, None, new, new, None, None), [keyed])
    assert found["relation"] == "unrelated"
    [found] = judge_neighbours(("choir", "moved to", new, new, None, None), [old])
    assert found["relation"] == "unrelated"
