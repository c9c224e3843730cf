"""Fields that are accepted and change nothing.

Idea: clients send more than they use. A field is idle if it is about something that no answer of
this engine depends on, whatever its value; or if its value asks for nothing, as ``"tools": []``.
Any other value of the latter asks for something that is not there, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from maskwright.chat.errors import not_supported, shown

if TYPE_CHECKING:
    from maskwright.chat.fields import FieldReader

IGNORED_FIELDS: Final = frozenset(
    {
        "metadata",
        "model",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
    }
)
"""Fields that are idle whatever their value: they are about accounts, storage or prices, and the
engine has one model."""


class _Idle(NamedTuple):
    values: tuple[Any, ...]
    expected: str
    missing: str


_CALLS: Final = "calls of functions are not supported yet"

IDLE_VALUES: Final[dict[str, _Idle]] = {
    "tools": _Idle(([], ()), "an empty list", _CALLS),
    "tool_choice": _Idle(("none", "auto"), '"none" or "auto"', _CALLS),
    "parallel_tool_calls": _Idle((True, False), "true or false", _CALLS),
    "functions": _Idle(([], ()), "an empty list", _CALLS),
    "function_call": _Idle(("none", "auto"), '"none" or "auto"', _CALLS),
    "modalities": _Idle((["text"], ("text",), [], ()), '["text"]', "answers are text"),
}
"""Fields that are idle with one of these values."""


def take_idle_fields(reader: FieldReader) -> None:
    """Take the fields of `IDLE_VALUES`.

    Raises:
        RequestError: A value asks for something (``request-not-supported``).
    """
    for name, idle in IDLE_VALUES.items():
        value = reader.take(name)
        if value is None or any(_is_same(value, idle_value) for idle_value in idle.values):
            continue
        raise not_supported(
            name, f"is {shown(value)}; expected {idle.expected}: {idle.missing}; leave it out"
        )


def _is_same(value: Any, expected: Any) -> bool:
    """Whether a value is an expected one; what else it holds may compare in any way."""
    if type(value) is not type(expected):
        return False
    if isinstance(value, list | tuple) and not all(type(entry) is str for entry in value):
        return False
    return bool(value == expected)
