"""Entry point: pattern text -> expression of the IR builder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import anchors, ast
from .analysis import Analysis
from .ast import ANY_TEXT, Node
from .emit import emit
from .limits import RegexLimits
from .lookaround import LookaroundResolver
from .parser import ParsedPattern, parse

if TYPE_CHECKING:
    from ...ir import Builder

_DEFAULT_LIMITS = RegexLimits()


def lower(
    builder: Builder,
    pattern: str,
    *,
    search: bool,
    flags: str = "",
    any_dialect: bool = False,
    limits: RegexLimits = _DEFAULT_LIMITS,
) -> int:
    r"""Write the language of a pattern into the builder.

    Args:
        builder: Receives the expressions.
        pattern: ECMA-262 pattern text, without slashes.
        search: True: every text that contains a match, as ``pattern`` in JSON Schema; anchors and
            lookarounds see the whole text. False: the whole text must match.
        flags: Any of ``i`` (ignore case), ``m`` (multiline anchors), ``s`` (dot matches all) and
            ``u`` (refuse what only the web-legacy grammar admits).
        any_dialect: The pattern may have been written for another dialect: what ECMA-262 reads in
            silence otherwise than Python, PCRE or Rust is refused by name (``a{,3}``, ``[]a]``,
            ``\x{41}``).
        limits: Bounds beyond which a pattern is refused.

    Returns:
        The id of the expression; it is regular, and a pattern that nothing matches is the class
        without characters or an intersection that is empty.

    Raises:
        GrammarSyntaxError: The pattern is malformed; carries offset, line, column.
        UnsupportedFeatureError: It holds a construct that is not supported; carries its name.
        LimitExceededError: It is beyond one of the limits.

    Example:
        >>> from maskwright.ir import Builder
        >>> builder = Builder()
        >>> date = lower(builder, r"^\d{4}-\d{2}$", search=True)
    """
    return emit(builder, _plain_tree(pattern, search, flags, any_dialect, limits))


def write_shared(builder: Builder, pattern: str) -> int:
    """Write the language of a whole text that matches, with equal parts of the pattern shared.

    For the patterns of the package itself: sharing takes longer than `lower`, and saves states.
    """
    return emit(builder, ast.share(_plain_tree(pattern, False, "", False, _DEFAULT_LIMITS)))


def _plain_tree(
    pattern: str, search: bool, flags: str, any_dialect: bool, limits: RegexLimits
) -> Node:
    parsed = parse(pattern, flags, limits=limits, any_dialect=any_dialect)
    analysis = Analysis()
    if parsed.has_lookaround:
        resolver = LookaroundResolver(pattern, analysis, limits)
        return resolver.resolve(parsed.root, search=search)
    if parsed.num_anchors == 0:
        return _found_anywhere(parsed.root, analysis) if search else parsed.root
    at_ends = _without_outer_anchors(parsed) if search else None
    if at_ends is not None:
        return _found_anywhere(at_ends[0], analysis, at_ends[1])
    variants = anchors.resolve(parsed.root, analysis)
    options: list[Node] = []
    for option_flags, node in enumerate(variants):
        if node is None:
            continue
        option = _found_anywhere(node, analysis, option_flags) if search else node
        if option is ANY_TEXT:
            return ANY_TEXT
        options.append(option)
    return ast.alternation(options)


def _without_outer_anchors(parsed: ParsedPattern) -> tuple[Node, int] | None:
    """Return what stands between ``^`` and ``$``, with flags; None: there are other anchors."""
    if not isinstance(parsed.root, ast.Concat):
        return None
    items = parsed.root.items
    flags = anchors.START if items[0] is ast.TEXT_START else 0
    if items[-1] is ast.TEXT_END:
        flags |= anchors.END
    if parsed.num_anchors != flags.bit_count():
        return None
    inner = items[flags & anchors.START : len(items) - (flags >> 1)]
    return ast.concat(inner), flags


def _found_anywhere(node: Node, analysis: Analysis, flags: int = 0) -> Node:
    """Allow any text before and after the node, except on a side that is anchored."""
    if flags == anchors.START | anchors.END:
        return node
    if analysis.nullable(node):
        return ANY_TEXT
    before = () if flags & anchors.START else (ANY_TEXT,)
    after = () if flags & anchors.END else (ANY_TEXT,)
    items = list(node.items) if isinstance(node, ast.Concat) else [node]
    while before and items and _is_absorbed(items[0]):
        del items[0]
    while after and items and _is_absorbed(items[-1]):
        del items[-1]
    return ast.concat((*before, *items, *after))


def _is_absorbed(node: Node) -> bool:
    """Tell whether any text next to the node makes it superfluous: ``.*``, ``x?``."""
    return (
        isinstance(node, ast.Repeat) and node.minimum == 0 and ast.single_set(node.body) is not None
    )
