"""Errors of the parts that run a language model."""

from __future__ import annotations

from maskwright.errors import MaskwrightError, MissingDependencyError

__all__ = ["MissingDependencyError", "ModelError", "SamplingError"]


class ModelError(MaskwrightError, RuntimeError):
    """A model that cannot be loaded or does not run."""


class SamplingError(MaskwrightError, ValueError):
    """A sampling parameter out of range, or a logit processor that gives no row of logits."""
