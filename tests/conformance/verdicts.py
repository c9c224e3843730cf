"""Runs one case: compile the schema, judge its instances, walk through its masks."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import cache
from random import Random
from typing import Any

import jsonschema
import referencing
from jsonschema_specifications import REGISTRY as METASCHEMAS

from conformance.cases import DRAFTS, Case, remotes
from conformance.walks import Hints, Walk, walk_vocabulary
from json_spellings import has_lone_surrogate, spellings
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import MaskwrightError, UnsatisfiableGrammarError

_VALIDATORS = dict(
    zip(
        DRAFTS,
        (
            jsonschema.Draft4Validator,
            jsonschema.Draft6Validator,
            jsonschema.Draft7Validator,
            jsonschema.Draft201909Validator,
            jsonschema.Draft202012Validator,
        ),
        strict=True,
    )
)
_NEGATING = ('"not"', '"oneOf"', '"if"')
_MAX_UNFINISHED = 3
# After so many steps no further walk through one schema starts.
_MAX_WALK_STEPS = 4000
# Beyond the exponents that are admitted for integers.
_MAX_INTEGER_DIGITS = 4000
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
    if not walks:
        return
    schema = json.loads(case.schema_text)
    hints = Hints(schema)
    judge = _Judge(case)
    ascii_only = "pattern" in case.schema_text or case.suite.endswith("-format")
    steps = 0
    for _ in range(walks):
        if steps >= _MAX_WALK_STEPS:
            return
        walk = Walk(compiled, rng, hints, ascii_only=ascii_only)
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


def _number(text: str) -> Any:
    try:
        value = Decimal(text)
    except ArithmeticError:  # an exponent of 20 digits
        return float(text)
    if value.adjusted() < _MAX_INTEGER_DIGITS and value == value.to_integral_value():
        return int(value)
    return value


class _Judge:
    """The validator that walks are judged by."""

    def __init__(self, case: Case) -> None:
        schema = json.loads(case.schema_text, parse_float=_number)
        draft = case.suite.removesuffix("-format")
        default = _VALIDATORS.get(draft, jsonschema.Draft202012Validator)
        self._class = jsonschema.validators.validator_for(schema, default=default)
        self._schema = schema
        self._suite = case.suite
        self._formats = None
        asserted = case.options["assert_format"] and '"format"' in case.schema_text
        # The validator knows few formats, and some roughly; a negation turns that around.
        self._unsure = asserted and any(word in case.schema_text for word in _NEGATING)
        if asserted:
            self._formats = jsonschema.FormatChecker(formats=())
            # Not those that judge by Python's patterns and calendar (which has no year 0000).
            known = self._class.FORMAT_CHECKER.checkers.items()
            self._formats.checkers = {
                name: check for name, check in known if name not in ("date", "regex")
            }

    def accepts(self, data: bytes) -> bool:
        """Whether a text is valid; True also where the validator fails or cannot know."""
        try:
            instance = json.loads(data, parse_float=_number)
        except ValueError:
            return False
        if self._unsure:
            return True
        registry = _registry(self._suite.removesuffix("-format"))
        validator = self._class(self._schema, registry=registry, format_checker=self._formats)
        try:
            with localcontext() as context, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of `re`, about patterns that Python reads anew
                context.prec = 1000
                return bool(validator.is_valid(instance))
        except Exception:  # noqa: BLE001 - patterns that Python doesn't know, among others
            return True


@cache
def _registry(draft: str) -> referencing.Registry:
    if draft == "maskbench":
        return METASCHEMAS
    default = referencing.jsonschema.specification_with(_VALIDATORS[draft].META_SCHEMA["$schema"])
    return METASCHEMAS.with_resources(
        (uri, referencing.Resource.from_contents(json.loads(text), default_specification=default))
        for uri, text in remotes().items()
    )


__all__ = ["Verdict", "run_case"]
