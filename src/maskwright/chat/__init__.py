"""Runs a language model whose output is held to a format.

Nothing here is imported by the grammar machinery, and llama.cpp only when a model is loaded.
"""

from __future__ import annotations

from maskwright.chat.chat_engine import ChatEngine
from maskwright.chat.completion import ChatChunk, ChatCompletion, CompletionChoice, TokenEntry
from maskwright.chat.engine_stats import EngineStats, RequestStats
from maskwright.chat.errors import (
    AnswerError,
    EngineBusyError,
    EngineClosedError,
    EngineThreadError,
    MissingDependencyError,
    ModelError,
    RequestError,
    RequestTimeoutError,
    SamplingError,
    error_body,
)
from maskwright.chat.llama_cpp_model import LlamaCppModel
from maskwright.chat.logit_processing import LogitProcessor
from maskwright.chat.model import LanguageModel, Message, SequenceInput
from maskwright.chat.request import ChatRequest
from maskwright.chat.response_format import (
    GrammarFormat,
    RegexFormat,
    ResponseFormat,
    SchemaFormat,
)
from maskwright.chat.result import FinishReason, Result
from maskwright.chat.sampling import SamplingParameters
from maskwright.chat.session import Session, load
from maskwright.chat.streams import AsyncChatStream, ChatStream
from maskwright.chat.transformers_model import TransformersModel
from maskwright.chat.usage import ChatUsage

__all__ = [
    "AnswerError",
    "AsyncChatStream",
    "ChatChunk",
    "ChatCompletion",
    "ChatEngine",
    "ChatRequest",
    "ChatStream",
    "ChatUsage",
    "CompletionChoice",
    "EngineBusyError",
    "EngineClosedError",
    "EngineStats",
    "EngineThreadError",
    "FinishReason",
    "GrammarFormat",
    "LanguageModel",
    "LlamaCppModel",
    "LogitProcessor",
    "Message",
    "MissingDependencyError",
    "ModelError",
    "RegexFormat",
    "RequestError",
    "RequestStats",
    "RequestTimeoutError",
    "ResponseFormat",
    "Result",
    "SamplingError",
    "SamplingParameters",
    "SchemaFormat",
    "SequenceInput",
    "Session",
    "TokenEntry",
    "TransformersModel",
    "error_body",
    "load",
]
