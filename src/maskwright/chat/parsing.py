"""Makes a Python value of an answer under a schema.

Idea: JSON becomes what `json` makes of it; where the schema is a type, pydantic, which has made the
schema, makes an instance of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from maskwright.chat.errors import AnswerError
from maskwright.compile_requests import is_plain_schema

if TYPE_CHECKING:
    from collections.abc import Callable


def parse_answer(text: str, schema: Any) -> Any:
    """Return the value of an answer.

    Args:
        text: JSON under the schema.
        schema: As `GrammarCompiler.compile_json_schema` takes it.

    Raises:
        AnswerError: A validator of the type refuses it (``answer-refused``), or Python cannot hold
            it (``answer-not-parsed``).
    """
    if not is_plain_schema(schema):
        try:
            return _validator(schema)(text)
        except Exception as error:  # validators are the user's and may raise anything
            name = getattr(schema, "__name__", type(schema).__name__)
            raise AnswerError(
                f"the answer is of the schema, but {name} refuses it: {error}; this error has the "
                "answer as `text`",
                code="answer-refused",
                text=text,
            ) from error
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        raise AnswerError(
            f"the answer is JSON, but Python cannot hold it: {error}; this error has it as `text`",
            code="answer-not-parsed",
            text=text,
        ) from error


def _validator(schema: Any) -> Callable[[str], Any]:
    """What makes an instance of JSON: of a model class, a ``TypeAdapter``, or a type for one."""
    for name in ("model_validate_json", "validate_json"):
        validate: Callable[[str], Any] | None = getattr(schema, name, None)
        if validate is not None:
            return validate
    import pydantic  # has made the schema

    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(schema)
    return adapter.validate_json
