"""A grammar: what a text may be, whatever language it was written in.

Idea: every front-end makes the same intermediate representation (IR); a grammar holds those bytes
and the certificate that says how they relate to the source. Nothing here depends on a vocabulary.
Cost: that of the front-end; EBNF text is made only when asked for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from .certificate import Certificate
from .errors import GrammarError, how_to_read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .ir.format import NumberSpelling

__all__ = ["Grammar"]


class Grammar:
    """A set of texts. Immutable, hashable, and safe to share between threads.

    Made by the class methods below; the constructor is for front-ends that write IR themselves.
    Grammars are equal if their IR is; different IR can still describe the same texts.

    Args:
        ir: An IR buffer, as ``maskwright.ir.Builder.finish`` returns it. Validated when compiled.
        certificate: How the IR relates to its source; None: exactly.
    """

    __slots__ = ("_certificate", "_ir")

    def __init__(self, ir: bytes, certificate: Certificate | None = None) -> None:
        self._ir = bytes(ir)
        self._certificate = Certificate() if certificate is None else certificate

    @classmethod
    def from_ebnf(cls, ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        r"""Read a grammar in EBNF (GBNF-compatible).

        Args:
            ebnf_string: The rules, ``name ::= expression``.
            root_rule_name: The rule that the whole text must match.

        Raises:
            GrammarSyntaxError: The text does not parse, or a rule is undefined or defined twice;
                carries ``line``, ``column``, ``offset``, ``source``.
            UnsupportedFeatureError: It uses a macro or an option that is not supported.

        Example:
            >>> print(Grammar.from_ebnf('root ::= "a" [0-9]{1,3}'), end="")
            root ::= "a" [0-9]{1,3}
        """
        from .frontends.ebnf import compile_ebnf

        return cls(compile_ebnf(ebnf_string, root_rule_name=root_rule_name))

    @classmethod
    def from_json_schema(
        cls,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
        number_spelling: NumberSpelling = "any",
        assert_format: bool = True,
        dialect: str | None = None,
        registry: Mapping[str, Any] | None = None,
        nullable: bool = False,
        **limits: int,
    ) -> Grammar:
        """Make the grammar of the JSON texts that are valid under a schema.

        What the schema says is enforced, or refused with the place and the reason; the certificate
        says what the options leave out.

        Args:
            schema: A dict or a bool, JSON text, a pydantic model or ``TypeAdapter``, or a type that
                pydantic can read: dataclasses, ``TypedDict``, ``NamedTuple``, ``Enum``,
                ``list[int]``, ``Literal``, ``int | None`` and so on.
            any_whitespace: JSON whitespace may stand between two tokens; else only what the
                separators hold.
            indent: Only None without ``any_whitespace``; without effect with it.
            separators: Between items, and between key and value; ``(", ", ": ")`` by default.
                Without effect with ``any_whitespace``.
            strict_mode: Objects that name members, and arrays that name items, are closed where the
                schema says nothing about the others.
            max_whitespace_cnt: Bytes of whitespace at one place at most; None: 256.
            print_converted_ebnf: Print the grammar to standard output.
            any_order: Members may come in any order; else declared ones first, in that order.
            number_spelling: ``"any"``: numbers as JSON has them, so ``150.0E-1`` for 15.
                ``"decimal"``: no exponents; and where only integers may come, by ``type``,
                ``multipleOf``, ``const`` or ``enum``, no fractions and no ``-0``; each branch by
                itself: ``{"enum": [1, 2.5]}`` has ``1.0``, an ``anyOf`` of ``const`` 1 and
                ``const`` 2.5 does not. ``"plain"``: one spelling for
                each number: no exponent, no zeros at the end of a fraction, no ``-0``. A model
                that begins to write ``4.0`` must then write another number.
            assert_format: ``format`` constrains; else it is an annotation.
            dialect: The draft of a schema without ``$schema``, such as ``"draft7"``; None: 2020-12
                plus the older spellings that do not contradict it.
            registry: Other documents that ``$ref`` may lead to: schemas (dict, bool or JSON text)
                by URI. The meta-schemas of the drafts are always there; nothing is fetched.
            nullable: ``nullable: true`` beside ``type`` admits null, as in OpenAPI 3.0; else it is
                an annotation.
            **limits: ``max_number_digits``, ``max_constant_values``, ``max_ignored_bytes`` and
                ``max_dynamic_scopes`` of ``maskwright.frontends.json_schema.compile_json_schema``.

        Raises:
            InvalidSchemaError: The schema is malformed; with ``pointer``.
            UnsupportedFeatureError: A keyword or option is not supported; with ``feature`` and
                ``pointer``.
            GrammarSyntaxError: The text of the schema is no JSON; with ``line`` and ``column``.
            GrammarError: An option has no meaning.
            TypeError: An option is of a wrong type.
            LimitExceededError: A limit is exceeded; with ``limit`` and ``value``.
            MissingDependencyError: The schema is a type, and pydantic is not installed.

        Example:
            >>> grammar = Grammar.from_json_schema({"type": "boolean", "title": "Answer"})
            >>> grammar.certificate.exact, grammar.certificate.ignored
            (True, ('#/title',))
        """
        from .frontends.json_schema import compile_json_schema

        ir, certificate = compile_json_schema(
            schema,
            any_whitespace=any_whitespace,
            indent=indent,
            separators=separators,
            strict_mode=strict_mode,
            max_whitespace_cnt=max_whitespace_cnt,
            any_order=any_order,
            number_spelling=number_spelling,
            assert_format=assert_format,
            dialect=dialect,
            registry=registry,
            nullable=nullable,
            **cast("dict[str, Any]", limits),
        )
        grammar = cls(ir, certificate)
        if print_converted_ebnf:
            sys.stdout.write(str(grammar))
        return grammar

    @classmethod
    def from_regex(cls, regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        r"""Make the grammar of the texts that a regular expression matches as a whole.

        Args:
            regex_string: ECMA-262 pattern over code points, without slashes; also ``(?P<n>...)``,
                ``\A`` and ``\Z``. docs/regex_guide.md has what Python and other dialects read
                otherwise.
            print_converted_ebnf: Print the grammar to standard output.

        Raises:
            GrammarSyntaxError: The pattern is malformed; with ``offset``, ``line``, ``column``.
            UnsupportedFeatureError: It holds a construct that is not supported, such as a back
                reference to a group that matches different texts, or that dialects read in
                different ways, such as ``a{,3}``.
            LimitExceededError: It is beyond a limit.
            TypeError: It is no str.

        Example:
            >>> print(Grammar.from_regex(r"\d{4}-\d{2}"), end="")
            root ::= [0-9]{4} "-" [0-9]{2}
        """
        if not isinstance(regex_string, str):
            raise TypeError(
                f"regex_string is a {type(regex_string).__name__}; expected a str (of a compiled "
                f"pattern, its `pattern`){how_to_read(regex_string)}"
            )
        from .frontends.regex import lower
        from .ir import Builder

        builder = Builder()
        root = builder.rule("root")
        builder.define(root, lower(builder, regex_string, search=False, any_dialect=True))
        grammar = cls(builder.finish(root))
        if print_converted_ebnf:
            sys.stdout.write(str(grammar))
        return grammar

    @classmethod
    def builtin_json_grammar(cls, *, number_spelling: NumberSpelling = "any") -> Grammar:
        """Make the grammar of any JSON value.

        Members may have any key and come in any order. Whitespace between two tokens is at most 256
        bytes, and there is none around the value.

        Args:
            number_spelling: As for `from_json_schema`.

        Example:
            >>> Grammar.builtin_json_grammar().certificate.narrowed
            ('whitespace: at most 256 bytes between two tokens',)
        """
        return cls.from_json_schema(True, strict_mode=False, number_spelling=number_spelling)

    @staticmethod
    def concat(*grammars: Grammar) -> Grammar:
        """Make the grammar of the texts of the grammars, one after the other.

        Args:
            *grammars: At least one.

        Raises:
            GrammarError: No grammar was given (``grammar-no-operands``).
            TypeError: An argument is no `Grammar`.

        Example:
            >>> a, b = Grammar.from_regex("[ab]"), Grammar.from_regex("c?")
            >>> print(Grammar.concat(a, b), end="")
            root ::= root-2 root-3
            root-2 ::= [ab]
            root-3 ::= "c"?
        """
        from .ir.combine import concatenate

        _check_operands("concat", grammars)
        return Grammar(concatenate([grammar.ir for grammar in grammars]), _joint(grammars))

    @staticmethod
    def union(*grammars: Grammar) -> Grammar:
        """Make the grammar of the texts of any of the grammars.

        Args:
            *grammars: At least one.

        Raises:
            GrammarError: No grammar was given (``grammar-no-operands``).
            TypeError: An argument is no `Grammar`.

        Example:
            >>> a, b = Grammar.from_regex("[ab]"), Grammar.from_regex("c?")
            >>> print(Grammar.union(a, b), end="")
            root ::= root-2 | root-3
            root-2 ::= [ab]
            root-3 ::= "c"?
        """
        from .ir.combine import unite

        _check_operands("union", grammars)
        return Grammar(unite([grammar.ir for grammar in grammars]), _joint(grammars))

    def serialize_json(self) -> str:
        """Return the grammar as JSON text, certificate included.

        The field ``version`` is that of `maskwright.config.get_serialization_version`.

        Example:
            >>> grammar = Grammar.from_regex("[ab]+")
            >>> Grammar.deserialize_json(grammar.serialize_json()) == grammar
            True
        """
        from .stored import grammar_to_json

        return grammar_to_json(self._ir, self._certificate)

    @classmethod
    def deserialize_json(cls, json_string: str) -> Grammar:
        """Make the grammar that `serialize_json` has stored.

        Args:
            json_string: The text. It may come from anywhere: every field is checked.

        Raises:
            InvalidJSONError: It is no JSON (``invalid-json``).
            DeserializeVersionError: It is of another version (``deserialize-version``).
            DeserializeFormatError: It breaks the format (``deserialize-format``).
        """
        from .stored import grammar_from_json

        return cls(*grammar_from_json(json_string))

    @property
    def ir(self) -> bytes:
        """The IR buffer, for the core and for tools."""
        return self._ir

    @property
    def certificate(self) -> Certificate:
        """How the grammar relates to what its source says."""
        return self._certificate

    def __str__(self) -> str:
        from .ir.printer import to_ebnf

        return to_ebnf(self._ir)

    def __repr__(self) -> str:
        return f"<Grammar of {len(self._ir)} bytes of IR>"

    def __eq__(self, other: object) -> bool:
        return self._ir == other._ir if isinstance(other, Grammar) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._ir)

    def __reduce__(self) -> tuple[type[Grammar], tuple[bytes, Certificate]]:
        return type(self), (self._ir, self._certificate)


def _check_operands(method: str, grammars: tuple[object, ...]) -> None:
    if not grammars:
        raise GrammarError(
            f"Grammar.{method}() was given no grammar; pass at least one",
            code="grammar-no-operands",
        )
    for index, grammar in enumerate(grammars):
        if not isinstance(grammar, Grammar):
            raise TypeError(
                f"argument {index} of Grammar.{method}() is a {type(grammar).__name__}; "
                "expected a Grammar"
            )


def _joint(grammars: tuple[Grammar, ...]) -> Certificate:
    """Return what holds for a grammar that is made of several."""
    parts = [grammar.certificate for grammar in grammars]
    return Certificate(
        exact=all(part.exact for part in parts),
        narrowed=tuple(dict.fromkeys(entry for part in parts for entry in part.narrowed)),
        loosened=tuple(dict.fromkeys(entry for part in parts for entry in part.loosened)),
        ignored=tuple(dict.fromkeys(entry for part in parts for entry in part.ignored)),
    )
