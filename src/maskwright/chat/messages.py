"""The messages of a chat request: what they must be, and text parts as one text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from maskwright.chat.errors import field_error, not_supported, shown

if TYPE_CHECKING:
    from maskwright.chat.model import Message

_EXAMPLE: Final = '{"role": "user", "content": "Hi"}'
_PART: Final = '{"type": "text", "text": "..."}'
_MOST_ROLE: Final = 40
"""Characters of a role that a message shows."""
_CALLS: Final = ("tool_calls", "function_call")


def read_messages(value: Any) -> tuple[Message, ...]:
    """Read the conversation of a request.

    Args:
        value: A list of objects with ``role``, ``content`` (text, or a list of text parts, which
            are joined), and other text for the chat template. What is None or an empty list is
            left out, as in the messages that clients get back.

    Raises:
        RequestError: It is something else, with an example (``request-field``), or there are calls
            of functions in it (``request-not-supported``).
    """
    if value is None or isinstance(value, list | tuple):
        found = "is empty" if value is not None else "is missing"
    elif isinstance(value, str):
        found = "is text"
    elif isinstance(value, Mapping):
        found = "is one object"
    else:
        found = f"is a {type(value).__name__}"
    if not isinstance(value, list | tuple) or not value:
        raise field_error("messages", f"{found}; expected a list of messages: [{_EXAMPLE}]")
    return tuple(_message(message, f"messages[{i}]") for i, message in enumerate(value))


def _message(value: Any, place: str) -> Message:
    if not isinstance(value, Mapping):
        found = "text" if isinstance(value, str) else f"a {type(value).__name__}"
        raise field_error(place, f"is {found}; expected an object: {_EXAMPLE}")
    message = {name: entry for name, entry in value.items() if not _is_nothing(entry)}
    role = message.get("role")
    if not isinstance(role, str) or not role:
        found = f"is {shown(role)}" if role is not None else "is missing"
        raise field_error(
            f"{place}.role", f'{found}; expected a role such as "user", as in {_EXAMPLE}'
        )
    for name in _CALLS:
        if name in message:
            raise not_supported(
                f"{place}.{name}", "has calls of functions, which are not supported yet"
            )
    message["content"] = _content(value.get("content"), f"{place}.content", role)
    for name, entry in message.items():
        if not isinstance(entry, str):
            raise field_error(f"{place}.{name}", f"is a {type(entry).__name__}; expected text")
        _refuse_surrogates(entry, f"{place}.{name}")
    return message


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple) and not value)


def _content(value: Any, place: str, role: str) -> str:
    """The text of a message; a list of text parts is one text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple):
        found = f"is {shown(value)}" if value is not None else "is null or missing"
        example = f'{{"role": {json.dumps(role[:_MOST_ROLE])}, "content": "Hi"}}'
        raise field_error(
            place,
            f"{found}; expected text or a list of text parts, as in {example}; or leave the "
            "message out",
        )
    texts: list[str] = []
    for i, part in enumerate(value):
        text = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str) or part.get("type") != "text":
            raise field_error(f"{place}[{i}]", f"is no text; expected {_PART}")
        texts.append(text)
    return "".join(texts)


def _refuse_surrogates(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise field_error(
            place,
            f"is no Unicode text: it has a lone surrogate at character {error.start + 1}; decode "
            "it from the right encoding",
        ) from error
