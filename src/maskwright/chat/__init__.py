"""Runs a language model whose output is held to a format.

Nothing here is imported by the grammar machinery, and llama.cpp only when a model is loaded.
"""

from __future__ import annotations

from maskwright.chat.errors import MissingDependencyError, ModelError, SamplingError
from maskwright.chat.llama_cpp_model import LlamaCppModel
from maskwright.chat.model import LanguageModel, Message
from maskwright.chat.result import FinishReason, Result, Usage
from maskwright.chat.sampling import SamplingParameters
from maskwright.chat.session import Session, load

__all__ = [
    "FinishReason",
    "LanguageModel",
    "LlamaCppModel",
    "Message",
    "MissingDependencyError",
    "ModelError",
    "Result",
    "SamplingError",
    "SamplingParameters",
    "Session",
    "Usage",
    "load",
]
