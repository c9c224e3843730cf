"""Free text in rules: words that may end behind each letter, keywords among them, and ambiguity.

A walk takes all places inside a word as one, and goes on from the bytes behind it. So every token
of vocabularies full of half words, words with signs behind them and several words is asked at every
step, in grammars whose rules return, call, loop or read keywords there; in some the word's letters
may also begin what comes next.
"""

from __future__ import annotations

import random

import pytest

from core_adapter import CoreMatcher
from maskwright.grammar import Grammar
from vocabularies import make_vocabulary

BYTES = [bytes([b]) for b in range(256)]
PIECES = [
    *(b"a", b"b", b"c", b"ab", b"abc", b"or", b"an", b"and", b"if", b"x", b"_", b"1", b"12", b"0"),
    *(b" ", b"  ", b"\n", b"\t", b"+", b"-", b"*", b"(", b")", b",", b";", b".", b"=", b'"', b"#"),
    *("é".encode(), "ß".encode(), "€".encode()[:1], "€".encode()[1:], "😀".encode()),
    *(b"\xa9", b"\xff"),
]
# Some of which begin with bytes that begin characters which the classes below leave out.
BEYOND = ["дю", "ΣΩ", "のん。", "中文龥", "한글", "\u00a0", "\u3000", "€😀", "a\u00a0b", "\u3000の"]
BEYOND_PIECES = [
    *PIECES,
    *(text.encode() for text in [*BEYOND, *"дюΣΩのん。中文龥한글\u00a0\u3000"]),
    *("の".encode()[:2], "の".encode()[1:], "д".encode()[:1], "\u00a0".encode()[1:]),
]
WS = "ws ::= [ \\t\\n]*\n"
GRAMMARS = {
    "terms": 'root ::= e\ne ::= t ("+" t)*\nt ::= [a-c]+ | [0-9]+ ("." [0-9]+)? | "(" e ")"',
    "ambiguous": 'root ::= e\ne ::= e "+" e | e "and" e | "(" e ")" | [a-z_]+ | [0-9]+',
    "keywords": r"""root ::= ws e
e ::= e op e | "(" ws e ")" ws | id ws | id "(" ws (e ("," ws e)*)? ")" ws
op ::= ("+" | "and" | "or" | "if") ws
id ::= [a-z_][a-z_0-9]*
ws ::= [ \t\n]*""",
    "words": "root ::= root space root | [a-c]+\nspace ::= [ ]*",
    "classes": "root ::= (word | number)+\nword ::= [a-z]+\nnumber ::= [0-9]+",
    "sentences": """root ::= sentence (" " sentence)*
sentence ::= [a-z]+ (" " [a-z]+ ","?)* "." """,
    "cells": r"""root ::= row ("\n" row)*
row ::= cell ("," cell){2}
cell ::= [^,"\n]* | "\"" ([^"] | "\"\"")* "\"" """,
    "lines": r"""root ::= (heading | text)+
heading ::= "#"{1,3} " " line
text ::= line "\n"
line ::= [^\n#] [^\n]* "\n" """,
    "statements": """root ::= (statement ";")+
statement ::= "if " name "=" name | name "(" name? ")"
name ::= [a-z]+""",
    "not ascii": 'root ::= [a-zé€]+ ("-" [a-zß]+)*',
    "blocks": """root ::= block
block ::= "{" (block | word ";")* "}" | "(" word ")"
word ::= [a-z]+ (" " [a-z]+)*""",
    "stars": 'root ::= "a"* "b"* root | "c"',
    "counted": 'root ::= x{2,3}\nx ::= [a-c]+ "," | [a-z]+ " "',
    "right recursion": 'root ::= [a-z]+ root | [a-z]+ "+" root | "."',
    "two ways": 'root ::= a | b\na ::= [a-z]+ "1"\nb ::= [a-z ]+ "2"',
    "complements": "root ::= [^a]* ([a] [^a]*){1,2}",
}
BEYOND_GRAMMARS = {
    "but spaces": r"root ::= ([^ \n\u00a0\u3000]+ [ \u00a0\u3000]+){0,4} [^ \n\u00a0\u3000]+",
    "spaces or words": r"""root ::= (word | [ \u3000])+ "."
word ::= [^ \n.\u00a0\u3000]+""",
    "some letters": 'root ::= [a-zа-яの-ん一-龥]+ ("-" [а-я中]+)*',
    "but one": r"""root ::= word (" " word)*
word ::= [^ \u306e]+""",
    "nested": """root ::= list
list ::= word ("," word | "(" list ")")*
word ::= [^,()。]+""",
}
PARTS = ["[a-c]+", "[a-z]*", "[^,]+", "[0-9]+", '"and"', '"a"', '","', '" "', "[ ]*", "word"]
PARTS += ["list", '"(" list ")"', '"or" list', "word?", '(word ",")*', "[a-c0-9]{2,9}", "[a-zé]+"]


def random_grammar(rng):
    """A grammar of a few rules that call each other, with words everywhere."""

    def body(n):
        choices = [" ".join(rng.choices(PARTS, k=rng.randint(1, 4))) for _ in range(n)]
        return " | ".join(choices)

    end = rng.choice(['"."', "[a-z]+", '";"'])
    return f'root ::= list {end}\nlist ::= {body(2)} | "x"\nword ::= {body(1)} | [a-z]+'


def random_vocabulary(rng, n_tokens, pieces):
    tokens = {b"".join(rng.choices(pieces, k=rng.randint(2, 6))) for _ in range(n_tokens)}
    return make_vocabulary("words", [*BYTES, *sorted(tokens - set(BYTES))])


def walk(source, rng, n_tokens=700, steps=25, pieces=PIECES):
    """A walk through the masks that asks for every token at every step."""
    v = random_vocabulary(rng, n_tokens, pieces)
    matcher = CoreMatcher.compile(Grammar.from_ebnf(source).ir, v)
    for _ in range(steps):
        allowed = matcher.allowed_tokens()
        accepted = {t for t in range(v.vocab_size) if matcher.fork().accept_token(t)}
        assert allowed == accepted, (source, matcher)
        rest = sorted(accepted - set(v.stop_ids))
        if not rest:
            return
        longer = [t for t in rest if len(v.tokens[t]) > 1]
        token = rng.choice(longer if longer and rng.random() < 0.6 else rest)
        assert matcher.accept_token(token)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", GRAMMARS)
def test_words(name, seed):
    walk(GRAMMARS[name], random.Random(f"{name} {seed}"))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", BEYOND_GRAMMARS)
def test_words_beyond_ascii(name, seed):
    walk(BEYOND_GRAMMARS[name], random.Random(f"{name} {seed}"), pieces=BEYOND_PIECES)


@pytest.mark.parametrize("seed", range(60))
def test_random_words(seed):
    rng = random.Random(seed)
    walk(random_grammar(rng), rng, steps=12)
