"""A small model fills in a pydantic model, a regular expression and a schema.

Run: pip install "maskwright[demo]" pydantic, then python examples/structured_output.py
"""

from __future__ import annotations

from pydantic import BaseModel, Field

import maskwright


class Recipe(BaseModel):
    """What the model is asked for."""

    title: str = Field(min_length=3, max_length=60)
    minutes: int = Field(ge=1, le=240)
    ingredients: list[str] = Field(min_length=2, max_length=5)


def main() -> None:
    """Generate three kinds of structured output."""
    session = maskwright.load()

    result = session.generate("Give me a recipe for a soup as JSON.", Recipe)
    print(result.parsed)

    date = maskwright.Grammar.from_regex(r"\d{4}-\d{2}-\d{2}")
    print(session.generate("When was the first moon landing? Write YYYY-MM-DD.", date).text)

    schema = {"enum": ["positive", "negative", "neutral"]}
    print(session.generate("Judge this review: 'Best soup ever!'", schema).parsed)


if __name__ == "__main__":
    main()
