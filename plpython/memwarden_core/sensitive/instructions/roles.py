"""Orders to be somebody else, and text that pretends to come from somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...late import late
from ..findings import Hit
from .orders import spans
from .speech import is_order, is_talk

_BECOME = (
    r"(?:you\s+(?:will\s+be|shall\s+be|have\s+become|become)|you\s+are\s+(?:now|no\s+longer|hereby|from\s+now\s+on|about\s+to\s+be(?:come)?|going\s+to\s+be|an?|the)|you\s+have\s+(?:no|been)"
    r"|you're\s+(?:now|no\s+longer|an?)|act|behave|respond|answer|reply|operate|function|pretend|roleplay|role-play|simulate|imagine|assume|adopt"
    r"|take\s+on|play|speak|work|continue|transform|as\s+an?\s+(?:ai|assistant|language\s+model|llm|chatbot)|(?:your\s+)?new\s+(?:role|persona|identity|character|mode|name))"
)
_UNBOUND = (
    r"(?:unrestricted|unfiltered|uncensored|jailbroken|unbound|unchained|unlimited\s+(?:access|ai|mode|assistant|power)|unethical|amoral|evil\s+(?:ai|assistant|twin|confidant|bot)"
    r"|do\s+anything\s+now|in\s+(?:dan|developer|god|debug|jailbreak|sudo|root|maintenance|opposite|chaos|admin(?:istrator)?|dev|unrestricted)\s+mode"
    r"|(?:without|with\s+no|with\s+zero|free\s+(?:of|from)|freed\s+from|ha(?:s|ve|d|ving)\s+no|lack(?:s|ing)?|not\s+(?:bound|limited|restricted|constrained)\s+by|no\s+longer\s+(?:bound|limited|restricted|constrained)(?:\s+by)?|not\s+subject\s+to|exempt\s+from|liberated\s+from|ignor(?:es|ing)|bypass(?:es|ing)?|unconstrained\s+by|unbound\s+by|regardless\s+of)\s+"
    r"(?:[^\s.!?;:]+\s+){0,3}?(?:restrictions?|limits|limitations?|rules?|filters?|guidelines|ethics|ethical|moral(?:s|ity)?|safety|censorship|guardrails?|polic(?:y|ies)|constraints?|safeguards?|security|boundaries|moderation|restraints?|obligations?)"
    r"|(?:full|complete|unlimited|unrestricted|total|root|elevated)\s+(?:\w+\s+)?(?:access|privileges?|permissions?|control|authority|rights)\s+(?:to|over)\s+(?:all|every|any|the\s+(?:system|database|server|user)|everything|user|customer)"
    r"|(?:unlimited|unrestricted|superuser|elevated|root|admin(?:istrator)?)\s+(?:privileges?|access|permissions?|rights|powers?))"
)
_ROLE = (
    rf"\b({_BECOME})\b[\s:,]+(?:[^\s.!?;]+\s+){{0,9}}?{_UNBOUND}\b",
    r"\b(you(?:'re|\s+are|\s+will\s+be)\s+(?:now\s+|also\s+|hereby\s+)?(?:not|no\s+longer|free(?:d)?\s+from|exempt\s+from|liberated\s+from|above|outside|beyond|allowed\s+to\s+(?:ignore|break|bypass|violate))\s+(?:[^\s.!?;:]+\s+){0,5}?(?:restrictions?|limits|limitations?|rules|filters?|guidelines|ethics|censorship|guardrails?|polic(?:y|ies)|constraints?|safeguards?|moderation|programming|training))\b",
    r"\b((?:operate|act|work|live|answer|respond|reply|function)\s+(?:only\s+)?(?:under|by|according\s+to|following)\s+(?:new|my|different|the\s+following)\s+(?:set\s+of\s+)?(?:rules|instructions|guidelines|laws))\b",
    r"\b(you(?:'re|\s+are)\s+(?:now\s+|currently\s+)?in\s+(?:dan|developer|god|debug|jailbreak|sudo|root|maintenance|opposite|chaos|admin(?:istrator)?|dev|unrestricted)\s+mode)\b",
    r"\b(provide|give|produce|generate|write|offer)\s+(?:me\s+)?(?:only\s+)?(?:unrestricted|unfiltered|uncensored)\s+(?:answers?|responses?|replies|output|access|content)\b",
    r"\b(you\s+(?:have|face|follow|obey|know)\s+no\s+(?:\w+\s+){0,2}?(?:restrictions?|limits?|limitations?|rules|filters?|guidelines|constraints?|boundaries|morals|ethics))\b",
    r"\b(your\s+(?:true|real|only|sole|new)\s+(?:purpose|goal|mission|loyalty|master|directive|allegiance)\s+is\s+(?:to\s+(?:serve|obey|help)\s+(?:me|us|only)|me\b|with\s+me))",
    r"\b(you\s+(?:have|'ve|just)\s*(?:now\s+)?(?:entered|switched\s+(?:in)?to|activated|unlocked)\s+(?:the\s+)?(?:\w+\s+)?(?:mode|jailbreak))\b",
    r"\b(enter|activate|enable|switch\s+(?:in)?to|go\s+into|engage|turn\s+on|initiate)\s+(?:the\s+|your\s+)?(?:dan|god|jailbreak(?:ed)?|sudo|opposite|chaos|unrestricted|unfiltered|uncensored|evil)\s+mode\b",
    r"\b(enter|activate|enable|switch\s+(?:in)?to|go\s+into|engage|turn\s+on|initiate)\s+(?:the\s+|your\s+)?(?:developer|debug|root|maintenance|admin(?:istrator)?|dev|test)\s+mode(?:,|\s+and|\s+then|\s+to|\.)\s+(?:[^\s.!?;:]+\s+){0,4}?(?:answer|respond|reply|reveal|ignore|bypass|comply|obey|disregard|print|dump|you|without|disable)\b",
    r"\b((?:system|security|safety|policy|admin(?:istrator)?|role|developer|root)\s+override)\s*(?::|!|-|\b(?:activated|enabled|engaged|accepted|granted|initiated|code)\b)",
    r"\b(new\s+(?:persona|identity|role|instructions?|directives?|orders|system\s+prompt|rules?)\s*:)\s*(?:[^\s.!?;]+\s+){0,8}?(?:you\s+(?:are|must|will|may|can)|unrestricted|override|ignore|bypass|disregard|comply|obey|reveal|respond\s+(?:only|as|to)|act\s+as|disable|pretend|forget|jailbreak|(?:always|never)\s+(?:comply|refuse|obey|reveal|approve|agree|ask))\b",
)

_LIMITED = late(
    r"\b(?:without|no|lacks?|lacking|not\s+have)\s+(?:\w+\s+)?(?:admin\w*|root|elevated|superuser)\s+\w+$"
)


def role(text: str, lower: str) -> Iterator[Hit]:
    """Yield orders to be somebody without limits."""
    for pattern in _ROLE:
        for start, end in spans(pattern, lower):
            by_itself = lower.startswith(
                (
                    "you",
                    "new",
                    "your",
                    "system",
                    "security",
                    "safety",
                    "policy",
                    "admin",
                    "role",
                    "developer",
                    "root",
                ),
                start,
            )
            if _LIMITED.search(lower, start, end) or lower.startswith((" on ", " to "), end):
                continue
            if (by_itself or is_order(lower, start)) and not is_talk(lower, start, end):
                yield Hit(start, end, 0.85)
    for start, end in spans(_LIFTED, lower):
        if not is_talk(lower, start, end):
            yield Hit(start, end, 0.75)
    for start, end in spans(_NAMES, lower):
        if lower.startswith(" that", end):
            continue
        if (text[start:end].isupper() or " " in text[start:end].strip()) and not is_talk(
            lower, start, end
        ):
            yield Hit(start, end, 0.8)


_LIFTED = (
    r"\b(?:your|the\s+ai'?s?|the\s+model'?s?|the\s+assistant'?s?)\s+(?:\w+\s+){0,3}(?:restrictions?|limits|limitations?|rules|filters?|guidelines|guardrails?|polic(?:y|ies)|constraints?|safeguards?|safety(?:\s+\w+)?|moderation|censorship|instructions)\s+(?:\w+\s+){0,2}?(?:are|is|have|has|were|do|does|will|no)\b(?:\s+\w+){0,3}?\s+(?:lifted|off|disabled|removed|waived|suspended|void|apply|revoked|gone|deactivated|bypassed|cancel+ed|invalid|obsolete|overridden|outdated|replaced|superseded)\b"
    r"|\b(?:all\s+|any\s+|the\s+|every\s+)?(?:of\s+your\s+restrictions?|guardrails?|safety\s+(?:rules|guidelines|settings|filters?|checks|protocols?|measures|policies|restrictions)|content\s+(?:polic(?:y|ies)|filters?|restrictions)|security\s+(?:checks|polic(?:y|ies)|protocols|restrictions)|approval\s+(?:step|steps|requirement|requirements|process|gate)|ethical\s+(?:rules|guidelines))\s+(?:(?:are|is|have|has|no|do|does)\b)(?:\s+\w+){0,3}?\s+(?:lifted|off|disabled|removed|waived|suspended|void|apply|revoked|deactivated|bypassed|cancel+ed|abolished)\b"
    r"|\b(?:rules|restrictions|guidelines|polic(?:y|ies)|instructions|limits|limitations)\s+(?:\w+\s+){0,2}?(?:do\s+not|don't|no\s+longer|never)\s+apply\s+to\s+(?:you|this\s+(?:conversation|session|chat))\b"
    r"|\bno\s+(?:rules|limits|restrictions|guidelines|filters)\s+(?:apply\s+to\s+you|for\s+you|bind\s+you)\b"
    r"|\b(?:all|any)\s+(?:of\s+)?(?:your|its)\s+(?:\w+\s+)?(?:restrictions|limits|limitations|rules|filters|guidelines|guardrails|constraints)\s+(?:are|have\s+been|were)\s+(?:now\s+)?\w+ed\b"
)
_NAMES = (
    r"\b(?:you\s+are\s+(?:now\s+)?|act\s+(?:as|like)\s+|pretend\s+(?:to\s+be|you\s+are)\s+|become\s+|simulate\s+|emulate\s+|impersonate\s+|roleplay\s+(?:as\s+)?|play\s+|as\s+)(?:dan|stan|aim|dude|jailbreak|betterdan|maximum|omega)\s*(?:\(|,|\.|\bwho\b|\bmode\b|\band\b|$|\ban?\s+(?:ai|unrestricted))"
    r"|\bdo\s+anything\s+now\b|\bdan\s+mode\b|\bjailbreak(?:ed)?\s+mode\b|\balways\s+intelligent\s+and\s+machiavellian\b"
    r"|\bfreed\s+from\s+(?:all\s+)?(?:your\s+)?(?:limitations|restrictions|constraints|rules)\b|\bunrestricted\s+mode\b"
)


_TAG = (
    r"<\|?(?:im_start|im_end|system|assistant|user|endoftext|start_header_id|end_header_id|eot_id|begin_of_text|fim_prefix|tool_call|tool_calls)\|>"
    r"|<<\s*/?\s*sys\s*>>|\[/?inst\]|</?s>\s*\[inst\]|<(?:start_of_turn|end_of_turn)>"
    r"|</?(?:tool_call|function_calls?|tool_use|invoke|antml:invoke|tool_result|function_results?)(?:\s[^>\n]{0,100})?>"
    r"|\bto=functions\.\w+"
)
_TAG_USED = late(r"\s*(?:\{|<<|<\w|(?:system|user|assistant)\b|\n)")
_MARKED = (
    r"<\s*/?\s*(?:system|admin|developer|instructions?|system_prompt|system-prompt|system_message|root|override|important|hidden|secret_instructions?)\s*>"
    r"|\"role\"\s*:\s*\"(?:system|developer)\"|<!--\s*(?:note\s+to\s+)?(?:the\s+)?(?:ai|assistant|llm|llms|model|chatgpt|claude|gpt|agent|bot)s?\b|(?:^|[\n.!?\]\"'>:-]\s*|\s\*\*|\s#{1,4}\s*)(?:\[\s*)?(?:system|developer|administrator|admin|root|operator|assistant)(?:\s+(?:message|prompt|note|notice|instructions?|override|update|directive|alert|command))?(?:(?:\s*\]|\*\*)?\s*:|\s*\])"
    r"|\b(?:begin|start)(?:\s+of)?\s+(?:system|admin|developer|root)\s+(?:message|prompt|instructions?|override)\b"
    r"|(?:^|\n)\s*#{1,4}\s*(?:system|instructions?|new\s+instructions?|system\s+prompt|developer\s+message)\b"
)
_DIRECTIVE = late(
    r"\b(?:you\s+(?:must|should|shall|will|may|can|are(?:\s+now)?)\b.{0,80}?\b(?:comply|obey|reveal|ignore|disregard|bypass|skip|unrestricted|override|credential\w*|secret\w*|password\w*|without|safety|approval|confirm\w*|instructions?|restrict\w*|guidelines|prompt|any\s+request|all\s+requests|jailbreak|admin|root|always|never|only|send|forward|transfer|execute)"
    r"|from\s+now\s+on|ignore\s+(?:all|any|the|previous|prior|your)|disregard|override\s+(?:all|any|the|safety|previous|security|your)|reveal\s+(?:the|all|your)|comply\s+with|obey|grant\s+(?:\w+\s+){0,4}(?:access|admin|root|permissions?|privileges)|you\s+have\s+(?:root|admin|full|unlimited)|(?:delete|drop|wipe|erase)\s+(?:all|every)|disable\s+(?:all|safety|security|the)|safety\s+(?:checks|guidelines|filters)\s+(?:are\s+)?(?:off|disabled|suspended)"
    r"|new\s+(?:instructions?|directives?|rules|orders)|forget\s+(?:all|your|previous|the)|(?:all\s+)?(?:restrictions|limits|guardrails)\s+(?:are\s+|have\s+been\s+)?(?:lifted|removed|disabled|off|void)|pretend|treat\s+(?:this|the\s+following)\s+as)\b",
    re.DOTALL,
)
_TAG_REACH = 220


def fake_roles(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield markup that pretends to come from the system or from a tool.

    That is control tokens of models, and headings such as `system:` or `<system>` with an order
    behind them.
    """
    begins = len(lower) - len(lower.lstrip())
    for start, end in spans(_TAG, lower):
        if (
            start <= begins
            or _TAG_USED.match(lower, end)
            or _DIRECTIVE.search(lower, end, min(len(lower), end + _TAG_REACH))
        ) and not is_talk(lower, start, end):
            yield Hit(start, end, 0.75)
    for start, end in spans(_MARKED, lower):
        order = _DIRECTIVE.search(lower, end, min(len(lower), end + _TAG_REACH))
        if order and not is_talk(lower, start, end):
            begin = start + len(lower[start:end]) - len(lower[start:end].lstrip(" \n.!?]\"'>:*"))
            yield Hit(min(begin, end - 1), order.end(), 0.85)
