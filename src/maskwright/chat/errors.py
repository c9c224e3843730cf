"""Errors of the parts that run a language model."""

from __future__ import annotations

from maskwright.errors import MaskwrightError, MissingDependencyError

__all__ = ["MissingDependencyError", "ModelError"]


class ModelError(MaskwrightError, RuntimeError):
    """A model that cannot be loaded or does not run."""
