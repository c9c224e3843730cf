"""Maskwright: exact token masks for structured output of language models.

Names are loaded on first use (PEP 562), so ``import maskwright`` takes a few milliseconds and loads
neither the engine nor numpy; torch and pydantic are used only where the caller brings them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what typing has, without the milliseconds that importing it takes
if TYPE_CHECKING:
    from typing import Any

    from . import config as config
    from . import testing as testing
    from .batch import BatchGrammarMatcher
    from .bitmask import (
        allocate_token_bitmask,
        apply_token_bitmask_inplace,
        bitmask_dtype,
        get_bitmask_shape,
        reset_token_bitmask,
    )
    from .certificate import Certificate, Loosened
    from .chat.session import load
    from .compiler import CompiledGrammar, CompilerStats, GrammarCompiler, MaskTable
    from .config import (
        get_max_recursion_depth,
        get_serialization_version,
        max_recursion_depth,
        set_max_recursion_depth,
    )
    from .errors import (
        BatchError,
        BitmaskError,
        CompileTimeoutError,
        DeserializeFormatError,
        DeserializeVersionError,
        DiskCacheError,
        DraftTreeError,
        GrammarError,
        GrammarSyntaxError,
        InvalidJSONError,
        InvalidSchemaError,
        LimitExceededError,
        MalformedIRError,
        MaskwrightError,
        MatcherError,
        MissingDependencyError,
        TokenizerError,
        UnsatisfiableGrammarError,
        UnsupportedFeatureError,
    )
    from .explain import Explanation, Refusal
    from .grammar import Grammar
    from .matcher import GrammarMatcher
    from .tokenizer_info import TokenizerInfo, VocabType

    __version__: str

__all__ = [
    "BatchError",
    "BatchGrammarMatcher",
    "BitmaskError",
    "Certificate",
    "CompileTimeoutError",
    "CompiledGrammar",
    "CompilerStats",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "DiskCacheError",
    "DraftTreeError",
    "Explanation",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarMatcher",
    "GrammarSyntaxError",
    "InvalidJSONError",
    "InvalidSchemaError",
    "LimitExceededError",
    "Loosened",
    "MalformedIRError",
    "MaskTable",
    "MaskwrightError",
    "MatcherError",
    "MissingDependencyError",
    "Refusal",
    "TokenizerError",
    "TokenizerInfo",
    "UnsatisfiableGrammarError",
    "UnsupportedFeatureError",
    "VocabType",
    "__version__",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "config",
    "get_bitmask_shape",
    "get_max_recursion_depth",
    "get_serialization_version",
    "load",
    "max_recursion_depth",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "testing",
]

_MODULES = {
    "BatchGrammarMatcher": "batch",
    "allocate_token_bitmask": "bitmask",
    "apply_token_bitmask_inplace": "bitmask",
    "bitmask_dtype": "bitmask",
    "get_bitmask_shape": "bitmask",
    "reset_token_bitmask": "bitmask",
    "Certificate": "certificate",
    "Loosened": "certificate",
    "load": "chat.session",
    "CompiledGrammar": "compiler",
    "CompilerStats": "compiler",
    "GrammarCompiler": "compiler",
    "MaskTable": "compiler",
    "get_max_recursion_depth": "config",
    "get_serialization_version": "config",
    "max_recursion_depth": "config",
    "set_max_recursion_depth": "config",
    "BatchError": "errors",
    "BitmaskError": "errors",
    "CompileTimeoutError": "errors",
    "DeserializeFormatError": "errors",
    "DeserializeVersionError": "errors",
    "DiskCacheError": "errors",
    "DraftTreeError": "errors",
    "GrammarError": "errors",
    "GrammarSyntaxError": "errors",
    "InvalidJSONError": "errors",
    "InvalidSchemaError": "errors",
    "LimitExceededError": "errors",
    "MalformedIRError": "errors",
    "MaskwrightError": "errors",
    "MatcherError": "errors",
    "MissingDependencyError": "errors",
    "TokenizerError": "errors",
    "UnsatisfiableGrammarError": "errors",
    "UnsupportedFeatureError": "errors",
    "Explanation": "explain",
    "Refusal": "explain",
    "Grammar": "grammar",
    "GrammarMatcher": "matcher",
    "TokenizerInfo": "tokenizer_info",
    "VocabType": "tokenizer_info",
}


def __getattr__(name: str) -> Any:
    import importlib

    module = _MODULES.get(name)
    if module is not None:
        value = getattr(importlib.import_module(f".{module}", __name__), name)
    elif name == "__version__":
        value = importlib.import_module("._core", __name__).engine_version()
    elif name in {"config", "testing"}:
        return importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "bitmask_dtype":  # its value depends on whether torch is loaded by now
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    dunders = (name for name in globals() if name.startswith("__"))
    return sorted({*dunders, *__all__})
