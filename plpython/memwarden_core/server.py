"""What the PL/Python wrappers call: the package's functions in the shapes PL/Python converts."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

# What every write and every recall needs. The rest is imported where it is used: a session pays
# for what it does.
from . import canonical, embedding, screening, signing
from . import examine as examination
from .fingerprint import fingerprint, key_hash, normalised_predicate
from .fingerprint import normalised_subject as subject_form_of
from .light import TYPE_CHECKING, Any
from .normalise import normalise
from .sensitive import scan as sensitive
from .written import identity

if TYPE_CHECKING:
    from . import merkle


def try_canonical_json(text: str) -> tuple[str | None, bytes | None, str | None, str | None]:
    """Return (canonical, SHA-256, None, None), or (None, None, code, message)."""
    try:
        form = canonical.canonical_json(text)
    except canonical.NotCanonical as error:
        return None, None, error.code, error.message
    return form, canonical.content_hash(text), None, None


def examine(
    content: str,
    subject: str | None,
    predicate: str | None,
    schema: str | None,
    constraints: str | None,
    template: str | None,
    synonyms: str | None,
    max_bytes: int,
    want_embedding: bool,
    rules_hash: str | None,
    arguments: str | None,
) -> tuple[
    str | None,
    bytes | None,
    bytes | None,
    bytes | None,
    str | None,
    list[float] | None,
    str | None,
    str | None,
    str,
    bytes | None,
    bytes | None,
]:
    """Return the fields of ``Examined``, and the level of what stays in the request.

    And the key of the attribute that it tells of, and the same where it is compared by it.

    Violations and sensitive places are JSON arrays, None where there are none. ``rules_hash`` names
    rules that ``keep_rules`` was given.
    """
    rules = None if rules_hash is None else _RULES[rules_hash]
    found = examination.examine(
        content,
        subject,
        predicate,
        schema=schema,
        template=template,
        synonyms=synonyms,
        max_bytes=max_bytes,
        want_embedding=want_embedding,
        rules=rules,
        arguments=arguments,
    )
    violations = found.violations
    if constraints not in (None, "[]") and found.canonical is not None:
        from .constraints import constraint_violations

        violations = violations + constraint_violations(constraints, json.loads(found.canonical))
    findings = json.dumps([v._asdict() for v in violations]) if violations else None
    key, is_sought = _attribute(found.text, found.canonical or "", subject, predicate)
    return (
        found.canonical,
        found.content_hash,
        found.fingerprint,
        found.key_hash,
        found.text,
        found.embedding,
        findings,
        _report(found.sensitive, rules),
        screening.sensitivity(found.sensitive),
        key,
        key if is_sought else None,
    )


_RULES: dict[str, sensitive.RuleSet] = {}
_MOST_RULES = 64


def has_rules(rules_hash: str) -> bool:
    """Return whether the rules of that hash are at hand."""
    return rules_hash in _RULES


def keep_rules(rules_hash: str, rules: str) -> None:
    """Prepare rules (configuration, like a schema) and keep them for this connection."""
    if len(_RULES) >= _MOST_RULES:
        del _RULES[next(iter(_RULES))]
    _RULES[rules_hash] = sensitive.prepare(rules, accepted=True)


def _report(found: Sequence[sensitive.Finding], rules: sensitive.RuleSet | None) -> str | None:
    return json.dumps(screening.report(found, rules)) if found and rules else None


def clean_request(
    content: str, arguments: str, rules: str, org_id: int, file: str | None, wrapped: bytes | None
) -> tuple[str, str, str | None, str | None]:
    """Return content and other arguments (JSON object) without what the rules redact or encrypt.

    Also what cannot be taken out of them, as findings, and the encrypted values by their names:
    ``{"name": {"kind", "sealed" (hex)}}``. Both are None where there are none. Raises: KeyUnusable.
    """
    from . import sealing_box

    prepared = sensitive.prepare(rules, accepted=True)
    sealed: dict[str, dict[str, str]] = {}

    def seal(kind: str, text: str) -> str:
        assert wrapped is not None
        name, box = sealing_box.seal(file, wrapped, org_id, kind, text)
        sealed[name] = {"kind": kind, "sealed": box.hex()}
        return f"[encrypted:{kind}:{name}]"

    request = {"content": canonical.parse(content)} | json.loads(arguments)
    done = screening.cleaned(request, prepared, seal if file and wrapped else None)
    clean = canonical.serialise(done.request.pop("content")).decode()
    return (
        clean,
        json.dumps(done.request, ensure_ascii=False),
        _report(done.refused, prepared),
        json.dumps(sealed) if sealed else None,
    )


def screen_text(text: str, rules: str) -> list[tuple[str, str, str, str, int, int, float]]:
    """Return (rule, kind, level, action, start, length, score) of what is found in a text."""
    return [
        (f.rule, f.kind, f.level, f.action, f.start, f.length, f.score)
        for f in sensitive.scan(text, sensitive.prepare(rules, accepted=True))
    ]


def screen_request(request: str, rules: str) -> tuple[str | None, str]:
    """Return what is found in a request (JSON object), and the level of what stays in it."""
    prepared = sensitive.prepare(rules, accepted=True)
    found = screening.screen(json.loads(request), prepared)
    return _report(found, prepared), screening.sensitivity(found)


def unseal(file: str | None, wrapped: bytes, org_id: int, kind: str, name: str, box: bytes) -> str:
    """Return a sealed value. Raises: KeyUnusable, SealBroken."""
    from . import sealing_box

    return sealing_box.unseal(file, wrapped, org_id, kind, name, box)


def subject_key_generations(file: str | None) -> list[int]:
    """Return the numbers of the generations of subject keys. Raises: KeyUnusable."""
    from . import subject_keys

    return sorted(subject_keys.generations(file))


def new_subject_key(file: str | None) -> tuple[int | None, bytes | None]:
    """Return generation and new wrapped key of a subject, None where there is no generation."""
    from . import subject_keys

    return subject_keys.new_key(file) or (None, None)


def rewrapped_subject_key(
    file: str | None, generation: int, wrapped: bytes
) -> tuple[int | None, bytes | None]:
    """Return the newest generation, and the key as that wraps it; None where it does already."""
    from . import subject_keys

    return subject_keys.rewrapped(file, generation, wrapped) or (None, None)


def seal_for_subject(file: str | None, generation: int, wrapped: bytes, text: str) -> bytes:
    """Encrypt a text under the key of a subject. Raises: KeyUnusable."""
    from . import subject_keys

    return subject_keys.seal(file, generation, wrapped, text)


def unseal_for_subject(
    file: str | None, generation: int, wrapped: bytes, sealed: bytes
) -> str | None:
    """Return what was encrypted under the key of a subject; None where nobody here opens it."""
    from . import subject_keys

    return subject_keys.unseal(file, generation, wrapped, sealed)


def blind_for_subject(file: str | None, generation: int, wrapped: bytes, data: bytes) -> bytes:
    """Return the HMAC of a hash under the key of a subject. Raises: KeyUnusable."""
    from . import subject_keys

    return subject_keys.blinded(file, generation, wrapped, data)


def opened_subject_keys(
    file: str | None, generations: list[int], wrapped: list[bytes]
) -> list[bool]:
    """Return which keys this server opens."""
    from . import subject_keys

    return subject_keys.opened(file, list(zip(generations, wrapped, strict=True)))


def blinded_words(
    file: str | None, generations: list[int], wrapped: list[bytes], words: list[str]
) -> list[tuple[int, str, str]]:
    """Return (number of the key, word, what stands for it in the index), keys counted from 1."""
    from . import subject_keys

    done = []
    for number, key in enumerate(zip(generations, wrapped, strict=True), 1):
        for blinded in subject_keys.blinded_words(file, [key], words):
            done += [(number, word, mark) for word, mark in zip(words, blinded, strict=True)]
    return done


def attribute_key(
    text: str | None, content: str, subject: str | None, predicate: str | None
) -> bytes | None:
    """Return by what is found what else was said of the attribute that stored words tell of."""
    return _attribute(text, content, subject, predicate)[0]


def _attribute(
    text: str | None, content: str, subject: str | None, predicate: str | None
) -> tuple[bytes | None, bool]:
    """Return the same, and whether the words are compared with what has that key."""
    from .attribute_keys import attribute_key as keyed

    if not text or (subject and predicate):
        return None, False
    value = json.loads(content) if content.startswith("{") else None
    return keyed(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), text, value, subject, predicate)


def rule_faults(rules: str) -> str:
    """Return what is wrong with rules, as a JSON array of sentences."""
    return json.dumps(sensitive.check_rules(rules))


def fingerprints(
    content: str, subject: str | None, predicate: str | None, synonyms: str
) -> tuple[bytes, bytes | None]:
    """Return fingerprint and key hash of stored content under the synonyms of a JSON object."""
    table = examination.prepared_synonyms(synonyms)
    value = canonical.parse_stored(content)
    return fingerprint(value, subject, predicate, table), key_hash(subject, predicate, table)


def item_text(
    content: str, template: str | None, subject: str | None, predicate: str | None
) -> str:
    """Return the text of stored content."""
    from .text import content_text

    return content_text(canonical.parse_stored(content), template, subject, predicate)


def claim_of_kind(content: str, template: str, subject: str | None, predicate: str | None) -> str:
    """Return the content of a kind with a text of its own, as evidence must bear it out: JSON."""
    from .support.claim import of_kind

    return json.dumps(of_kind(canonical.parse_stored(content), template, subject, predicate))


def lexical_embedding(text: str) -> list[float] | None:
    """Return the 384 numbers of a text's lexical embedding, None for a text without words."""
    return embedding.lexical_embedding(text[:100_000])


def check_definition(
    schema: str | None, constraints: str | None, template: str | None, synonyms: str | None
) -> str | None:
    """Return what is wrong with a definition, None when it can serve."""
    from .constraints import constraints as prepared_constraints
    from .schema.check import check_schema
    from .text import check_template

    try:
        if schema is not None:
            check_schema(schema)
        if constraints is not None:
            prepared_constraints(constraints)
        if template is not None:
            check_template(template)
        if synonyms is not None:
            examination.prepared_synonyms(synonyms)
    except ValueError as error:
        return str(error)
    return None


def merge_policy_fault(policy: str) -> str | None:
    """Return what is wrong with a merge policy (JSON), None when it can serve."""
    from .merging import PolicyRefused, check_merge_policy

    try:
        check_merge_policy(policy)
    except PolicyRefused as error:
        return str(error)
    return None


def merge_contents(
    old: str, new: str, policy: str, synonyms: str | None, newer_wins: bool
) -> tuple[str | None, str | None, list[str] | None]:
    """Return what two contents make together, as ``merging.merge_contents`` says."""
    from .merging import merge_contents as merged

    return merged(old, new, policy, synonyms, newer_wins=newer_wins)


def compile_policy(
    condition: str, known: str, levels: str
) -> tuple[str | None, str | None, int | None]:
    """Return (jsonpath, None, None), or (None, what is wrong, at which character from 0).

    ``known`` and ``levels`` are the JSON objects that ``compile_condition`` describes.
    """
    from .policy.condition import PolicyError, compile_condition

    try:
        return compile_condition(condition, json.loads(known), json.loads(levels)), None, None
    except PolicyError as error:
        return None, error.message, error.position


def compile_rule(condition: str, is_of_two: bool) -> tuple[str | None, str | None, int | None]:
    """Return (jsonpath of where it is broken, None, None), or (None, what is wrong, where)."""
    from .integrity import rule as integrity
    from .policy.condition import PolicyError

    try:
        return integrity.compile_rule(condition, is_of_two), None, None
    except PolicyError as error:
        return None, error.message, error.position


def stored_content_hash(text: str) -> bytes | None:
    """Return the content hash of stored content, None for what was never accepted as content."""
    try:
        return hashlib.sha256(canonical.serialise(canonical.parse_stored(text))).digest()
    except (canonical.NotCanonical, ValueError, OverflowError):
        return None


def merkle_root(leaves: bytes) -> bytes:
    """Return the root over leaf hashes, 32 bytes each."""
    from . import merkle

    return merkle.root(leaves)


def merkle_path(leaves: bytes, index: int) -> bytes:
    """Return the hashes between a leaf (from 0) and the root, lowest first."""
    from . import merkle

    return merkle.path(leaves, index)


def append_segment(index: int, record: str, node: merkle.Node) -> tuple[bytes, bytes]:
    """Return what the tree over segments stores for a new one (from 0), and its root then."""
    from . import merkle

    nodes = merkle.completed(index, merkle.hash_leaf(record.encode()), node)
    level = len(nodes) // merkle.SIZE - 1

    def grown(h: int, p: int) -> bytes:
        is_new = (h, p) == (level, index >> level)
        return nodes[h * merkle.SIZE :] if is_new else node(h, p)

    return nodes, merkle.tree_root(index + 1, grown)


def segment_path(index: int, size: int, node: merkle.Node) -> bytes:
    """Return the hashes between a segment (from 0) and the head of the first ``size``."""
    from . import merkle

    return merkle.tree_path(index, size, node)


def check_chain(
    rows: Iterable[dict[str, Any]], since: int, node: merkle.Node, head: bytes
) -> Iterator[tuple[str, int, str]]:
    """Return (finding, segment, detail) for what does not fit in the segments from one on."""
    from . import merkle

    before = {place: node(*place) for place in merkle.perfect_subtrees(since - 1)}
    return merkle.check_chain((merkle.Segment(**row) for row in rows), since, before, head)


def new_wrapped_key(file: str | None) -> bytes | None:
    """Return a new signing key, wrapped by the master key in a file; None without one."""
    return signing.new_wrapped_key(file)


def sign(file: str | None, wrapped: bytes | None, purpose: str, text: str) -> bytes | None:
    """Return the signature of a text: None without a key, b"" under another master key's."""
    try:
        return signing.sign(file, wrapped, purpose, text)
    except signing.OtherMasterKey:
        return b""


def search_terms(identifiers: list[str]) -> list[str]:
    """Return the forms in which identifiers are looked for, each once, in order."""
    from .mentions import term

    return list(dict.fromkeys(filter(None, map(term, identifiers))))


def identifier_terms(identifiers: str) -> list[str]:
    """Return the forms in which registered identifiers are looked for, each once."""
    from .identifiers import terms

    return terms(identifiers)


def changed_identifiers(registered: str, given: str, remove: bool) -> tuple[str | None, str | None]:
    """Return the registered identifiers as JSON with those given, or without; or what is wrong."""
    from .identifiers import changed

    try:
        return json.dumps(changed(registered, given, remove=remove)), None
    except ValueError as error:
        return None, str(error)


def packed_text(value: bytes) -> str:
    """Every text in a MessagePack value, one a line."""
    from .packed import packed_text as read

    return read(value)


def mentions(terms: list[str], documents: list[str | None], ours: list[str | None]) -> bool:
    """Return whether a document, or one that the store has made, holds one of the terms."""
    from .mentions import mentions as found

    return found(terms, documents, ours)


def name_forms(
    subject: str | None, predicate: str | None, synonyms: str
) -> tuple[str | None, str | None]:
    """Return subject and predicate as a key has them, by the synonyms of a JSON object."""
    table = examination.prepared_synonyms(synonyms)
    forms = subject_form_of(subject, table), normalised_predicate(predicate, table)
    subject_form, predicate_form = (form.decode() if form else None for form in forms)
    return subject_form, predicate_form


def normalised_subject(subject: str, synonyms: str) -> str:
    """Return the form under which subjects are one, by the synonyms of a JSON object.

    One that a call says to be an identifier, as in id:john-doe, is one to the letter.
    """
    if subject.startswith("id:"):
        return subject
    return normalise(identity(subject), examination.prepared_synonyms(synonyms))


def subjects_of_id(identifier: str) -> list[str]:
    """Return the subjects that memories of an identifier of another system may bear."""
    from .written import subjects

    return subjects(identifier)


def tell(
    documents: Sequence[str],
    rules_hashes: Sequence[str | None],
    strip_hash: str | None,
    names: Sequence[str],
    without_uris: bool,
) -> Iterator[tuple[int, str, list[str]]]:
    """Return (place from 1, document, kinds found) of documents, as ``crossing.present`` says.

    The rules of a hash are at hand: see ``keep_rules``.
    """
    from .crossing import present

    strip = _RULES[strip_hash] if strip_hash else None
    for n, (document, rules_hash) in enumerate(zip(documents, rules_hashes, strict=True), 1):
        rules = _RULES[rules_hash] if rules_hash else None
        told, suspicious = present(document, rules, strip, names, without_uris)
        yield n, told, suspicious


def default_sensitivity_rules() -> str:
    """Return the shipped rules as a JSON array."""
    from .sensitive.rules.shipped import default_rules

    return default_rules()


def words_to_compare(
    content: str, subject: str | None, predicate: str | None
) -> tuple[str, list[str]]:
    """Return the words of a stored content and its key, and patterns that find what they repeat."""
    from . import copies

    spoken = copies.spoken(content, subject, predicate)
    return spoken, copies.probes(spoken)


def repeated_share(spoken: str, records: list[str]) -> float:
    """Return the share of words (0 to 1) that a text repeats of the closest record, or it of it."""
    from . import copies

    return copies.closest(spoken, records).share


_Weighed = tuple[str, float, float, float, int, str, float | None, list[str], list[str], str | None]


@cache
def _weigher() -> Callable[..., _Weighed]:
    """Return what weighs evidence; who only reads never loads it."""
    from .evidence import weigh

    return weigh


def weigh(
    subject: str | None,
    predicate: str | None,
    content: str,
    references: str,
    known: str,
    principal_id: int,
    default_type: str | None,
    external_types: list[str],
    half_life: float,
    now: str,
    is_asked: bool,
) -> _Weighed:
    """Return what the references of a write are worth, as ``evidence.weigh`` says."""
    asked = (principal_id, default_type, external_types, half_life, now, is_asked)
    return _weigher()(subject, predicate, content, references, known, asked)


def bearing_sentence(
    subject: str | None,
    predicate: str | None,
    content: str | None,
    turns: list[str],
    speakers: list[str | None],
    excerpt: str | None,
) -> tuple[int, str]:
    """Return the turn and the sentence that bears a claim out, as ``support.bearing`` says."""
    from .support.bearing import bearing_sentence as found

    return found(subject, predicate, content, turns, speakers, excerpt)


def circles(sources: list[str] | None, targets: list[str] | None) -> list[int | None]:
    """Return for each edge of a graph the number of the circle that it lies in, or None."""
    from .circles import circles as found

    return found(sources or [], targets or [])


@cache
def _judge() -> Callable[..., list[dict[str, Any]]]:
    """Return what compares memories; who only reads never loads it."""
    from .verdict.neighbours import judge_neighbours

    return judge_neighbours


def judge(
    subject: str | None,
    predicate: str | None,
    content: str,
    text: str,
    valid_from: float | None,
    valid_to: float | None,
    neighbours: str,
    look_up: Callable[[list[str]], Iterable[dict[str, Any]]],
) -> str:
    """Return what a memory is to its neighbours (JSON arrays), as ``judge_neighbours`` says.

    ``look_up`` returns what the dictionaries have on words: rows of `lexicon_word` with those of
    `lexicon_sense`.
    """
    new = (subject, predicate, json.loads(content), text, valid_from, valid_to)

    def ask(words: list[str]) -> Iterator[Any]:
        from .language.wordnet import Sense

        for row in look_up(words):
            above = dict(zip(row["above"], row["steps"], strict=True))
            against = frozenset(row["against"] or ())
            sense = Sense(row["sense"], row["part"], row["file"], above, against)
            yield row["language"], row["word"], row["rank"], sense

    return json.dumps(_judge()(new, json.loads(neighbours), ask))


def lexicon_words(folder: str) -> Iterator[tuple[str, int, int]]:
    """Return (word, sense, rank) of a dictionary. Raises: NotADictionary."""
    from .language.wordnet import Dictionary

    with Dictionary(folder) as dictionary:
        for word in dictionary.words:
            for rank, sense in dictionary.ranks(word):
                yield word, sense, rank


def lexicon_senses(
    folder: str,
) -> Iterator[tuple[int, str, int, list[int], list[int], list[int] | None]]:
    """Return (sense, part, file, above, steps, against) of a dictionary. Raises: NotADictionary."""
    from .language.wordnet import Dictionary

    with Dictionary(folder) as dictionary:
        for one in dictionary.every_sense():
            against = sorted(one.against) or None
            yield one.sense, one.part, one.file, list(one.above), list(one.above.values()), against


def lexicon_digest(folder: str) -> tuple[bytes, str] | None:
    """Return what tells a dictionary from others, and its notice; None where there is none.

    Raises: NotADictionary, of a folder with other files.
    """
    from .language.wordnet import digest

    return digest(folder)


def mask_capture(content: str, arguments: str, rules: str) -> tuple[str | None, ...]:
    """Return a capture without what is sensitive, as ``capturing.mask`` says."""
    from .capturing import mask

    return mask(content, arguments, rules)


def extract_by_rules(content: str) -> tuple[str, int]:
    """Return candidates (a JSON array) of a captured content (JSON), and how much has no shape."""
    from .extraction.candidates import found_in

    found = found_in(json.loads(content))
    return json.dumps(found.candidates), found.unread


def turns_in(content: str) -> str | None:
    """Return a captured conversation (JSON) as plain messages (JSON); None for what is none."""
    from .extraction.candidates import turns

    found = turns(json.loads(content))
    return None if found is None else json.dumps(found)


def speakers_in(content: str) -> list[str]:
    """Return who speaks in a captured content (JSON), as a subject and by the id alone."""
    from .extraction.candidates import speakers

    found = [each for each in speakers(json.loads(content)) if each is not None]
    return sorted({*found, *map(identity, found)})


def speaker_in(message: str) -> str | None:
    """Return who says a captured message (JSON) as ``extraction.speakers`` reads it, or None."""
    from .extraction.speakers import USER, is_said, speaker_of

    read = json.loads(message)
    found = speaker_of(read) if isinstance(read, dict) and is_said(read) else None
    return None if found is None or found.subject == USER else found.subject


def ready() -> None:
    """Load what a writer needs, before it holds what others wait for."""
    _weigher()


def mask(document: str, values: list[str]) -> str | None:
    """The document without the values; None where it has none of them: see ``masking``."""
    from .masking import mask as masked

    return masked(document, values)
