"""What a regular form of an English word may be a form of, by WordNet's rules (morphy(7WN))."""

from __future__ import annotations

_ENDINGS = {
    "n": "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "v": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "a": "er: est: er:e est:e",
}
_DETACHED = {
    part: [(ending, instead) for ending, instead in (e.split(":") for e in endings.split())]
    for part, endings in _ENDINGS.items()
}
_LEAST = 2


def base_forms(word: str) -> list[tuple[str, str]]:
    """What a regular form may be a form of: (word, the parts of speech for which it may)."""
    found = [(word, "nvar")]
    for part, endings in _DETACHED.items():
        for ending, instead in endings:
            rest = word[: -len(ending)]
            if word.endswith(ending) and len(rest) >= _LEAST:
                found.append((rest + instead, part))
                if part == "v" and ending in ("ed", "ing") and rest[-1] == rest[-2:-1]:
                    found.append((rest[:-1], part))
    return found
