"""What ``maskwright generate --json`` prints is JSON, whatever the numbers in the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.chat import Session
from maskwright.chat import session as session_module
from maskwright.cli import main
from scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("number", "parsed"), [(f"1{'0' * 400}.5", None), (f"1{'0' * 40}.5", 1e40)]
)
def test_numbers_beyond_a_double(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Any, number: str, parsed: float | None
) -> None:
    script = [bytes((byte,)) for byte in number.encode()]
    monkeypatch.setattr(session_module, "load", lambda *_, **__: Session(ScriptedModel(script)))
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "number"}')
    assert main(["generate", "--json", "--schema", str(schema), "hi"]) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (printed["text"], printed["parsed"]) == (number, parsed)
