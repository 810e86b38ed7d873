"""The embedded default embedder: deterministic feature hashing, no model and no network (design 9).

A text becomes signed, hashed counts of its normalised words, its pairs of neighbouring words and
the 3- and 4-letter pieces of its words, so that "painting" lies near "painted", word order counts a
little, and rare long words weigh more than short ones. It knows no meaning: "car" is not near
"automobile". Its place is where no model is: exact words, names, numbers, near-duplicates.

The same text gives the same floats on every machine: integer hashes, square roots and sums in a
fixed order, nothing else.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from zlib import crc32

from .normalise import normalise

DIMENSION = 384

_WORD, _NUMBER, _FUNCTION_WORD, _PIECE = 10, 20, 2, 5
_PAIR, _FUNCTION_PAIR = 8, 2

# Not \w: the vowel signs of many scripts are marks, and a word would fall apart at each.
_WORDS = re.compile(r"[^\s!-&(-/:-@\[-`{-~]+")

# English words that say little on their own. Negations are not among them.
_ENGLISH = """
a about again all also am an and any are as at be because been being but by can could
did do does doing for from had has have having he her here hers him his how i if in into
is it its just let me my myself of off on once or other our out over own she should so
some such than that the their them then there these they this those through to too us
was we were what when where which while who whom why will with would you your yours he'd
he'll he's here's how's i'd i'll i'm i've it's let's she'd she'll she's that's there's
they'd they'll they're they've we'd we'll we're we've what's where's who's you'd you'll
you're you've
"""
_FUNCTION_WORDS = frozenset(_ENGLISH.split())


def _pieces(word: str) -> list[bytes]:
    """The 3- and 4-letter pieces of a word with its edges; 1 and 2 signs where words run together.

    Chinese, Japanese and Korean text has no spaces, and one sign is about a word.
    """
    if word >= "\u2e80":
        return [word[i : i + n].encode() for n in (1, 2) for i in range(len(word) - n + 1)]
    if word.isascii():
        edged = b"^%b$" % word.encode()
        return [edged[i : i + n] for n in (3, 4) for i in range(len(edged) - n + 1)]
    marked = f"^{word}$"
    return [marked[i : i + n].encode() for n in (3, 4) for i in range(len(marked) - n + 1)]


def lexical_embedding(text: str) -> list[float] | None:
    """A unit vector of DIMENSION floats; None for a text without a word.

    None rather than zeros: the cosine distance to a zero vector is not a number.
    """
    words = _WORDS.findall(normalise(text))
    content: list[bytes] = []
    numbers: list[bytes] = []
    function: list[bytes] = []
    pieces: list[bytes] = []
    pairs: list[bytes] = []
    function_pairs: list[bytes] = []
    for word in words:
        if word in _FUNCTION_WORDS:
            function.append(word.encode())
        elif word.isdecimal():
            numbers.append(word.encode())
        else:
            content.append(word.encode())
            pieces += _pieces(word)
    for one, other in pairwise(words):
        weak = one in _FUNCTION_WORDS and other in _FUNCTION_WORDS
        (function_pairs if weak else pairs).append(f"{one} {other}".encode())

    vector = [0.0] * DIMENSION
    for weight, features in (
        (_WORD, content),
        (_NUMBER, numbers),
        (_FUNCTION_WORD, function),
        (_PIECE, pieces),
        (_PAIR, pairs),
        (_FUNCTION_PAIR, function_pairs),
    ):
        for checksum, count in Counter(map(crc32, features)).items():
            # A CRC is linear: without a multiplication, similar words collide in patterns.
            number = checksum * 0x9E3779B1 >> 7
            value = weight * math.sqrt(count)
            vector[number % DIMENSION] += value if number & 0x80000000 else -value
    norm = math.sqrt(math.fsum([value * value for value in vector]))
    return [value / norm for value in vector] if norm else None
