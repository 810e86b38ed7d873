"""What is said in a content, message by message: the shapes in which programs keep conversations.

Whatever a message was wrapped in, it is handed on as one object, in which its speaker is found.
What has words in a shape that is not known is counted, and so never passed over in silence.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping

from ..late import late
from ..light import Any, NamedTuple
from ..normalise import INVISIBLE

_DEEPEST = 48
_LONG = 65_536
_LISTS = ("messages", "turns", "conversations", "conversation", "chat_messages", "contents")
_ALSO_LISTS = ("transcript", "utterances", "value", "data", "items", "input", "output")
"""Lists of messages where these say who speaks."""
_WRAPS = ("message", "data", "kwargs", "payload", "event", "edited_message", "channel_post")
"""Under these a program keeps a message, with what it knows of it beside."""
_WORDS = ("text", "content", "value", "parts", "body", "message", "msg", "contents", "utterance")
"""The words of a message, or of a part of it; the first that says something counts."""
_AGAIN = ("blocks", "text_entities", "caption")
"""The words once more, as they are laid out."""
_OTHERS = ("previous_message", "reply_to_message", "referenced_message", "quoted_message")
"""Under these stands what was said before."""
_IN_PARTS = ("elements", "fields", "items", "user_profile", "user_instructions")
_SPOKEN = (
    "role",
    "sender",
    "author",
    "from",
    "user",
    "speaker",
    "sender_name",
    "creator",
    "source",
)
_KINDS = ("type", "content_type", "block_type", "part_kind", "msgtype")
_TOOLS = frozenset({"tool", "function", "toolmessage", "functionmessage", "observation"})
_ANSWERS = ("result", "output", "content", "response", "value")
_ANSWERED = late(r"(?:tool|function)[-_]?(?:call[-_]?)?(?:result|output|response|return)")
_UNSAID = late(
    r"think|thought|reason|summary|tool|function|refusal|system|_call$|^(?:del|s)$|^strike"
)
_MEDIA = late(r"image|audio|video|photo|file|document|media|sticker|divider|embed|card|location")
_INLINE = ("rich_text_section", "rich_text_quote", "rich_text_preformatted")
_TAG = late(r"(?s)<(/?)(\w+)[^<>]*>|<!--.*?-->")
_BLOCK_TAGS = frozenset(("p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4"))
_SENTENCE = late(r"(?:^|\s)(?:I|[a-z']+)\s+[a-z']+\s+\S")
_BEGINS = late(r"[\s\ufeff]*[{\[]")


class Message(NamedTuple):
    """A message: its fields, what it says, and how many of its parts have no known shape."""

    fields: dict[str, Any]
    text: str
    unread: int = 0


class Answer(NamedTuple):
    """What a tool answered."""

    value: object


_UNREAD = Message({}, "", 1)
"""Something of no known shape."""


def parts_of(content: object) -> Iterator[Message | Answer]:
    """Yield what a content holds, in its order."""
    yield from _read(content, 0)


def _read(content: object, depth: int) -> Iterator[Message | Answer]:
    if depth > _DEEPEST:
        yield _UNREAD
    elif isinstance(content, str):
        read = _parsed(content) if _BEGINS.match(content) else None
        yield from (Message({}, content),) if read is None else _read(read, depth + 1)
    elif isinstance(content, list):
        for each in content:
            yield from _read(each, depth + 1)
    elif isinstance(content, dict):
        yield from _of_object(_plain(content), depth)
    elif content is not None:
        yield _UNREAD


def _of_object(content: dict[str, Any], depth: int) -> Iterator[Message | Answer]:
    found = list(_known(content, depth))
    if found or not content or any(name in content for name in (*_WORDS, *_AGAIN)):
        yield from found
        return
    for value in _said_now(content):
        found += _within(value, depth + 1)
    if found:
        yield from found
    # A photo that somebody sent, or a call: no words, and who it is of or of what kind.
    elif _has_words(content) or not (
        any(name in content for name in _SPOKEN) or _MEDIA.search(_kind(content))
    ):
        yield _UNREAD


def _known(content: dict[str, Any], depth: int) -> Iterator[Message | Answer]:
    """What an object holds that is a conversation, a message or the answer of a tool."""
    # ShareGPT says whom a value is from.
    kind, said_by = _kind(content), content.get("from" if "value" in content else "role", "")
    role = str(content.get("role", said_by)).lower()
    is_answer = (
        not _TOOLS.isdisjoint((role, kind)) or _ANSWERED.search(kind) or _ANSWERED.search(role)
    )
    if is_answer or "tool" in content or "tool_name" in content:
        yield _answer(content)
        return
    if kind and _UNSAID.search(kind) and not role:
        # A call of a tool, the thoughts of a model.
        yield Message({"role": "assistant"}, "")
        return
    lists = [content[name] for name in _LISTS if isinstance(content.get(name), list)]
    lists += [content[name] for name in _ALSO_LISTS if _is_conversation(content.get(name))]
    if isinstance(content.get("mapping"), dict):
        lists.append(_branch(content["mapping"], content.get("current_node")))
    if isinstance(content.get("input"), str) and "model" in content:
        lists.append([{"role": "user", "content": content["input"]}])
    if any(lists):
        yield from _read(lists, depth)
        return
    inner = next((content[n] for n in _WRAPS if isinstance(content.get(n), dict)), None)
    if inner is not None and not any(content.get(name) for name in ("text", "content", "parts")):
        yield from _unwrapped(content, _plain(inner), depth)
        return
    if any(name in content for name in (*_WORDS, *_AGAIN)):
        yield from _message(content, depth)


def _is_conversation(value: object) -> bool:
    return isinstance(value, list) and any(
        isinstance(each, dict) and any(name in _plain(each) for name in _SPOKEN) for each in value
    )


def _unwrapped(
    outer: dict[str, Any], inner: dict[str, Any], depth: int
) -> Iterator[Message | Answer]:
    # Who says what names nobody stands outside, and of what kind it is where nothing tells.
    whose: tuple[str, ...] = () if any(name in inner for name in _SPOKEN) else _SPOKEN
    if whose and not any(name in inner for name in _KINDS):
        whose += _KINDS
    kept = {name: outer[name] for name in whose if isinstance(outer.get(name), str | dict)}
    path = outer.get("id")
    if kept and isinstance(path, list) and path:
        # A class by its path, as langchain_core, messages, HumanMessageChunk.
        kept["type"] = str(path[-1]).removesuffix("Chunk")
    if any(name in inner for name in (*_LISTS, *_WORDS, *_AGAIN, *_WRAPS)):
        yield from _of_object(kept | inner, depth + 1)
    else:
        yield from _read(inner, depth + 1)


def _within(value: object, depth: int) -> Iterator[Message | Answer]:
    """The messages somewhere in a value: objects that have words and say whose they are."""
    if depth > _DEEPEST:
        yield _UNREAD
    elif isinstance(value, list):
        for each in value:
            yield from _within(each, depth + 1)
    elif isinstance(value, dict):
        each = _plain(value)
        is_message = any(n in each for n in _SPOKEN) or _ANSWERED.search(_kind(each))
        if is_message or any(name in each for name in (*_LISTS, *_WRAPS, "mapping")):
            found = list(_known(each, depth))
            if found:
                yield from found
                return
        for other in _said_now(each):
            yield from _within(other, depth + 1)


def _said_now(content: dict[str, Any]) -> list[Any]:
    """The values of an object but for a message that it deletes, changes or answers."""
    return [value for name, value in content.items() if name not in _OTHERS]


def _branch(mapping: Mapping[str, Any], last: object) -> list[Any]:
    """The nodes of a tree of messages up to the last one; all where it is not told which it is."""
    found: list[Any] = []
    at = last
    while isinstance(at, str) and isinstance(mapping.get(at), dict) and len(found) <= len(mapping):
        found.append(mapping[at].get("message"))
        at = mapping[at].get("parent")
    if found:
        return found[::-1]
    return [n.get("message") if isinstance(n, dict) else n for n in mapping.values()]


def _message(content: dict[str, Any], depth: int) -> Iterator[Message | Answer]:
    said = _Said()
    for name in (*_WORDS, *_AGAIN):
        if content.get(name) in (None, "", []):
            continue
        said.add(content[name], depth, inline=name in ("text", "text_entities"))
        if said.lines or said.unread:
            break
    whose = content.get("content")
    if isinstance(whose, dict):
        # A role that stands with the parts of a message.
        content = content | {n: whose[n] for n in _SPOKEN if n in whose}
    yield Message(content, "\n".join(said.lines), said.unread)
    yield from said.answers


class _Said:
    """The lines that are said in a message, the answers of tools in it, and what is not known."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.answers: list[Answer] = []
        self.unread = 0

    def add(self, value: object, depth: int, *, inline: bool = False) -> None:
        """Read a value; ``inline``: its elements are pieces of one line."""
        if depth > _DEEPEST:
            self.unread += 1
        elif isinstance(value, str):
            self.lines.append(value)
        elif isinstance(value, list):
            before, self.lines = self.lines, []
            for each in value:
                self.add(each, depth + 1)
            self.lines = [*before, "".join(self.lines)] if inline else before + self.lines
        elif isinstance(value, dict):
            self._add_part(_plain(value), depth)
        elif value is not None:
            self.unread += 1

    def _add_part(self, part: dict[str, Any], depth: int) -> None:
        kind = _kind(part)
        answered = next((n for n in ("functionResponse", "toolResult") if n in part), None)
        if answered is not None:
            self.answers.append(Answer(part[answered]))
        elif _ANSWERED.search(kind):
            self.answers.append(_answer(part))
        elif part.get("thought") or _UNSAID.search(kind) or _is_struck(part):
            return
        elif kind == "emoji":
            self.lines.append(" ")
        elif kind == "user":
            self.lines.append(f"@{part.get('user_id', '')}")
        else:
            self._add_words(part.get("m.new_content", part), kind, depth)

    def _add_words(self, part: dict[str, Any], kind: str, depth: int) -> None:
        before, self.lines = self.lines, []
        for name in (*_WORDS, *_AGAIN, *_IN_PARTS):
            if part.get(name) not in (None, "", []):
                self.add(part[name], depth + 1, inline=name == "text" or kind in _INLINE)
                if name not in _IN_PARTS:
                    break
        if str(part.get("contentType", part.get("format", ""))).lower().endswith("html"):
            self.lines = [_without_tags(line) for line in self.lines]
        if "quote" in kind:
            self.lines = [f"> {line}" for text in self.lines for line in text.splitlines()]
        is_known = any(name in part for name in (*_WORDS, *_AGAIN, *_IN_PARTS))
        if not is_known and not _MEDIA.search(kind) and _has_words(part):
            self.unread += 1
        self.lines = before + self.lines


def _answer(content: dict[str, Any]) -> Answer:
    inner = next((content[n] for n in _WRAPS if isinstance(content.get(n), dict)), content)
    found = next((each[n] for each in (content, inner) for n in _ANSWERS if n in each), None)
    if (
        isinstance(found, list)
        and found
        and all(isinstance(e, dict) and "text" in e for e in found)
    ):
        # Parts of a text.
        found = "".join(str(each["text"]) for each in found)
    return Answer(found)


def _kind(content: dict[str, Any]) -> str:
    return next((content[n].lower() for n in _KINDS if isinstance(content.get(n), str)), "")


def _is_struck(part: dict[str, Any]) -> bool:
    style = part.get("style")
    return isinstance(style, dict) and bool(style.get("strike"))


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """An object by names as most programs write them: .NET writes Role, and others _role."""
    if all("a" <= name[:1] <= "z" for name in content):
        return content
    named = {_name(name): value for name, value in content.items()}
    return named | content


def _name(name: str) -> str:
    name = INVISIBLE.sub("", name).lstrip("_$")
    return name[:1].lower() + name[1:]


def _has_words(value: object) -> bool:
    """Whether a sentence stands somewhere in a value."""
    rest, found = [value], False
    while rest and not found:
        one = rest.pop()
        if isinstance(one, str):
            found = _SENTENCE.search(one) is not None
        elif isinstance(one, dict | list):
            rest += one.values() if isinstance(one, dict) else one
    return found


def _without_tags(text: str) -> str:
    def replaced(match: Any) -> str:
        return "\n" if (match[2] or "").lower() in _BLOCK_TAGS else ""

    return html.unescape(_TAG.sub(replaced, text))


def _parsed(text: str) -> object:
    """What a text says that is JSON, or has a JSON object in each line; None for any other."""
    text = text.lstrip("\ufeff \t\r\n")
    try:
        return _loaded(text)
    except (ValueError, RecursionError):
        pass
    try:
        lines = [_loaded(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
    return lines if all(isinstance(line, dict) for line in lines) else None


def _loaded(text: str) -> Any:
    # Of a number of many digits int() takes long.
    return json.loads(text, parse_int=float if len(text) > _LONG else int)
