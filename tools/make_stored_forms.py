"""Writes tests/data/stored/VERSION: stored grammars as this version of the format has them.

The folder of a version is made once, when the version is new, and kept: those of older versions are
what `DeserializeVersionError` is tested with. Forms with masks, NAME.masks.bin, lie there as well
and have a version of their own; their masks count for one version of the package only. A second run
for the same version writes these again, from the grammars that lie there, and the seeds of the fuzz
targets. The vocabulary and the sources are in this file and must not change;
tests/unit/api/test_api_stored_files.py reads both.

Usage: python tools/make_stored_forms.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "stored"
#: Seeds of the fuzz targets: bodies without their envelopes, of their own vocabulary, and IR.
SEEDS = Path(__file__).resolve().parent.parent / "cpp" / "fuzz" / "corpus"
WORDS = ('{"', '":', '", "', "name", "true", "12", "ab", "]}")
FUZZ_WORDS = ('":', '","', '{"', "}}", "]]", "  ", "ab", "true", "\\u")
#: What is read before masks are stored.
WALKS = {"ebnf": "12+(ab\u00e9ab", "regex": "2026-01", "schema": '{"name": "Ann", "friends": [{'}
EBNF = """
root ::= sum
sum ::= sum "+" item | item
item ::= [0-9]{1,200} | "(" sum ")" | ("ab" | "\u00e9"){2,300}
"""
SCHEMA = {
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0},
        "friends": {"type": "array", "items": {"$ref": "#"}, "maxItems": 3},
    },
    "required": ["name"],
}


def vocabulary() -> TokenizerInfo:
    """Return the vocabulary of all files: the bytes, some words and a stop token."""
    from maskwright import TokenizerInfo

    tokens = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b""]
    return TokenizerInfo(tokens, stop_token_ids=len(tokens) - 1)


def fuzz_vocabulary() -> TokenizerInfo:
    """Return the vocabulary of cpp/fuzz/following.h."""
    from maskwright import TokenizerInfo

    tokens = [bytes([byte]) for byte in range(256)] + [word.encode() for word in FUZZ_WORDS]
    return TokenizerInfo([*tokens, b"", b""], stop_token_ids=len(tokens) + 1)


def new_compiler(info: TokenizerInfo) -> GrammarCompiler:
    """Return a compiler with limits that the fuzz target allows."""
    from maskwright import GrammarCompiler

    return GrammarCompiler(
        info, max_states=2000, max_targets=500, max_clauses=100, max_lang_states=500
    )


def with_masks(name: str, compiled: CompiledGrammar) -> bytes:
    """Return the stored form with the masks along a text."""
    from maskwright import GrammarMatcher, allocate_token_bitmask

    bitmask = allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    matcher = GrammarMatcher(compiled)
    for character in WALKS[name]:
        matcher.fill_next_token_bitmask(bitmask)
        assert matcher.accept_string(character)
    matcher.fill_next_token_bitmask(bitmask)
    return compiled.serialize(include_masks=True)


def compile_all(compiler: GrammarCompiler) -> dict[str, CompiledGrammar]:
    """Return the compiled grammar of each file."""
    return {
        "ebnf": compiler.compile_grammar(EBNF),
        "regex": compiler.compile_regex(r"\d{4}-[01]\d(?=Z)Z|[a-f]{30,}"),
        "schema": compiler.compile_json_schema(SCHEMA, any_order=True),
    }


def write_without_masks(path: Path, compiled: CompiledGrammar) -> None:
    """Write the forms that hold for the whole version."""
    path.write_bytes(compiled.serialize())
    path.with_suffix(".json").write_text(compiled.serialize_json() + "\n", encoding="ascii")
    text = compiled.grammar.serialize_json() + "\n"
    path.with_suffix(".grammar.json").write_text(text, encoding="ascii")


def main() -> None:
    """Writes the files."""
    from maskwright import Grammar, config

    folder = FOLDER / config.get_serialization_version()
    folder.mkdir(parents=True, exist_ok=True)
    compiler = new_compiler(vocabulary())
    for name, compiled in compile_all(compiler).items():
        plain = folder / f"{name}.bin"
        if not plain.exists():
            write_without_masks(plain, compiled)
        text = plain.with_suffix(".grammar.json").read_text(encoding="ascii")
        kept = compiler.compile_grammar(Grammar.deserialize_json(text))
        assert kept.serialize() == plain.read_bytes()
        (folder / f"{name}.masks.bin").write_bytes(with_masks(name, kept))
    for target in ("stored", "ir"):
        (SEEDS / target).mkdir(parents=True, exist_ok=True)
    for name, compiled in compile_all(new_compiler(fuzz_vocabulary())).items():
        (SEEDS / "stored" / name).write_bytes(compiled.serialize()[64:])
        (SEEDS / "stored" / f"{name}.masks").write_bytes(with_masks(name, compiled)[64:])
        (SEEDS / "ir" / name).write_bytes(compiled.grammar.ir)


if __name__ == "__main__":
    main()
