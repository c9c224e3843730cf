"""What must not be carried over a fork: what other threads hold, and connections to databases.

Idea: objects say what to do at a fork. What threads of a parent process held is let go in the
child, which lacks them; connections are closed in the parent before.
Cost: nothing before a fork.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

__all__ = ["close_before_forks", "renew_in_children"]


class _Renewed(Protocol):
    def renew(self) -> None:
        """Begin anew what only threads of the parent could have ended."""


class _Closed(Protocol):
    def before_fork(self) -> None:
        """Close what must not be carried over, and keep other threads from opening it."""

    def after_fork(self) -> None:
        """Let it be opened again; called by the thread that forked, in parent and child."""


_objects: weakref.WeakSet[_Renewed] = weakref.WeakSet()
_closed: weakref.WeakSet[_Closed] = weakref.WeakSet()


def renew_in_children(thing: _Renewed) -> None:
    """Have `renew` called in every process that is forked while the object lives."""
    _objects.add(thing)


def close_before_forks(thing: _Closed) -> None:
    """Have `before_fork` and `after_fork` called around every fork while the object lives."""
    _closed.add(thing)


def _renew_all() -> None:
    for thing in list(_objects):
        thing.renew()


def _close_all() -> None:
    for thing in sorted(_closed, key=id):  # in one order, whichever thread forks
        thing.before_fork()


def _open_all() -> None:
    for thing in list(_closed):
        thing.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all, after_in_parent=_open_all, after_in_child=_open_all)
    os.register_at_fork(after_in_child=_renew_all)
