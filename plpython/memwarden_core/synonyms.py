"""Synonyms of the fingerprint: whole words and phrases replaced by the one that stands for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_MAX_PASSES = 8


def _end_of_chain(phrase: str, phrases: Mapping[str, str]) -> str:
    """The last member of a chain a -> b -> c; the alphabetically first of a circle."""
    passed = [phrase]
    following = phrases[phrase]
    while following in phrases and following not in passed:
        passed.append(following)
        following = phrases[following]
    return min(passed[passed.index(following) :]) if following in passed else following


class Synonyms:
    """A table of phrases, prepared once and applied to normalised text.

    ``mapping`` maps a phrase to its replacement; both are normalised with ``normalise``. Where two
    phrases normalise alike, the alphabetically first one decides.
    """

    def __init__(self, mapping: Mapping[str, str], normalise: Callable[[str], str]) -> None:
        self._normalise = normalise
        phrases: dict[str, str] = {}
        for phrase in sorted(mapping):
            phrases.setdefault(normalise(phrase), normalise(mapping[phrase]))
        phrases.pop("", None)
        ends = {phrase: _end_of_chain(phrase, phrases) for phrase in phrases}
        # A replacement stands for itself, so that "tea" -> "green tea" does not grow each time.
        for end in sorted(ends.values()):
            ends.setdefault(end, end)
        self._by_first_word: dict[str, list[tuple[list[str], list[str]]]] = {}
        for phrase in sorted(ends, key=lambda p: (-p.count(" "), p)):
            words = phrase.split()
            if words:
                entry = (words, ends[phrase].split())
                self._by_first_word.setdefault(words[0], []).append(entry)

    def __bool__(self) -> bool:
        return bool(self._by_first_word)

    def _replace(self, text: str) -> str:
        words = text.split(" ")
        result: list[str] = []
        position = 0
        while position < len(words):
            for phrase, replacement in self._by_first_word.get(words[position], ()):
                if words[position : position + len(phrase)] == phrase:
                    result += replacement
                    position += len(phrase)
                    break
            else:
                result.append(words[position])
                position += 1
        return " ".join(result)

    def apply(self, text: str) -> str:
        """Replace, in text that is normalised already, until nothing changes.

        A replacement can complete another phrase with its neighbours; where such tables run in a
        circle, the alphabetically first result stands for all.
        """
        passed = [text]
        for _ in range(_MAX_PASSES):
            replaced = self._replace(text)
            if replaced == text:
                break
            text = self._normalise(replaced)
            if text in passed:
                return min(passed[passed.index(text) :])
            passed.append(text)
        return text
