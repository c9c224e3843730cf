"""Why a closed object or array has no value: it needs what nothing declares.

Idea: all nodes that hold for one instance are gathered, and what is required of it is compared with
what they declare. That is sufficient, not necessary: where key patterns or an open schema beside it
may admit more, nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...ir import nodes as n
from ...ir.format import TYPE_ALL, TYPE_ARRAY, TYPE_OBJECT
from .faults import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Reason", "reason_of"]

_MOST_NAMES = 3


class Reason(NamedTuple):
    """Why there is no value.

    Attributes:
        keyword: What asks for more than there is.
        why: What is wrong.
        advice: What to do.
    """

    keyword: str
    why: str
    advice: str


def reason_of(program: n.Program, node: int, *, strict: bool) -> Reason | None:
    """Return why a node has no value, if it is that a closed object or array is too small.

    Args:
        program: The program.
        node: A schema node without a value.
        strict: Whether strict mode closes what names members or items.
    """
    together = _together(program, [node])
    branches = next((x.items for x in together if isinstance(x, (n.AnyOf, n.OneOf))), ())
    declared = _declared(program, node)
    found = _reason(program, together, declared, strict)
    if found is not None or not branches:
        return found
    reasons = [
        _reason(program, _together(program, [node, branch]), declared, strict)
        for branch in branches
    ]
    first = reasons[0]
    if first is None or None in reasons:
        return None
    return first._replace(why=f"no branch has a value; of the first, {first.why}")


def _together(program: n.Program, nodes: Iterable[int]) -> list[n.Node]:
    """The nodes that hold where all of these do."""
    waiting, seen = list(nodes), set(nodes)
    for at in waiting:  # grows
        value = program.nodes[at]
        if isinstance(value, n.AllOf):
            waiting += [item for item in value.items if item not in seen]
            seen.update(value.items)
    return [program.nodes[at] for at in waiting]


def _declared(program: n.Program, node: int) -> set[str]:
    """The members that anything about the instance names."""
    return {name for part in _in_place(program, node) for name, _ in part.members}


def _in_place(program: n.Program, node: int) -> Iterator[n.Object]:
    waiting, seen = [node], {node}
    for at in waiting:  # grows
        value = program.nodes[at]
        if isinstance(value, n.Object):
            yield value
        if isinstance(value, (n.AllOf, n.AnyOf, n.OneOf, n.Not)):
            below = [item for item in n.child_nodes(value) if item not in seen]
            waiting += below
            seen.update(below)


def _reason(
    program: n.Program, together: list[n.Node], declared: set[str], strict: bool
) -> Reason | None:
    types = TYPE_ALL
    for part in together:
        types &= part.mask if isinstance(part, n.Types) else TYPE_ALL
    if types == TYPE_OBJECT:
        return _too_few_members(program, together, declared, strict)
    return _too_few_items(together) if types == TYPE_ARRAY and strict else None


def _too_few_members(
    program: n.Program, together: list[n.Node], declared: set[str], strict: bool
) -> Reason | None:
    objects = [x for x in together if isinstance(x, n.Object)]
    is_never = [_is_never(program, x.additional) for x in objects]
    if strict and objects and not any(x.patterns or x.additional is not None for x in objects):
        closed_to, closed_by = declared, None
    elif any(is_never):
        part = objects[is_never.index(True)]
        if part.patterns:
            return None
        closed_to, closed_by = {name for name, _ in part.members}, '"additionalProperties"'
    else:
        return None
    keyword, missing = _missing(together, closed_to)
    if missing:
        return _undeclared(keyword, missing, closed_by)
    least = max((x.minimum for x in together if isinstance(x, n.MemberCount)), default=0)
    if least > len(closed_to):
        return Reason(
            "minProperties",
            f'"minProperties" asks for {least} members, and "properties" declares '
            f"{len(closed_to)}: {closed_by or 'strict_mode'} admits no others",
            _advice("more", closed_by),
        )
    return None


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


def _undeclared(keyword: str, missing: list[str], closed_by: str | None) -> Reason:
    shown = ", ".join(quoted_name(name) for name in missing[:_MOST_NAMES])
    more = "" if len(missing) <= _MOST_NAMES else f" and {len(missing) - _MOST_NAMES} more"
    is_one = len(missing) == 1
    which = "member" if is_one else "members"
    return Reason(
        keyword,
        f'"{keyword}" asks for the {which} {shown}{more}, which "properties" does not declare, and '
        f"{closed_by or 'strict_mode'} admits no others",
        _advice("it" if is_one else "them", closed_by),
    )


def _advice(what: str, closed_by: str | None) -> str:
    if closed_by is not None:
        return f'declare {what} under "properties", or change {closed_by}'
    return (
        f'declare {what} under "properties", or admit others with "additionalProperties": true or '
        "strict_mode=False"
    )


def _too_few_items(together: list[n.Node]) -> Reason | None:
    arrays = [x for x in together if isinstance(x, n.Array)]
    least = max((x.minimum for x in together if isinstance(x, n.ItemCount)), default=0)
    if not arrays or any(x.rest is not None for x in arrays):
        return None
    most = max(len(x.prefix) for x in arrays)
    if least <= most:
        return None
    return Reason(
        "minItems",
        f'"minItems" asks for {least} items, and the schema names {most}: strict_mode admits no '
        "others",
        'name more, or admit others with "items": true ("additionalItems" in older drafts) or '
        "strict_mode=False",
    )


def _is_never(program: n.Program, node: int | None) -> bool:
    return node is not None and isinstance(program.nodes[node], n.Never)
