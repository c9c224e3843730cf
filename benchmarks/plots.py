"""Latency curves as SVG, without a plotting library.

Both axes are logarithmic: to the right the percentile, from p50 on, each nine as wide as the last,
upwards the time. A curve shows at one glance the median, the tail, and where a tail begins.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Curve = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 180, 40, 50
FIRST_SHARE = 0.5  # the share of slower values at the left edge
PERCENTILES = ((0.5, "p50"), (0.1, "p90"), (0.01, "p99"), (1e-3, "p99.9"), (1e-4, "p99.99"))
COLOURS = ("#0b6e4f", "#c8102e", "#1f4e9c", "#e08a00", "#7b2d8b", "#4a4a4a", "#00838f", "#9e6b4a")
DASHES = ("", "", "", "", "6 3", "6 3", "2 2", "2 2")
UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))


def duration(microseconds: float) -> str:
    """Write a time in the largest unit of which it is at least one."""
    size, unit = next((u for u in UNITS if microseconds >= u[0] * 0.999), UNITS[-1])
    return f"{microseconds / size:.3g} {unit}"


class Axes:
    """Maps shares and times to points of the picture."""

    def __init__(self, curves: Iterable[Curve]) -> None:
        points = [point for curve in curves for point in visible(curve)]
        times = [max(time, 1e-3) for _, time in points]
        self.low = math.floor(math.log10(min(times)))
        self.high = max(math.ceil(math.log10(max(times))), self.low + 1)
        self.nines = max(-math.log10(min(share for share, _ in points)), 1.0)

    def x(self, share: float) -> float:
        start = -math.log10(FIRST_SHARE)
        part = (-math.log10(share) - start) / (self.nines - start)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(self, microseconds: float) -> float:
        part = (math.log10(max(microseconds, 1e-3)) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def visible(curve: Curve) -> Curve:
    """Return the points from the left edge on."""
    return [point for point in curve if point[0] <= FIRST_SHARE] or list(curve[-1:])


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """Draw a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def text(x: float, y: float, words: str, anchor: str = "start", more: str = "") -> str:
    """Write words at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(words)}</text>'


def grid(axes: Axes) -> list[str]:
    """Draw lines at the percentiles and at the powers of ten, with their names."""
    style = 'stroke="#ddd"'
    parts = []
    for share, name in PERCENTILES:
        if -math.log10(share) <= axes.nines + 1e-9:
            x = axes.x(share)
            parts.append(line(x, TOP, x, HEIGHT - BOTTOM, style))
            parts.append(text(x, HEIGHT - BOTTOM + 18, name, "middle"))
    for power in range(axes.low, axes.high + 1):
        y = axes.y(10.0**power)
        parts.append(line(LEFT, y, WIDTH - RIGHT, y, style))
        parts.append(text(LEFT - 8, y + 4, duration(10.0**power), "end"))
    return parts


def draw(title: str, curves: Mapping[str, Curve]) -> str:
    """Return the SVG text of the curves; "" if there is nothing to draw.

    Args:
        title: What was timed.
        curves: Per engine points (share of values at least this large, microseconds), from large
            shares to small ones.
    """
    drawn = {name: visible(curve) for name, curve in curves.items() if curve}
    if not drawn:
        return ""
    axes = Axes(drawn.values())
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 24, title, more='font-size="15"'),
        *grid(axes),
    ]
    for k, (name, curve) in enumerate(drawn.items()):
        colour, dash = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]
        stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash or "none"}"'
        points = " ".join(f"{axes.x(share):.1f},{axes.y(time):.1f}" for share, time in curve)
        parts.append(f'<polyline points="{points}" fill="none" {stroke}/>')
        y = TOP + 14 + 20 * k
        parts.append(line(WIDTH - RIGHT + 12, y - 4, WIDTH - RIGHT + 36, y - 4, stroke))
        parts.append(text(WIDTH - RIGHT + 42, y, name))
    return "\n".join([*parts, "</svg>\n"])
