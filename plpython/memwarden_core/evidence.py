"""What the references of a write are worth, by what the store knows of where they come from.

It runs for every write with evidence, between other work: what counts is how much there is to do,
so what is returned is written as JSON at once, and a lone reference is neither sorted nor compared.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Sequence
from json.encoder import encode_basestring as quoted

from .late import late
from .light import Any, NamedTuple
from .support.judge import supports
from .text import content_text

_OWN = "agent_reasoning"
_MEMORY = "memory_item"
_BORNE_OUT = 0.8
_MOST_HALF_LIVES = 400
_WORD = late(r"\w")

# Of the numbers in a reference none is read, and one may have more digits than int() takes.
_read_references = json.JSONDecoder(parse_int=float).raw_decode
_read = json.JSONDecoder().raw_decode


class Asked(NamedTuple):
    """Who writes, when, and what its layer says of evidence.

    ``default_type`` is what a reference without a type claims to be. ``half_life`` is in seconds,
    ``now`` RFC 3339. ``is_telling``: whether verifiers are to be told of the references.
    """

    principal_id: int
    default_type: str | None
    external_types: Sequence[str]
    half_life: float
    now: str
    is_telling: bool


class _Reference:
    """A reference, resolved: its writer's words about it mean nothing."""

    def __init__(self, said: dict[str, Any], known: dict[str, Any], asked: Asked) -> None:
        named: dict[str, Any] | None = known.get("cited")
        cited = named or {}
        is_memory = cited.get("kind") == "memory"
        issuer_id = known.get("issuer_id")
        source_type = known["source_type"]
        spoken_for = (
            not is_memory
            and source_type is not None
            and (issuer_id is None or issuer_id == cited.get("issuer_id", asked.principal_id))
        )
        claimed = said.get("type")
        if is_memory:
            self.type = _MEMORY
        elif spoken_for and claimed != _OWN:
            self.type = cited.get("type") or source_type
        else:
            # Against itself a writer is believed.
            self.type = _OWN
        self.claimed: str | None = claimed or asked.default_type
        self.known, self.cited = known, cited
        self.spoken_for = spoken_for
        self.uri: str = cited.get("uri") or said["uri"]
        self.version: str | None = cited.get("version") or said.get("version")
        excerpt: str | None = said.get("excerpt") if named is None else cited.get("excerpt")
        # Of a capture its kept sentence is what stays, whatever is read with it today.
        self.kept: str | None = said.get("excerpt") if "capture_id" in cited else excerpt
        # Dots and spaces say nothing.
        self.excerpt = excerpt if excerpt and _WORD.search(excerpt) else None
        # Of no memory that is over, and of nothing that was altered.
        self.believed = named is None or bool(cited.get("believed"))
        # Whether who says it says it of itself.
        self.about_self = False
        self.self_made = self.type == _OWN or bool(cited.get("is_own"))
        self.external = not is_memory and self.type in asked.external_types
        self.authority = self._authority(claimed)
        self.weight: float = known["weight"] if spoken_for else 1
        self.accessed_at: str = known.get("accessed_at") or asked.now
        age = known.get("age")
        if age is None or age <= 0:
            self.freshness = 1.0
        else:
            half_life = (known.get("half_life") if spoken_for else None) or asked.half_life
            self.freshness = math.exp(-math.log(2.0) * min(age / half_life, _MOST_HALF_LIVES))

    def _authority(self, claimed: str | None) -> float:
        known, cited = self.known, self.cited
        if cited and "authority" not in cited:
            # It is not there, or not for this writer.
            return 0
        if self.type == _MEMORY:
            authority: float = cited["authority"]
        elif not self.spoken_for:
            authority = known["own_authority"]
        elif self.type == known["source_type"]:
            authority = known["authority"]
        else:
            least = known["own_authority"] if claimed == _OWN else cited["authority"]
            authority = min(known["authority"], least)
        return authority

    def sameness(self) -> str:
        """What is equal where two are one: the words, or the place of what has none."""
        item_id: str | None = self.cited.get("item_id")
        if item_id is not None:
            return item_id
        return self.place() if self.excerpt is None else self.excerpt

    def place(self) -> str:
        """The uri without what stands behind a #."""
        return self.uri.partition("#")[0]

    def is_witness(self, asked: Asked) -> bool:
        """Whether another agent recorded it, of a source outside."""
        return (
            self.external
            and not self.cited.keys().isdisjoint(("evidence_id", "capture_id"))
            and self.spoken_for
            and self.known.get("issuer_id") not in (None, asked.principal_id)
        )

    def ground(self, place: int, support: float, *, counted: bool) -> str:
        """What the record of a version says of it, as a JSON object."""
        cited = self.cited
        text = (
            f'{{"index": {place}, "authority": {_number(self.authority)}, '
            f'"support": {_number(support if support > 0 else 0)}, '
            f'"freshness": {_number(self.freshness)}, "weight": {_number(self.weight)}, '
            f'"external": {_TRUTH[self.external]}, '
            f'"registered": {_TRUTH[self.spoken_for or "item_id" in cited]}'
        )
        if not self.believed:
            text += ', "believed": false'
        if support < 0:
            text += ', "contradicts": true'
        if not counted:
            text += ', "counted": false'
        text += (
            f', "type": {quoted(self.type)}, "uri": {quoted(self.uri)}, '
            f'"accessed_at": {quoted(self.accessed_at)}'
        )
        if self.claimed is not None and self.claimed != self.type:
            text += f', "claimed_type": {quoted(self.claimed)}'
        if self.version is not None:
            text += f', "version": {quoted(self.version)}'
        if self.excerpt is not None and self.kept is not None:
            text += f', "excerpt_hash": "{hashlib.sha256(self.kept.encode()).hexdigest()}"'
        if cited.get("recorder") is not None:
            text += self._held()
        issuer = self.known.get("issuer")
        if issuer is not None and self.spoken_for:
            text += f', "issuer": {quoted(issuer)}'
        for name in ("item_id", "version_id", "evidence_id", "capture_id") if cited else ():
            value = cited.get(name)
            if value is not None:
                text += f', "{name}": {quoted(value)}'
        return text + "}"

    def _held(self) -> str:
        """What standing asks of words that the store holds: who recorded them, whose they are."""
        cited = self.cited
        # An agent that speaks for a source is no application: it could record what suits it.
        is_declared = self.known.get("issuer_id") == cited["recorder"] and bool(
            cited.get("by_application")
        )
        text = (
            f', "held": true, "recorder": {cited["recorder"]}, '
            f'"independent": {_TRUTH[bool(cited.get("independent"))]}, '
            f'"declared": {_TRUTH[is_declared]}'
        )
        if self.about_self:
            text += ', "about_self": true'
        if "evidence_id" in cited and not self.spoken_for:
            # Nobody speaks for its source any more: it is reasoning from then on.
            cited = {**cited, "words_of": "model"}
        for name in ("words_of", "standing", "speaker"):
            value = cited.get(name)
            if value is not None:
                text += f', "{name}": {quoted(value)}'
        return text

    def told(self) -> dict[str, str]:
        """What verifiers are told of it."""
        told = {"type": self.type, "uri": self.uri, "accessed_at": self.accessed_at}
        if self.version is not None:
            told["version"] = self.version
        if self.excerpt is not None:
            told["excerpt"] = self.excerpt
        return told


_TRUTH = {True: "true", False: "false"}


def _number(value: float) -> str:
    """A number as PostgreSQL writes it: 1, not 1.0."""
    return repr(value).removesuffix(".0")


def weigh(
    subject: str | None,
    predicate: str | None,
    content: str,
    evidence: str,
    known: str,
    asked: Asked,
) -> tuple[str, float, float, float, int, str, float | None, list[str], list[str], str | None]:
    """Weigh the references of a write.

    ``evidence`` is the JSON array as it was given, ``known`` that of what is stored about each, as
    evidence_sources() finds it, ``asked`` has the fields of Asked.

    Returns: what to record of each (grounds, a JSON array, by
    authority); the factual score, the mean of weight x support x authority x freshness, weights
    brought to a mean of 1; the greatest and the least authority; how many different sources are
    external; which references are the writer's own word (JSON); the least adjusted confidence of
    the memories among them, None without one or where an external source that another agent
    recorded bears the claim out; items and versions that are cited; what verifiers are told (JSON).
    """
    demands = Asked(*asked)
    references = [
        _Reference(said, stored, demands)
        for said, stored in zip(_read_references(evidence)[0], _read(known)[0], strict=True)
    ]
    _bind_to_memories(references)
    support = supports(
        subject,
        predicate,
        content,
        [r.excerpt if r.believed else None for r in references],
        [r.type for r in references],
        [r.uri for r in references],
        [r.cited.get("speaker") for r in references],
    )
    for reference in references:
        speaker = reference.cited.get("speaker")
        if speaker:
            reference.about_self = _is_about(speaker, subject, content)
    order = [0]
    first: Collection[int] = order
    again: Collection[int] = ()
    if len(references) > 1:
        order = sorted(range(len(references)), key=lambda i: (-references[i].authority, i))
        again = _told_again(references)
        counted: dict[str, int] = {}
        for i in order:
            if i not in again:
                counted.setdefault(references[i].sameness(), i)
        first = set(counted.values())
    grounds = [references[i].ground(i, support[i], counted=i in first) for i in order]
    # Not sum(), which adds floats in another way in each version of Python.
    total, weights = 0.0, 0.0
    for i in sorted(first):
        one = references[i]
        total += one.weight * (support[i] if support[i] > 0 else 0) * one.authority * one.freshness
        weights += one.weight
    cited = [r.cited for r in references if "item_id" in r.cited]
    return (
        f"[{', '.join(grounds)}]",
        total / weights,
        references[order[0]].authority,
        min(references[i].authority for i in order if i not in again),
        len({references[i].place() for i in first if references[i].external}),
        str([i for i, r in enumerate(references) if r.self_made and i not in again]),
        _ceiling(references, support, demands) if cited else None,
        [c["item_id"] for c in cited],
        [c["version_id"] for c in cited],
        json.dumps([r.told() for r in references]) if demands.is_telling else None,
    )


def _told_again(references: Sequence[_Reference]) -> Collection[int]:
    """Memories that rest on a capture which is cited beside them: no grounds of their own."""
    beside = {r.cited["capture_id"] for r in references if "capture_id" in r.cited}
    if not beside:
        return ()
    return {
        i for i, r in enumerate(references) if not beside.isdisjoint(r.cited.get("captures", ()))
    }


def _bind_to_memories(references: Sequence[_Reference]) -> None:
    """Words that stand behind a memory are no more independent beside it than they are for it.

    Who moves a memory, or says it again, cites it together with its evidence: what its writer
    recorded bears it out no better for that.
    """
    memories = [r.cited for r in references if "item_id" in r.cited]
    if not memories:
        return
    writers = {cited["recorder"] for cited in memories}
    own = {number for cited in memories for number in cited.get("dependent") or ()}
    for cited in (r.cited for r in references if "item_id" not in r.cited):
        named = cited.get("evidence_id") or cited.get("capture_id")
        if cited.get("recorder") in writers or named in own:
            cited["independent"] = False


def _is_about(name: str, subject: str | None, content: str) -> bool:
    """Whether the subject of a claim is ``name``: the one that is given, or its first words."""
    wanted = " ".join(name.split()).casefold()
    said = subject or content_text(_read(content)[0])
    said = " ".join(said.split()).casefold()
    return said == wanted or (
        not subject and said.startswith(wanted) and not said[len(wanted)].isalnum()
    )


def _ceiling(
    references: Sequence[_Reference], support: Sequence[float], asked: Asked
) -> float | None:
    for reference, borne_out in zip(references, support, strict=True):
        if borne_out >= _BORNE_OUT and reference.is_witness(asked):
            return None
    confidences: list[float] = [
        r.cited["adjusted_confidence"] for r in references if "item_id" in r.cited
    ]
    return min(confidences)
