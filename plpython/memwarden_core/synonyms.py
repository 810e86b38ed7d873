"""Synonyms of the fingerprint: whole words and phrases replaced by the one that stands for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_MAX_PASSES = 8


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
        # A replacement stands for itself, so that "tea" -> "green tea" does not grow each time.
        for replacement in sorted(phrases.values()):
            phrases.setdefault(replacement, replacement)
        self._by_first_word: dict[str, list[tuple[list[str], list[str]]]] = {}
        for phrase in sorted(phrases, key=lambda p: (-p.count(" "), p)):
            words = phrase.split()
            if words:
                entry = (words, phrases[phrase].split())
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

    def settle(self, text: str) -> str:
        """Replace until nothing changes. ``text`` is normalised already.

        Chains (a -> b, b -> c) end at their last member; of a circle (a -> b, b -> a) the
        alphabetically first member stands for all.
        """
        seen = [text]
        for _ in range(_MAX_PASSES):
            text = self._normalise(self._replace(text))
            if text in seen:
                return min(seen[seen.index(text) :])
            seen.append(text)
        return text
