"""Jump-forward tokens on the tokenizers of real models: equal to those of the whole text.

Whole texts are made first: instances of real schemas, random completions of the schemas, and texts
of grammars that hold pieces of instances fixed. At each token of a text's encoding, the tokens that
the matcher says need no model must be the ones that follow.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from maskwright import GrammarCompiler, GrammarMatcher, MaskwrightError, TokenizerInfo
from strategies import EFFORT

pytestmark = pytest.mark.data

DATA = Path(os.environ.get("MASKWRIGHT_TEST_DATA", ""))
if not os.environ.get("MASKWRIGHT_TEST_DATA"):
    pytest.skip("MASKWRIGHT_TEST_DATA is not set", allow_module_level=True)

NAMES = sorted(folder.name for folder in (DATA / "tokenizers").iterdir() if folder.is_dir())
#: Characters for random completions; those that close something come first.
CHARACTERS = "\"}],0 e1atn{[:.-'n\\/ABz_$59\u00e9\u4e2d\U0001f600"


def samples(rng: random.Random, per_family: int) -> list[tuple[Any, Any]]:
    """Schemas with a valid instance, some of each family."""
    found = []
    for path in sorted((DATA / "maskbench").glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in rng.sample(lines, min(per_family, len(lines))):
            case = json.loads(line)
            valid = [test["data"] for test in case["tests"] if test["valid"]]
            if valid and len(line) < 20_000:
                found.append((case["schema"], valid[0]))
    return found


def in_declared_order(value: Any, schema: Any) -> Any:
    """The value with its members as the schema names them, so that more instances can be read."""
    named = schema.get("properties", {}) if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        keys = [key for key in named if key in value]
        keys += [key for key in value if key not in named]
        return {key: in_declared_order(value[key], named.get(key, {})) for key in keys}
    if isinstance(value, list):
        items = schema.get("items", {}) if isinstance(schema, dict) else {}
        return [in_declared_order(item, items) for item in value]
    return value


def random_completion(matcher: GrammarMatcher, rng: random.Random) -> str | None:
    """A random whole text; None if none is found soon."""
    text = ""
    n_free = rng.choice([5, 20, 50])
    for n in range(n_free + 60):
        piece = matcher.find_jump_forward_string()
        if not piece:
            if matcher.is_completed() and (n > n_free or rng.random() < 0.3):
                return text
            options = (c for c in CHARACTERS if matcher.fork().accept_string(c))
            found = list(options) if n < n_free else [next(options, None)]
            piece = rng.choice(found or [None])
            if piece is None:
                return text if matcher.is_completed() else None
        assert matcher.accept_string(piece)
        text += piece
    return None


def fixed_pieces(text: str, rng: random.Random) -> str:
    """A grammar that holds most of a text fixed."""
    parts = []
    while text:
        cut = rng.randint(1, 40)
        parts.append(json.dumps(text[:cut], ensure_ascii=False).replace("\\u007f", ""))
        free = rng.choice(["[a-zA-Z ]{0,9}", "[0-9]{1,7}", '(", " | "}" | "\'s")?', "[ \\n]{1,3}"])
        parts.append(free)
        text = text[cut + rng.randint(0, 6) :]
    return "root ::= " + " ".join(parts)


def encode_as_continuation(info: TokenizerInfo, text: str) -> list[int] | None:
    """The tokens of a text, behind something if the tokenizer would put a space before it."""
    vocabulary = info.decoded_vocab
    for before in ("", "\x02"):
        ids = info.encode(before + text)
        spelled = [vocabulary[token] for token in ids]
        for first in range(4):
            if b"".join(spelled[first:]) == text.encode():
                return ids[first:]
    return None


def check(info: TokenizerInfo, compiled: Any, text: str) -> int:
    """Compares at each token of a text; returns at how many of them there were jump tokens."""
    ids = encode_as_continuation(info, text)
    matcher = GrammarMatcher(compiled)
    stop = matcher.stop_token_ids[0]
    if ids is None or matcher.validate_tokens([*ids, stop]) <= len(ids):
        return 0
    n_jumps = 0
    for n, token in enumerate(ids):
        found = matcher.find_jump_forward_tokens()
        assert ids[n : n + len(found)] == found, (text, n)
        n_jumps += bool(found)
        assert matcher.accept_token(token)
    return n_jumps


def texts_of(info: TokenizerInfo, rng: random.Random, per_family: int) -> Any:
    """Compiled grammars and whole texts of them."""
    compiler = GrammarCompiler(info)
    for schema, instance in samples(rng, per_family):
        separators = rng.choice([(", ", ": "), (",", ":")])
        value = in_declared_order(instance, schema)
        text = json.dumps(value, ensure_ascii=False, separators=separators)
        grammar = compiler.compile_grammar(fixed_pieces(text[:600], rng))
        for _ in range(2):
            yield grammar, random_completion(GrammarMatcher(grammar), rng)
        try:
            grammar = compiler.compile_json_schema(
                schema, any_whitespace=False, separators=separators
            )
        except MaskwrightError:
            continue
        if len(text) < 2000:
            yield grammar, text
        yield grammar, random_completion(GrammarMatcher(grammar), rng)


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_the_tokens_of_the_whole_text(name):
    rng = random.Random(name)
    info = TokenizerInfo.from_file(DATA / "tokenizers" / name)
    texts = texts_of(info, rng, 2 * EFFORT)
    n_jumps = sum(check(info, compiled, text) for compiled, text in texts if text)
    assert n_jumps > 500
