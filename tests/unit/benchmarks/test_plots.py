from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from benchmarks import plots

SVG = "{http://www.w3.org/2000/svg}"


def polylines(image):
    root = ET.fromstring(image)
    return [
        [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        for line in root.iter(f"{SVG}polyline")
    ]


def test_picture_has_a_curve_and_a_name_per_engine():
    curves = {"ours": [(1.0, 1.0), (0.1, 2.0)], "peer <1>": [(1.0, 5.0), (0.01, 900.0)], "no": []}
    image = plots.draw("mask & more", curves)
    words = [element.text for element in ET.fromstring(image).iter(f"{SVG}text")]
    assert len(polylines(image)) == 2
    assert {"mask & more", "ours", "peer <1>", "p50", "p90", "p99", "1 µs", "1 ms"} <= set(words)
    assert "no" not in words


def test_slower_is_higher_and_rarer_is_further_right():
    fast, slow = polylines(
        plots.draw("t", {"a": [(0.5, 1.0), (0.01, 10.0)], "b": [(0.5, 30.0), (0.01, 300.0)]})
    )
    assert slow[0][1] < fast[0][1]
    assert fast[1][0] > fast[0][0]
    # Equal ratios are equal distances.
    assert fast[0][1] - fast[1][1] == pytest.approx(slow[0][1] - slow[1][1], abs=0.11)


def test_curves_begin_at_the_median():
    ((first, *_),) = polylines(plots.draw("t", {"a": [(1.0, 1.0), (0.5, 3.0), (0.1, 9.0)]}))
    assert first[0] == plots.LEFT


def test_nothing_to_draw_is_no_picture():
    assert plots.draw("t", {"a": []}) == ""


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [(0.25, "250 ns"), (1.0, "1 µs"), (20.0, "20 µs"), (5000.0, "5 ms"), (2.5e6, "2.5 s")],
)
def test_durations_are_in_the_largest_unit(microseconds, expected):
    assert plots.duration(microseconds) == expected
