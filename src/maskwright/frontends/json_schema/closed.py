"""Why a closed object or array has no value: it needs what nothing declares.

Idea: all nodes that hold for one instance are gathered, and what is required of it is compared with
what they declare. That is sufficient, not necessary: where key patterns or an open schema beside it
may admit more, nothing is said. That strict mode is at fault is only said of what has values
without it (see ``blame``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...ir import nodes as n
from ...ir.format import TYPE_ALL, TYPE_ARRAY, TYPE_OBJECT
from .faults import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Reason", "reason_of"]

_MOST_NAMES = 3
_ASKERS = {"required": n.Required, "dependentRequired": n.DependentRequired}


class Reason(NamedTuple):
    """Why there is no value.

    Attributes:
        keyword: What asks for more than there is, if it does so at one place; else empty.
        why: What is wrong.
        advice: What to do.
    """

    keyword: str
    why: str
    advice: str


class _Closer(NamedTuple):
    """What admits no members but those that are declared.

    Attributes:
        name: How it is called.
        declarer: What declares members that it admits.
        others: How it admits others.
    """

    name: str
    declarer: str
    others: str

    def advice(self, what: str) -> str:
        return f"declare {what} under {self.declarer}, or {self.others}"


_STRICT_MODE = _Closer(
    "strict_mode",
    '"properties"',
    'admit others with "additionalProperties": true or strict_mode=False',
)
_ADDITIONAL = _Closer(
    '"additionalProperties"',
    'the "properties" beside "additionalProperties"',
    'change "additionalProperties"',
)


def reason_of(program: n.Program, node: int, *, strict: bool) -> Reason | None:
    """Return why a node has no value, if it is that a closed object or array is too small.

    Args:
        program: The program.
        node: A schema node without a value.
        strict: Whether strict mode closes what names members or items, and the node has a value
            without it. The node is all that holds for its instances.
    """
    together = _together(program, [node])
    branches = next((x.items for x in together if isinstance(x, (n.AnyOf, n.OneOf))), ())
    anywhere = _in_place(program, node) if strict else None
    found = _reason(program, together, anywhere)
    if found is not None or not branches:
        return found
    reasons = [
        _reason(program, _together(program, [node, branch]), anywhere) for branch in branches
    ]
    first = reasons[0]
    if first is None or None in reasons:
        return None
    return first._replace(why=f"no branch has a value; of the first, {first.why}")


def _together(program: n.Program, nodes: Iterable[int]) -> list[n.Node]:
    """The nodes that hold where all of these do."""
    return _reached(program, nodes, (n.AllOf,))


def _in_place(program: n.Program, node: int) -> list[n.Node]:
    """The nodes that say anything about the instance, whether they hold or not."""
    return _reached(program, [node], (n.AllOf, n.AnyOf, n.OneOf, n.Not))


def _reached(program: n.Program, nodes: Iterable[int], through: tuple[type, ...]) -> list[n.Node]:
    waiting = list(nodes)
    seen = set(waiting)
    for at in waiting:  # grows
        value = program.nodes[at]
        if isinstance(value, through):
            below = [item for item in n.child_nodes(value) if item not in seen]
            waiting += below
            seen.update(below)
    return [program.nodes[at] for at in waiting]


def _reason(
    program: n.Program, together: list[n.Node], anywhere: list[n.Node] | None
) -> Reason | None:
    types = TYPE_ALL
    for part in together:
        types &= part.mask if isinstance(part, n.Types) else TYPE_ALL
    if types == TYPE_OBJECT:
        return _too_few_members(program, together, anywhere)
    if types == TYPE_ARRAY and anywhere is not None:
        return _too_few_items(together, anywhere)
    return None


def _too_few_members(
    program: n.Program, together: list[n.Node], anywhere: list[n.Node] | None
) -> Reason | None:
    objects = [x for x in together if isinstance(x, n.Object)]
    named = [x for x in anywhere or () if isinstance(x, n.Object)]
    is_never = [_is_never(program, x.additional) for x in objects]
    if named and objects and not any(x.patterns or x.additional is not None for x in named):
        closed_to, closed_by = {name for x in named for name, _ in x.members}, _STRICT_MODE
    elif any(is_never):
        part = objects[is_never.index(True)]
        if part.patterns:
            return None
        closed_to, closed_by = {name for name, _ in part.members}, _ADDITIONAL
    else:
        return None
    keyword, missing = _missing(together, closed_to)
    if missing:
        reason = _undeclared(keyword, missing, closed_by)
        return _at_one_place(reason, together, _ASKERS[keyword])
    least = max((x.minimum for x in together if isinstance(x, n.MemberCount)), default=0)
    if least > len(closed_to):
        reason = Reason(
            "minProperties",
            f'"minProperties" asks for {least} members, and {closed_by.declarer} declares '
            f"{len(closed_to)}: {closed_by.name} admits no others",
            closed_by.advice("more"),
        )
        return _at_one_place(reason, together, n.MemberCount)
    return None


def _at_one_place(reason: Reason, together: list[n.Node], asker: type) -> Reason:
    is_one = sum(isinstance(x, asker) for x in together) == 1
    return reason if is_one else reason._replace(keyword="")


def _missing(together: list[n.Node], declared: set[str]) -> tuple[str, list[str]]:
    """The required members that are not declared, in order, and the keyword that asks first."""
    needed = {key: "required" for x in together if isinstance(x, n.Required) for key in x.keys}
    dependent = [x for x in together if isinstance(x, n.DependentRequired)]
    for key in (waiting := list(needed)):  # grows
        new = [name for x in dependent if x.key == key for name in x.needed if name not in needed]
        needed.update(dict.fromkeys(new, "dependentRequired"))
        waiting += new
    missing = [key for key in needed if key not in declared]
    return (needed[missing[0]] if missing else "", missing)


def _undeclared(keyword: str, missing: list[str], closed_by: _Closer) -> Reason:
    shown = ", ".join(quoted_name(name) for name in missing[:_MOST_NAMES])
    more = "" if len(missing) <= _MOST_NAMES else f" and {len(missing) - _MOST_NAMES} more"
    is_one = len(missing) == 1
    which = "member" if is_one else "members"
    return Reason(
        keyword,
        f'"{keyword}" asks for the {which} {shown}{more}, which {closed_by.declarer} does not '
        f"declare, and {closed_by.name} admits no others",
        closed_by.advice("it" if is_one else "them"),
    )


def _too_few_items(together: list[n.Node], anywhere: list[n.Node]) -> Reason | None:
    arrays = [x for x in anywhere if isinstance(x, n.Array)]
    least = max((x.minimum for x in together if isinstance(x, n.ItemCount)), default=0)
    if not arrays or any(x.rest is not None for x in arrays):
        return None
    most = max(len(x.prefix) for x in arrays)
    if least <= most:
        return None
    reason = Reason(
        "minItems",
        f'"minItems" asks for {least} items, and the schema names {most}: strict_mode admits no '
        "others",
        'name more, or admit others with "items": true ("additionalItems" in older drafts) or '
        "strict_mode=False",
    )
    return _at_one_place(reason, together, n.ItemCount)


def _is_never(program: n.Program, node: int | None) -> bool:
    return node is not None and isinstance(program.nodes[node], n.Never)
