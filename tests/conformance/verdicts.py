"""Runs one case: compile the schema, judge its instances, walk through its masks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from random import Random

import jsonschema
import referencing
import referencing.exceptions
from jsonschema_specifications import REGISTRY as METASCHEMAS

from conformance.cases import Case, remotes
from conformance.walks import Hints, Walk, WalkTokens, walk_vocabulary
from ecmascript import NODE
from json_spellings import has_lone_surrogate, spellings
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import MaskwrightError, UnsatisfiableGrammarError
from schema_judge import LIBRARIES, Judge

_NEGATING = ('"not"', '"oneOf"', '"if"')
_MAX_UNFINISHED = 3
# After so many steps no further walk through one schema starts.
_MAX_WALK_STEPS = 4000
_FORMAT = "format "


@dataclass
class Verdict:
    """What came of a case.

    Attributes:
        right: How many instances were judged as they should be.
        wrong: By name: instances judged wrongly, and walks that failed; with what happened.
        narrowed: Valid instances that are refused where the certificate says that a format is
            narrowed.
        refused: Why the schema was refused, or None.
        instances: How many instances there are.
        unfinished: How many walks found no end.
    """

    right: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    narrowed: list[str] = field(default_factory=list)
    refused: str | None = None
    instances: int = 0
    unfinished: int = 0


@cache
def _compiler() -> GrammarCompiler:
    return GrammarCompiler(_vocabulary(), cache_enabled=False)


@cache
def _vocabulary() -> TokenizerInfo:
    return walk_vocabulary()


@cache
def _tokens() -> WalkTokens:
    return WalkTokens(_vocabulary())


def run_case(case: Case, seed: int, *, spelled: int, walks: int) -> Verdict:
    """Return the verdict on a case.

    Args:
        case: The case.
        seed: Of the spellings and walks, which also depend on the case's name.
        spelled: Spellings per instance.
        walks: Random walks.
    """
    rng = Random(f"{seed}/{case.suite}/{case.file}/{case.name}")
    instances = [i for i in case.instances if not has_lone_surrogate(i.value)]
    verdict = Verdict(instances=len(instances))
    try:
        compiled = _compiler().compile_json_schema(case.schema_text, **case.options)
    except UnsatisfiableGrammarError:
        for instance in instances:
            if instance.valid:
                verdict.wrong[instance.name] = "refuses every text"
        verdict.right = len(instances) - len(verdict.wrong)
        return verdict
    except MaskwrightError as error:
        verdict.refused = str(getattr(error, "feature", error.code))
        return verdict
    narrowed = compiled.certificate.narrowed
    for instance in instances:
        texts = spellings(instance.value, rng, spelled)
        failed = next((t for t in texts if _accepts(compiled, t) != instance.valid), None)
        if failed is None:
            verdict.right += 1
        elif instance.valid and any(entry.startswith(_FORMAT) for entry in narrowed):
            verdict.narrowed.append(instance.name)
        else:
            done = "refuses" if instance.valid else "accepts"
            verdict.wrong[instance.name] = f"{done} {failed[:300]!r}"
    _walk(case, compiled, rng, walks, verdict)
    return verdict


def _accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def _walk(case: Case, compiled: CompiledGrammar, rng: Random, walks: int, verdict: Verdict) -> None:
    if not walks or (NODE is None and "pattern" in case.schema_text):
        return
    schema = json.loads(case.schema_text)
    hints = Hints(schema)
    judge = _Judge(case)
    ascii_only = case.suite.endswith("-format")  # the library's formats are rough beyond ASCII
    steps = 0
    for _ in range(walks):
        if steps >= _MAX_WALK_STEPS:
            return
        walk = Walk(compiled, _tokens(), rng, hints, ascii_only=ascii_only)
        walk.run()
        steps += walk.steps
        problem = walk.problem
        verdict.unfinished += walk.unfinished
        if verdict.unfinished == _MAX_UNFINISHED:
            return
        if problem is None and not walk.unfinished and not judge.accepts(walk.text):
            problem = "ends in an invalid text"
        if problem is not None:
            verdict.wrong["a walk"] = f"{problem}: {walk.text[:300]!r}"
            return


class _Judge:
    """The validator that walks are judged by."""

    def __init__(self, case: Case) -> None:
        draft = case.suite.removesuffix("-format")
        library = LIBRARIES.get(draft, jsonschema.Draft202012Validator)
        formats = None
        asserted = case.options["assert_format"] and '"format"' in case.schema_text
        # The validator knows few formats, and some roughly; a negation turns that around.
        self._unsure = asserted and any(word in case.schema_text for word in _NEGATING)
        if asserted:
            formats = jsonschema.FormatChecker(formats=())
            # Not those that judge by Python's patterns and calendar (which has no year 0000).
            known = library.FORMAT_CHECKER.checkers.items()
            formats.checkers = {n: check for n, check in known if n not in ("date", "regex")}
        default = draft if draft in LIBRARIES else "draft2020-12"
        self._judge = Judge(
            case.schema_text, default, registry=_registry(draft), format_checker=formats
        )

    def accepts(self, data: bytes) -> bool:
        """Whether a text is valid; True also where the validator cannot know."""
        try:
            json.loads(data)
        except ValueError:
            return False
        if self._unsure:
            return True
        try:
            return self._judge.is_valid(data) is not False
        except (referencing.exceptions.Unresolvable, RecursionError):
            return True  # references that lead nowhere, or round and round for the validator


@cache
def _registry(draft: str) -> referencing.Registry:
    if draft == "maskbench":
        return METASCHEMAS
    default = referencing.jsonschema.specification_with(LIBRARIES[draft].META_SCHEMA["$schema"])
    return METASCHEMAS.with_resources(
        (uri, referencing.Resource.from_contents(json.loads(text), default_specification=default))
        for uri, text in remotes().items()
    )


__all__ = ["Verdict", "run_case"]
