"""Errors of the parts that run a language model."""

from __future__ import annotations

from maskwright.errors import MaskwrightError


class ModelError(MaskwrightError, RuntimeError):
    """A model that cannot be loaded or does not run."""


class MissingDependencyError(MaskwrightError, ImportError):
    """An optional package that a feature needs is not installed; the message names the extra."""
