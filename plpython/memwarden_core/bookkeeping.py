"""Bookkeeping: what formats of chats and adapters keep beside a sentence, and who speaks by it.

A field is bookkeeping where its name is one of theirs *and* its value looks like it: an id, a
time, a role of a short list. Anything else is read. Names are compared to the letter: they belong
to the programs that write them.
"""

from __future__ import annotations

from .late import late


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


SENTENCES = frozenset({"text", "statement", "content", "memory", "fact", "data", "value"})
"""Under these names stands the sentence itself."""
BARE = SENTENCES | frozenset({"message", "note", "body", "result"})
"""Names that every content could bear: they tell nothing about this one."""
_HOLDERS = frozenset({"blocks", "parts", "elements", "kwargs"})
# Whoever has a role has said it.
_ROLES = frozenset({"role", "role_type", "message_type"})
# Who speaks, where the field stands beside a sentence.
_SPEAKERS = ("speaker", "sender", "author", "from", "name", "username", "role")
_SHOWN = ("global_name", "displayName", "display_name", "real_name", "name", "username")

# What chat formats and adapters keep beside a sentence, by what such a value looks like.
_IDS = _names(
    "id id_ _id uuid lc hash etag user user_id agent_id run_id actor_id session session_id"
    " thread_id conversation_id conversationId message_id messageId msg_id client_msg_id"
    " internetMessageId channel channel_id team guild_id sender_id author_id turn turn_id dia_id"
    " block_id parent_id reply_to replyToId thread_ts chat_id step_id otid index seq seq_id"
    " token_count tool tool_call_id model_name locale importance userIdentityType"
)
_TIMES = _names(
    "ts timestamp created_at updated_at createdAt updatedAt created updated createdDateTime"
    " lastModifiedDateTime lastEditedDateTime edited_timestamp sent_at received_at create_time"
    " update_time"
)
_ADDRESSES = frozenset({"to", "cc", "bcc"})
_SPOKEN_TIMES = _names("date time start end start_time end_time")
_KINDS = _names(
    "role role_type type message_type messageType block_type contentType content_type mime_type"
    " from source kind"
)
HEADINGS = BARE | _ADDRESSES | _SPOKEN_TIMES | _KINDS
"""Names of fields that stand before values in a form or a mail, and nobody's."""
_FLAGS = _names(
    "tts pinned flags edited mention_everyone mentions mention_roles attachments embeds reactions"
    " is_err example additional_kwargs response_metadata tool_calls invalid_tool_calls"
    " usage_metadata models_usage metadata annotations citations excluded_embed_metadata_keys"
    " excluded_llm_metadata_keys relationships"
)
_WORDS_OF_KINDS = _names(
    "user assistant system tool human ai bot gpt developer function model agent customer message"
    " text rich_text rich_text_section textmessage user_message assistant_message system_message"
    " human_message constructor html markdown plain text/plain text/html norole"
)
_ID = late(r"[$!]?[\w.:@+/=<>#-]{1,128}")
_LETTERS = late(r"[^\W\d_]{2,}")
_HEX = late(r"(?:[A-Za-z]{1,12}[-_])?[0-9A-Fa-f]{2,}(?:[-_][0-9A-Fa-f]{2,})*")
_TIME = late(
    r"\d{4}-\d\d-\d\d(?:[T_]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[APap][Mm])?"
    r"|\d+(?:\.\d+)?"
)
_MAX_ID_WORDS = 3
_SAME_CASE = late(r"[a-z]+|[A-Z]+")
_DIGITS = late(r"\d+")
_LEAST_DIGITS = 4
_LONGEST_RUN = 2.2
_MAX_NAME = 60
_MAX_NAME_WORDS = 4
_ENDS = late(r"[.!?,;:](?:\s|$)|\n")


def has_words(value: object) -> bool:
    """Whether there is a text in a value."""
    if isinstance(value, (dict, list)):
        return any(map(has_words, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and not value.isspace() and value != ""


def _is_name(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value.split()) <= _MAX_NAME_WORDS
        and len(value) <= _MAX_NAME
        and not _ENDS.search(value)
    )


def _is_id(value: object) -> bool:
    if not isinstance(value, str):
        return isinstance(value, (int, float))
    return bool(_ID.fullmatch(value)) and (
        bool(_HEX.fullmatch(value))
        or len(_LETTERS.findall(value)) <= _MAX_ID_WORDS + 2 * ("@" in value)
        or _is_random(value)
    )


def _is_random(value: str) -> bool:
    """Whether digits and small and capital letters take turns as no words have them: base64."""
    runs = _SAME_CASE.findall(value)
    letters = sum(map(len, runs))
    return len(_DIGITS.findall(value)) >= _LEAST_DIGITS and 0 < letters <= _LONGEST_RUN * len(runs)


def _is_kind(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and value.lower() in _WORDS_OF_KINDS)


def _is_time(value: object) -> bool:
    if isinstance(value, str):
        return bool(_TIME.fullmatch(value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def names_whose(name: str) -> bool:
    """Whether a field says whose the words are, or of which run or thread: an identifier."""
    return name in _IDS and name.endswith("_id")


def is_bookkeeping(name: str, value: object, *, spoken: bool = False) -> bool:
    """Whether a field beside a sentence is of those that formats declare, and looks like it.

    ``spoken``: the field of a speaker or a role stands beside it; then a date is that of the words.
    """
    if value is None or value in ([], {}):
        return name in _IDS or name in _TIMES or name in _KINDS or name in _FLAGS
    if isinstance(value, bool):
        return name in _FLAGS or name in _IDS
    return (
        (name in _IDS and (_is_id(value) or _is_list_of_ids(value)))
        or (name in _TIMES and _is_time(value))
        or (spoken and name in _SPOKEN_TIMES and _is_time(value))
        or (spoken and name in _ADDRESSES and (_is_id(value) or _is_list_of_ids(value)))
        or (name in _KINDS and _is_kind(value))
        or (name in _FLAGS and isinstance(value, int))
    )


def looks_kept(value: object) -> bool:
    """Whether a value looks like bookkeeping, whatever its name; lists and objects never do."""
    return (
        value is None
        or isinstance(value, (bool, int, float))
        or _is_id(value)
        or _is_time(value)
        or _is_kind(value)
    )


def _is_list_of_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) and _is_id(v) for v in value)


def is_message(value: dict[str, object]) -> bool:
    """Whether a sentence stands in an object, so that something may stand beside it."""
    return any(
        (is_bare(name, value) or (name in _HOLDERS and _holds_objects(child))) and has_words(child)
        for name, child in value.items()
    )


def bookkeeping(
    value: dict[str, object], *, beside: bool, told: dict[str, object] | None = None
) -> frozenset[str]:
    """The fields of an object that only its program needs; ``beside``: it is part of a message."""
    message = is_message(value)
    if not (message or beside):
        return frozenset()
    if told is None:
        told = speaker_of(value)[0] if message else {}
    spoken = message and bool(told or not _ROLES.isdisjoint(value))
    return frozenset(
        name
        for name, child in value.items()
        if name not in told and is_bookkeeping(name, child, spoken=spoken)
    )


def speaker_of(value: dict[str, object]) -> tuple[dict[str, object], str]:
    """The field that says who speaks, with what of it is left to read, and the name."""
    for name in _SPEAKERS:
        child = value.get(name)
        if (name == "name" and _ROLES.isdisjoint(value)) or (
            name == "role" and "role_type" not in value
        ):
            continue
        if name == "from" and isinstance(child, str) and not value.keys() & {"body", "value"}:
            # "Lia comes", from Rome.
            continue
        if isinstance(child, str) and _is_name(child) and not _is_kind(child):
            return {name: None}, " ".join(child.split())
        if isinstance(child, dict):
            person, rest = _person(child)
            if person:
                return {name: rest or None}, person
    return {}, ""


def _person(value: dict[str, object]) -> tuple[str, dict[str, object]]:
    """Who is described by an object, "" where nobody is, and what else it says."""
    for shown in _SHOWN:
        name = value.get(shown)
        if isinstance(name, str) and _is_name(name):
            return " ".join(name.split()), {
                other: child
                for other, child in value.items()
                if other != shown and not _describes(child, name, other)
            }
    for within, child in value.items():
        person, rest = _person(child) if isinstance(child, dict) else ("", {})
        if person:
            others = {
                n: c for n, c in value.items() if n != within and not _describes(c, person, n)
            }
            return person, others | ({within: rest} if rest else {})
    return "", {}


def is_bare(name: str, beside: dict[str, object]) -> bool:
    """Whether a name tells nothing of what stands under it."""
    return name in BARE or (name == "parts" and "content_type" in beside)


def _holds_objects(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(child, dict) for child in value)
    )


def _describes(value: object, person: str, name: str) -> bool:
    """Whether a field of a person is bookkeeping: an id with a digit in it, or their name again."""
    if value is None or isinstance(value, (bool, int, float)) or _is_kind(value):
        return True
    if not isinstance(value, str):
        return value in ([], {})
    return bool(_ID.fullmatch(value)) and (
        name in _SHOWN or name in _IDS or any(map(str.isdigit, value)) or value in person
    )
