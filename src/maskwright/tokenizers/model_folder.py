"""What lies beside a tokenizer file: the configuration of the model it belongs to.

Idea: these files give evidence (which tokens end a text, the chat template, tokens added to the
vocabulary) and nothing depends on them, so one that is missing or damaged gives none.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from maskwright.tokenizers.vocabulary import MAX_VOCAB_SIZE

if TYPE_CHECKING:
    from pathlib import Path

    from maskwright.tokenizers.vocabulary import FoundVocabulary

_ID: Final = re.compile("[0-9]{1,8}")

_MAX_BYTES: Final = 64 << 20
"""Configurations are small; a larger file is none."""


class ModelFolder:
    """The files of a model's folder that are of use here.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _config(self) -> dict[str, object]:
        return self._read_object("tokenizer_config.json")

    def add_evidence(self, found: FoundVocabulary) -> None:
        """Add to a vocabulary what the configuration says of its ends, and the chat template."""
        found.end_ids |= self.generation_end_ids()
        name = self._config.get("eos_token")
        if isinstance(name, dict):
            name = name.get("content")
        end_id = found.id_of(name) if isinstance(name, str) else None
        if end_id is not None:
            found.end_ids.add(end_id)
        found.chat_template = self.chat_template()

    def generation_end_ids(self) -> set[int]:
        """The ids that end a generation according to ``generation_config.json``."""
        ids = self._read_object("generation_config.json").get("eos_token_id")
        listed = ids if isinstance(ids, list) else [ids]
        return {i for i in listed if isinstance(i, int) and not isinstance(i, bool)}

    def add_tokens(self, found: FoundVocabulary) -> None:
        """Add the tokens that the configuration has beside those of the tokenizer file."""
        entries = self._config.get("added_tokens_decoder")
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            content = entry.get("content") if isinstance(entry, dict) else None
            if isinstance(content, str) and _ID.fullmatch(name) and int(name) < MAX_VOCAB_SIZE:
                data = content.encode(errors="replace")
                found.put(int(name), data, is_special=entry.get("special") is True)

    def chat_template(self) -> str | None:
        """The chat template: a file of its own, or an entry of the configuration."""
        try:
            path = self._path / "chat_template.jinja"
            if path.stat().st_size <= _MAX_BYTES:
                return path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            pass
        return default_template(self._config.get("chat_template"))

    def _read_object(self, name: str) -> dict[str, object]:
        try:
            path = self._path / name
            if path.stat().st_size > _MAX_BYTES:
                return {}
            value = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def default_template(value: object) -> str | None:
    """The template to use of what a configuration or a tokenizer holds: one, or several by name."""
    if isinstance(value, list):
        named = [entry for entry in value if isinstance(entry, dict)]
        value = next((e.get("template") for e in named if e.get("name") == "default"), None)
    elif isinstance(value, dict):
        value = value.get("default")
    return value if isinstance(value, str) else None
