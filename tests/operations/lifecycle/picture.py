"""The picture in docs/lifecycle.md: how many memories of a layer are in which state, day by day."""

from __future__ import annotations

from collections import Counter

Counts = list[tuple[int, Counter[tuple[str, str]]]]

WIDTH, HEIGHT, MARGIN = 300, 150, 44
STATES = {"alive": "#2f6f4f", "stale": "#c9a227", "expired": "#b5533c", "gone": "#d9d9d9"}
LAYERS = ("session", "episodic", "semantic", "procedural")


def draw(counts: Counts) -> str:
    """Return an SVG of four panels, in each the states one upon the other."""
    width, height = 2 * (WIDTH + MARGIN) + 20, 2 * (HEIGHT + MARGIN) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, layer in enumerate(LAYERS):
        left = MARGIN + place % 2 * (WIDTH + MARGIN)
        parts += panel(counts, layer, left, 24 + place // 2 * (HEIGHT + MARGIN))
    for place, (state, colour) in enumerate(STATES.items()):
        left, top = MARGIN + 90 * place, height - 22
        parts.append(f'<rect x="{left}" y="{top}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 18}" y="{top + 11}">{state}</text>')
    return "\n".join([*parts, "</svg>", ""])


def panel(counts: Counts, layer: str, left: int, top: int) -> list[str]:
    """One layer: an area for each state, the oldest state at the bottom."""
    last = counts[-1][0]
    most = sum(counts[-1][1][layer, state] for state in STATES)
    parts = [f'<text x="{left}" y="{top - 8}">{layer}: {most} written in {last} days</text>']
    below = [0] * len(counts)
    for state in reversed(STATES):
        above = [low + day[layer, state] for low, (_, day) in zip(below, counts, strict=True)]
        places = [left + number * WIDTH / last for number, _ in counts]
        edge = [
            *zip(places, above, strict=True),
            *reversed([*zip(places, below, strict=True)]),
        ]
        points = " ".join(f"{x:.1f},{top + HEIGHT - n * HEIGHT / most:.1f}" for x, n in edge)
        parts.append(f'<polygon points="{points}" fill="{STATES[state]}"/>')
        below = above
    for number in range(0, last + 1, 100):
        x = left + number * WIDTH / last
        parts.append(
            f'<text x="{x:.1f}" y="{top + HEIGHT + 14}" text-anchor="middle">{number}</text>'
        )
    return parts
