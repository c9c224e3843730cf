"""What models with and without a chat template have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.chat.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maskwright.chat.model import Message


def plain_prompt(messages: Sequence[Message]) -> str:
    """The prompt for a base model: the contents, with blank lines between them."""
    return "\n\n".join(message["content"] for message in messages)


def template_failed(error: Exception) -> ModelError:
    """What to raise if a template refuses messages."""
    return ModelError(
        f"the chat template of the model refuses these messages: {error}",
        code="chat-template-failed",
    )
