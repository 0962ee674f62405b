"""Draw how much each rule saves against what it keeps, from the figures that `bench/backtest.py` wrote."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDE, HIGH, EDGE = 860, 680, 60
LEAST = 0.84
"""Rules that keep less of the successes stand at the left edge, with an arrow."""
_NEAR = 25
"""Points whose labels could meet."""
OURS = ("untilgreen", "fixed", "hybrid", "adaptive")


def main() -> None:
    """Write frontier.svg."""
    figures = json.loads((HERE / "frontier.json").read_text())
    (HERE / "frontier.svg").write_text(drawn(figures))


def drawn(figures: dict[str, dict[str, float]]) -> str:
    """The whole picture."""
    marks: list[str] = []
    taken: list[tuple[float, float]] = []
    for name, at in sorted(figures.items(), key=lambda each: -each[1]["saved"]):
        x, y = _x(at["kept"]), _y(at["saved"])
        label = max([y + 4, *(other + 13 for place, other in taken if abs(x - place) < _NEAR)])
        taken.append((x, label))
        color = "#1a7f37" if name.startswith(OURS) else "#57606a"
        left = x > WIDE / 2
        far = f" ({at['kept']:.0%} kept)" if at["kept"] < LEAST else ""
        anchor, dx = ("end", -9) if left else ("start", 9)
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{color}"/>')
        marks.append(
            f'<text x="{x + dx:.1f}" y="{label:.1f}" text-anchor="{anchor}" fill="{color}">'
            f"{escape(name + far)}</text>"
        )
    ticks = [
        f'<text x="{_x(kept):.1f}" y="{HIGH - EDGE + 20}" text-anchor="middle">{kept:.0%}</text>'
        for kept in (0.84, 0.88, 0.92, 0.96, 1.0)
    ] + [
        f'<text x="{EDGE - 8}" y="{_y(saved) + 4:.1f}" text-anchor="end">{saved:.0%}</text>'
        f'<line x1="{EDGE}" x2="{WIDE - EDGE}" y1="{_y(saved):.1f}" y2="{_y(saved):.1f}" stroke="#d0d7de"/>'
        for saved in (0.0, 0.2, 0.4, 0.6, 0.8)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" '
            'font-family="sans-serif" font-size="12">',
            "<title>Kept successes against saved laps, by rule</title>",
            f'<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>',
            *ticks,
            f'<text x="{WIDE / 2}" y="{HIGH - 14}" text-anchor="middle">'
            "successes kept (InterCode, recorded runs)</text>",
            f'<text x="16" y="{HIGH / 2}" text-anchor="middle" transform="rotate(-90 16 {HIGH / 2})">'
            "laps of failed runs saved</text>",
            *marks,
            "</svg>",
            "",
        ]
    )


def _x(kept: float) -> float:
    return EDGE + (max(LEAST, kept) - LEAST) / (1 - LEAST) * (WIDE - 2 * EDGE)


def _y(saved: float) -> float:
    return HIGH - EDGE - saved / 0.8 * (HIGH - 2 * EDGE)


if __name__ == "__main__":
    main()
