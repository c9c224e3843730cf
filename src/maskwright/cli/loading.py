"""Loads the model so that Ctrl-C works meanwhile.

llama.cpp logs through a Python callback while it loads, and ctypes swallows what a callback raises,
`KeyboardInterrupt` included: the interruption would be printed and forgotten. While a model loads
there is nothing to keep, so the handler says its line and ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from maskwright.chat.session import Session


def load_model(path: str | None, json_options: Mapping[str, Any] | None = None) -> Session:
    """Load a GGUF file, or the embedded model; see `maskwright.load`.

    Args:
        path: The file; None: the embedded model.
        json_options: How the engine compiles JSON Schemas; None: as it does by itself.

    Raises:
        UsageError: The file cannot be used.
        MissingDependencyError: A package is not installed.
    """
    from maskwright.chat import session
    from maskwright.chat.errors import ModelError
    from maskwright.errors import TokenizerError

    options = {"engine_options": {"json_options": json_options}} if json_options else {}
    try:
        with interruption_ends_process():
            return session.load(path, **options)
    except (ModelError, TokenizerError) as error:
        if path is None:
            raise
        raise UsageError(f"--model: {error}") from error


@contextmanager
def interruption_ends_process() -> Iterator[None]:
    """Within the block Ctrl-C ends the process at once, with the exit code for it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not for this thread
        return
    try:
        messages = os.dup(2)  # llama.cpp's binding points 2 to nowhere while it loads
    except OSError:  # closed by the caller
        messages = os.open(os.devnull, os.O_WRONLY)

    def end_process(_signal: int, _frame: object) -> None:
        os.write(messages, b"maskwright: interrupted\n")
        os._exit(exit_codes.INTERRUPTED)

    before = signal.signal(signal.SIGINT, end_process)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(messages)
