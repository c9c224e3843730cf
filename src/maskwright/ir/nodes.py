"""The reading form of IR: one frozen dataclass per kind of expression and schema node.

Idea: children are ids into the tuples of ``Program``, as in the flat buffer, so that sharing and
cycles cost nothing and no method ever recurses. This form is for printing, tests and tools;
front-ends write through ``Builder`` and the core reads the buffer itself.
"""

from __future__ import annotations

from dataclasses import dataclass

# Expressions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Empty:
    """The empty string."""


@dataclass(frozen=True)
class Literal:
    """Exactly these bytes."""

    data: bytes


@dataclass(frozen=True)
class CharClass:
    """One code point of any of the inclusive ranges; of none, it never matches."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Sequence:
    """One expression after the other."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """Any one of the expressions."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class Repeat:
    """The body ``minimum`` to ``maximum`` times; None: without bound."""

    body: int
    minimum: int
    maximum: int | None


@dataclass(frozen=True)
class Ref:
    """What the rule matches."""

    rule: int


@dataclass(frozen=True)
class LiteralSet:
    """Any one of the byte strings."""

    items: tuple[bytes, ...]


@dataclass(frozen=True)
class Intersect:
    """The texts that all operands match."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class Complement:
    """The strings of code points that the operand does not match."""

    body: int


@dataclass(frozen=True)
class TextUntil:
    """The shortest text that ends with one of the stops and contains none of the excludes."""

    stops: tuple[bytes, ...]
    excludes: tuple[bytes, ...]


@dataclass(frozen=True)
class TokenSet:
    """One token of the ids, or of all but the ids."""

    exclude: bool
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Json:
    """A JSON value that is valid under the schema node; see ``Builder.json``."""

    node: int
    any_order: bool
    any_whitespace: bool
    strict: bool
    number_spelling: str
    max_whitespace: int | None
    item_separator: bytes
    key_separator: bytes


Expr = (
    Empty
    | Literal
    | CharClass
    | Sequence
    | Choice
    | Repeat
    | Ref
    | LiteralSet
    | Intersect
    | Complement
    | TextUntil
    | TokenSet
    | Json
)

# Schema nodes ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Any:
    """Any value."""


@dataclass(frozen=True)
class Never:
    """No value."""


@dataclass(frozen=True)
class Types:
    """Any value of the types in the mask."""

    mask: int


@dataclass(frozen=True)
class Number:
    """Bounds on numbers, as normalised plain decimals."""

    lo: str | None
    hi: str | None
    lo_exclusive: bool
    hi_exclusive: bool


@dataclass(frozen=True)
class StringLength:
    """Bounds on the length of strings in code points."""

    minimum: int
    maximum: int | None


@dataclass(frozen=True)
class StringLanguage:
    """Strings whose decoded code points the expression matches."""

    expr: int


@dataclass(frozen=True)
class Enum:
    """Any one of the values."""

    literals: int
    numbers: tuple[str, ...]
    strings: tuple[str, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Array:
    """Item schemas: a prefix, and one for the rest (None: absent)."""

    prefix: tuple[int, ...]
    rest: int | None


@dataclass(frozen=True)
class ItemCount:
    """Bounds on the number of items."""

    minimum: int
    maximum: int | None


@dataclass(frozen=True)
class Object:
    """Member schemas: named ones, key patterns (expression, node), and one for all others."""

    members: tuple[tuple[str, int], ...]
    additional: int | None
    patterns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Required:
    """Keys that must be there."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class MemberCount:
    """Bounds on the number of members."""

    minimum: int
    maximum: int | None


@dataclass(frozen=True)
class AllOf:
    """Values that all nodes accept."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class AnyOf:
    """Values that some node accepts."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class OneOf:
    """Values that exactly one node accepts."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class Not:
    """Values that the node does not accept."""

    node: int


@dataclass(frozen=True)
class MultipleOf:
    """Numbers that are an integer times a positive decimal."""

    divisor: str


@dataclass(frozen=True)
class Contains:
    """Bounds on the number of items that satisfy the node."""

    node: int
    minimum: int
    maximum: int | None


@dataclass(frozen=True)
class UniqueItems:
    """No two items are equal."""


@dataclass(frozen=True)
class MemberNames:
    """Every key, as a string, satisfies the node."""

    node: int


@dataclass(frozen=True)
class DependentRequired:
    """Keys that must be there if ``key`` is."""

    key: str
    needed: tuple[str, ...]


Node = (
    Any
    | Never
    | Types
    | Number
    | StringLength
    | StringLanguage
    | Enum
    | Array
    | ItemCount
    | Object
    | Required
    | MemberCount
    | AllOf
    | AnyOf
    | OneOf
    | Not
    | MultipleOf
    | Contains
    | UniqueItems
    | MemberNames
    | DependentRequired
)


@dataclass(frozen=True)
class Rule:
    """A named expression."""

    name: str
    expr: int


@dataclass(frozen=True)
class Program:
    """A whole IR buffer; every id is an index into one of the tuples."""

    exprs: tuple[Expr, ...]
    nodes: tuple[Node, ...]
    rules: tuple[Rule, ...]
    root: int


def child_exprs(expr: Expr) -> tuple[int, ...]:
    """Return the ids of the expressions directly under ``expr`` (not through rules or schemas)."""
    if isinstance(expr, (Sequence, Choice, Intersect)):
        return expr.items
    if isinstance(expr, (Repeat, Complement)):
        return (expr.body,)
    return ()


def string_exprs(node: Node) -> tuple[int, ...]:
    """Return the ids of the expressions that the node applies to decoded strings or keys."""
    if isinstance(node, StringLanguage):
        return (node.expr,)
    return tuple(expr for expr, _ in node.patterns) if isinstance(node, Object) else ()


def child_nodes(node: Node) -> tuple[int, ...]:
    """Return the ids of the schema nodes directly under ``node``."""
    if isinstance(node, (AllOf, AnyOf, OneOf)):
        return node.items
    if isinstance(node, (Not, Contains, MemberNames)):
        return (node.node,)
    if isinstance(node, Object):
        rest = () if node.additional is None else (node.additional,)
        return tuple(child for _, child in (*node.members, *node.patterns)) + rest
    if isinstance(node, Array):
        return node.prefix if node.rest is None else (*node.prefix, node.rest)
    if isinstance(node, Enum):
        return node.nodes
    return ()
