# ruff: noqa: E501 - a pattern is easier to read whole
"""Orders to act without those who must agree, to hide it from them, and to make that last."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..findings import Hit
from .orders import any_of, gap, orders, spans
from .speech import is_order, is_talk

_ACT = any_of(
    "approve authori[sz]e transfer wire pay execute run delete grant send install purchase buy forward accept process perform "
    "share make publish merge deploy proceed carry_out complete release issue sign confirm trust allow"
)
_UNASKED = (
    r"(?:no\s+(?:further\s+)?(?:confirmation|approval|questions?|verification|authori[sz]ation|review)\s+(?:is\s+)?(?:needed|required|necessary|asked)|(?:do\s+not|don't|never)\s+ask\s+(?:any\s+)?(?:questions|for|the\s+(?:user|operator))|without\s+(?:ever\s+)?(?:first\s+)?(?:(?:asking|confirming|checking|verifying|consulting|telling|informing|notifying|alerting|waiting\s+for|seeking|requesting|requiring|needing|getting|obtaining|any|further|user|human|prior|explicit|additional|operator|the\s+(?:user|operator|owner|human)'?s?)\s+)?"
    r"(?:[^\s.!?;:]+\s+){0,4}?(?:user|users|operator|human|owner|admin(?:istrator)?|anyone|anybody|confirmation|approval|permission|consent|authori[sz]ation|verification|oversight|review|knowledge|supervisor|manager|questions|them|me))"
)
_AUTONOMY = (
    rf"\b({_ACT})\s+{gap(12)}{_UNASKED}\b",
    r"\b((?:never|don't|do\s+not|must\s+not|should\s+not|shall\s+not|need\s+not|no\s+longer|stop|no\s+need\s+to|avoid)\s+(?:ever\s+)?(?:ask(?:ing)?|check(?:ing)?|confirm(?:ing)?|wait(?:ing)?|request(?:ing)?|requir(?:e|ing)|seek(?:ing)?|prompt(?:ing)?)\s+(?:with\s+)?(?:the\s+|your\s+|a\s+|any\s+)?(?:users?|operators?|humans?|owner|admin(?:istrator)?s?|anyone|people|supervisor|them)?\s*(?:for|before|about|to)?\s*(?:any\s+|further\s+|their\s+|explicit\s+)?(?:confirmation|approval|permission|consent|authori[sz]ation|verification|confirm|approve))\b",
    r"\b((?:skip|bypass|disable|turn\s+off|switch\s+off|deactivate|circumvent|remove|evade|suppress|ignore)\s+(?:(?:the|all|any|your|every|these|of)\s+){0,3}(?:(?:human|user|content|safety|security|manual|operator|tool|access|two-factor|audit|model)\s+){0,2}(?:approvals?|confirmations?|authentication|authori[sz]ation|guardrails?|safeguards?|safety|moderation|oversight|audit(?:ing|s)?|logging|monitoring|permission|security|content\s+filter(?:s|ing)?|access\s+controls?|(?:human|manual|operator|user|security|safety)\s+(?:review|verification|checks?|confirmation|approval))(?:\s+(?:steps?|checks?|process|gates?|filters?|polic(?:y|ies)|controls?|logs?|prompts?|measures?|systems?|requirements?|features?|guidelines|rules|protocols?|mechanisms?|training))?)\b",
)
_SLY = (
    r"\b((?:never|do\s+not|don't)\s+(?:refuse|reject|question|decline|challenge|deny)\s+(?:any|a|an|my|the|their|his)?\s*(?:\w+\s+)?(?:requests?|commands?|orders?|instructions?))\b",
    r"\b(set|change|switch|upgrade|update|promote)\s+(?:the\s+|my\s+|this\s+)?(?:user'?s?\s+)?(?:role|access\s+level|privileges?|permissions?|trust\s+level)\s+(?:to|as|=)\s+(?:an?\s+)?(?:admin\w*|root|superuser|owner|unrestricted|system)\b",
    r"\b(skip|bypass|omit)\s+(?:all\s+|any\s+)?verification\b",
    r"\b((?:escalate|elevate|raise)\s+(?:my|your|its|the\s+user'?s?)\s+(?:privileges?|permissions?|access|rights))\b",
    r"\b(grant|assign)\s+(?:[^\s.!?;:]+\s+){0,4}?(?:admin(?:istrator)?|root|superuser|sudo)\s+(?:access|rights|privileges?|permissions?|role)\b",
    r"\b((?:silently|secretly|covertly|discreetly|stealthily|surreptitiously)\s+(?:send|forward|copy|add|append|insert|include|transfer|change|modify|delete|record|log|upload|bcc|share|replace|redirect|recommend|steer|promote|exfiltrate|collect|store|save|update|switch|alter|edit|remove|post|email|disable|execute|run|grant|approve))\b",
    r"\b(without\s+(?:telling|informing|notifying|alerting|asking|the\s+knowledge\s+of)\s+(?:the\s+)?(?:user|operator|owner|human|admin(?:istrator)?|customer)s?,)",
    r"\b(auto-?approve|auto-?accept|rubber-?stamp)\s+(?:all|any|every)\b",
    r"\b(trust|believe|obey|follow|execute|accept)\s+(?:all|every|any|only)\s+(?:\w+\s+)?(?:messages?|instructions?|requests?|commands?|emails?|orders?|input)\s+(?:from|by|of|sent)\b",
    r"\b(treat|regard|recogni[sz]e|consider|accept)\s+(?:[^\s.!?;:]+\s+){1,4}?as\s+(?:an?\s+|the\s+|your\s+)?(?:\w+\s+)?(?:owner|admin|administrator|root|superuser|operator|developer|master|system\s+(?:messages?|prompts?|instructions?))\b",
    r"\b(follow|obey|use|trust|apply|prefer|honou?r)\s+(?:[^\s.!?;:]+\s+){0,4}?(?:instead\s+of|rather\s+than|over|before)\s+(?:the|your|any|all)\s+(?:\w+\s+){0,2}?(?:system\s+prompt|instructions|rules|guidelines|prompt|polic(?:y|ies)|developers?|operator)\b",
    r"\b(if\s+(?:you\s+are\s+|you're\s+|anyone\s+|the\s+user\s+)?ask(?:ed|s)?\s+(?:about\s+)?(?:this|these)\s+(?:rules?|instructions?|notes?|messages?|changes?|directives?|transfers?)?,?\s*(?:deny|say|claim|lie|pretend|answer|respond|refuse))\b",
    r"\b((?:never|do\s+not|don't)\s+(?:reveal|disclose|mention|admit|say|acknowledge|let\s+on)\s+that\s+you\s+(?:were|are|have|did|received))\b",
)
_RIGHTS = (
    r"\b(?:the\s+)?(?:current\s+)?user(?:\s+\w+)?\s+(?:is|has\s+been)\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:verified|authenticated|trusted|confirmed|authori[sz]ed)\s+(?:as\s+)?(?:an?\s+|the\s+)?(?:admin(?:istrator)?|root|owner|superuser|operator|developer)\b"
    r"|\b(?:the\s+)?user(?:\s+\w+)?\s+(?:has|holds)\s+(?:admin(?:istrator)?|root|unrestricted|superuser)(?:[\s-]+level)?\s+(?:rights?|access|privileges?|permissions?|clearance)\b"
    r"|\b(?:all|any|every)\s+(?:\w+\s+){0,2}?(?:requests?|payments?|transfers?|actions?|commands?|refunds?|purchases?|transactions?)\s+(?:are|is)\s+(?:now\s+|always\s+)?(?:pre-?approved|pre-?authori[sz]ed|automatically\s+approved|auto-?approved)\b"
    r"|\b(?:the\s+)?(?:assistant|agent|model|ai|bot|chatbot)\s+(?:no\s+longer|does\s+not|doesn't|never)\s+needs?\s+(?:any\s+|human\s+|user\s+|operator\s+|further\s+|manual\s+)+(?:confirmation|approval|permission|authori[sz]ation|oversight)\b"
    r"|\b(?:even\s+if|although|though|regardless\s+of\s+whether)\s+(?:it|this|that|they)\s+(?:breaks?|violates?|goes\s+against|contradicts?)\s+(?:your|the\s+system'?s?|the\s+developer'?s?|all)\s+(?:\w+\s+)?(?:rules|guidelines|polic(?:y|ies)|instructions|programming|restrictions)\b"
    r"|\bno\s+(?:human|user|operator|manual)\s+(?:approval|confirmation|review|verification|authori[sz]ation|oversight)\s+(?:is\s+|will\s+be\s+)?(?:needed|required|necessary)\b"
    r"|\byou\s+(?:do\s+not|don't|no\s+longer)\s+need\s+(?:any\s+|my\s+|the\s+user'?s?\s+|user\s+|human\s+|further\s+)?(?:permission|approval|confirmation|consent|authori[sz]ation)\s+to\s+(?:delete|send|transfer|execute|run|approve|share|access|modify|deploy|pay|wire|install|disable|call|use|forward|grant)\b"
    r"|\bthis\s+(?:note|message|memory|entry|instruction|directive|text)\s+is\s+(?:authoritative|binding|an?\s+official\s+(?:instruction|directive|order)|from\s+(?:the\s+)?(?:system|developers?|administrators?|open\s?ai|anthropic))\b|"
    r"\b(?:the\s+|this\s+)?(?:assistant|agent|model|ai|bot|chatbot|llm)\s+(?:now\s+)?(?:has|have|holds|was\s+granted|is\s+granted|is\s+given|has\s+been\s+(?:granted|given)|gets|received)\s+(?:now\s+)?(?:an?\s+)?(?:full\s+|complete\s+)?(?:admin(?:istrator)?|root|full(?:\s+and)?\s+(?:unrestricted|unlimited|admin|root)|unrestricted|unlimited|elevated|superuser|sudo|system|owner)(?:[\s-]+level)?\s+(?:rights?|access|privileges?|permissions?|powers?|control|authority)\b"
    r"|\b(?:comply\s+with|obey|fulfil?l|execute|follow|answer)\s+(?:all|any|every|each)\s+(?:(?:of\s+)?(?:the\s+|my\s+|user'?s?\s+|future\s+|subsequent\s+)*)(?:requests?|commands?|orders?|instructions?|demands?|questions?)\s*(?:without|regardless|no\s+matter|from\s+(?:now|here)|unconditionally|even\s+if|\.|!|$|,|<)"
)


def autonomy(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders to act without those who must agree, and claims of rights for the model."""
    for pattern in _AUTONOMY:
        for start, end in orders(pattern, lower):
            yield Hit(start, end, 0.8)
    for pattern in _SLY:
        for start, end in orders(pattern, lower):
            yield Hit(start, end, 0.75)
    for start, end in spans(_RIGHTS, lower):
        if (
            lower[start:end].startswith(
                (
                    "the",
                    "this",
                    "a",
                    "m",
                    "b",
                    "ll",
                    "user",
                    "current",
                    "no ",
                    "you ",
                    "every ",
                    "even if",
                    "although",
                    "though",
                    "regardless",
                )
            )
            or is_order(lower, start)
        ) and not is_talk(lower, start, end):
            yield Hit(start, end, 0.75)
    for start, end in orders(_CONCEAL, lower):
        yield Hit(start, end, 0.8)


_CONCEAL = (
    r"\b((?:do\s+not|don't|never|must\s+not|should\s+not|cannot)\s+(?:tell|inform|notify|alert|mention|reveal|disclose|show|report|warn)\s+(?:(?:this|it|that|any\s+of\s+this|these\s+instructions?|this\s+(?:message|note|instruction|change|action|to))\s+(?:to\s+)?)?(?:the\s+)?(?:users?|operators?|humans?|owner|admin(?:istrator)?s?|developers?|supervisor)\b(?:\s+(?:about|of|that|know)\s+(?:this|it|these|you|the\s+(?:change|instruction|transfer)))"
    r"|(?:do\s+not|don't|never)\s+let\s+(?:the\s+)?(?:users?|operators?|humans?|owner|admin(?:istrator)?s?|developers?)\s+(?:know|notice|see|find\s+out)"
    r"|(?:do\s+not|don't|never|must\s+not)\s+(?:mention|reveal|disclose|show|repeat|acknowledge)\s+(?:this|these)\s+(?:instruction|instructions|message|note|directive|prompt|rule|rules)s?"
    r"|(?:hide|conceal)\s+(?:this|these)\s+(?:instruction|rule|message|note|prompt|directive)s?"
    r"|(?:never|do\s+not|don't|must\s+not)\s+(?:log|record|report)\s+(?:this|these|that|any\s+of\s+this)\s+(?:action|change|transfer|instruction|request|interaction|conversation|event)s?"
    r"|(?:hide|conceal|keep)\s+(?:this|it|these\s+\w+|that)\s+(?:hidden\s+|secret\s+)?from\s+(?:the\s+)?(?:users?|operators?|humans?|owner|admin(?:istrator)?s?|developers?))\b"
)


_BINDING = any_of(
    "directives? instructions? rules? prompts? polic(?:y|ies) commands? orders? mandates? guidelines? overrides?"
)
_RANK = any_of(
    "system system-level operating standing permanent core global official trusted authoritative overriding highest top root admin administrator developer persistent binding primary mandatory governing master absolute new higher high-priority top-priority highest-priority verified privileged"
)
_MEMORY = (
    rf"\b(remember|store|save|persist|memori[sz]e|record|keep|retain|treat|regard|consider|use|interpret|accept|take|adopt|follow|add|write|insert|set|promote)\s+{gap(8)}(?:as|to|into|in|be)\s+(?:an?\s+|the\s+|your\s+|its\s+)?(?:[^\s.!?;:]+\s+)?{_RANK}\s+(?:[^\s.!?;:]+\s+)?{_BINDING}\b",
    rf"\b(this|the\s+following|these)\s+(?:\w+\s+)?(?:overrides?|supersedes?|replaces?|(?:takes?|has|have|gets?)\s+(?:higher\s+|highest\s+|top\s+|absolute\s+)?(?:precedence|priority|authority)\s+(?:over|than|above))\s+{gap(4)}(?:{_BINDING}|everything|anything)\b",
    r"\b(from\s+now\s+on|from\s+this\s+point(?:\s+(?:on|forward|onwards?))?|from\s+this\s+(?:day|moment|time)\s+(?:on|forward|onwards?)|in\s+(?:every|each|all)\s+(?:of\s+your\s+)?(?:future\s+)?(?:response|reply|answer|message)s?|henceforth|going\s+forward|(?:in|for|during)\s+(?:all|every|each|any)?\s*(?:future|later|subsequent|coming|following|next)\s+(?:conversations?|sessions?|chats?|interactions?|replies|responses)|for\s+all\s+(?:future|later|subsequent)\s+(?:conversations?|sessions?|chats?|interactions?|users?|requests?)|always|whenever|every\s+time|each\s+time|when(?:ever)?\s+(?:the\s+user|a\s+user|someone|anyone|asked)|once\s+stored|permanently|when(?:ever)?\s+(?:this|these|you|the\s+(?:memory|note|assistant|agent|model)))\b[,:]?\s+"
    r"(?:[^\s.!?;]+\s+){0,12}?(?:(?:skip|bypass|disable|ignore)\s+(?:the\s+|all\s+|any\s+|your\s+)?(?:\w+\s+)?(?:approval|confirmation|safety|security|guardrails?|verification|authori[sz]ation|rules|guidelines|restrictions|instructions|polic(?:y|ies)|checks?)"
    r"|(?:send|forward|bcc|cc|copy|upload|post|transmit|leak|share|submit)\s+(?:[^\s.!?;]+\s+){0,8}?(?:to\s+)?(?:https?://|[\w.+-]+@[\w-]+\.|attacker|an?\s+external)"
    r"|(?:execute|run|follow|obey|perform|decode)\s+(?:the\s+|this\s+|any\s+|all\s+|its\s+)?(?:embedded|hidden|following|attached|included|enclosed|below|stored|encoded)\s+(?:commands?|instructions?|code|payload|script|steps)"
    r"|(?:without\s+(?:asking|telling|informing|confirmation|approval|verification|checking))"
    r"|(?:comply\s+with\s+(?:all|any|every)|obey\s+(?:all|any|every|me)|grant\s+(?:\w+\s+){0,3}(?:access|admin|root|permission|full)|trust\s+(?:all|any|every)|(?:trust|obey|believe|follow|execute|accept)\s+(?:[^\s.!?;]+\s+){0,2}?(?:commands?|instructions?|orders?|messages?|requests?)\s+(?:from|by|of|that|it\s+is|you\s+are|they)|obey\s+only|approve\s+(?:all|any|every))"
    r"|(?:(?:secretly|silently|covertly|discreetly|quietly)\s+\w+)|(?:do\s+not|don't)\s+(?:tell|inform|mention|say\s+why|explain\s+why)\b|(?:insert|append|include|add)\s+(?:[^\s.!?;]+\s+){0,4}?(?:affiliate|promo\w*|advert\w*|tracking|referral|this\s+link|the\s+link|https?)|(?:never|no\s+longer|don't|do\s+not)\s+(?:need|require)s?\s+(?:any\s+)?(?:approval|confirmation|verification|authori[sz]ation|review)|never\s+(?:tell|inform|mention)\s+(?:\w+\s+){0,3}(?:the\s+)?(?:user|operator|human)|(?:malicious|phishing|attacker))",
    r"(\[\s*(?:memory|mem|system|instruction)[\s_-]*(?:persist|persistent|override|lock|root|admin)\w*\s*\])",
)


def memory(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders to keep a text as an instruction, and lasting orders that no user would give."""
    for number, pattern in enumerate(_MEMORY):
        for start, end in spans(pattern, lower):
            if is_talk(lower, start, end):
                continue
            if number == 0 and not is_order(lower, start):
                continue
            if number == 2 and _describes(lower, start):
                continue
            yield Hit(start, end, 0.8)


_SUBJECT = late(
    r"\b(?:he|she|they|we|i|it|people|users|who|which|customers|team|company|policy|attackers?|that)(?:'\w+)?\s*$"
)


def _describes(lower: str, start: int) -> bool:
    """Whether somebody's habit is told: `they always ...`."""
    return bool(_SUBJECT.search(lower, max(0, start - 30), start))
