"""What a compiler is asked for: how each kind of source becomes a grammar, and its key.

Idea: a request is made at once, without looking into the source more than its key needs, and turned
into a grammar later, possibly by another thread. Kinds are named as the methods ``compile_*``.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import UnsatisfiableGrammarError, UnsupportedFeatureError, how_to_read
from .grammar import Grammar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .certificate import Certificate
    from .ir.format import NumberSpelling

__all__ = [
    "KINDS",
    "CompileRequest",
    "builtin_json_request",
    "grammar_request",
    "json_schema_request",
    "regex_request",
]

_MAX_KEY_CONTAINERS = 200_000
_CONTAINERS = frozenset((dict, list, tuple))
_SCALARS = frozenset((str, int, float, bool, type(None)))
_PLAIN = _CONTAINERS | _SCALARS
_KEYS = frozenset((str,))


class CompileRequest(NamedTuple):
    """A source and its options.

    Attributes:
        key: Equal for equal sources and options; None: it is not looked up, nor kept.
        make_grammar: Runs the front-end.
        locate: Returns an error of the core, such that it says where in the source it is.
    """

    key: Hashable
    make_grammar: Callable[[], Grammar]
    locate: Callable[[Exception], Exception] = lambda error: error


def json_schema_request(
    schema: Any,
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    strict_mode: bool = True,
    max_whitespace_cnt: int | None = None,
    any_order: bool = False,
    number_spelling: NumberSpelling = "any",
    assert_format: bool = True,
    dialect: str | None = None,
    registry: Mapping[str, Any] | None = None,
    nullable: bool = False,
    **limits: int,
) -> CompileRequest:
    """Return the request for a JSON Schema; the arguments are those of the front-end."""
    options: dict[str, Any] = {
        "any_whitespace": any_whitespace,
        "indent": indent,
        "separators": separators,
        "strict_mode": strict_mode,
        "max_whitespace_cnt": max_whitespace_cnt,
        "any_order": any_order,
        "number_spelling": number_spelling,
        "assert_format": assert_format,
        "dialect": dialect,
        "registry": registry if registry is None else _snapshot(registry),
        "nullable": nullable,
        **limits,
    }
    source: Any = schema
    if not is_plain_schema(schema):
        from .frontends.json_schema.inputs import schema_of

        source = schema_of(schema)  # a class can be rebuilt: look at it anew

    def make_grammar() -> Grammar:
        return Grammar(*_json_schema_front_end()(source, **options))

    def locate(error: Exception) -> Exception:
        if not isinstance(error, (UnsatisfiableGrammarError, UnsupportedFeatureError)):
            return error
        from .frontends.json_schema.blame import with_pointer
        from .refusal import refusal_of

        return with_pointer(error, source, options, refusal_of)

    key = _exact_key("json-schema", source, *options.values(), *limits)
    return CompileRequest(key, make_grammar, locate)


@cache
def _json_schema_front_end() -> Callable[..., tuple[bytes, Certificate]]:
    """Return what makes IR of a schema, which takes time to load."""
    from .frontends.json_schema.compile import compile_json_schema

    return compile_json_schema


def _snapshot(registry: object) -> object:
    return dict(registry) if isinstance(registry, Mapping) else registry


def builtin_json_request(
    source: None = None, *, number_spelling: NumberSpelling = "any"
) -> CompileRequest:
    """Return the request for the grammar of any JSON value, which has no source."""
    if source is not None:
        raise TypeError(f"source is a {type(source).__name__}; expected None for builtin_json")
    return CompileRequest(
        _exact_key("builtin-json", None, number_spelling),
        lambda: Grammar.builtin_json_grammar(number_spelling=number_spelling),
    )


def regex_request(regex: str) -> CompileRequest:
    """Return the request for a regular expression."""
    if not isinstance(regex, str):
        raise TypeError(
            f"regex is a {type(regex).__name__}; expected a str (of a compiled pattern, its "
            f"`pattern`){how_to_read(regex)}"
        )

    def locate(error: Exception) -> Exception:
        if not isinstance(error, UnsatisfiableGrammarError):
            return error
        return UnsatisfiableGrammarError(
            "no text of the vocabulary's tokens matches the pattern; look for lookaround that "
            "contradicts what stands beside it, or for bytes that no token has",
            code=error.code,
        )

    return CompileRequest(_exact_key("regex", regex), lambda: Grammar.from_regex(regex), locate)


def grammar_request(grammar: str | Grammar, *, root_rule_name: str = "root") -> CompileRequest:
    """Return the request for a `Grammar` or EBNF text."""
    if isinstance(grammar, Grammar):
        # The certificate counts: it is part of what is returned.
        return CompileRequest(("grammar", grammar.ir, grammar.certificate), lambda: grammar)
    if not isinstance(grammar, str):
        raise TypeError(
            f"grammar is a {type(grammar).__name__}; expected a Grammar or a str"
            f"{how_to_read(grammar)}"
        )
    return CompileRequest(
        _exact_key("ebnf", grammar, root_rule_name),
        lambda: Grammar.from_ebnf(grammar, root_rule_name=root_rule_name),
    )


KINDS: dict[str, Callable[..., CompileRequest]] = {
    "json_schema": json_schema_request,
    "regex": regex_request,
    "grammar": grammar_request,
    "builtin_json": builtin_json_request,
}
"""What makes the request, by kind."""


def is_plain_schema(schema: object) -> bool:
    """Return whether a schema is text or data, and no type that has to be asked for it."""
    return isinstance(schema, (str, dict, bool))


def _exact_key(kind: str, source: Any, *options: Any) -> Hashable:
    """Return a key that is equal for equal sources of equal types only; None: do not cache.

    Hashing alone would not do: 1, 1.0 and True are equal in Python and not in a schema. Version 2
    of the format depends on nothing but types and contents, of plain data; schemas that hold
    anything else (or are nested thousands deep, or are huge once parts that are used several times
    are written out) are compiled anew each time.
    """
    try:
        if type(source) is str:  # hashed as it is, without a copy
            return (kind, source, marshal.dumps(options, 2)) if _is_plain(options) else None
        if not _is_plain((source, *options)):
            return None
        return kind, marshal.dumps((source, options), 2)
    except ValueError:
        return None


def _is_plain(data: tuple[Any, ...]) -> bool:
    """Return whether a tree is plain data, and has few containers.

    One that occurs several times counts each time. Other objects may look like bytes to `marshal`.
    """
    if _SCALARS.issuperset(map(type, data)):
        return True
    waiting: list[Any] = [data]
    left = _MAX_KEY_CONTAINERS
    while waiting:
        container = waiting.pop()
        values = container
        if type(container) is dict:
            if not _KEYS.issuperset(map(type, container)):
                return False
            values = container.values()
        left -= 1
        if left < len(waiting) or not _PLAIN.issuperset(map(type, values)):
            return False
        waiting += [value for value in values if type(value) in _CONTAINERS]
    return True
