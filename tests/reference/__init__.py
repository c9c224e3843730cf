"""A plain-Python reference matcher: the oracle that the core is compared with.

Idea: say what the language *is*, as directly as possible, and share nothing with the core.

- ``flat``       decodes the IR buffer (a second reading of its format).
- ``intervals``  sets of integers as sorted ranges; ``utf8`` turns them into byte ranges.
- ``regular``    regular expressions with intersection and complement, by derivatives.
- ``earley``     context-free grammars over bytes, by an Earley chart without unproductive symbols.
- ``json_text``  JSON text, cut off anywhere, read into a partial value.
- ``json_number``, ``json_judge``  whether some completion of a partial value is valid.
- ``matcher``    tokens on top of it.

Cost: no care is taken of it. Meant for texts of up to a few hundred bytes and vocabularies of up
to a few hundred tokens. What it cannot decide raises ``ReferenceLimitError``; it never guesses.

Readings. Where the format leaves something open, the reference reads it like this:

1.  *Spelling.* Completions consist of tokens that text may use. Where every byte of such a token is
    also a token of its own, that is the same as: completions consist of usable bytes. Otherwise
    token sequences are searched (small languages only). What ``accept_bytes`` does with bytes that
    no token has is left open; tests do not ask.
2.  *Stop tokens* are accepted iff the text is complete, and then end it; their bytes never match as
    text. A stop token that a token set names is also accepted there as an ordinary symbol.
3.  *Token sets.* Ids at or above the vocabulary size never match. An excluding set holds all ids
    but the named ones and the stop tokens; special tokens are in it.
4.  *TEXT_UNTIL.* The first occurrence of any stop ends the text; the text with its stop contains no
    exclude; it is valid UTF-8 if all stops are. Without stops nothing matches.
5.  *COMPLEMENT* at byte level is relative to valid UTF-8.
6.  *Unproductive node cycles* at one instance location (``x = ALL_OF(x)``) have no value; ``x =
    ANY_OF(x, y)`` is ``y`` (least fixpoint).
7.  *Numbers.* "Constrained" is: integers only, a NUMBER node with a bound, or an ENUM, in the
    conjunction chosen at the location (so ``anyOf: [integer, number]`` allows exponents).
    Constrained numbers are ``-?(0|[1-9][0-9]*)(\\.[0-9]+)?``.
8.  *strict* closes a location over the conjunction of the nodes that hold there. Of an ANY_OF any
    non-empty set of branches may hold at once, so keys of two valid branches may be mixed.
9.  *Declared order* of a conjunction is the order of first mention, depth first through ALL_OF and
    the chosen branches. Undeclared keys come after all declared ones that are present. Keys that
    only REQUIRED names are undeclared.
10. *Duplicate keys* are refused, all of them (``DuplicateKeys.ALL``, the default), or only those
    that some OBJECT or REQUIRED node at the location names (``DuplicateKeys.DECLARED``).
11. A *structured constant* of an ENUM is judged by its node like any other, strictness included.
12. *Decimals* have no exponents; where the divisors at a location, or the values of an ENUM
    that are valid there, are integers, they are plain. *Plain* numbers have one spelling each.
"""

from __future__ import annotations

from .flat import Expression, FlatIr, Node, decode
from .json_judge import DuplicateKeys
from .matcher import ReferenceMatcher
from .regular import ReferenceLimitError

__all__ = [
    "DuplicateKeys",
    "Expression",
    "FlatIr",
    "Node",
    "ReferenceLimitError",
    "ReferenceMatcher",
    "decode",
]
