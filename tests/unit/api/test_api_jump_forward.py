"""Text and tokens that need no model: what is returned is certain, whatever follows."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from maskwright import (
    GrammarCompiler,
    GrammarMatcher,
    TokenizerError,
    TokenizerInfo,
    VocabType,
    jump_forward,
    testing,
)
from strategies import EFFORT

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
#: Splitting as tokenizers of today do it: contractions, words with one character before them,
#: digits in groups of three, punctuation with the line ends behind it, and white space that leaves
#: its last character to the next word.
PATTERN = (
    r"[^\r\n\p{L}\p{N}]?\p{L}+(?:'s|'t|'re)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def tokenizer(merges: list[tuple[str, str]], pattern: str | None = PATTERN) -> Tokenizer:
    """Byte-level BPE with these merges."""
    tokens = [*ALPHABET, *dict.fromkeys(a + b for a, b in merges)]
    vocab = {token: n for n, token in enumerate(tokens)}
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = (
        bytes_only
        if pattern is None
        else pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), bytes_only])
    )
    made.decoder = decoders.ByteLevel()
    return made


def info_of(made: Tokenizer) -> TokenizerInfo:
    """The vocabulary of a tokenizer, and a stop token."""
    size = made.get_vocab_size()
    tokens = [made.id_to_token(n) or "" for n in range(size)]
    return TokenizerInfo(
        [*tokens, "</s>"],
        VocabType.BYTE_LEVEL,
        stop_token_ids=size,
        encoder=lambda text: made.encode(text).ids,
    )


def spaced(*pairs: str) -> list[tuple[str, str]]:
    """Merges, one per text "left|right", spaces and line ends as byte-level BPE writes them."""
    written = (pair.replace(" ", "\u0120").replace("\n", "\u010a") for pair in pairs)
    return [(a, b) for a, _, b in (pair.partition("|") for pair in written)]


WORDS = spaced(
    "n|a", "m|e", "na|me", '{|"', '"|:', ' |"', "a|g", "ag|e", "o|n", "d|on", "n|'", "n'|t", "'|t",
    "1|2", "12|3", " | ", "  |  ", "\n|  ", " |a", " |n", ",| ", "\n|\n", "e|r", "me|r",
    '"|}', "t|r", "u|e", "tr|ue", "b|c", "a|bc",
)  # fmt: skip
INFO = info_of(tokenizer(WORDS))


def matcher_of(grammar: str, info: TokenizerInfo = INFO, **options: Any) -> GrammarMatcher:
    return GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar), **options)


def texts(matcher: GrammarMatcher, ids: list[int]) -> list[str]:
    info = matcher.compiled_grammar.tokenizer_info
    return [info.decoded_vocab[token].decode() for token in ids]


# Strings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grammar", "text", "forced"),
    [
        ('root ::= "abc" | "abd"', "", "ab"),
        ('root ::= "abc" | "abd"', "ab", ""),
        ('root ::= "abc" | "abd"', "abd", ""),
        ('root ::= "ab" "c"?', "", "ab"),
        ('root ::= "ab"?', "", ""),
        ('root ::= "a" x "c"\nx ::= "(" x ")" | "b"', "a", ""),
        ('root ::= "a" x "c"\nx ::= "(" x ")" | "b"', "a((b", "))c"),
        ('root ::= [a] "x"{3} [yz]', "", "axxx"),
        ('root ::= "\u00e9" | "\u00e8"', "", ""),
        ('root ::= "\U0001f600" "\u00e9"', "", "\U0001f600\u00e9"),
    ],
)
def test_strings(grammar, text, forced):
    matcher = testing._get_matcher_from_grammar(grammar)
    assert matcher.accept_string(text)
    for _ in range(2):
        assert matcher.find_jump_forward_string() == forced
    assert matcher.accept_string(forced)
    assert matcher.find_jump_forward_string() == ""


def test_a_string_is_bounded():
    matcher = testing._get_matcher_from_grammar('root ::= "' + "\u00e9ab" * 30000 + '"')
    forced = matcher.find_jump_forward_string()
    assert (1 << 16) - 4 < len(forced.encode()) <= 1 << 16
    assert ("\u00e9ab" * 30000).startswith(forced)


def test_after_the_end_nothing_is_forced():
    matcher = matcher_of('root ::= "a"')
    assert matcher.accept_string("a")
    assert matcher.find_jump_forward_string() == ""
    assert matcher.find_jump_forward_tokens() == []
    assert matcher.accept_token(matcher.stop_token_ids[0])
    assert matcher.find_jump_forward_string() == ""
    assert matcher.find_jump_forward_tokens() == []


def test_an_object():
    matcher = matcher_of(r'''root ::= "{\"name\": \"" [a-z]* "\", \"age\": 123}"''')
    assert matcher.find_jump_forward_string() == '{"name": "'
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ['{"', "name", '":', ' "']
    assert matcher.accept_string('{"name": "na"')
    assert matcher.find_jump_forward_string() == ', "age": 123}'
    assert texts(matcher, matcher.find_jump_forward_tokens()) == [
        ",", ' "', "age", '":', " ", "123", "}",
    ]  # fmt: skip


def test_a_member_name_has_other_spellings():
    """What a schema says is forced is a value, and its text is not: an escape may begin it."""
    schema = {"const": {"name": [True, 1]}}
    compiled = GrammarCompiler(INFO).compile_json_schema(schema, any_whitespace=False)
    matcher = GrammarMatcher(compiled)
    assert matcher.find_jump_forward_string() == '{"'
    assert matcher.accept_string(r'{"n\u0061me"')
    assert matcher.find_jump_forward_string() == ": [true, "  # 1, 1.0, 10e-1, ...


# Tokens -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grammar", "text", "wanted"),
    [
        # A token that the next character could join with is left out,
        ('root ::= "na" ("me" | "b")', "", []),
        ('root ::= "name" ("r" | "!")', "", []),
        # ... and stays where it can't.
        ('root ::= "name" ("." | "!")', "", ["name"]),
        ('root ::= "name" ("." | "!")?', "", ["name"]),
        # White space leaves its last character to the word behind it, and joins with line ends.
        ('root ::= ".  " ("a" | "n")', "", ["."]),
        ('root ::= ".  " ("." | "!")', "", ["."]),
        ('root ::= ".\\n  " ("." | "\\n")', "", ["."]),
        ('root ::= ". " ("." | "!")', "", [".", " "]),
        # Digits come in groups, from the left or from the right.
        ('root ::= "1234" ("5" | ".")', "", []),
        ('root ::= "1234" ("a" | ".")', "", ["123", "4"]),
        ('root ::= "a1234a5" ("6" | ".")', "", ["a", "123", "4", "a"]),
        # A contraction that may or may not come about.
        ('root ::= ".don\'" ("t" | ".")', "", ["."]),
        ('root ::= ".don\'" ("x" | ".")', "", ["."]),
        ('root ::= ".don\'" (" x" | " .")', "", [".", "don", "'", " "]),
        # Merges that reach to the left: "abc" is a|bc, so "ab" tells nothing about "a".
        ('root ::= "ab" ("c" | ".")', "", []),
        ('root ::= "ab" ("b" | ".")', "", ["a", "b"]),
        # The last one is the end: nothing can join.
        ('root ::= "name"', "", ["name"]),
        ('root ::= "name"', "na", ["me"]),
    ],
)
def test_tokens(grammar, text, wanted):
    matcher = matcher_of(grammar)
    assert matcher.accept_string(text)
    for _ in range(2):
        assert texts(matcher, matcher.find_jump_forward_tokens()) == wanted


def test_what_was_accepted_decides_where_tokens_begin():
    matcher = matcher_of('root ::= "names"')
    assert matcher.accept_string("name")
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ["s"]
    matcher.rollback()
    # The tokenizer has no boundary inside "name": what is forced is encoded alone.
    for letter in "na":
        assert matcher.accept_token(INFO.encode(letter)[0])
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ["me", "s"]


def test_tokens_are_acceptable():
    """A stop token of the caller is a token of the tokenizer, too."""
    name = INFO.encode("name")[0]
    matcher = matcher_of('root ::= "{name"', override_stop_tokens=[name])
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ["{"]


def test_behind_a_prefix_space():
    """A tokenizer that puts a space first: the forced text is a continuation all the same."""
    made = tokenizer(spaced(" |a", "a|b"), None)
    info = TokenizerInfo(
        [*(made.id_to_token(n) for n in range(made.get_vocab_size())), "</s>"],
        VocabType.BYTE_LEVEL,
        stop_token_ids=made.get_vocab_size(),
        add_prefix_space=True,
        encoder=lambda text: made.encode(" " + text).ids,
    )
    matcher = matcher_of('root ::= "ab" "." "ab"', info)
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ["ab", ".", "ab"]
    assert matcher.accept_string("ab.")
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ["ab"]


def test_a_tokenizer_that_changes_the_text():
    """What it returns are tokens of another text: none of them can be used."""
    info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2, encoder=lambda text: [0] * len(text))
    assert matcher_of('root ::= "bb"', info).find_jump_forward_tokens() == []
    assert matcher_of('root ::= "aa"', info).find_jump_forward_tokens() == [0, 0]


def test_a_tokenizer_that_fails_says_so():
    def fails(_text: str) -> list[int]:
        raise TokenizerError("no such file", code="tokenizer-unreadable")

    info = TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2, encoder=fails)
    with pytest.raises(TokenizerError, match="no such file"):
        matcher_of('root ::= "ab"', info).find_jump_forward_tokens()


@pytest.mark.parametrize(
    ("grammar", "text", "wanted"),
    [
        ('root ::= "abab" [xy]', "", ["aba", "b"]),
        ('root ::= "abab" ("a" | "x")', "", ["aba"]),
        ('root ::= "ab" ("ab" | "x")', "", []),
        ('root ::= "ab"', "a", ["b"]),
    ],
)
def test_without_a_tokenizer_tokens_are_the_longest(grammar, text, wanted):
    info = TokenizerInfo(["a", "b", "aba", "ba", "x", "y", "</s>", "aba"], stop_token_ids=6)
    matcher = matcher_of(grammar, info)
    assert matcher.accept_string(text)
    assert texts(matcher, matcher.find_jump_forward_tokens()) == wanted


def test_without_a_tokenizer_and_without_a_way_to_spell():
    info = TokenizerInfo(["ab", "a", "abb", "</s>"], stop_token_ids=3)
    matcher = matcher_of('root ::= "abab"', info)
    assert texts(matcher, matcher.find_jump_forward_tokens()) == ["ab", "ab"]
    assert texts(matcher_of('root ::= "abb"', info), [2]) == ["abb"]


# Any grammar, any tokenizer -----------------------------------------------------------------------


def random_tokenizer(rng: random.Random) -> Tokenizer:
    """Random merges over a few characters, with or without splitting."""
    pieces = [*"abnt1'.", "\u0120", "\u010a"]
    merges: dict[tuple[str, str], None] = {}
    for _ in range(rng.choice([5, 20, 60])):
        left, right = rng.choice(pieces), rng.choice(pieces)
        if len(left + right) <= 6 and left + right not in pieces:
            merges[left, right] = None
            pieces.append(left + right)
    return tokenizer(list(merges), PATTERN if rng.random() < 0.7 else None)


PIECES = [*"abnt1'. \n", "  ", ".\n  ", "n'", "n't", "111", "1111"]


def random_grammar(rng: random.Random) -> str:
    """Literals with choices between them."""

    def literal(longest: int) -> str:
        return json.dumps("".join(rng.choices(PIECES, k=rng.randint(1, longest))))

    parts = []
    for _ in range(rng.randint(1, 4)):
        parts.append(literal(6))
        choices = " | ".join(literal(3) for _ in range(rng.randint(1, 3)))
        parts.append(rng.choice([f"({choices})", f"({choices})?", f"({choices})*", "[ab1 ]"]))
    return "root ::= " + " ".join(parts)


def random_text(matcher: GrammarMatcher, rng: random.Random) -> str:
    text = ""
    for _ in range(60):
        options = [c for c in "abnt1'. \n" if matcher.fork().accept_string(c)]
        if not options or (matcher.is_completed() and rng.random() < 0.3):
            return text
        text += rng.choice(options)
        assert matcher.accept_string(text[-1])
    return text if matcher.is_completed() else ""


@pytest.mark.parametrize("seed", range(60 * EFFORT))
def test_jump_tokens_are_the_tokens_of_the_whole_text(seed):
    """At each token of the encoding of a random whole text."""
    rng = random.Random(seed)
    info = info_of(random_tokenizer(rng))
    compiled = GrammarCompiler(info).compile_grammar(random_grammar(rng))
    for _ in range(12):
        text = random_text(GrammarMatcher(compiled), rng)
        ids = info.encode(text)
        matcher = GrammarMatcher(compiled)
        for n, token in enumerate(ids):
            found = matcher.find_jump_forward_tokens()
            assert ids[n : n + len(found)] == found, (text, texts(matcher, ids), n)
            assert matcher.validate_tokens(found) == len(found)
            assert matcher.accept_token(token)


def test_a_window_of_a_long_text_gives_what_the_whole_text_gives(monkeypatch):
    rng = random.Random(11)
    schema = {"type": "array", "items": {"enum": ["name", "don't", 1234, "\u00e9 x", "a  n", True]}}
    compiled = GrammarCompiler(INFO).compile_json_schema(schema, any_whitespace=False)
    matcher = GrammarMatcher(compiled)
    values = [rng.choice(schema["items"]["enum"]) for _ in range(400)]
    ids = INFO.encode(json.dumps(values, ensure_ascii=False))
    assert len(ids) > 1500
    lengths: list[int] = []
    encode = TokenizerInfo.encode

    def counted(info: TokenizerInfo, text: str) -> list[int]:
        lengths.append(len(text))
        return encode(info, text)

    monkeypatch.setattr(TokenizerInfo, "encode", counted)
    total = 0
    for n, token in enumerate(ids):
        found = matcher.find_jump_forward_tokens()
        total += len(found)
        if n % 10 == 0:
            longest = max(lengths, default=0)
            monkeypatch.setattr(jump_forward, "LONG_WINDOW", 1 << 40)
            assert found == matcher.find_jump_forward_tokens()
            monkeypatch.setattr(jump_forward, "LONG_WINDOW", 512)
            assert longest < 600
        lengths.clear()
        assert found == ids[n : n + len(found)]
        assert matcher.accept_token(token)
    assert total > 300


def test_windows_that_never_fall_into_step():
    """A long number: groups of three digits from wherever the window begins."""
    info = info_of(tokenizer(spaced("1|1", "11|1")))
    matcher = matcher_of("root ::= [1]{1999} [1]{2} [x]", info)
    ids = info.encode("1" * 2001 + "x")
    for n in (0, 1, 200, 500, 665):
        matcher.reset()
        assert all(matcher.accept_token(token) for token in ids[:n])
        found = matcher.find_jump_forward_tokens()
        assert found == ids[n : n + len(found)]
    assert len(found) == len(ids) - 665
