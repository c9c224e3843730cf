r"""Lookahead, lookbehind, ``\b`` and multiline anchors turned into plain nodes, exactly.

Idea: a pattern is a union of *paths*; a path is a sequence of plain nodes (segments) and assertions
between them. Conditions on one character (``Edge``) are pushed into the neighbouring segment, which
is split into its empty and its non-empty case. What remains are languages that the rest of the text
(``Reach`` ahead) or the text so far (behind) must be in. A lookahead is an intersection with
everything right of it, a lookbehind with everything left of it; such intersections nest unless a
lookbehind looks back over a lookahead that looks forward over it. There a bounded one is confined
to its own segment when that is long enough, else the pattern is refused. Inside a repetition
assertions are refused, except where the body is empty or optional.
A negative lookaround is the complement; what a lookaround asks about the text outside it (``^`` in
a lookahead) becomes assertions of the enclosing path.
Cost: the number of paths is the product of the alternatives that hold assertions, bounded by
``max_lookaround_paths``; plain subtrees are never split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ...errors import LimitExceededError
from . import anchors, ast
from .ast import ANY_TEXT, EMPTY, Alternation, Concat, Edge, Look, Node, Repeat
from .confine import Confiner
from .scanner import unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .analysis import Analysis
    from .limits import RegexLimits


class Segment(NamedTuple):
    """A plain node in a path."""

    node: Node


class Reach(NamedTuple):
    """All text on one side must be in a language.

    Attributes:
        behind: The text before the position, else the text after it.
        language: A plain node that the whole text of that side must match.
        width: Only so many characters next to the position matter; None: all may.
        name: What the pattern has here, for messages.
        offset: Where.
    """

    behind: bool
    language: Node
    width: int | None
    name: str
    offset: int


Assertion = Edge | Reach
Item = Segment | Edge | Reach
Path = tuple[Item, ...]
Resolved = tuple[tuple[Assertion, ...], Node]


class LookaroundResolver:
    """One resolution of a tree with assertions."""

    def __init__(self, pattern: str, analysis: Analysis, limits: RegexLimits) -> None:
        self._pattern = pattern
        self._analysis = analysis
        self._limit = limits.max_lookaround_paths
        self._confiner = Confiner(analysis)
        self._has_look: dict[int, tuple[Node, bool]] = {}

    def resolve(self, root: Node, *, search: bool) -> Node:
        """Return the plain node for the whole text."""
        wrapper = (Segment(ANY_TEXT),) if search else ()
        options: list[Node] = []
        for path in self._paths(root):
            if search and all(
                isinstance(item, Segment) and self._analysis.nullable(item.node) for item in path
            ):
                return ANY_TEXT
            whole = wrapper + path + wrapper
            options += (node for _, node in self._settle(whole, open_left=False, open_right=False))
        return ast.alternation(options)

    # From the tree to paths

    def _looks(self, node: Node) -> bool:
        def visit(part: Node, values: Sequence[bool]) -> bool:
            if isinstance(part, Edge):
                return not ast.is_text_anchor(part)
            return isinstance(part, Look) or any(values)

        return ast.fold(node, visit, self._has_look)

    def _paths(self, root: Node) -> list[Path]:
        return ast.fold(root, self._visit, {}, is_leaf=lambda node: not self._looks(node))

    def _visit(self, node: Node, values: Sequence[list[Path]]) -> list[Path]:
        if not self._looks(node):
            return self._anchored_paths(node)
        if isinstance(node, Edge):
            return [(node,)]
        if isinstance(node, Look):
            return self._look_paths(node, values[0])
        if isinstance(node, Concat):
            return self._product(values)
        if isinstance(node, Alternation):
            return self._merge([path for value in values for path in value])
        if isinstance(node, Repeat):
            if node.minimum == 0 and node.maximum == 1:
                return self._merge([*values[0], ()])
            if self._analysis.max_length(node.body) == 0:
                return values[0] if node.minimum else [()]
            self._refuse_repeated(node)
        raise AssertionError("the parser makes no other node with assertions")

    def _product(self, values: Sequence[list[Path]]) -> list[Path]:
        """Join the items of a sequence; runs of plain items are joined in one step."""
        paths: list[Path] = [()]
        run: list[Node] = []
        for value in (*values, None):
            segment = value[0][0] if value and len(value) == 1 and len(value[0]) == 1 else None
            if isinstance(segment, Segment):
                run.append(segment.node)
                continue
            if run:
                joined = Segment(ast.concat(run))
                paths = [(*left, joined) for left in paths]
                run = []
            if value is not None:
                paths = [left + right for left in paths for right in value]
                self._check_count(len(paths))
        return paths

    def _anchored_paths(self, node: Node) -> list[Path]:
        paths: list[Path] = []
        for flags, variant in enumerate(anchors.resolve(node, self._analysis)):
            if variant is not None:
                path: Path = (Segment(variant),) if variant is not EMPTY else ()
                path = (ast.TEXT_START, *path) if flags & anchors.START else path
                paths.append((*path, ast.TEXT_END) if flags & anchors.END else path)
        return paths

    def _merge(self, paths: list[Path]) -> list[Path]:
        """Join the paths that are one segment, or empty, into one."""
        plain = [p for p in paths if not p or (len(p) == 1 and isinstance(p[0], Segment))]
        if len(plain) < 2:
            return paths
        nodes = [p[0].node if p and isinstance(p[0], Segment) else EMPTY for p in plain]
        rest = [p for p in paths if p and not (len(p) == 1 and isinstance(p[0], Segment))]
        return [(Segment(ast.alternation(nodes)),), *rest]

    def _look_paths(self, look: Look, body: list[Path]) -> list[Path]:
        """Return the assertions that are left for the enclosing path, as alternatives."""
        analysis, behind = self._analysis, look.behind
        has_assertion = any(not isinstance(item, Segment) for path in body for item in path)
        width = None if has_assertion else analysis.max_length(look.body)
        grouped: list[Node] = []
        cases: list[tuple[tuple[Assertion, ...], Node]] = []
        for path in body:
            whole = (Segment(ANY_TEXT), *path) if behind else (*path, Segment(ANY_TEXT))
            settled = self._settle(whole, open_left=not behind, open_right=behind)
            for outer, language in settled:
                if not outer:
                    grouped.append(language)
                else:
                    cases.append((outer, language))
        if grouped:
            cases.insert(0, ((), ast.alternation(grouped)))
        name = ("negative " if look.negative else "") + ("lookbehind" if behind else "lookahead")

        def reach(language: Node) -> Reach:
            return Reach(behind, language, width, name, look.offset)

        if not look.negative:
            return [(*outer, reach(language)) for outer, language in cases]
        paths: list[Path] = [()]
        for outer, language in cases:
            ways: list[Assertion] = [_negated(assertion) for assertion in outer]
            ways.append(reach(ast.complement(language)))
            paths = [(*path, way) for path in paths for way in ways]
            self._check_count(len(paths))
        return paths

    # From a path to plain nodes

    def _settle(self, path: Path, *, open_left: bool, open_right: bool) -> list[Resolved]:
        """Resolve the assertions of a path.

        Args:
            path: Segments and assertions.
            open_left: Unknown text comes before; what is asked of it is returned. Else nothing.
            open_right: The same for the text after.

        Returns:
            Alternatives: the assertions on the outside, and the plain node of the inside.
        """
        results: list[Resolved] = []
        items = [i for i in path if not (isinstance(i, Segment) and ast.is_empty(i.node))]
        work: list[tuple[list[Item], tuple[Assertion, ...]]] = [(items, ())]
        while work:
            items, outer = work.pop()
            found = _first_edge(items)
            if found is None:
                settled = self._settle_reaches(items, outer, open_left, open_right)
                results += [settled] if settled is not None else []
                continue
            at, edge = found
            del items[at]
            neighbour = _next_segment(items, at, behind=edge.behind)
            if neighbour is None:
                is_open = open_left if edge.behind else open_right
                if is_open:
                    work.append((items, (*outer, edge)))
                elif edge.at_edge:
                    work.append((items, outer))
                continue
            near, node = neighbour
            if self._analysis.nullable(node):
                skipped: list[Item] = [*items[:at], edge, *items[at:]]
                del skipped[near if edge.behind else near + 1]
                work.append((skipped, outer))
            confined = self._confiner.confine(node, edge.ranges, at_end=edge.behind)
            if confined is not None:
                work.append(([*items[:near], Segment(confined), *items[near + 1 :]], outer))
            self._check_count(len(work) + len(results))
        return results

    def _settle_reaches(
        self, items: list[Item], outer: tuple[Assertion, ...], open_left: bool, open_right: bool
    ) -> Resolved | None:
        """Resolve what is left: segments and ``Reach``; None where nothing can match."""
        conflict = _conflict(items, open_left, open_right)
        if conflict is not None:
            items = self._confine_reaches(items)
            conflict = _conflict(items, open_left, open_right)
        if conflict is not None:
            raise unsupported(
                self._pattern,
                conflict.name,
                f"a {conflict.name} over another assertion's text is not supported here; anchor "
                "the pattern, or write the cases as alternatives",
                conflict.offset,
            )
        kept: list[Item] = []
        whole: list[Node] = []
        for at, item in enumerate(items):
            if not isinstance(item, Reach):
                kept.append(item)
                continue
            left = _next_segment(items, at, behind=True) is None
            right = _next_segment(items, at + 1, behind=False) is None
            if (left and open_left) if item.behind else (right and open_right):
                outer = (*outer, item)
            elif left if item.behind else right:  # the text on that side is empty
                if not self._analysis.nullable(item.language):
                    return None
            elif right if item.behind else left:  # it is all of the path
                whole.append(item.language)
            else:
                kept.append(item)
        node = _nest(kept)
        for language in whole:
            node = ast.intersect(node, language)
        return None if ast.is_never(node) else (outer, node)

    def _confine_reaches(self, items: list[Item]) -> list[Item]:
        """Confine each bounded assertion to the segments next to it, where they are long enough."""
        items = _join_segments(items)
        at = 0
        while at < len(items):
            item = items[at]
            near = at - 1 if isinstance(item, Reach) and item.behind else at + 1
            if isinstance(item, Reach) and item.width is not None and 0 <= near < len(items):
                segment = items[near]
                if (
                    isinstance(segment, Segment)
                    and self._analysis.min_length(segment.node) >= item.width
                ):
                    items[near] = Segment(ast.intersect(segment.node, item.language))
                    del items[at]
                    at = max(0, at - 1)
                    continue
            at += 1
        return items

    # Refusals

    def _check_count(self, count: int) -> None:
        if count > self._limit:
            raise LimitExceededError(
                f"the lookarounds multiply out to more than max_lookaround_paths = {self._limit} "
                "cases; raise the limit or use fewer of them in alternatives",
                code="regex-lookaround-paths",
                limit="max_lookaround_paths",
                value=self._limit,
            )

    def _refuse_repeated(self, node: Node) -> NoReturn:
        stack = [node]
        while stack:
            part = stack.pop()
            name = None
            if isinstance(part, Look):
                name = "lookbehind" if part.behind else "lookahead"
                name = "negative " + name if part.negative else name
            elif isinstance(part, Edge) and not ast.is_text_anchor(part):
                name = part.name
            if name is not None and isinstance(part, (Look, Edge)):
                message = f"a {name} inside a repetition is not supported; move it out of the group"
                raise unsupported(self._pattern, name, message, part.offset)
            stack.extend(reversed(ast.children(part)))
        raise AssertionError("called for a node with an assertion")


def _negated(assertion: Assertion) -> Assertion:
    if isinstance(assertion, Edge):
        return ast.negated_edge(assertion)
    return assertion._replace(language=ast.complement(assertion.language))


def _first_edge(items: Sequence[Item]) -> tuple[int, Edge] | None:
    return next(((i, item) for i, item in enumerate(items) if isinstance(item, Edge)), None)


def _next_segment(items: Sequence[Item], at: int, *, behind: bool) -> tuple[int, Node] | None:
    """Return index and node of the segment before ``at``, or of the first one from ``at`` on."""
    for i in range(at - 1, -1, -1) if behind else range(at, len(items)):
        item = items[i]
        if isinstance(item, Segment):
            return i, item.node
    return None


def _conflict(items: Sequence[Item], open_left: bool, open_right: bool) -> Reach | None:
    """Return an assertion whose text overlaps another's without nesting, or leaves the path."""
    places = [i for i, item in enumerate(items) if isinstance(item, Segment)]
    if not places:
        return None
    ahead_at: int | None = None
    for at, item in enumerate(items):
        if not isinstance(item, Reach):
            continue
        has_left, has_right = places[0] < at, places[-1] > at
        if item.behind and has_left and open_left:
            return item
        if not item.behind and has_right and open_right:
            return item
        if not (has_left and has_right):
            continue
        if not item.behind:
            ahead_at = at if ahead_at is None else ahead_at
        elif ahead_at is not None and any(ahead_at < place < at for place in places):
            return item
    return None


def _join_segments(items: Sequence[Item]) -> list[Item]:
    joined: list[Item] = []
    for item in items:
        if joined and isinstance(item, Segment) and isinstance(joined[-1], Segment):
            joined[-1] = Segment(ast.concat((joined[-1].node, item.node)))
        else:
            joined.append(item)
    return joined


def _nest(items: Sequence[Item]) -> Node:
    """Join segments and assertions that nest: lookbehinds to the left, then lookaheads."""
    behinds = [i for i, item in enumerate(items) if isinstance(item, Reach) and item.behind]
    cut = behinds[-1] + 1 if behinds else 0
    left: list[Node] = []
    moved: list[Item] = []
    for item in items[:cut]:
        if isinstance(item, Segment):
            left.append(item.node)
        elif isinstance(item, Reach) and item.behind:
            left = [ast.intersect(ast.concat(left), item.language)]
        else:
            moved.append(item)
    right: list[Node] = []
    for item in reversed([*moved, *items[cut:]]):
        if isinstance(item, Segment):
            right.insert(0, item.node)
        elif isinstance(item, Reach):
            right = [ast.intersect(ast.concat(right), item.language)]
    return ast.concat((*left, *right))
