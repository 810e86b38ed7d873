"""Whether a key of a record is another source's already: none replaces another's value."""

from __future__ import annotations

from dataclasses import replace

from memwarden._sync.client import Client
from memwarden.results import Item
from memwarden.transfer.records import Record, Unreadable

_MOST = 10_000


class Sources:
    """Looks up, once for each subject, what the target holds of it already.

    Attributes:
        apart: subjects that are another source's, and under which each is kept.
    """

    def __init__(self, memory: Client) -> None:
        self._memory = memory
        self._home = memory.whoami().home
        self.apart: dict[str, str] = {}
        self._held: dict[tuple[str, str, str], list[Item]] = {}

    def settle(self, record: Record | Unreadable) -> Record | Unreadable:
        """Return a record as it can be sent, or why it is not.

        Where another source says something else of the subject, a record that may take another
        subject does. Else one that says something else under the same key is not sent.
        """
        if isinstance(record, Unreadable) or record.source is None:
            return record
        request = record.request
        if not request.get("subject") or not request.get("predicate"):
            return record
        held = self._about(request["layer"], request.get("scope") or self._home, request["subject"])
        ours = [item for item in held if _is_of(item, record.source)]
        theirs = [item for item in held if not _is_of(item, record.source)]
        if record.apart is not None:
            beside = record.beside or {}
            is_another = not ours and any(
                beside.get(item.predicate or "", item.content) != item.content for item in theirs
            )
            if not is_another:
                return record
            self.apart[request["subject"]] = record.apart
            return replace(record, request=request | {"subject": record.apart})
        # An earlier release did not say of which table a record was.
        number = str(request["evidence"][0]["uri"]).removeprefix(record.source)
        before = f"{record.source.partition(':')[0]}:{number}"
        for item in theirs:
            if _is_of(item, before):
                continue
            if item.predicate == request["predicate"] and item.content != request["content"]:
                why = "another source, or a later write, has another value under this key"
                return Unreadable(record.place, why, "KEY_OF_ANOTHER")
        return record

    def _about(self, layer: str, scope: str, subject: str) -> list[Item]:
        at = (layer, scope, subject)
        if at not in self._held:
            self._held[at] = self._memory.find_items(
                subject, layer=layer, scope=scope, max_rows=_MOST
            )
        return self._held[at]


def _is_of(item: Item, source: str) -> bool:
    """Whether a memory rests on evidence of a source."""
    evidence = item.provenance.get("evidence") or []
    return any(str(each.get("uri", "")).startswith(source) for each in evidence)
