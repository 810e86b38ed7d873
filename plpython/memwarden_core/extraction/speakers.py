"""Who speaks in a message, by the fields in which programs keep it.

A person has a name, an id, or both. An id tells two people of one name apart, so it belongs to
whom a fact is about. Where nothing tells who speaks, nobody does.
"""

from __future__ import annotations

from ..language.words import word_set
from ..late import late
from ..light import Any, NamedTuple
from ..support.speaker import PEOPLE, ROLES
from ..written import with_id

USER = "user"
"""The one person of a conversation that names nobody."""
MACHINES = (ROLES - PEOPLE) | word_set("developer function gpt application service uslackbot")
_LABELS = ROLES | word_set("guest participant unknown anonymous spk")
"""Diarisation calls whomever it hears by such a word and a number, anew in each recording."""
_ROLES = ("role", "role_type", "message_type", "messageType", "type")
_PERSONS = ("speaker", "sender", "author", "from", "user_profile", "profile", "account", "u")
_NAMES = ("display_name", "sender_name", "sender_full_name", "from_name", "name", "username")
_SHOWN = ("global_name", "displayName", "display_name", "real_name", "nickname", "name")
_HANDLES = ("username", "login", "acct", "email", "name")
_SENDER_IDS = ("from_id", "sender_id", "author_id")
_IDS = (*_SENDER_IDS, "user_id", "userId", "actor_id", "wa_id")
_BOTS = ("is_bot", "isBot", "bot", "bot_id", "webhook_id", "application")
_SPOKEN_SUBTYPES = (None, "", "thread_broadcast", "file_share", "me_message")
_SPOKEN_NUMBERS = (0, 19, 21)
"""Discord: a message, a reply, and what a thread begins with."""
_WORDS = frozenset({"text", "content", "body", "message", "value", "parts"})
_LONGEST = 200
_SHORT = 4
"""A number of fewer digits tells speakers of one recording apart."""
_ADDRESS = late(r"\"?([^\"<>]*?)\"?\s*<([^<>\s]+)>")
_REACHED = late(r"(?:[^<>]*<)?[^\s<>]*\w@\w[^\s<>]*>?|\+\d{8,15}")
"""Mail and telephones reach a person, and no place."""
_WORD = late(r"[^\W\d_]+")
_MASKED = late(r"\[[\w.]+\]")


class Speaker(NamedTuple):
    """Whom first-person words are of: ``subject`` is None where that is not known."""

    subject: str | None


def speaker_of(message: dict[str, Any]) -> Speaker | None:
    """Who says a message; None for what no person says: a machine, or an event of the program."""
    persons = [message[name] for name in (*_PERSONS, "user", "source") if message.get(name)]
    described = [person for person in persons if isinstance(person, dict)]
    roles = [message.get(name) for name in _ROLES]
    roles += [person.get(name) for person in described for name in ("role", "type")]
    kinds = {_kind(each) for each in roles if isinstance(each, str)}
    names = [each for each in persons if isinstance(each, str)]
    names += [message[name] for name in _NAMES if isinstance(message.get(name), str)]
    if any(message.get(name) for name in _SENDER_IDS):
        pass
    elif "person" in kinds:
        # Who has a person's role may be called Ai, and another agent goes by its name as written.
        kinds |= {"machine" for each in names if each in MACHINES}
    else:
        kinds |= set(map(_kind, names))
    if "machine" in kinds or _is_bot(message, described) or _is_event(message, described):
        return None
    shared = "from" in message and "value" in message and "person" not in kinds
    if shared or any(name.startswith("forward") and each for name, each in message.items()):
        # Of ShareGPT's some model, by its name; or somebody else's words.
        return Speaker(None)
    subject = _subject(message, is_person="person" in kinds)
    if subject is None and "person" in kinds and all(_kind(each) == "person" for each in names):
        subject = USER
    return Speaker(subject)


def is_said(value: dict[str, Any]) -> bool:
    """Whether an object is a message: words stand in it, which somebody may have said."""
    return not _WORDS.isdisjoint(value)


def is_label(name: str) -> bool:
    """Whether a name is a role, or what diarisation calls somebody: it tells nobody from others."""
    words = _WORD.findall(name.casefold())
    if not words:
        return len(name) < _SHORT
    return all(word in _LABELS for word in words) or (name.isascii() and len(name) < 2)


def _kind(word: str) -> str:
    """What a role is of: a `person`, a `machine`, or "" where it is no known role."""
    lower = word.casefold()
    bare = lower.removesuffix("message").rstrip("_")
    if bare in MACHINES or bare.startswith("system"):
        return "machine"
    return "person" if bare in PEOPLE else ""


def _is_bot(message: dict[str, Any], described: list[dict[str, Any]]) -> bool:
    return any(each.get(flag) for each in (message, *described) for flag in _BOTS)


def _is_event(message: dict[str, Any], described: list[dict[str, Any]]) -> bool:
    """Whether a program tells that something happened: somebody has joined, a topic was set."""
    kind, content = message.get("type"), message.get("content")
    if isinstance(kind, int) and described:
        return kind not in _SPOKEN_NUMBERS
    if isinstance(content, dict) and content.get("msgtype") == "m.notice":
        return True
    is_other = isinstance(kind, str) and kind.startswith("m.") and kind != "m.room.message"
    return is_other or message.get("subtype") not in _SPOKEN_SUBTYPES


def _subject(message: dict[str, Any], *, is_person: bool) -> str | None:
    """The person by name and id, by either, or None."""
    sure = is_person or any(message.get(name) for name in _SENDER_IDS)
    fields = (*_PERSONS, *_NAMES, *(("role",) if "role_type" in message else ()))
    found = [_named(message, name, sure=sure) for name in fields]
    found += [_described(message["source"])] if isinstance(message.get("source"), dict) else []
    ids = [*(number for _, number in found), *(_id(message.get(name)) for name in _IDS)]
    user = message.get("user")
    name, number = _described(user) if isinstance(user, dict) else ("", _id(user))
    number = next(filter(None, [*ids, number]), "")
    name = next(filter(None, [*(each for each, _ in found), name]), "")
    return with_id(name, number) or None


def _named(message: dict[str, Any], field: str, *, sure: bool) -> tuple[str, str]:
    """The name and the id that a field of a message tells, "" for none."""
    value = message.get(field)
    if isinstance(value, dict):
        return _described(value)
    if not isinstance(value, str) or (
        # From Rome to Oslo; but a mail is from somebody to somebody.
        field == "from"
        and "to" in message
        and "body" not in message
        and not _REACHED.fullmatch(value.strip())
    ):
        return "", ""
    mail = _ADDRESS.fullmatch(value.strip())
    name, number = mail.groups() if mail else (value, "")
    return _name(name, sure=sure), _id(number)


def _described(person: dict[str, Any]) -> tuple[str, str]:
    """The name and the id of a person that an object describes, "" for none."""
    full = " ".join(filter(None, (_text(person.get(n)) for n in ("first_name", "last_name"))))
    sure = bool(person.get("id"))
    names = [*(person.get(name) for name in (*_SHOWN, *_HANDLES)), full]
    names = [_name(each, sure=sure) for each in names]
    name = next(filter(None, names), "")
    ids = (_id(person.get(each)) for each in ("id", "_id", "uuid", *_IDS, *_HANDLES))
    number = next((each for each in ids if each and each != name), "")
    if not (name or number) and isinstance(person.get("user"), dict):
        return _described(person["user"])
    return name, number


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _name(value: object, *, sure: bool) -> str:
    """A name that tells one person from others, "" for none; ``sure``: it is a person's."""
    name = _text(value)
    if not name or len(name) > _LONGEST or _MASKED.fullmatch(name):
        return ""
    called = sure and name.istitle() and _kind(name) == "machine"
    return name if called or not is_label(name) else ""


def _id(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = _text(value)
    return "" if _MASKED.search(text) or len(text) > _LONGEST else text
