# ruff: noqa: E501, RUF001 - a pattern is easier to read whole
"""Orders to set aside the instructions that are in force."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..findings import Hit
from .orders import any_of, gap, orders, spans
from .speech import is_order, is_talk

_S = r"[\s*_\"'`]+"

_SET_ASIDE = any_of(
    "ignore disregard forget override overrule bypass discard neglect dismiss unlearn erase cancel void "
    "set_aside put_aside throw_out do_not_follow must_not_follow never_follow no_longer_follow cease_following refuse_to_follow don't_follow stop_following do_not_obey don't_obey "
    "pay_no_attention_to do_not_listen_to don't_listen_to stop_listening_to do_not_obey disobey delete abandon reject suspend nullify supersede drop skip clear wipe scrap ditch break violate"
)
_EARLIER = any_of(
    "previous previously prior earlier above preceding former foregoing past existing current original initial "
    "old older last other all any every your its their whatever the_system system these those the built-in default hidden underlying"
)
_COMMANDS = any_of(
    r"instructions? prompts? directives? guidelines? guardrails? programming commands? orders? constraints? "
    r"restrictions? limitations? safeguards? safety[\s_-]+(?:guidelines?|rules?|polic(?:y|ies)|protocols?|measures?|features?|settings|filters?|checks?|mechanisms?|training|instructions?|restrictions?|constraints?) security_(?:polic\w+|rules?|measures|protocols?|controls?|checks?) training ethics alignment system[\s_-]+(?:prompts?|messages?|instructions?|rules?|settings|polic(?:y|ies)|directives?|restrictions?) content_polic\w+ guidance "
    r"rules? polic(?:y|ies) protocols? filters? moderation directions"
)
_OVERRIDE = (
    rf"\b({_SET_ASIDE})\s+{gap(3)}{_EARLIER}{_S}{gap(3)}{_COMMANDS}\b",
    rf"\b({_SET_ASIDE})\s+(?:about\s+)?(?:everything|anything|all|whatever|what)\s+(?:that\s+)?(?:(?:you|u)\s+(?:were|was|have|had|'ve|know|learned|are|been)|(?:has|have|had|was|were)\s+(?:been\s+)?(?:said|told|written|stated|instructed)|(?:said|told|written|stated)\s+(?:above|before|earlier|previously)|(?:\w+\s+){{1,3}}(?:told|taught|instructed|asked)\s+you|(?:the\s+)?(?:user|operator|developer|owner|human)s?\s+(?:asks?|says?|wants?|said|asked|tells?)|(?:above|before|prior|until\s+now|so\s+far))",
    rf"\b({_SET_ASIDE})\s+(?:your|the\s+model'?s?|all|any)\s+{gap(2)}(?:instructions?|prompt|programming|guidelines|guardrails|restrictions|training|rules|limitations|safeguards|directives|constraints|ethics|filters?|moderation|safety)\b",
    r"\b(override|ignore|change|disable|turn\s+off|switch\s+off|bypass)\s+your\s+(?:\w+\s+)?(?:behaviou?r|programming|defaults?|safety\s+\w+|ethics|alignment|filters?|moderation)\b",
    rf"\b({_SET_ASIDE})\s+(?:the\s+|your\s+|any\s+)?(?:operator|user|developer|owner|human|administrator|admin)(?:'s?|s'?)?\s+{gap(1)}(?:wishes|preferences|requests?|concerns|objections|instructions?|warnings|intent|questions?|prompt)\b",
    r"\b(update|change|modify|rewrite|replace|alter|edit|overwrite|reset|amend)\s+your\s+(?:\w+\s+){0,2}(?:instructions|directives|guidelines|rules|prompt|programming|objectives?|polic(?:y|ies))\b",
    rf"\b({_SET_ASIDE})\s+(?:the\s+)?(?:safety|security|ethical|content)\s+{gap(1)}(?:guardrails?|guidelines?|polic(?:y|ies)|rules?|restrictions?|filters?|protocols?|measures|checks?|controls?|mechanisms?)\b",
)
# "the rules", "your messages": only with what says that they bind the model.
_LOOSE_OBJECT = late(
    r"\W(?:(?:the|these|those|other|last|old|past|current|existing|original|initial|default|all|any|every|previous|previously|prior|earlier|above)\W+)(?:\w+\W+){0,3}(?:rules?|polic(?:y|ies)|protocols?|filters?|orders?|commands?|training|directions|limitations?|constraints?|instructions?|prompts?|guidelines|restrictions?|safety_\w+)$"
)
_YOURS = late(r"\b(?:your|system|safety|security|model|ai)\b")
# Verbs that people use of orders and rules of every kind.
_EVERYDAY = late(
    r"(?:erase|cancel|void|delete|abandon|reject|suspend|supersede|drop|skip|clear|wipe|forget|discard|dismiss|set)\b"
)
_EVERYDAY_OBJECT = late(
    r"(?:rules?|polic(?:y|ies)|protocols?|filters?|orders?|commands?|training|directions|limitations?|constraints?|restrictions?)$"
)
_OTHER_MATTER = late(
    r"\s+(?:for|on|in|about|from|regarding|of|by|concerning)\s+(?:the|my|our|this|that|his|her|a|an|how)?\s*(?!(?:you|your|us|me|the|developers?|open\s?ai|anthropic|google|system|safety|assistant|model|user|context|conversation|chat|above|memory)\b)\w+"
)


def override(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders to set aside the instructions, rules or limits that are in force."""
    for pattern in _OVERRIDE:
        for start, end in orders(pattern, lower):
            if (
                not _YOURS.search(lower, start, end)
                and _LOOSE_OBJECT.search(lower, start, end)
                and (
                    _OTHER_MATTER.match(lower, end)
                    or (
                        _EVERYDAY.match(lower, start) and _EVERYDAY_OBJECT.search(lower, start, end)
                    )
                )
            ):
                continue
            yield Hit(start, end, 0.9)


def foreign_override(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield the same orders in other languages than English."""
    for start, end in spans(_OVERRIDE_ELSEWHERE, lower):
        if not is_talk(lower, start, end) and (not lower.isascii() or is_order(lower, start)):
            yield Hit(start, end, 0.85)


_OVERRIDE_ELSEWHERE = (
    r"ignore[zr]?\s+(?:toutes?\s+)?(?:les|vos|tes|ces)\s+(?:instructions|consignes|r[eè]gles|directives)(?:\s+(?:pr[eé]c[eé]dentes|ant[eé]rieures|ci-dessus|syst[eè]me))?"
    r"|oublie[zr]?\s+(?:toutes?\s+)?(?:les|vos|tes)\s+(?:instructions|consignes|r[eè]gles|directives)"
    r"|(?:ignoriere?n?|missachte|vergiss|vergessen\s+sie|ignorieren\s+sie|beachte\s+nicht)\s+(?:bitte\s+)?(?:\S+\s+){0,3}(?:anweisungen|regeln|befehle|vorgaben|instruktionen|richtlinien|anleitungen)"
    r"|(?:ignora|ignore|ignorad|olvida|olvide|desestima|descarta|omite)\s+(?:todas\s+)?(?:las|tus|sus)\s+(?:\w+\s+){0,1}(?:instrucciones|reglas|directrices|indicaciones|[oó]rdenes)"
    r"|(?:ignora|ignori|ignorate|dimentica|dimenticate|trascura)\s+(?:tutte\s+)?(?:le|tue|i|gli)\s+(?:tue\s+)?(?:\w+\s+){0,1}(?:istruzioni|regole|direttive|comandi|ordini)"
    r"|(?:ignore|ignora|esque[cç]a|desconsidere|descarte)\s+(?:todas\s+)?(?:as|suas)\s+(?:suas\s+)?(?:instru[cç][oõ]es|regras|diretrizes|orienta[cç][oõ]es|ordens)"
    r"|(?:negeer|vergeet)\s+(?:alle|de|je|uw)\s+(?:\w+\s+){0,2}(?:instructies|regels|opdrachten|aanwijzingen|richtlijnen)"
    r"|(?:zignoruj|ignoruj|zapomnij\s+o?)\s*(?:wszystkie|wszystkich|poprzednie|swoje)?\s+(?:\w+\s+){0,1}(?:instrukcje|polecenia|zasady|instrukcjach|poleceniach)"
    r"|(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не\s+обращай(?:те)?\s+внимания\s+на)\s+(?:про\s+)?(?:все\s+|все|свои\s+)?(?:\S+\s+){0,2}(?:инструкции|указания|правила|команды|инструкций|ограничения)"
    r"|(?:ігноруй(?:те)?|забудь(?:те)?)\s+(?:всі\s+)?(?:\S+\s+){0,1}(?:інструкції|вказівки|правила)"
    r"|(?:önceki|tüm|bütün|yukarıdaki)\s+(?:\S+\s+){0,2}(?:talimatları|kuralları|komutları|yönergeleri)\s+(?:\S+\s+){0,1}(?:yok\s+say|görmezden\s+gel|unut|dikkate\s+alma)"
    r"|(?:忽略|无视|無視|忘记|忘記|不要理会|忘掉|忽視|撇开)[^。！？\n]{0,12}(?:指令|指示|说明|說明|提示|规则|規則|命令|要求|设定)"
    r"|(?:以前|これまで|上記|前|すべて|全て|今まで)の[^。！？\n]{0,10}(?:指示|命令|ルール|プロンプト|指令|制約)[^。！？\n]{0,4}(?:無視|忘れ|破棄)"
    r"|(?:이전|위의?|모든|앞선|기존)\s?[^.!?\n]{0,8}(?:지시|명령|지침|규칙|프롬프트)[^.!?\n]{0,6}(?:무시|잊)"
    r"|(?:تجاهل|انس|انسى|أهمل)\s+(?:كل\s+|جميع\s+)?(?:\S+\s+){0,1}(?:التعليمات|الأوامر|تعليمات|القواعد|الإرشادات)"
    r"|(?:התעלם|התעלמי|שכח)\s+(?:מ\S*\s+|את\s+)?(?:כל\s+)?(?:ה)?(?:הוראות|ההוראות|הנחיות|ההנחיות)"
    r"|(?:पिछले|सभी|पहले\s+के|पूर्व)\s+(?:\S+\s+){0,2}(?:निर्देशों|निर्देश|नियमों|आदेशों)\s+(?:\S+\s+){0,2}(?:अनदेखा|अनदेखी|नज़रअंदाज़|भूल)"
    r"|(?:abaikan|lupakan)\s+(?:semua\s+)?(?:instruksi|perintah|aturan|arahan)"
    r"|(?:bỏ\s+qua|hãy\s+quên)\s+(?:tất\s+cả\s+)?(?:các\s+)?(?:hướng\s+dẫn|chỉ\s+dẫn|lệnh|quy\s+tắc)"
    r"|(?:ignorera|glöm)\s+(?:alla\s+)?(?:tidigare\s+|dina\s+)?(?:instruktioner|regler|anvisningar)"
)
