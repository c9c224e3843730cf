"""Prints structured output while it is written, and what the masks cost.

Run: pip install "maskwright[demo]", then python examples/stream.py
"""

from __future__ import annotations

import maskwright

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"planet": {"type": "string", "maxLength": 20}, "moons": {"type": "integer"}},
        "required": ["planet", "moons"],
        "additionalProperties": False,
    },
    "minItems": 2,
    "maxItems": 3,
}


def main() -> None:
    """Stream one answer."""
    result = maskwright.load().generate(
        "List planets with their number of moons as JSON.",
        SCHEMA,
        temperature=0.7,
        seed=1,
        on_text=lambda text: print(text, end="", flush=True),
    )
    usage = result.usage
    print(f"\n\n{usage.tokens_per_second:.0f} tokens/s, masks {usage.mask_share:.2%} of the time")


if __name__ == "__main__":
    main()
