"""Random schemas of all keywords, judged by `jsonschema` with ECMAScript's patterns.

1. Outputs sampled through the masks of a real vocabulary come to an end and are valid.
2. Valid instances, made by `hypothesis-jsonschema` and by changes to others, are accepted in any
   spelling, in tokens that are all in the masks; invalid ones are not.
3. A schema that is refused is refused by name; one without a text has no valid instance.

2,000 outputs and 2,000 instances by default, always the same; ``MASKWRIGHT_TEST_EFFORT=5`` takes
10,000 of each, fresh ones. What fails is shown with the smallest schema that was found for it.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from conformance.run import SEED_VARIABLE, new_seed
from conformance.walks import Hints, Walk, WalkTokens
from ecmascript import NO_NODE, NODE
from json_spellings import plain, spellings
from keyword_grammar import random_schema
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import (
    LimitExceededError,
    MaskwrightError,
    UnsatisfiableGrammarError,
    UnsupportedFeatureError,
)
from schema_forms import modern, smaller
from schema_instances import mutations, near_instances, parse
from schema_judge import Judge
from strategies import EFFORT

pytestmark = pytest.mark.skipif(NODE is None, reason=NO_NODE)

PER_PART = 500
N_PARTS = 4 * EFFORT
SEED = new_seed(0 if EFFORT == 1 else None)
OUTPUTS_PER_SCHEMA = 4
INSTANCES_PER_SCHEMA = 5
# Shares of the schemas and of the verdicts, about three times what is usual.
MOST_REFUSED = 0.07
MOST_UNFINISHED = 0.07
MOST_UNSURE = 0.04
EVERYTHING = {"strict_mode": False, "any_order": True, "assert_format": False}
MAX_FAULTS = 5
MAX_REDUCTIONS = 400


@cache
def vocabulary() -> TokenizerInfo:
    """A real vocabulary: of the data folder, else one that comes with mistral-common."""
    folder = os.environ.get("MASKWRIGHT_TEST_DATA")
    if folder:
        files = sorted(Path(folder, "tokenizers").glob("*/tokenizer.json"))
        return TokenizerInfo.from_file(files[SEED % len(files)])
    spec = find_spec("mistral_common")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("no real vocabulary: mistral-common is not installed")
    data = Path(spec.submodule_search_locations[0], "data")
    return TokenizerInfo.from_file(data / "tekken_240911.json")


@cache
def tokens() -> WalkTokens:
    return WalkTokens(vocabulary())


def compiled_schema(text: str, options: dict[str, Any]) -> CompiledGrammar:
    compiler = GrammarCompiler(vocabulary(), cache_enabled=False)
    return compiler.compile_json_schema(text, **options)


def accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def judge_of(schema: Any) -> Judge:
    return Judge(json.dumps(schema if "$schema" in schema else modern(schema)))


def reduced(schema: Any, options: dict[str, Any], text: str) -> Any:
    """The smallest schema found about which core and judge still disagree in the same way."""

    def verdicts(candidate: Any) -> tuple[bool | None, bool]:
        valid = judge_of(candidate).is_valid(text)
        try:
            return valid, accepts(compiled_schema(json.dumps(candidate), options), text)
        except UnsatisfiableGrammarError:
            return valid, False

    wanted = verdicts(schema)
    tries = 0
    going = True
    while going:
        going = False
        for candidate in smaller(schema):
            tries += 1
            if tries > MAX_REDUCTIONS:
                return schema
            try:
                going = isinstance(candidate, dict) and verdicts(candidate) == wanted
            except Exception:  # noqa: BLE001 - no schema any more; the fault is known already
                continue
            if going:
                schema = candidate
                break
    return schema


@dataclass
class Part:
    """One share of the schemas."""

    seed: str
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Checks schemas until there are enough outputs and instances."""
        number = 0
        while min(self.counts["outputs"], self.counts["instances"]) < PER_PART:
            if len(self.faults) >= MAX_FAULTS:
                return
            OneSchema(self, random.Random(f"{self.seed}/{number}")).check()
            number += 1


class OneSchema:
    """The checks of one random schema."""

    def __init__(self, part: Part, rng: random.Random) -> None:
        self.part = part
        self.counts = part.counts
        self.rng = rng
        self.text = random_schema(rng)
        self.schema = json.loads(self.text)
        self.judge = judge_of(self.schema)
        self.unsatisfiable = False

    def fault(self, what: str, text: str, options: dict[str, Any], *, reduce: bool = True) -> None:
        """Takes down what is wrong."""
        schema = reduced(self.schema, options, text) if reduce else self.schema
        self.part.faults.append(
            f"{what}: {text[:2000]}\n  options: {options}\n  smallest: {json.dumps(schema)}"
            f"\n  schema: {self.text}"
        )

    def check(self) -> None:
        """Checks everything."""
        self.counts["schemas"] += 1
        compiled = self.compiled(EVERYTHING)
        texts = self.outputs() if compiled is not None else []
        near = near_instances(self.schema, INSTANCES_PER_SCHEMA, self.rng.randrange(2**32))
        values = [(value, "instances") for value in near]
        values += [(parse(text), "outputs again") for text in texts]
        for value, kind in values:
            self.check_instance(compiled, value, kind)
            for other in mutations(value, self.schema, self.rng, 2):
                self.check_instance(compiled, other, "mutations")

    def compiled(self, options: dict[str, Any]) -> CompiledGrammar | None:
        """The compiled schema; None where it is refused or has no text."""
        try:
            return compiled_schema(self.text, options)
        except UnsatisfiableGrammarError:
            self.counts["unsatisfiable"] += 1
            self.unsatisfiable = options is EVERYTHING
        except UnsupportedFeatureError as error:
            self.counts["refused"] += 1
            if not (error.pointer and error.feature):
                self.fault(f"refused without a place: {error}", "", options, reduce=False)
        except LimitExceededError as error:
            self.counts["refused"] += 1
            if not error.limit:
                self.fault(f"refused without a limit: {error}", "", options, reduce=False)
        except MaskwrightError as error:
            self.fault(f"{type(error).__name__}: {error}", "", options, reduce=False)
        return None

    def outputs(self) -> list[str]:
        """Valid texts by walks through the masks."""
        rng = self.rng
        options = {
            "strict_mode": rng.random() < 0.3,
            "any_order": rng.random() < 0.7,
            "assert_format": False,
            **rng.choice(({}, {}, {"any_whitespace": False}, {"max_whitespace_cnt": 2})),
        }
        compiled = self.compiled(options)
        texts: list[str] = []
        if compiled is None:
            return texts
        hints = Hints(self.schema)
        for _ in range(OUTPUTS_PER_SCHEMA):
            walk = Walk(compiled, tokens(), rng, hints)
            walk.run()
            if walk.problem is not None:
                self.fault(walk.problem, repr(walk.text), options, reduce=False)
                break
            if walk.unfinished:
                self.counts["unfinished"] += 1
                break
            text = walk.text.decode()
            valid = self.judge.is_valid(text)
            self.counts["outputs"] += valid is True
            self.counts["unsure"] += valid is None
            if valid is False:
                self.fault("an output is invalid", text, options)
                break
            texts.append(text)
        return texts

    def check_instance(self, compiled: CompiledGrammar | None, value: Any, kind: str) -> None:
        """Checks a value: accepted in all spellings if it is valid, else in none."""
        valid = self.judge.is_valid(plain(value))
        if valid is None:
            self.counts["unsure"] += 1
            return
        self.counts[kind if valid else "invalid"] += 1
        if self.unsatisfiable and valid:
            self.fault("refused as unsatisfiable, but valid is", plain(value), EVERYTHING)
        if compiled is None:
            return
        for text in spellings(value, self.rng, 3):
            if accepts(compiled, text) != valid:
                what = "a valid text is refused" if valid else "an invalid text is accepted"
                self.fault(what, text, EVERYTHING)
                return
        if valid and kind == "instances":
            self.check_tokens(compiled, text)

    def check_tokens(self, compiled: CompiledGrammar, text: str) -> None:
        """Reads a valid text in tokens, each of which must be in the masks."""
        walk = Walk(compiled, tokens(), self.rng, Hints(None))
        walk.spell(text.encode())
        if walk.problem is not None:
            self.fault(walk.problem, text, EVERYTHING, reduce=False)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(N_PARTS))
def test_outputs_are_valid_and_instances_are_accepted(part):
    checked = Part(f"{SEED}/{part}")
    checked.run()
    counts = checked.counts
    print(f"{SEED_VARIABLE}={SEED}, part {part}: {dict(counts)}")  # noqa: T201
    if checked.faults:
        again = f"{SEED_VARIABLE}={SEED} MASKWRIGHT_TEST_EFFORT={EFFORT}, part {part}"
        pytest.fail("\n\n".join([again, *checked.faults]))
    verdicts = sum(counts[kind] for kind in ("outputs", "instances", "mutations", "invalid"))
    assert counts["refused"] <= MOST_REFUSED * counts["schemas"], counts
    assert counts["unfinished"] <= MOST_UNFINISHED * counts["schemas"], counts
    assert counts["unsure"] <= MOST_UNSURE * verdicts, counts
