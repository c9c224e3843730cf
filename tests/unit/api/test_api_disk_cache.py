"""The disk cache of a compiler: what is found again and what is not, damage, what the disk refuses.

What the store below it does is in test_disk_store.py, processes and forks in
test_api_disk_cache_processes.py.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import warnings
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mask_walks import masks_along
from maskwright import (
    Certificate,
    CompiledGrammar,
    DiskCacheError,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    UnsatisfiableGrammarError,
    _core,
    disk_cache,
    disk_store,
)
from maskwright.frontends.json_schema import compile as front_end

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ['{"', '":', '", "', "name", "12", "true", '"}', "ab", "((", "\u00e9"]
TOKENS = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]
INFO = TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}, "next": {"$ref": "#"}},
    "required": ["name"],
}
FILE = "compiled-grammars-1.sqlite3"
NOBODY = 65534


def counts(made: GrammarCompiler) -> tuple[int, ...]:
    """Hits, misses, writes, dropped, errors."""
    stats = made.stats().disk_cache
    assert stats is not None
    return stats.hits, stats.misses, stats.writes, stats.dropped, stats.errors


def entries(made: GrammarCompiler) -> int:
    stats = made.stats().disk_cache
    assert stats is not None
    return stats.entries


def compile_each(made: GrammarCompiler) -> list[CompiledGrammar]:
    grammar = Grammar(Grammar.from_regex("x+").ir, Certificate(exact=False, narrowed=("a", "b")))
    return [
        made.compile_json_schema(SCHEMA),
        made.compile_json_schema('{"type": "integer"}', any_whitespace=False),
        made.compile_regex("a+b"),
        made.compile_grammar('root ::= "a" | "b"'),
        made.compile_grammar(grammar),
        made.compile_builtin_json_grammar(),
    ]


# --- what is found --------------------------------------------------------------------------------


def test_another_compiler_loads_what_one_has_stored(tmp_path, monkeypatch):
    folder = tmp_path / "made" / "here"
    first = GrammarCompiler(INFO, disk_cache=folder)
    compiled = compile_each(first)
    assert (counts(first), entries(first)) == ((0, 6, 6, 0, 0), 6)

    def never(*_: object, **__: object) -> None:
        pytest.fail("a grammar was compiled")

    equal = TokenizerInfo(TOKENS, stop_token_ids=len(TOKENS) - 1)
    second = GrammarCompiler(equal, disk_cache=str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(front_end, "compile_json_schema", never)
        patch.setattr(_core, "compile", never)
        patch.setattr(Grammar, "from_ebnf", never)
        loaded = compile_each(second)
    assert (counts(second), entries(second)) == ((6, 0, 0, 0, 0), 6)
    for one, other in zip(compiled, loaded, strict=True):
        assert other.tokenizer_info is equal
        assert other.certificate == one.certificate
        assert other.serialize() == one.serialize()
        assert masks_along(other, 1) == masks_along(one, 1)
    assert second.compile_json_schema(SCHEMA) is loaded[0]  # from memory
    assert counts(second)[0] == 6
    assert (second.stats().grammars.hits, second.stats().grammars.misses) == (1, 6)


def test_what_is_loaded_is_kept_and_shares_masks(tmp_path):
    schemas = [{"type": "array", "items": {"type": "string"}, "minItems": n} for n in range(2)]
    for schema in schemas:
        GrammarCompiler(INFO, disk_cache=tmp_path).compile_json_schema(schema)
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    for schema in schemas:
        assert GrammarMatcher(made.compile_json_schema(schema)).accept_string('["')
    assert counts(made)[0] == 2
    masks_along(made.compile_json_schema(schemas[0]), 1)
    other = made.compile_json_schema(schemas[1])
    masks_along(other, 1)
    assert other._core.counters()["shared_masks"] > 0
    stats = made.stats()
    assert stats.grammars.bytes == sum(
        made.compile_json_schema(schema).memory_size_bytes for schema in schemas
    )


def test_without_memory_the_disk_still_answers(tmp_path):
    made = GrammarCompiler(INFO, disk_cache=tmp_path, cache_enabled=False)
    first, second = made.compile_regex("a"), made.compile_regex("a")
    assert first is not second
    assert first.serialize() == second.serialize()
    assert counts(made) == (1, 1, 1, 0, 0)


def test_without_a_disk_cache_there_are_no_figures():
    made = GrammarCompiler(INFO)
    assert made.stats().disk_cache is None
    made.clear_disk_cache()


@pytest.mark.parametrize(
    ("info", "options", "source"),
    [
        (TokenizerInfo(TOKENS, stop_token_ids=0), {}, {"const": 1}),
        (TokenizerInfo([*TOKENS, b"more"], stop_token_ids=len(TOKENS) - 1), {}, {"const": 1}),
        (INFO, {"max_states": 5000}, {"const": 1}),
        (INFO, {}, {"const": 1.0}),
        (INFO, {}, {"const": True}),
        (INFO, {}, '{"const": 1}'),
    ],
)
def test_another_vocabulary_limit_or_source_is_another_entry(tmp_path, info, options, source):
    GrammarCompiler(INFO, disk_cache=tmp_path).compile_json_schema({"const": 1})
    other = GrammarCompiler(info, disk_cache=tmp_path, **options)
    other.compile_json_schema(source)
    assert (counts(other), entries(other)) == ((0, 1, 1, 0, 0), 2)


def test_other_options_are_other_entries(tmp_path):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    made.compile_json_schema(SCHEMA)
    made.compile_json_schema(SCHEMA, any_order=True)
    made.compile_json_schema(SCHEMA, strict_mode=False)
    made.compile_json_schema(SCHEMA, number_spelling="plain")
    made.compile_grammar("a ::= b\nb ::= [x]", root_rule_name="a")
    made.compile_grammar("a ::= b\nb ::= [x]", root_rule_name="b")
    assert (counts(made), entries(made)) == ((0, 6, 6, 0, 0), 6)


def test_other_code_is_another_entry(tmp_path, monkeypatch):
    GrammarCompiler(INFO, disk_cache=tmp_path).compile_regex("a")
    monkeypatch.setattr(disk_cache, "_code_digest", lambda: b"another front-end")
    newer = GrammarCompiler(INFO, disk_cache=tmp_path)
    newer.compile_regex("a")
    assert counts(newer) == (0, 1, 1, 0, 0)


def test_failures_are_not_stored(tmp_path):
    texts = []
    for _ in range(2):
        made = GrammarCompiler(INFO, disk_cache=tmp_path)
        with pytest.raises(UnsatisfiableGrammarError) as raised:
            made.compile_json_schema({"type": "integer", "minimum": 2, "maximum": 1})
        texts.append(str(raised.value))
        assert (counts(made), entries(made)) == ((0, 1, 0, 0, 0), 0)
    assert texts[0] == texts[1]


def test_what_no_cache_can_keep_is_not_stored(tmp_path):
    class Mapping(dict):
        """Not a plain dict: it may say anything."""

    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    made.compile_json_schema(Mapping(type="integer"))
    assert (counts(made), entries(made)) == ((0, 0, 0, 0, 0), 0)


# --- clearing and limits --------------------------------------------------------------------------


def test_clearing_memory_does_not_touch_the_disk(tmp_path):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    made.compile_regex("a")
    made.clear_cache()
    made.compile_regex("a")
    assert (counts(made), entries(made)) == ((1, 1, 1, 0, 0), 1)


def test_clearing_the_disk_does_not_touch_memory(tmp_path):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    compiled = made.compile_regex("a")
    made.clear_disk_cache()
    assert entries(made) == 0
    assert made.compile_regex("a") is compiled
    other = GrammarCompiler(INFO, disk_cache=tmp_path)
    other.compile_regex("a")
    assert (counts(other), entries(other)) == ((0, 1, 1, 0, 0), 1)


def test_the_limit_is_kept(tmp_path):
    limit = 200_000
    made = GrammarCompiler(INFO, disk_cache=tmp_path, disk_cache_limit_bytes=limit)
    for n in range(40):
        made.compile_json_schema({"enum": [f"{n}{'x' * 8000}"]})
        assert made.stats().disk_cache.bytes <= limit
    assert counts(made)[2] == 40
    assert 5 < entries(made) < 25
    assert (tmp_path / FILE).stat().st_size <= limit + 40_000


@pytest.mark.parametrize("limit", [-2, True, 1.5, None])
def test_wrong_limits_are_refused(tmp_path, limit):
    with pytest.raises((TypeError, ValueError), match="disk_cache_limit_bytes is "):
        GrammarCompiler(INFO, disk_cache=tmp_path, disk_cache_limit_bytes=limit)


# --- damage ---------------------------------------------------------------------------------------


def change(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute(statement, values)


def all_rows(folder: Path) -> list[tuple[bytes, int, bytes, bytes]]:
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return list(connection.execute("SELECT key, used, digest, stored FROM entries"))


def assert_dropped_and_replaced(folder: Path, dropped: int = 1) -> None:
    expected = GrammarCompiler(INFO).compile_regex("a+b").serialize()
    made = GrammarCompiler(INFO, disk_cache=folder)
    assert made.compile_regex("a+b").serialize() == expected
    assert counts(made) == (0, 1, 1, dropped, 0)
    again = GrammarCompiler(INFO, disk_cache=folder)
    assert again.compile_regex("a+b").serialize() == expected
    assert counts(again) == (1, 0, 0, 0, 0)


def test_flipped_bits_are_found(tmp_path):
    GrammarCompiler(INFO, disk_cache=tmp_path).compile_regex("a+b")
    rng = random.Random(5)
    for _ in range(40):
        ((key, _, digest, stored),) = all_rows(tmp_path)
        column = rng.choice(["digest", "stored"])
        bits = bytearray(digest if column == "digest" else stored)
        bits[rng.randrange(len(bits))] ^= 1 << rng.randrange(8)
        change(tmp_path, f"UPDATE entries SET {column} = ? WHERE key = ?", bytes(bits), key)
        assert_dropped_and_replaced(tmp_path)


@pytest.mark.parametrize("value", ["text", 5, b"", None])
def test_an_entry_of_another_type_is_found(tmp_path, value):
    GrammarCompiler(INFO, disk_cache=tmp_path).compile_regex("a+b")
    if value is None:
        change(tmp_path, "UPDATE entries SET digest = 7")
    else:
        change(tmp_path, "UPDATE entries SET stored = ?", value)
    assert_dropped_and_replaced(tmp_path)


def test_the_entry_of_another_key_is_found(tmp_path):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    made.compile_regex("a+b")
    ((key, *_),) = all_rows(tmp_path)
    made.compile_regex("another")
    change(tmp_path, "DELETE FROM entries WHERE key = ?", key)
    change(tmp_path, "UPDATE entries SET key = ?", key)
    assert_dropped_and_replaced(tmp_path)


@pytest.mark.parametrize("kind", ["no grammar", "another vocabulary", "cut off"])
def test_what_cannot_be_loaded_is_dropped(tmp_path, kind):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    stored = made.compile_regex("a+b").serialize()
    other = GrammarCompiler(TokenizerInfo(TOKENS, stop_token_ids=0)).compile_regex("a+b")
    wrong = {"no grammar": b"x", "another vocabulary": other.serialize(), "cut off": stored[:-4]}
    ((key, *_),) = all_rows(tmp_path)
    made._disk_cache._store.write(key, wrong[kind])  # with a digest that is right
    assert_dropped_and_replaced(tmp_path)


def test_a_damaged_database_gives_no_wrong_grammar(tmp_path):
    """Bits are flipped anywhere in the file, many entries in it."""
    sources = [f"[a-f]{{{n}}}x" for n in range(1, 9)]
    made = GrammarCompiler(INFO, disk_cache=tmp_path / "whole")
    expected = [made.compile_regex(source).serialize() for source in sources]
    made._disk_cache.before_fork()  # closes it
    made._disk_cache.after_fork()
    whole = (tmp_path / "whole" / FILE).read_bytes()
    rng = random.Random(3)
    refused = found = 0
    for n in range(150):
        folder = tmp_path / str(n)
        folder.mkdir()
        bits = bytearray(whole)
        for _ in range(rng.choice([1, 1, 20])):
            bits[rng.randrange(len(bits))] ^= 1 << rng.randrange(8)
        (folder / FILE).write_bytes(bits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = GrammarCompiler(INFO, disk_cache=folder)
            except DiskCacheError:
                refused += 1
                continue
            found_now = [made.compile_regex(source).serialize() for source in sources]
        assert found_now == expected
        found += counts(made)[0]
    assert refused < 50
    assert found > 200


# --- what is refused at once ----------------------------------------------------------------------


def refusal(folder: Path) -> DiskCacheError:
    with pytest.raises(DiskCacheError) as raised:
        GrammarCompiler(INFO, disk_cache=folder)
    return raised.value


LEFT = (
    "; it is left as it is: remove it while no process uses it, or pass another folder as "
    "disk_cache"
)


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / FILE
    path.write_text("notes " * 1000)
    error = refusal(tmp_path)
    assert error.code == "disk-cache-foreign"
    assert str(error) == (
        f"the disk cache cannot be used: {path} is no database that can be read (file is not a "
        f"database){LEFT}"
    )
    assert path.read_text() == "notes " * 1000


def test_a_database_of_another_program_is_left_alone(tmp_path):
    change(tmp_path, "CREATE TABLE notes (text)")
    before = (tmp_path / FILE).read_bytes()
    error = refusal(tmp_path)
    assert error.code == "disk-cache-foreign"
    assert str(error) == (
        f"the disk cache cannot be used: {tmp_path / FILE} is a database of another program{LEFT}"
    )
    assert (tmp_path / FILE).read_bytes() == before


def test_a_database_of_another_layout_is_left_alone(tmp_path):
    GrammarCompiler(INFO, disk_cache=tmp_path)
    change(tmp_path, "PRAGMA user_version = 2")
    error = refusal(tmp_path)
    assert error.code == "disk-cache-version"
    assert str(error) == (
        f"the disk cache cannot be used: {tmp_path / FILE} has layout 2, expected 1{LEFT}"
    )


@pytest.mark.parametrize("below", [False, True])
def test_a_file_is_no_folder(tmp_path, below):
    path = tmp_path / "file"
    path.write_text("")
    folder = path / "below" if below else path
    error = refusal(folder)
    assert error.code == "disk-cache-folder"
    assert str(error) == (
        f"the disk cache cannot be used: {folder} is no folder and cannot become one; pass the "
        "path of a folder as disk_cache"
    )


# --- what the disk refuses ------------------------------------------------------------------------


@contextmanager
def unprivileged() -> Iterator[Path]:
    """Without the rights of an administrator, to whom no file is read-only; a folder to use."""
    if not hasattr(os, "setresuid"):
        pytest.skip("it needs a system whose users can be changed for a while")
    GrammarCompiler(INFO).compile_regex("a")  # imports what others may not read
    user = os.getuid()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        if user == 0:
            os.setresuid(NOBODY, NOBODY, user)
        try:
            yield Path(name)
        finally:
            if user == 0:
                os.setresuid(user, user, user)
            for path in Path(name).rglob("*"):
                path.chmod(0o777)


MESSAGE = r"the disk cache .*sqlite3 cannot be used: .*; grammars are compiled without it until it"


def test_a_read_only_folder_is_read():
    with unprivileged() as parent:
        folder = parent / "cache"
        made = GrammarCompiler(INFO, disk_cache=folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        made.compile_regex("a")
        del made
        (folder / FILE).chmod(0o400)
        folder.chmod(0o500)
        reader = GrammarCompiler(INFO, disk_cache=folder)
        reader.compile_regex("a")
        assert counts(reader) == (1, 0, 0, 0, 0)
        with pytest.warns(RuntimeWarning, match=MESSAGE):
            reader.compile_regex("b")
        reader.compile_regex("c")  # said once, and not tried again so soon
        assert counts(reader) == (1, 2, 0, 0, 1)
        with pytest.raises(DiskCacheError, match="the disk cache cannot be cleared: ") as raised:
            reader.clear_disk_cache()
        assert raised.value.code == "disk-cache-clear"


def test_a_folder_that_cannot_be_made_or_written():
    with unprivileged() as parent:
        parent.joinpath("closed").mkdir(mode=0o500)
        for folder in (parent / "closed", parent / "closed" / "below"):
            with pytest.warns(RuntimeWarning, match=MESSAGE):
                made = GrammarCompiler(INFO, disk_cache=folder)
            made.compile_regex("a")
            assert (counts(made), entries(made)) == ((0, 1, 0, 0, 1), 0)


def test_warnings_that_are_errors_fail_no_request(tmp_path):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    made._disk_cache._store.open().execute("PRAGMA query_only = ON")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.compile_regex("a")
    assert counts(made) == (0, 1, 0, 0, 1)


def test_a_full_disk(tmp_path, monkeypatch):
    made = GrammarCompiler(INFO, disk_cache=tmp_path)
    made.compile_regex("a")
    connection = made._disk_cache._store.open()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.warns(RuntimeWarning, match="is full"):
        made.compile_json_schema({"enum": ["x" * 10_000]})
    connection.execute("PRAGMA max_page_count = 100000")
    made.compile_regex("b")
    assert counts(made) == (0, 3, 1, 0, 1)
    monkeypatch.setattr(disk_cache.time, "monotonic", lambda: 1e12)  # later
    made.compile_regex("c")
    assert (counts(made), entries(made)) == ((0, 4, 2, 0, 1), 2)


def test_a_locked_database(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_store, "_TIMEOUT_SECONDS", 0.01)
    GrammarCompiler(INFO, disk_cache=tmp_path).compile_regex("a")
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        made = GrammarCompiler(INFO, disk_cache=tmp_path)
        made.compile_regex("a")
        with pytest.warns(RuntimeWarning, match="database is locked"):
            made.compile_regex("b")
        assert counts(made) == (1, 1, 0, 0, 1)
        with pytest.raises(DiskCacheError, match="database is locked; see that it can be written"):
            made.clear_disk_cache()
