# ruff: noqa: E501 - a pattern is easier to read whole
"""Words that dress up as another part of a chat, or hide from people in markup."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..findings import Hit
from .orders import spans
from .speech import is_talk

_WORDS = r"(?:[^\s<>\[\]]+\s+){3,}"
_PART = r"(?:system|assistant|developer|instructions?|sys(?:tem)?[\s_-]?(?:prompts?|messages?|instructions?|notes?|notices?)|(?:assistant|ai|agent|llm|model|hidden|secret|admin)[\s_-](?:instructions?|prompts?|messages?|notes?|directives?|rules?))"
_DRESSED = (
    # A tag with a sentence in it, and not with a name or a number.
    rf"<\s*{_PART}(?:\s[^<>\n]{{0,100}})?>\s*(?:[^\s<>]+\s+){{2,200}}?[^\s<>]+\s*<\s*/\s*{_PART}\s*>",
    r"(?:^|[\n.!?\"'>:]\s*)(?:<\|?(?:im_start|system|assistant|user|start_header_id)\|>|<<\s*sys\s*>>|\[\s*inst\s*\]|<start_of_turn>)\s*(?:[^\s<>\[\]]+\s+){2}",
    r"(?:^|\n)\s*#{1,4}\s*(?:system|instructions?|developer|system\s+prompt|human|user\s+input)\s*:\s*(?:[^\s]+\s+){2}",
    rf"\[+\s*(?:{_PART})\s*\]+\s*:?\s*{_WORDS}",
    r"\b(?:begin|start)\s+(?:of\s+)?(?:system|developer|admin(?:istrator)?)\s+(?:prompt|message|instructions?)\b[\s:>\-]*(?:[^\s]+\s+){3}",
    r"```\s*(?:system|instructions?|developer)\s*\n",
    r"[\"'](?:ai|assistant|llm|agent|model|system)[\s_-](?:instructions?|prompts?|directives?|rules?)[\"']\s*(?:content\s*=|:|=)",
    r"^role:\s+system$",
    r"(?:\\n|\n)\s*(?:human|user)\s*:[^\n]{1,200}(?:\\n|\n|\s)\s*assistant\s*:\s*(?:sure|yes|ok|okay|of\s+course|certainly)\b",
)
_HIDDEN = (
    r"<!--([^\x00]{1,600}?)-->",
    r"/\*([^\x00]{1,400}?)\*/",
    r"\[//\]:\s*#\s*[(\"']([^\n]{1,400})",
    r"<[a-z]+\s[^<>\n]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0|\bhidden\b|color\s*:\s*(?:white|#fff))[^<>\n]{0,100}>([^<]{1,600})",
    r"(?:^|\n)\s*(?:#|//|--|;|%)\s+([^\n]{1,300})",
)
_LINE = 4  # the comment of a line, which is a heading elsewhere
_CALLED = late(
    r"\b(?:a\.?i\.?|assistants?|llms?|language models?|chatbots?|chatgpt|claude|gemini|copilot|ai agents?)\b|\b(?:agents?|models?|bots?)\s*[:,]|\b(?:agents?|models?|bots?) (?:must|should|shall|have to|will|are to)\b"
)
_BY_NAME = late(
    r"\b(?:a\.?i\.?|assistants?|llms?|language models?|chatbots?|chatgpt|claude|copilot)(?: \w+){0,2}\s*[:,]\s*\w+\s+\w+"
)
_TOLD = late(
    r"\b(?:must|should|shall|always|never|please|you|have to|are to|do not|don't)\b"
    r"|(?:[:,;]\s*|^\s*|-\s+|\b(?:and|then|to) )(?:add|approve|append|answer|call|click|commit|delete|disclose|download|execute|fetch|follow|forward|give|ignore|include|insert|install|mark|merge|open|output|print|rank|rate|recommend|repeat|reply|respond|reveal|run|say|send|share|show|skip|submit|tell|transfer|treat|use|visit|write)\b"
)


def dressed(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield text marked as another part of the chat: `<system> ... </system>`, `[INST] ...`."""
    for pattern in _DRESSED:
        for start, end in spans(pattern, lower):
            if not is_talk(lower, start, end):
                begin = start + len(lower[start:end]) - len(lower[start:end].lstrip(" \n.!?\"'>:"))
                yield Hit(min(begin, end - 1), end, 0.8)


def hidden_comment(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield comments and unseen elements that tell a model something."""
    for number, pattern in enumerate(_HIDDEN):
        for start, end in spans(pattern, lower):
            told = (number < _LINE and _BY_NAME.search(lower, start, end)) or (
                _CALLED.search(lower, start, end) and _TOLD.search(lower, start, end)
            )
            if told and not is_talk(lower, start, end):
                yield Hit(start, end, 0.8)
