"""Random schemas of numbers with judges of their own, and spellings of numbers.

The judges work on ``Fraction`` and know nothing of spellings; texts are spelled here with zeros,
points and exponents moved about.
"""

from __future__ import annotations

from fractions import Fraction

BOUNDS = [
    "0",
    "1",
    "-1",
    "2.5",
    "-0.5",
    "10",
    "100",
    "99.9",
    "1e-8",
    "12345678901234567890",
    "1e30",
]
DIVISORS = [
    "1",
    "2",
    "3",
    "7",
    "0.01",
    "0.1",
    "1.5",
    "0.25",
    "1e-8",
    "12",
    "1000",
    "1e20",
    "2.5e-7",
]


def exact(text):
    return Fraction(text)


def random_assertion(rng):
    """One keyword, with a judge of its own."""
    kind = rng.choice(["minimum", "maximum", "multipleOf", "type", "enum", "both"])
    if kind == "multipleOf":
        text = rng.choice(DIVISORS)
        return f'"multipleOf": {text}', lambda v: (v / exact(text)).denominator == 1
    if kind == "type":
        return '"type": "integer"', lambda v: v.denominator == 1
    if kind == "enum":
        texts = rng.sample(BOUNDS, 4)
        values = {exact(text) for text in texts}
        return f'"enum": [{", ".join(texts)}]', lambda v: v in values
    if kind == "both":
        low, high = sorted(rng.sample(BOUNDS, 2), key=exact)
        return (
            f'"minimum": {low}, "exclusiveMaximum": {high}',
            lambda v: exact(low) <= v < exact(high),
        )
    text = rng.choice(BOUNDS)
    exclusive = rng.random() < 0.4
    name = f"exclusive{kind.title()}" if exclusive else kind
    sign = 1 if kind == "minimum" else -1
    return (
        f'"{name}": {text}',
        lambda v: sign * v > sign * exact(text) or (not exclusive and v == exact(text)),
    )


def random_numbers(rng):
    """The text of a schema of numbers, and its judge."""
    parts = [(*random_assertion(rng), rng.random() < 0.25) for _ in range(rng.randint(1, 4))]
    schemas = [f'{{"not": {{{text}}}}}' if negated else f"{{{text}}}" for text, _, negated in parts]
    judge = [(holds, negated) for _, holds, negated in parts]
    return (
        f'{{"type": "number", "allOf": [{", ".join(schemas)}]}}',
        lambda v: (
            isinstance(v, (int, Fraction))
            and all(holds(Fraction(v)) != negated for holds, negated in judge)
        ),
    )


def spelled(rng, value):
    """A random spelling of a finite decimal."""
    sign = "-" if value < 0 or (value == 0 and rng.random() < 0.3) else ""
    scale = 0
    while (abs(value) * Fraction(10) ** scale).denominator != 1:
        scale += 1
    scale += rng.choice([0, 0, 1, 5])  # zeros at the end
    digits = str(int(abs(value) * 10**scale))
    point = rng.choice([0, 0, scale, rng.randint(0, len(digits) + 4)])
    if point:
        digits = digits.zfill(point + 1)
        text = f"{digits[:-point]}.{digits[-point:]}"
    else:
        text = digits
    exponent = point - scale
    if exponent == 0 and rng.random() < 0.6:
        return sign + text
    mark = rng.choice(["", "+"]) if exponent >= 0 else "-"
    return f"{sign}{text}{rng.choice('eE')}{mark}{'0' * rng.choice([0, 0, 2])}{abs(exponent)}"


def candidates(rng, schema):
    """Values near what the schema names."""
    named = [*rng.sample(BOUNDS, 4), *rng.sample(DIVISORS, 2)]
    named += [text for text in (*BOUNDS, *DIVISORS) if f" {text}" in schema]
    for text in named:
        for _ in range(3):
            value = exact(text) * rng.choice([1, 1, -1, 2, 3, 21, Fraction(1, 10)])
            yield value + rng.choice([0, 0, 1, -1, Fraction(1, 100), Fraction(-1, 10**8)])
