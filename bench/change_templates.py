"""The sentences of changes.py: attributes that change, and values that stand beside each other."""

from __future__ import annotations

from typing import NamedTuple


class Template(NamedTuple):
    """How an attribute is told before and after it changes, {a} the value before, {b} after."""

    attribute: str
    things: str
    values: str
    earlier: str
    later: str
    question: str


VALUES = {
    "groups": ["the choir", "the book club", "the chess group", "the planning board", "our band"],
    "people": ["Ana", "Jonas", "Priya", "Mr Okafor", "my sister"],
    "projects": ["the Falcon project", "the website relaunch", "the audit", "the grant report"],
    "shops": ["the bakery on Mill Lane", "the pharmacy", "the corner café", "the bike shop"],
    "days": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
    "towns": ["Porto", "Leipzig", "Utrecht", "Osaka", "Lyon", "Bergen"],
    "firms": ["Initech", "Acme", "Globex", "Umbra Labs", "Northwind"],
    "rooms": ["room 12", "room 31", "room B4", "room 208"],
    "prices": ["4 euros", "6 euros", "12 euros", "15 euros"],
    "hours": ["7 am", "8 am", "9 am", "10 am"],
    "dates": ["12 May", "3 June", "20 August", "1 October"],
    "numbers": ["555-0142", "555-0177", "555-0103", "555-0196"],
    "names": ["Marta", "Viktor", "Ines", "Kwame", "Lotte"],
    "foods": ["olives", "figs", "mangoes", "walnuts", "cheese"],
    "skills": ["Spanish", "Dutch", "Greek", "Korean"],
    "states": ["on hold", "in review", "in progress", "finished"],
}

CHANGES = [
    Template(
        "meeting day",
        "groups",
        "days",
        "{thing} meets on {a}s.",
        "{thing} has moved to {b}s.",
        "When does {thing} meet?",
    ),
    Template(
        "meeting day",
        "groups",
        "days",
        "{thing} gets together every {a}.",
        "From now on {thing} gets together every {b}.",
        "When does {thing} get together?",
    ),
    Template(
        "residence",
        "people",
        "towns",
        "{thing} lives in {a}.",
        "{thing} lives in {b} now.",
        "Where does {thing} live?",
    ),
    Template(
        "residence",
        "people",
        "towns",
        "{thing} lives in {a}.",
        "{thing} has moved to {b}.",
        "Where does {thing} live?",
    ),
    Template(
        "residence",
        "people",
        "towns",
        "{thing} is based in {a}.",
        "{thing} is now based in {b}.",
        "Where is {thing} based?",
    ),
    Template(
        "employer",
        "people",
        "firms",
        "{thing} works at {a}.",
        "{thing} works for {b} now.",
        "Where does {thing} work?",
    ),
    Template(
        "employer",
        "people",
        "firms",
        "{thing} works at {a}.",
        "{thing} has left {a} and joined {b}.",
        "Where does {thing} work?",
    ),
    Template(
        "room",
        "groups",
        "rooms",
        "{thing} meets in {a}.",
        "{thing} now meets in {b}.",
        "In which room does {thing} meet?",
    ),
    Template(
        "room",
        "groups",
        "rooms",
        "{thing} uses {a}.",
        "{thing} has switched to {b}.",
        "Which room does {thing} use?",
    ),
    Template(
        "deadline",
        "projects",
        "dates",
        "The deadline for {thing} is {a}.",
        "The deadline for {thing} has been moved to {b}.",
        "When is the deadline for {thing}?",
    ),
    Template(
        "deadline",
        "projects",
        "dates",
        "{thing} is due on {a}.",
        "{thing} is now due on {b}.",
        "When is {thing} due?",
    ),
    Template(
        "price",
        "shops",
        "prices",
        "A coffee at {thing} costs {a}.",
        "A coffee at {thing} costs {b} now.",
        "What does a coffee at {thing} cost?",
    ),
    Template(
        "opening hour",
        "shops",
        "hours",
        "{thing} opens at {a}.",
        "{thing} no longer opens at {a} but at {b}.",
        "When does {thing} open?",
    ),
    Template(
        "opening hour",
        "shops",
        "hours",
        "{thing} opens at {a}.",
        "Since this week {thing} opens at {b}.",
        "When does {thing} open?",
    ),
    Template(
        "manager",
        "projects",
        "names",
        "{thing} is led by {a}.",
        "{b} has taken over {thing} from {a}.",
        "Who leads {thing}?",
    ),
    Template(
        "manager",
        "projects",
        "names",
        "{a} is in charge of {thing}.",
        "{b} is in charge of {thing} now.",
        "Who is in charge of {thing}?",
    ),
    Template(
        "phone",
        "people",
        "numbers",
        "{thing}'s phone number is {a}.",
        "{thing}'s new phone number is {b}.",
        "What is {thing}'s phone number?",
    ),
    Template(
        "phone",
        "people",
        "numbers",
        "{thing} can be reached at {a}.",
        "{thing} can now be reached at {b}.",
        "At which number can {thing} be reached?",
    ),
    Template(
        "status",
        "projects",
        "states",
        "{thing} is {a}.",
        "{thing} is {b} now.",
        "What is the status of {thing}?",
    ),
    Template(
        "status",
        "projects",
        "states",
        "The status of {thing} is {a}.",
        "The status of {thing} has changed from {a} to {b}.",
        "What is the status of {thing}?",
    ),
]

# Values that stand beside each other: kind, things, values, first, second.
APART = [
    ("a second value", "people", "foods", "{thing} likes {a}.", "{thing} likes {b}."),
    (
        "a second value",
        "people",
        "foods",
        "{thing} is allergic to {a}.",
        "{thing} is allergic to {b}.",
    ),
    ("a second value", "people", "skills", "{thing} speaks {a}.", "{thing} speaks {b}."),
    (
        "a second value",
        "people",
        "skills",
        "{thing} is learning {a}.",
        "{thing} is also learning {b}.",
    ),
    (
        "a second value",
        "people",
        "names",
        "{thing} has a child called {a}.",
        "{thing} has a child called {b}.",
    ),
    ("events", "people", "towns", "{thing} flew to {a} in March.", "{thing} flew to {b} in May."),
    (
        "events",
        "groups",
        "towns",
        "{thing} performed in {a} on 3 April.",
        "{thing} performed in {b} on 9 May.",
    ),
    (
        "events",
        "people",
        "foods",
        "{thing} bought {a} on Monday.",
        "{thing} bought {b} on Tuesday.",
    ),
    (
        "events",
        "projects",
        "names",
        "{a} reviewed {thing} last week.",
        "{b} reviewed {thing} yesterday.",
    ),
]
