"""Context-free grammars: every kind of recursion, and ambiguity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import EBNF
from benchmarks.hard.case import EXPECTED, WRONG, case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.hard.case import Case

KEYWORDS = """
root ::= (statement ";")+
statement ::= "let " name "=" name | "return " name | name "()"
name ::= [a-z]+
"""

# Name, grammar, texts to accept, texts to refuse.
TABLE: tuple[tuple[str, str, Sequence[str], Sequence[str]], ...] = (
    ("left recursion", 'root ::= root "a" | "b"', ["b" + "a" * 2000], ["ab"]),
    ("right recursion", 'root ::= "a" root | "b"', ["a" * 2000 + "b"], ["a" * 20 + "c"]),
    (
        "hidden left recursion",
        'root ::= empty root "a" | "b"\nempty ::= "" | "c"',
        ["b" + "a" * 50, "ccbaa"],
        ["cb", "bb"],
    ),
    (
        "every string of a, ambiguous",
        'root ::= root root | "a"',
        ["a" * 300],
        ["a" * 30 + "b"],
    ),
    (
        "ambiguous expressions",
        'root ::= root "+" root | root "*" root | "(" root ")" | [0-9]+',
        ["1+2*3+(4*5)+6*7*8+9", "+".join(["(1*2)"] * 60), "(" * 40 + "1" + ")" * 40],
        ["1++2", "(1", "1)"],
    ),
    (
        "ambiguous words",
        "root ::= root space root | [a-z]+\nspace ::= [ ]*",
        ["some words here " * 5 + "x"],
        ["a-b"],
    ),
    (
        "even palindromes",
        'root ::= "a" root "a" | "b" root "b" | ""',
        ["ab" * 20 + "ba" * 20, ""],
        ["aba", "abab"],
    ),
    (
        "dangling else",
        'root ::= "if c then " root | "if c then " root " else " root | "x"',
        ["if c then " * 20 + "x" + " else x" * 20, "if c then if c then x else x"],
        ["if c then x else x else x", "if c then"],
    ),
    ("letters and a suffix", 'root ::= [a-z]+ "ing"', ["building", "inging"], ["ing", "build"]),
    (
        "keyword against identifier",
        KEYWORDS,
        ["let x=letx;return returned;lets();return x;" * 10],
        ["let =x;", "return ;", "x;"],
    ),
    (
        "nested blocks",
        'root ::= block\nblock ::= "{" (block | word ";")* "}"\nword ::= [a-z]+ (" " [a-z]+)*',
        ["{" * 300 + "some words;" + "}" * 300, "{a;{b;}c;}"],
        ["{a}", "{{}"],
    ),
)


def cases() -> Iterator[Case]:
    """Yield the inputs of this family."""
    for name, grammar, accepts, rejects in TABLE:
        yield case(f"grammars/{name}", grammar, accepts, rejects, kind=EBNF)
    yield case(
        "grammars/mutual recursion without an end",
        'root ::= first\nfirst ::= "a" second\nsecond ::= "b" first',
        kind=EBNF,
        refusal=EXPECTED,
    )
    rules = [f'rule_{k} ::= "{k} " (rule_{k + 1} | rule_{k // 2})?' for k in range(3000)]
    many = "\n".join(["root ::= rule_0", *rules, 'rule_3000 ::= "end"'])
    text = "".join(f"{k} " for k in range(300))
    yield case("grammars/3000 rules", many, [text], [text + "7 "], kind=EBNF, refusal=WRONG)
