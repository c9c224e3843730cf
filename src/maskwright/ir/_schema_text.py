"""A schema graph of the IR as JSON Schema text, for the macro ``JsonSchema("...")``.

Idea: one post-order walk with an explicit stack; nodes that are shared, on a cycle or deep go to
``$defs``. A string language, which JSON Schema cannot say in general, is rendered under the keyword
``x-maskwright-language`` as EBNF. Cost: linear in the graph.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from . import format as f
from . import nodes as n

if TYPE_CHECKING:
    from collections.abc import Callable

_LITERALS: Final = (
    (f.LITERAL_NULL, "null"),
    (f.LITERAL_FALSE, "false"),
    (f.LITERAL_TRUE, "true"),
)
_MAX_HEIGHT: Final = 40
_MAX_SHARED_LENGTH: Final = 60


def walk(program: n.Program, root: int) -> tuple[list[int], dict[int, int], set[int]]:
    """Return the nodes under ``root`` in post-order, how often each is used, and cycle heads."""
    order: list[int] = []
    uses = {root: 1}
    heads: set[int] = set()
    open_nodes = {root}
    stack = [(root, iter(n.child_nodes(program.nodes[root])))]
    while stack:
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            open_nodes.discard(node)
            order.append(node)
            continue
        if child in uses:
            uses[child] += 1
            if child in open_nodes:
                heads.add(child)
            continue
        uses[child] = 1
        open_nodes.add(child)
        stack.append((child, iter(n.child_nodes(program.nodes[child]))))
    return order, uses, heads


def schema_text(program: n.Program, root: int, language: Callable[[int], str]) -> str:
    """Return the JSON Schema text of the graph under ``root``.

    Args:
        program: The IR.
        root: Id of the root node.
        language: Gives the EBNF text of the expression of a string language.
    """
    order, uses, heads = walk(program, root)
    texts = {node: _reference(node) for node in heads}
    heights = dict.fromkeys(heads, 0)
    definitions: dict[int, str] = {}
    for index in order:
        node = program.nodes[index]
        text = _node_text(node, texts, language)
        height = 1 + max((heights[child] for child in n.child_nodes(node)), default=0)
        shared = uses[index] > 1 and len(text) > _MAX_SHARED_LENGTH
        if index in heads or shared or height > _MAX_HEIGHT:
            definitions[index] = text
            text, height = _reference(index), 0
        texts[index], heights[index] = text, height
    if not definitions:
        return texts[root]
    definitions.setdefault(root, texts[root])
    pairs = ", ".join(f'"n{index}": {text}' for index, text in definitions.items())
    return f'{{"$ref": "#/$defs/n{root}", "$defs": {{{pairs}}}}}'


def _reference(node: int) -> str:
    return f'{{"$ref": "#/$defs/n{node}"}}'


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _bounds(noun: str, minimum: int, maximum: int | None) -> str:
    parts = [f'"min{noun}": {minimum}'] if minimum else []
    if maximum is not None:
        parts.append(f'"max{noun}": {maximum}')
    return "{" + ", ".join(parts) + "}"


def _number_text(node: n.Number) -> str:
    parts = []
    if node.lo is not None:
        parts.append(f'"{"exclusiveMinimum" if node.lo_exclusive else "minimum"}": {node.lo}')
    if node.hi is not None:
        parts.append(f'"{"exclusiveMaximum" if node.hi_exclusive else "maximum"}": {node.hi}')
    return "{" + ", ".join(parts) + "}"


def _types_text(mask: int) -> str:
    names = [_string(name) for name, bit in f.TYPE_MASKS.items() if mask & bit]
    if not names:
        return "false"
    return f'{{"type": {names[0] if len(names) == 1 else "[" + ", ".join(names) + "]"}}}'


def _enum_text(node: n.Enum, texts: dict[int, str]) -> str:
    values = [name for bit, name in _LITERALS if node.literals & bit]
    values += node.numbers
    values += [_string(text) for text in node.strings]
    constants = f'{{"enum": [{", ".join(values)}]}}'
    if not node.nodes:
        return constants
    parts = [constants] if values else []
    return f'{{"anyOf": [{", ".join(parts + [texts[child] for child in node.nodes])}]}}'


def _array_text(node: n.Array, texts: dict[int, str]) -> str:
    parts = []
    if node.prefix:
        parts.append(f'"prefixItems": [{", ".join(texts[child] for child in node.prefix)}]')
    if node.rest is not None:
        parts.append(f'"items": {texts[node.rest]}')
    return "{" + ", ".join(parts) + "}"


def _object_text(node: n.Object, texts: dict[int, str], language: Callable[[int], str]) -> str:
    members = ", ".join(f"{_string(key)}: {texts[child]}" for key, child in node.members)
    parts = [f'"properties": {{{members}}}'] if members else []
    if node.additional is not None:
        parts.append(f'"additionalProperties": {texts[node.additional]}')
    if node.patterns:
        # Pairs, since the key of a JSON object could not say which language it is.
        rules = ", ".join(
            f"[{_string(language(expr))}, {texts[child]}]" for expr, child in node.patterns
        )
        parts.append(f'"x-maskwright-key-languages": [{rules}]')
    return "{" + ", ".join(parts) + "}"


def _contains_text(node: n.Contains, texts: dict[int, str]) -> str:
    maximum = "" if node.maximum is None else f', "maxContains": {node.maximum}'
    return f'{{"contains": {texts[node.node]}, "minContains": {node.minimum}{maximum}}}'


def _combined_text(keyword: str, items: tuple[int, ...], texts: dict[int, str]) -> str:
    if len(items) == 1:
        return texts[items[0]]
    return f'{{"{keyword}": [{", ".join(texts[child] for child in items)}]}}'


def _leaf_text(node: n.Node, language: Callable[[int], str]) -> str:
    if isinstance(node, n.Types):
        return _types_text(node.mask)
    if isinstance(node, n.Number):
        return _number_text(node)
    if isinstance(node, n.StringLength):
        return _bounds("Length", node.minimum, node.maximum)
    if isinstance(node, n.ItemCount):
        return _bounds("Items", node.minimum, node.maximum)
    if isinstance(node, n.MemberCount):
        return _bounds("Properties", node.minimum, node.maximum)
    if isinstance(node, n.StringLanguage):
        return f'{{"x-maskwright-language": {_string(language(node.expr))}}}'
    if isinstance(node, n.Required):
        return f'{{"required": [{", ".join(_string(key) for key in node.keys)}]}}'
    if isinstance(node, n.MultipleOf):
        return f'{{"multipleOf": {node.divisor}}}'
    if isinstance(node, n.UniqueItems):
        return '{"uniqueItems": true}'
    if isinstance(node, n.DependentRequired):
        needed = ", ".join(map(_string, node.needed))
        return f'{{"dependentRequired": {{{_string(node.key)}: [{needed}]}}}}'
    return "false" if isinstance(node, n.Never) else "true"


def _node_text(node: n.Node, texts: dict[int, str], language: Callable[[int], str]) -> str:
    if isinstance(node, n.Enum):
        return _enum_text(node, texts)
    if isinstance(node, n.Array):
        return _array_text(node, texts)
    if isinstance(node, n.Object):
        return _object_text(node, texts, language)
    if isinstance(node, n.AllOf):
        return _combined_text("allOf", node.items, texts)
    if isinstance(node, n.AnyOf):
        return _combined_text("anyOf", node.items, texts)
    if isinstance(node, n.OneOf):
        return _combined_text("oneOf", node.items, texts)
    if isinstance(node, n.Not):
        return f'{{"not": {texts[node.node]}}}'
    if isinstance(node, n.MemberNames):
        return f'{{"propertyNames": {texts[node.node]}}}'
    if isinstance(node, n.Contains):
        return _contains_text(node, texts)
    return _leaf_text(node, language)
