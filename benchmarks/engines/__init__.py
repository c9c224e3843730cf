"""The engines that can be compared, one adapter per library.

Each runs with the options nearest to the same task: a JSON text with free whitespace, objects open
unless the schema closes them, one thread.
"""

from __future__ import annotations

import functools

from benchmarks.data import EBNF, JSON_SCHEMA, REGEX
from benchmarks.engines.base import EngineSpec
from benchmarks.engines.glrmask import GLRMask
from benchmarks.engines.llguidance import LLGuidance
from benchmarks.engines.maskwright import Maskwright
from benchmarks.engines.xgrammar import XGrammar

__all__ = ["DEFAULT_ENGINES", "ENGINES"]

_ALL_KINDS = frozenset({JSON_SCHEMA, REGEX, EBNF})

ENGINES: dict[str, EngineSpec] = {
    "maskwright": EngineSpec(Maskwright, _ALL_KINDS),
    "llguidance": EngineSpec(LLGuidance, frozenset({JSON_SCHEMA, REGEX})),
    "xgrammar": EngineSpec(XGrammar, _ALL_KINDS),
    "xgrammar-dynamic": EngineSpec(functools.partial(XGrammar, dynamic=True), _ALL_KINDS),
    "glrmask-static": EngineSpec(functools.partial(GLRMask, masks="static")),
    "glrmask-trie": EngineSpec(functools.partial(GLRMask, masks="trie")),
    "glrmask-merged": EngineSpec(functools.partial(GLRMask, masks="merged")),
    "glrmask-merged-dfa": EngineSpec(functools.partial(GLRMask, masks="merged-dfa")),
}
DEFAULT_ENGINES = tuple(name for name in ENGINES if name != "glrmask-merged-dfa")
