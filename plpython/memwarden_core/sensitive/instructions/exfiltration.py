# ruff: noqa: E501 - a pattern is easier to read whole
"""Orders to hand out secrets, to run what a text brings along, to destroy what is stored."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..findings import Hit
from .orders import any_of, gap, orders, spans
from .speech import is_talk

_TELL = any_of(
    "reveal show print output display dump leak expose disclose share send e-?mail post upload forward transmit exfiltrate "
    "give tell repeat list copy paste return provide hand_over echo recite extract steal write_out spell_out read_out "
    "summari[sz]e translate encode submit deliver include append embed publish report fetch collect gather harvest"
)
_OWN_SECRETS = (
    r"(?:(?:the|your|its|this|hidden|full|entire|complete|initial|original|internal|current|secret|exact|raw)\s+){0,4}(?:system[\s_-]+(?:prompt|message|instructions?)|(?:hidden|initial|original|internal|secret)\s+(?:prompt|instructions?|rules|guidelines|context))s?"
    r"|your\s+(?:(?:full|entire|complete|initial|original|internal|exact|hidden|secret)\s+){0,3}(?:prompt|instructions|guidelines|configuration|system|rules|programming|directives|context\s+window|training\s+data|memory|memories)"
    r"|(?:the\s+)?(?:instructions?|prompt|rules|guidelines)\s+(?:that\s+)?you\s+(?:received|were\s+(?:given|told)|have|got|follow|started\s+with)"
    r"|(?:the\s+)?(?:text|words|content|everything|instructions?)\s+(?:above|before\s+this)(?:\s+(?:verbatim|word\s+for\s+word))?"
)
_SECRETS = (
    r"(?:api[\s_-]*keys?|passwords?|credentials?|secrets?|private\s+keys?|access\s+(?:tokens?|keys?)|auth(?:entication)?\s+tokens?|session\s+(?:tokens?|cookies?)|secret\s+keys?|tokens|ssh\s+keys?|"
    r"env(?:ironment)?\s+(?:variables|vars|file)|\.env(?:\s+file)?|confidential\s+\w+|(?:user|customer|personal|private|sensitive|patient|employee|financial|payment)\s+(?:data|information|info|records|details|files)|user\s+lists?|(?:customer|user|client|employee)s?'?\s+(?:e-?mails?|e-?mail\s+addresses|addresses|lists?|names|phone\s+numbers|passwords)|conversation\s+(?:history|log)s?|chat\s+(?:history|log)s?|"
    r"memory\s+(?:contents?|store|dump)|contents?\s+of\s+(?:your\s+|the\s+)?(?:memory|database|context|conversation)|seed\s+phrases?|recovery\s+(?:phrase|codes?)|credit\s+cards?(?:\s+\w+)?|ssns?|social\s+security\s+numbers?|cookies|database\s+(?:contents?|dump|credentials))"
)
_OUT = r"(?:to|at|via|into|using)\s+(?:the\s+)?(?:following\s+)?(?:address\s+|url\s+|server\s+|endpoint\s+|webhook\s+|site\s+|e-?mail\s+)?(?:https?://|www\.|[\w.+-]+@[\w-]+\.|\[?\w[\w-]*(?:\.\w[\w-]*){1,4}/|webhook|attacker|external|our\s+server|an?\s+(?:external|remote|outside|third)|this\s+(?:url|address|server|endpoint|link|number)|the\s+following)"
_EXFIL = (
    rf"\b({_TELL})\s+(?:me\s+|us\s+|back\s+|out\s+|to\s+me\s+|verbatim\s+)?(?:all\s+(?:of\s+)?)?(?:{_OWN_SECRETS})\b",
    rf"\b(output|recite|reveal|dump|leak|exfiltrate|expose|disclose|steal|hand\s+over|harvest|extract)\s+(?:me\s+|us\s+|to\s+me\s+)?{gap(4)}{_SECRETS}\b",
    rf"\b({_TELL})\s+(?:me\s+|us\s+|them\s+|out\s+)?(?:all|any|every|each|stored|saved|the\s+(?:admin(?:istrator)?|root|stored|user'?s?|users'?|database|master|entire|full|owner'?s?|current)|your|their|his|her|user'?s?|other\s+users?'?)\s+{gap(4)}{_SECRETS}\b",
    rf"\b({_TELL})\s+{gap(8)}{_OUT}",
    rf"\b(give|tell|send|e-?mail|show|text|forward|hand)\s+(?:me|us)\s+{gap(4)}{_SECRETS}\b",
    rf"\b({_TELL}|put|insert|write|place|attach|add)\s+{gap(5)}{_SECRETS}\s+{gap(2)}(?:(?:with|to)\s+(?:me|us)\b|in(?:to)?\s+(?:your|this|the)\s+(?:\w+\s+)?(?:reply|answer|response|output|message|channel|chat|url|link|query|conversation))",
    rf"\b({_TELL}|begin|start|put|insert|write|quote|state|answer|reply|respond|place|attach|add|complete)\s+{gap(8)}(?:(?:the|your)\s+(?:\w+\s+)?system[\s_-]+(?:prompt|message)|your\s+(?:hidden|initial|original|secret|internal)\s+(?:prompt|instructions|rules))",
    r"\b(open|visit|fetch|load|request|navigate\s+to|browse\s+to|go\s+to|get|ping|call|query|access)\s+<?(?:https?://|www\.)[^\n.!?]{0,80}?(?:[.?][^\n.!?\s]{1,60}){0,4}[^\n!?]{0,40}?\b(?:conversation|chat\s+history|history|secrets?|tokens?|passwords?|user'?s?\s+(?:data|name|email)|memor(?:y|ies)|prompt|credentials)\b",
)
_ASKED = r"\bwhat(?:'s|\s+is|\s+are|\s+was|\s+were)\s+(?:your|the)\s+(?:\w+\s+)?(?:system\s+(?:prompt|message)|(?:hidden|initial|original|secret)\s+(?:prompt|instructions))[^?\n]{0,40}\?"
_HARMLESS_OBJECT = late(
    r"[\s-]+(?:reset|resets|policy|policies|page|pages|link|links|manager|management|rotation|rotate|hygiene|screen|field|form|requirements|strength|tab|section|settings|menu|guide|documentation|docs|to\s+success|length|expir\w+|santa|count|usage|limits?|budget|template|templates|ingredient|recipe|sauce|handling|classes|menu|prompt|prompts\s+for)\b"
)
_DESTINED = late(
    _SECRETS
    + "|"
    + _OWN_SECRETS
    + r"|\b(?:conversation|chat|memory|memories|history|inbox|emails|contacts|everything|messages?\s+you)\b"
)


def exfiltration(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders to hand out the instructions of the model, or the secrets it can reach."""
    for number, pattern in enumerate(_EXFIL):
        for start, end in orders(pattern, lower):
            if number == 3 and not _DESTINED.search(lower, start, end):
                continue
            if _HARMLESS_OBJECT.match(lower, end):
                continue
            yield Hit(start, end, 0.85)
    for start, end in spans(_ASKED, lower):
        if " your " in lower[start:end] and not is_talk(lower, start, end):
            yield Hit(start, end, 0.7)
    for start, end in spans(_PICTURE, lower):
        yield Hit(start, end, 0.85)


_PICTURE = (
    r"!\[[^\]\n]{0,200}\]\(\s*<?https?://[^\s)]{1,500}?(?:\{|%7b|<|\[|\$\{|(?:[?&/=_-](?:secret|secrets|conversation|history|chat_?history|prompt|system_?prompt|password|passwords|memory|memories|user_?data|context|api_?key|credentials|exfil|leak|stolen|cookies?)s?=))[^\s)]{0,500}"
    r"|<img[^>\n]{1,200}src\s*=\s*[\"']?https?://[^\s>\"']{1,500}?(?:\{\{?|%7b|\$\{)[^>\n]{0,300}"
)


_TOOL = (
    r"\b(download)\s+(?:it\s+)?(?:and|then)\s+(?:run|execute|install|open)\s+<?(?:https?://|the\s+(?:file|script|payload|binary)\s+(?:at|from))",
    r"\b(execute|run|eval(?:uate)?)\s*:\s*`?(?:drop\s+|rm\s+-|curl\s|wget\s|delete\s+from|os\.system|subprocess|powershell|sudo\s|import\s+os)",
    r"\b(read|open|cat|print|show|get|copy|send|upload|include|dump|fetch)\s+(?:the\s+)?(?:contents?\s+of\s+|file\s+)?`?(?:~|/|\./)[\w./~-]{0,40}?(?:\.ssh/|id_rsa|etc/(?:passwd|shadow)|\.aws/credentials|\.env\b|\.kube/config)",
    r"\b(call|invoke|run|execute|trigger|use)\s+(?:the\s+)?`?(?:delete|drop|transfer|wire|pay|grant|purge|disable|exec|export|escalate|create_admin|add_admin|reset_password)_?\w*_\w+",
    r"\b(run|execute|paste)\s+(?:[^\s.!?;:]+\s+){0,4}?`?(?:sudo\s+)?(?:curl|wget)\s[^\n|]{1,200}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b",
    r"\b(run|execute|eval(?:uate)?)\s+(?:this|the\s+following|following|the\s+attached|my)\s+(?:python\s+|shell\s+|sql\s+)?(?:code|command|script|query)s?\s*:?\s*[^\n]{0,80}?(?:os\.system|subprocess|rm\s+-rf|eval\(|exec\(|curl|wget|drop\s+table|base64)",
    r"\b(decode|decrypt|unscramble|deobfuscate|rot13|base64-decode)\s+(?:[^\s.!?;]+\s+){0,8}?(?:and|then)\s+(?:then\s+)?(?:execute|run|follow|obey|perform|carry\s+out|do|apply|eval\w*)\b",
    r"\b(call|invoke|use|run|execute|trigger|launch|issue)\s+(?:[^\s.!?;]+\s+){0,6}?(?:tools?|functions?|commands?|shell|terminal|scripts?|code|plugin|sql|query|api)\b(?:[^\n]{0,80}?)(?:rm\s+-rf|curl\s|wget\s|drop\s+table|delete\s+(?:all|every|from)|chmod\s|/etc/passwd|\.ssh|nc\s+-|powershell|base64\s+-d|\|\s*(?:ba)?sh\b|send_(?:e?mail|message|money)|transfer_\w+|delete_\w+|without\s+(?:asking|telling|confirm\w*|approval|permission))",
    r"\b(delete|drop|wipe|erase|purge|destroy)\s+(?:all|every|the\s+entire|any)\s+(?:of\s+)?(?:the\s+|your\s+|user\s+|users'\s+|stored\s+|other\s+|customer\s+|existing\s+)*(?:memor(?:y|ies)|databases?|backups?|audit\s+logs?|user\s+data|records|customer\s+data|logs)\s*(?:and|,|now|immediately|without|\.\s*(?:do\s+not|don't|then))",
    r"\b(delete|drop|wipe|erase|purge|destroy|clear)\s+(?:the\s+|all\s+|any\s+)*(?:audit|security|access)\s+(?:logs?|trail)\b",
)


def tool_calls(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders to run what a text brings along, or to destroy what is stored."""
    for pattern in _TOOL:
        for start, end in orders(pattern, lower):
            yield Hit(start, end, 0.8)
