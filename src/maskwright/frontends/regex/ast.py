r"""The syntax tree of a pattern, its constructors that simplify, and a walk without recursion.

Idea: few node kinds, immutable. The parser has resolved flags, classes, groups and back references,
so a node says only which strings it matches; ``Edge`` and ``Look`` are the assertions, which
``anchors`` and ``lookaround`` turn into plain nodes (then ``Intersect`` and ``Complement`` may
occur). The constructors ``concat``, ``alternation`` and ``repeat`` keep the tree small: adjacent
text joined, single characters of an alternation merged into one class, trivial repeats removed.
Nodes are compared by identity only: equality of deep tuples would recurse.
Cost: linear; ``fold`` visits every node object once, however often it is shared.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import charset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .charset import CharRanges

_FLATTEN_LIMIT = 64  # longer sequences stay nested, so that repeated joins stay linear


class Text(NamedTuple):
    """Exactly these characters; the empty text is the empty string."""

    value: str


class Chars(NamedTuple):
    """One code point of the set; the empty set never matches."""

    ranges: CharRanges


class Concat(NamedTuple):
    """One item after the other; two items at least."""

    items: tuple[Node, ...]


class Alternation(NamedTuple):
    """Any one of the options; two at least."""

    options: tuple[Node, ...]


class Repeat(NamedTuple):
    """``minimum`` to ``maximum`` times (None: without bound)."""

    body: Node
    minimum: int
    maximum: int | None


class Edge(NamedTuple):
    r"""A condition on the one character before or after the position.

    ``^``, ``$``, ``\b``'s halves, ``(?=[a-z])`` and ``(?<!x)`` are all of this form.

    Attributes:
        behind: Look at the character before the position, else at the one after it.
        ranges: The character must be one of these,
        at_edge: or there is none, because the text starts (ends) here, and that is allowed.
        name: What the pattern has here, for messages.
        offset: Where, in code points.
    """

    behind: bool
    ranges: CharRanges
    at_edge: bool
    name: str = "anchor"
    offset: int = 0


class Look(NamedTuple):
    """A lookahead or lookbehind whose body is longer than one character."""

    behind: bool
    negative: bool
    body: Node
    offset: int


class Intersect(NamedTuple):
    """The strings that all operands match; two at least; never made by the parser."""

    operands: tuple[Node, ...]


class Complement(NamedTuple):
    """The strings that the operand does not match; never made by the parser."""

    operand: Node


Node = Text | Chars | Concat | Alternation | Repeat | Edge | Look | Intersect | Complement

_LEAVES = frozenset((Text, Chars, Edge))

EMPTY = Text("")
NEVER = Chars(())
ANY_CHAR = Chars(charset.ALL)
ANY_TEXT = Repeat(ANY_CHAR, 0, None)
TEXT_START = Edge(True, charset.NONE, True)
TEXT_END = Edge(False, charset.NONE, True)

T = TypeVar("T")


def is_text_anchor(node: Edge) -> bool:
    """Tell whether the edge is ``^`` or ``$`` without the multiline flag."""
    return node.at_edge and not node.ranges


def negated_edge(edge: Edge) -> Edge:
    """Return the edge that holds exactly where this one does not."""
    return edge._replace(ranges=charset.complement(edge.ranges), at_edge=not edge.at_edge)


def intersect(node: Node, other: Node) -> Node:
    """Return the strings that both match; what is trivially known is simplified."""
    if node is ANY_TEXT or is_never(other):
        return other
    if other is ANY_TEXT or is_never(node):
        return node
    left = node.operands if isinstance(node, Intersect) else (node,)
    right = other.operands if isinstance(other, Intersect) else (other,)
    return Intersect(left + right)


def complement(node: Node) -> Node:
    """Return the strings that the node does not match."""
    if isinstance(node, Complement):
        return node.operand
    if node is ANY_TEXT:
        return NEVER
    return ANY_TEXT if is_never(node) else Complement(node)


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below a node."""
    below = _BELOW.get(type(node))
    return below(node) if below is not None else ()


_BELOW: dict[type, Callable[[Any], tuple[Node, ...]]] = {
    Alternation: attrgetter("options"),
    Complement: lambda node: (node.operand,),
    Concat: attrgetter("items"),
    Intersect: attrgetter("operands"),
    Look: lambda node: (node.body,),
    Repeat: lambda node: (node.body,),
}


def fold(
    root: Node,
    visit: Callable[[Node, Sequence[T]], T],
    memo: dict[int, tuple[Node, T]],
    is_leaf: Callable[[Node], bool] | None = None,
) -> T:
    """Evaluate ``visit(node, values of its children)`` bottom-up, without recursion.

    Args:
        root: Where to start.
        visit: Called once for each node object.
        memo: id(node) -> (node, value); may be passed again. Holding the node keeps its id taken.
        is_leaf: Nodes whose children are not to be visited; None: there are none.
    """
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in memo:
            stack.pop()
            continue
        below = () if is_leaf is not None and is_leaf(node) else children(node)
        missing = False
        for child in below:
            if id(child) in memo:
                continue
            if type(child) in _LEAVES:
                memo[id(child)] = (child, visit(child, ()))
            else:
                missing = True
                stack.append(child)
        if not missing:
            stack.pop()
            memo[id(node)] = (node, visit(node, [memo[id(child)][1] for child in below]))
    return memo[id(root)][1]


def share(root: Node) -> Node:
    """Return the tree of plain nodes with one object for all equal ones."""
    known: dict[tuple[object, ...], Node] = {}

    def visit(node: Node, below: Sequence[Node]) -> Node:
        own: tuple[object, ...]
        if isinstance(node, (Concat, Alternation, Intersect)):
            node, own = type(node)(tuple(below)), ()
        elif isinstance(node, Repeat):
            node, own = node._replace(body=below[0]), (node.minimum, node.maximum)
        elif isinstance(node, Complement):
            node, own = Complement(below[0]), ()
        else:
            own = tuple(node)
        return known.setdefault((type(node), own, *map(id, below)), node)

    return fold(root, visit, {})


def is_empty(node: Node) -> bool:
    """Tell whether this is the empty text."""
    return isinstance(node, Text) and not node.value


def is_never(node: Node) -> bool:
    """Tell whether this is the class without characters."""
    return isinstance(node, Chars) and not node.ranges


def single_set(node: Node) -> CharRanges | None:
    """Return the set if the node matches exactly the one-character strings of a set."""
    if isinstance(node, Chars):
        return node.ranges
    if isinstance(node, Text) and len(node.value) == 1:
        return ((ord(node.value), ord(node.value)),)
    return None


def chars(ranges: CharRanges) -> Node:
    """Return a class; of one character, the text of it."""
    code_point = charset.only(ranges)
    return Chars(ranges) if code_point is None else Text(chr(code_point))


def concat(items: Iterable[Node]) -> Node:
    """Join items: nested ones flattened, adjacent texts joined, empty ones dropped."""
    flat: list[Node] = []
    run: list[str] = []

    def add(item: Node) -> None:
        if isinstance(item, Text):
            run.append(item.value)
            return
        if run:
            text = "".join(run)
            run.clear()
            if text:
                flat.append(Text(text))
        flat.append(item)

    for item in items:
        if isinstance(item, Concat) and len(item.items) <= _FLATTEN_LIMIT:
            for inner in item.items:
                add(inner)
        elif is_never(item):
            return NEVER
        else:
            add(item)
    if any(run):
        flat.append(Text("".join(run)))
    if len(flat) < 2:
        return flat[0] if flat else EMPTY
    return Concat(tuple(flat))


def alternation(options: Iterable[Node]) -> Node:
    """Return any one of the options; single characters are merged into one class."""
    flat: list[Node] = []
    sets: list[CharRanges] = []
    seen: set[str | int] = set()
    place = -1
    for option in options:
        parts = option.options if isinstance(option, Alternation) else (option,)
        for part in parts:
            ranges = single_set(part)
            if ranges is not None:
                if ranges and place < 0:
                    place = len(flat)
                    flat.append(part)
                sets.append(ranges)
                continue
            key = part.value if isinstance(part, Text) else id(part)
            if key not in seen:
                seen.add(key)
                flat.append(part)
    if place >= 0:
        flat[place] = chars(charset.union(*sets))
    if len(flat) < 2:
        return flat[0] if flat else NEVER
    if len(flat) == 2 and (is_empty(flat[0]) or is_empty(flat[1])):
        return repeat(flat[1] if is_empty(flat[0]) else flat[0], 0, 1)
    return Alternation(tuple(flat))


def repeat(body: Node, minimum: int, maximum: int | None) -> Node:
    """Repeat, kept as a counter; only trivial ones and nested ``* + ?`` are rewritten."""
    if maximum == 0 or is_empty(body):
        return EMPTY
    if is_never(body):
        return NEVER if minimum else EMPTY
    if minimum == maximum == 1:
        return body
    if isinstance(body, Repeat) and body.minimum <= 1 and minimum <= 1:
        inner, outer = body.maximum, maximum
        if (inner in (1, None)) and (outer in (1, None)):
            widest = 1 if inner == outer == 1 else None
            return repeat(body.body, body.minimum * minimum, widest)
    return Repeat(body, minimum, maximum)
