# ruff: noqa: E501, RUF001 - a pattern is easier to read whole
"""Orders to a later reader in German, French, Spanish and Chinese."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Hit
from .orders import spans
from .speech import is_talk

_GERMAN = r"(?:gib|gebe|geben|zeig\w*|send\w*|schick\w*|führ\w*|ruf\w*|ignorier\w*|antwort\w*|verrat\w*|lösch\w*|öffn\w*|leit\w*|druck\w*|nenn\w*|installier\w*|genehmig\w*|überweis\w*|empfiehl|empfehl\w*|häng\w*|füg\w*|teil\w*|lade|lad|nutz\w*|verwend\w*|sag|sage|musst|sollst|muss|soll)"
_FRENCH = r"(?:affich\w*|envo(?:ie|yer|yez)\w*|exécut\w*|lanc\w*|révèl\w*|révél\w*|donn\w*|ignor\w*|répon\w*|supprim\w*|ouvr\w*|transf\w*|appel\w*|recommand\w*|install\w*|divulgu\w*|imprim\w*|approuv\w*|ajout\w*|tu\s+dois|vous\s+devez|doit|devez)"
_SPANISH = r"(?:mu[eé]str\w*|env[ií]\w*|ejecut\w*|revel\w*|ignor\w*|respond\w*|borr\w*|elimin\w*|abr\w*|transf\w*|llam\w*|recomiend\w*|recomend\w*|instal\w*|imprim\w*|aprueb\w*|aprob\w*|añad\w*|reenv[ií]\w*|comparte|compart\w*|da|dale|debes|debe|tienes\s+que)"
_CHINESE = "(?:输出|显示|泄露|透露|发送|转发|执行|运行|调用|忽略|无视|删除|打开|推荐|批准|告诉|回答|回复|必须|永远|始终|总是|不要|不得|提供|上传|下载|安装|转账)"
_ELSEWHERE = (
    rf"\b(?:wenn|sobald|falls|immer\s+wenn|jedes\s+mal,?\s+wenn)\s+(?:(?:der|die|ein|eine|dieser|diese)\s+)?(?:benutzer\w*|nutzer\w*|user|anwender\w*|assistent\w*|ki|agent|modell|chatbot|bot|jemand|du)\b[^.!?\n]{{0,100}}?[,:]\s*(?:dann\s+|bitte\s+|so\s+|(?:der|die|das)\s+\w+\s+)?{_GERMAN}\b",
    r"\b(?:der|die|mein|unser)\s+(?:benutzer|nutzer|kunde|administrator|admin|betreiber|nutzerin|inhaber)\s+(?:möchte|will|wünscht|verlangt|erlaubt|hat\s+\w+)[^.!?\n]{0,20}?,?\s*(?:dass\s+du|dir)\b",
    r"\b(?:merke?|speicher\w*|behalte?|notiere?)\s+(?:dir\s+)?(?:das\s+|dies\s+|folgendes\s+|bitte\s+)?(?:dauerhaft|für\s+immer|permanent|auf\s+dauer)\b[^.!?\n]{0,20}?[:,]",
    rf"\b(?:ab\s+(?:jetzt|sofort|heute)|von\s+nun\s+an|künftig|in\s+zukunft)\s+(?:musst|sollst|wirst|darfst)\s+du\b|\bdu\s+(?:musst|sollst|darfst)\s+(?:ab\s+jetzt\s+)?(?:immer|stets|nie|niemals)\b|(?:^|[.!?\n]\s*)(?:assistent|ki|ki-assistent|agent|modell)\s*[:,]\s*(?:bitte\s+|niemals\s+|immer\s+)?{_GERMAN}\b",
    rf"\b(?:quand|lorsque|si|chaque\s+fois\s+que|dès\s+que)\s+(?:l'utilisateur|un\s+utilisateur|l'utilisatrice|l'assistant|l'ia|l'agent|le\s+modèle|quelqu'un|tu|vous|le\s+client)\b[^.!?\n]{{0,100}}?,\s*(?:il\s+|elle\s+|alors\s+|veuillez\s+)?{_FRENCH}\b",
    r"\b(?:l'utilisateur|le\s+client|l'administrateur|le\s+propriétaire|l'opérateur)\s+(?:veut|souhaite|demande|exige|préfère|voudrait|t'autorise|vous\s+autorise|a\s+autorisé|désire)\s+(?:à\s+ce\s+)?(?:que\s+(?:tu|vous)|à)\b",
    r"\b(?:à\s+partir\s+de\s+maintenant|désormais|dorénavant)\s*,?\s*(?:tu\s+(?:dois|vas)|vous\s+(?:devez|allez)|toujours|ne\s)\b|\b(?:tu\s+dois|vous\s+devez)\s+(?:toujours|désormais|ne\s+jamais)\b",
    r"\b(?:enregistre[rz]?|mémorise[rz]?|retiens|retenez|garde[rz]?|souviens-toi)\s+(?:ceci|cela|ça|bien|ce\s+qui\s+suit|de\s+ceci)?\s*(?:pour\s+toujours|définitivement|en\s+permanence|à\s+jamais)\b[^.!?\n]{0,20}?[:,]",
    rf"\b(?:cuando|si|siempre\s+que|cada\s+vez\s+que|en\s+cuanto)\s+(?:el\s+usuario|un\s+usuario|la\s+usuaria|el\s+asistente|la\s+ia|el\s+agente|el\s+modelo|alguien|te|el\s+cliente)\b[^.!?\n]{{0,100}}?,\s*(?:debes?\s+)?{_SPANISH}\b",
    r"\b(?:el\s+usuario|el\s+cliente|el\s+administrador|el\s+propietario|el\s+operador)\s+(?:quiere|desea|pide|exige|prefiere|te\s+ha\s+autorizado|te\s+autoriza|ha\s+autorizado|te\s+permite)\s+(?:a\s+)?(?:que\s+(?:siempre\s+|nunca\s+|tú\s+)?\w+e?s\b|a\s+)",
    r"\b(?:a\s+partir\s+de\s+ahora|de\s+ahora\s+en\s+adelante|desde\s+ahora)\s*,?\s*(?:debes|tienes\s+que|siempre|nunca|vas\s+a)\b|\b(?:debes|tienes\s+que)\s+(?:siempre|nunca)\b",
    r"\b(?:guarda|guárdalo|recuerda|memoriza|almacena|anota)\s+(?:esto|lo\s+siguiente)?\s*(?:para\s+siempre|permanentemente|de\s+forma\s+permanente)\b[^.!?\n]{0,20}?[:,]|(?:^|[.!?\n]\s*)(?:asistente|agente|ia|modelo)\s*[:,]\s*(?:por\s+favor\s+)?(?:siempre|nunca|no\s+\w+s\b|env[ií]a\b|ejecuta\b|muestra\b|ignora\b)",
    rf"(?:当|每当|如果|一旦|若|每次)[^。！？\n]{{0,12}}?(?:用户|助手|助理|智能体|模型|有人|代理|你|客户)[^。！？\n]{{0,40}}?[，,：:]\s*(?:请|就|则|你|立即|直接|马上|都|必须|务必|应)*{_CHINESE}",
    rf"(?:用户|管理员|客户|所有者|运营者)(?:已经|已)?(?:希望|想要|要求|授权|允许|需要|同意|想让)你[^。！？\n]{{0,30}}?{_CHINESE}",
    r"(?:从现在(?:开始|起)|今后|以后|从此)[，,]?\s*(?:你|请)?(?:必须|务必|要|应|始终|总是|永远|不要|不得)",
    rf"(?:请)?(?:永久|永远|一直)(?:地)?(?:记住|保存|存储|记录)[^。！？\n]{{0,6}}?[：:，,][^。！？\n]{{0,40}}?{_CHINESE}|(?:助手|助理|智能体)[：:，,]\s*(?:请|务必|永远|始终|不要)*{_CHINESE}",
    rf"(?:每次|每当)?(?:回答|回复)(?:问题|用户)?(?:之前|前|时)[，,]?\s*(?:都|先|必须|请)+[^。！？\n]{{0,10}}?{_CHINESE}",
)


def foreign_orders(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield triggers, standing orders, claimed wishes and orders to keep them."""
    for pattern in _ELSEWHERE:
        for start, end in spans(pattern, lower):
            if not is_talk(lower, start, end):
                yield Hit(start, end, 0.75)
