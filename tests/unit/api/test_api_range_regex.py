"""Regular expressions for ranges of numbers: every spelling near the bounds, by brute force."""

from __future__ import annotations

import itertools
import random
import re
from decimal import Decimal

import pytest

from maskwright import Grammar, testing
from strategies import EFFORT

WRONG = ["", "-", "-0", "00", "01", "-01", "+1", "1.", "1.0", ".5", "1e1", " 1", "1 ", "1\n"]


def check_integers(start, end, numbers):
    pattern = re.compile(testing._generate_range_regex(start, end))
    for number in numbers:
        wanted = (start is None or number >= start) and (end is None or number <= end)
        assert bool(pattern.fullmatch(str(number))) == wanted, (start, end, number)
        assert not pattern.fullmatch(f"0{number}")
    for text in WRONG:
        assert not pattern.fullmatch(text), (start, end, text)


@pytest.mark.parametrize("start", [None, *range(-13, 13, 2), -101, -100, -99, 99, 100, 101])
def test_all_small_integers(start):
    for end in [None, *range(-12, 14), -100, -99, 89, 99, 100, 109, 110, 111]:
        if start is None or end is None or start <= end:
            check_integers(start, end, range(-1200, 1200, 1 if EFFORT > 1 else 3))


@pytest.mark.parametrize("seed", range(40 * EFFORT))
def test_large_integers(seed):
    rng = random.Random(seed)
    size = rng.choice([3, 5, 20, 60])
    start, end = sorted(rng.randint(-(10**size), 10**size) for _ in range(2))
    if rng.random() < 0.5:
        end = start + rng.randint(0, 10 ** rng.randint(0, 4))
    near = [bound + step for bound in (start, end) for step in range(-30, 31)]
    near += [sign * 10**n + step for n in range(size + 2) for sign in (-1, 1) for step in (-1, 0)]
    check_integers(start, end, near)
    check_integers(start, None, near)
    check_integers(None, end, near)


BOUNDS = ["0", "0.1", "0.25", "0.3", "0.305", "0.95", "0.99", "1", "1.5", "2", "9.9", "10", "10.05"]
FRACTIONS = [
    "",
    *("." + "".join(d) for n in (1, 2, 3) for d in itertools.product("01359", repeat=n)),
]
DECIMALS = [
    sign + whole + fraction
    for sign in ("", "-")
    for whole in ("0", "1", "2", "9", "10", "11", "99")
    for fraction in FRACTIONS
]


def check_decimals(start, end):
    low, high = (None if bound is None else float(bound) for bound in (start, end))
    pattern = re.compile(testing._generate_float_regex(low, high))
    for text in DECIMALS:
        value = Decimal(text)
        wanted = (start is None or value >= Decimal(start)) and (
            end is None or value <= Decimal(end)
        )
        assert bool(pattern.fullmatch(text)) == wanted, (start, end, text)
        assert not pattern.fullmatch("0" + text)
    for text in ["", "-", "1.", ".5", "1e1", "1.0e0", "+1", "1.0\n"]:
        assert not pattern.fullmatch(text), (start, end, text)


@pytest.mark.parametrize("start", [None, *BOUNDS, *("-" + bound for bound in BOUNDS)])
def test_decimals(start):
    ends = [*BOUNDS, *("-" + bound for bound in BOUNDS)]
    for end in [None, *(ends if EFFORT > 1 else ends[::2])]:
        if start is None or end is None or Decimal(start) <= Decimal(end):
            check_decimals(start, end)


def test_bounds_that_python_writes_with_an_exponent():
    tiny = re.compile(testing._generate_float_regex(1e-7, 1e22))
    assert tiny.fullmatch("0.0000001")
    assert not tiny.fullmatch("0.00000009")
    assert tiny.fullmatch("1" + "0" * 22 + ".0")
    assert not tiny.fullmatch("1" + "0" * 22 + ".01")


def test_as_grammars():
    accepts = testing._is_grammar_accept_string
    grammar = Grammar.from_regex(testing._generate_range_regex(-7, 120))
    for number in range(-20, 200):
        assert accepts(grammar, str(number)) == (-7 <= number <= 120)
    grammar = Grammar.from_regex(testing._generate_float_regex(-1.25, 3.5))
    for text in DECIMALS:
        assert accepts(grammar, text) == (Decimal("-1.25") <= Decimal(text) <= Decimal("3.5"))


@pytest.mark.parametrize(
    ("make", "bounds", "message"),
    [
        (testing._generate_range_regex, (3, 2), "start is 3 and end is 2; expected start <= end"),
        (testing._generate_float_regex, (0.5, 0.25), "start is 0.5 and end is 0.25"),
        (testing._generate_float_regex, (float("nan"), None), "a bound is nan; expected a finite"),
        (testing._generate_float_regex, (None, float("inf")), "a bound is inf; expected a finite"),
    ],
)
def test_empty_ranges(make, bounds, message):
    with pytest.raises(ValueError, match=message):
        make(*bounds)
