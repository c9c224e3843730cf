"""What threads of a parent process held at a fork is let go in the child, which lacks them.

Cost: nothing before a fork.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

__all__ = ["renew_in_children"]


class _Renewed(Protocol):
    def renew(self) -> None:
        """Begin anew what only threads of the parent could have ended."""


_objects: weakref.WeakSet[_Renewed] = weakref.WeakSet()


def renew_in_children(thing: _Renewed) -> None:
    """Have `renew` called in every process that is forked while the object lives."""
    _objects.add(thing)


def _renew_all() -> None:
    for thing in list(_objects):
        thing.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
