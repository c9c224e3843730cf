"""``maskwright demo``: watch a small model fill in a JSON Schema.

Shows every token as it comes, then the parsed and checked result, and what the masks cost.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from maskwright.cli import exit_codes
from maskwright.cli.loading import load_model

if TYPE_CHECKING:
    from argparse import Namespace

    from maskwright.chat.result import Result

_PROMPT: Final = (
    "Invent a character for a story about a lighthouse. Give the name, age, occupation, three "
    "skills and home of the character as JSON."
)
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 40},
        "age": {"type": "integer", "minimum": 18, "maximum": 99},
        "occupation": {"enum": ["keeper", "sailor", "painter", "engineer", "smuggler"]},
        "skills": {
            "type": "array",
            "items": {"type": "string", "minLength": 3, "maxLength": 30},
            "minItems": 3,
            "maxItems": 3,
        },
        "home": {
            "type": "object",
            "properties": {
                "town": {"type": "string", "minLength": 2, "maxLength": 30},
                "country": {"type": "string", "minLength": 2, "maxLength": 30},
            },
            "required": ["town", "country"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "age", "occupation", "skills", "home"],
    "additionalProperties": False,
}

_COLOURS: Final = ("\x1b[48;5;24;97m", "\x1b[48;5;60;97m")
_PLAIN: Final = "\x1b[0m"


def run_demo(arguments: Namespace) -> int:
    """Run the command; see `maskwright demo --help`."""
    print("Loading the model ...", flush=True)
    loaded = load_model(arguments.model)
    prompt = arguments.prompt or _PROMPT
    print(f"Prompt: {prompt}\n")
    print("Schema: an object with", ", ".join(_describe()), "\n")
    print("The model writes, one block per token:\n", flush=True)
    shown = _TokenWriter(colour=sys.stdout.isatty())
    result = loaded.generate(
        prompt,
        _SCHEMA,
        max_tokens=arguments.max_tokens,
        temperature=arguments.temperature,
        top_p=0.95,
        seed=arguments.seed,
        on_token=shown.write,
    )
    shown.finish()
    if result.finish_reason == "length":
        print("\n\nCut off by --max-tokens before the text was complete; raise it and run again.")
        return exit_codes.CUT_OFF
    print("\n\nParsed:\n")
    print(json.dumps(result.parsed, indent=2, ensure_ascii=False))
    valid, verdict = _verdict(result.parsed)
    print(f"\n{verdict}\n{_costs(result)}")
    return exit_codes.OK if valid else exit_codes.RUNTIME_ERROR


def _describe() -> list[str]:
    return [
        "a name of 3 to 40 characters",
        "an age from 18 to 99",
        "one of five occupations",
        "exactly three skills",
        "a home (town, country)",
    ]


def _verdict(value: Any) -> tuple[bool, str]:
    """Have an independent validator judge the value, if one is installed."""
    try:
        import jsonschema
    except ImportError:
        return True, "Valid JSON in the asked form (install jsonschema for an independent check)."
    try:
        jsonschema.validate(value, _SCHEMA)
    except jsonschema.ValidationError as error:
        return False, f"The independent validator jsonschema finds it WRONG: {error.message}"
    return True, "Checked: the independent validator jsonschema finds it valid."


def _costs(result: Result) -> str:
    usage = result.usage
    compile_ms = (usage.grammar_init_s or 0) * 1e3
    micros = usage.mask_seconds / usage.completion_tokens * 1e6
    return (
        f"{usage.completion_tokens} tokens, {usage.tokens_per_second:.0f} per second. The schema "
        f"compiled in {compile_ms:.1f} ms;\nmasks took {micros:.0f} us per token, "
        f"{usage.mask_share:.2%} of the time."
    )


class _TokenWriter:
    """Shows tokens as blocks: coloured at a terminal, separated by bars elsewhere.

    A code point may be spread over several tokens; its block is the one that completes it.
    """

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._count = 0
        self._pending = b""

    def write(self, token_id: int, data: bytes) -> None:
        """Show a token."""
        del token_id
        self._pending += data
        try:
            text = self._pending.decode()
        except UnicodeDecodeError:
            return
        self._pending = b""
        if not text:
            return
        if self._colour:
            sys.stdout.write(f"{_COLOURS[self._count % 2]}{text}{_PLAIN}")
        else:
            sys.stdout.write(f"|{text}" if self._count else text)
        self._count += 1
        sys.stdout.flush()

    def finish(self) -> None:
        """Show what is left of an unfinished code point."""
        sys.stdout.write(self._pending.decode(errors="replace"))
