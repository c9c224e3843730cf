"""Stored grammars in files: those of this format version load, those of others are refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwright
from maskwright import (
    CompiledGrammar,
    DeserializeVersionError,
    Grammar,
    GrammarMatcher,
    config,
)

ROOT = Path(__file__).parents[3]
VERSION = config.get_serialization_version()


def _load_script() -> Any:
    path = ROOT / "tools" / "make_stored_forms.py"
    spec = importlib.util.spec_from_file_location("make_stored_forms", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _load_script()
INFO = SCRIPT.vocabulary()
FOLDERS = sorted(path for path in SCRIPT.FOLDER.iterdir() if path.is_dir())

TEXTS = {
    "ebnf": (["12+(ab\u00e9ab)", "0"], ["ab", "+1", "1+"]),
    "regex": (["2026-01Z", "a" * 31], ["2026-01", "abc"]),
    "schema": (
        ['{"name": "Ann", "age": 12}', '{"age":0,"name":"B","friends":[{"name":"C"}]}'],
        ['{"name": "ann"}', '{"age": 1}', '{"name": "A", "more": 1}'],
    ),
}


def test_there_are_files_of_this_version():
    assert VERSION in {folder.name for folder in FOLDERS}, (
        "the format version has changed: run tools/make_stored_forms.py and keep the older folders"
    )


@pytest.mark.parametrize("name", TEXTS)
def test_files_of_this_version_load_and_are_written_the_same(name):
    folder = SCRIPT.FOLDER / VERSION
    stored = (folder / f"{name}.bin").read_bytes()
    text = (folder / f"{name}.json").read_text(encoding="ascii").rstrip("\n")
    grammar_text = (folder / f"{name}.grammar.json").read_text(encoding="ascii").rstrip("\n")
    loaded = CompiledGrammar.deserialize(stored, INFO)
    assert loaded.serialize() == stored
    assert loaded.serialize_json() == text
    assert CompiledGrammar.deserialize_json(text, INFO).serialize() == stored
    assert loaded.grammar.serialize_json() == grammar_text
    assert Grammar.deserialize_json(grammar_text) == loaded.grammar
    accepted, rejected = TEXTS[name]
    assert [text for text in [*accepted, *rejected] if accepts(loaded, text)] == accepted


@pytest.mark.parametrize("name", TEXTS)
def test_masks_of_files_are_those_of_this_version(name):
    """Whatever changes what a mask's key says changes the package's version, or the files."""
    folder = SCRIPT.FOLDER / VERSION
    stored = (folder / f"{name}.masks.bin").read_bytes()
    plain = (folder / f"{name}.bin").read_bytes()
    assert CompiledGrammar.deserialize(stored, INFO).serialize() == plain
    loaded = CompiledGrammar.deserialize(stored, INFO, trust_masks=True)
    assert loaded.serialize() == plain
    if maskwright.__version__.encode() not in stored:
        pytest.skip("the masks were written by another version of the package")
    fresh = CompiledGrammar.deserialize(plain, INFO)
    assert SCRIPT.with_masks(name, loaded) == stored
    assert loaded._core.counters()["cold_walks"] == 0
    assert masks(loaded, SCRIPT.WALKS[name]) == masks(fresh, SCRIPT.WALKS[name])


def masks(compiled: CompiledGrammar, text: str) -> list[bytes]:
    matcher = GrammarMatcher(compiled)
    row = np.zeros((1, (INFO.vocab_size + 31) // 32), dtype=np.int32)
    found = []
    for character in text:
        matcher.fill_next_token_bitmask(row)
        found.append(row.tobytes())
        assert matcher.accept_string(character)
    return found


def accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def test_files_of_other_versions_are_refused():
    others = [folder for folder in FOLDERS if folder.name != VERSION]
    if not others:
        pytest.skip("there is one version so far")
    for path in (path for folder in others for path in folder.iterdir()):
        with pytest.raises(DeserializeVersionError):
            read(path)


def read(path: Path) -> object:
    if path.suffix == ".bin":
        return CompiledGrammar.deserialize(path.read_bytes(), INFO)
    text = path.read_text(encoding="ascii")
    if path.name.endswith(".grammar.json"):
        return Grammar.deserialize_json(text)
    return CompiledGrammar.deserialize_json(text, INFO)
