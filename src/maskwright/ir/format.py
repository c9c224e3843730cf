"""Constants of the flat IR buffer, format version 2.

A buffer is little-endian 32-bit words followed by a byte pool::

    words[0..11]   MAGIC, VERSION, n_exprs, n_rules, n_nodes, n_words, n_bytes, root rule, 4 x 0
    n_exprs words  offset of each expression record in the word pool
    n_nodes words  offset of each schema node record in the word pool
    n_rules x 3    expression id, offset and length of the name in the byte pool
    n_words words  the word pool: records ``[kind, payload...]``
    n_bytes bytes  the byte pool

A "bytes ref" is two words, offset and length, into the byte pool. ``NONE`` stands for "absent" and
for "unbounded".
"""

from __future__ import annotations

import re
from array import array
from typing import Final, Literal

MAGIC: Final = 0x5249574D
VERSION: Final = 2
HEADER_WORDS: Final = 12
NONE: Final = 0xFFFFFFFF
MAX_CODE_POINT: Final = 0x10FFFF
SURROGATES: Final = (0xD800, 0xDFFF)

EXPR_EMPTY: Final = 0
EXPR_LITERAL: Final = 1
EXPR_CLASS: Final = 2
EXPR_SEQUENCE: Final = 3
EXPR_CHOICE: Final = 4
EXPR_REPEAT: Final = 5
EXPR_REF: Final = 6
EXPR_LITERAL_SET: Final = 7
EXPR_INTERSECT: Final = 8
EXPR_COMPLEMENT: Final = 9
EXPR_TEXT_UNTIL: Final = 10
EXPR_TOKEN_SET: Final = 11
EXPR_JSON: Final = 12

NODE_ANY: Final = 0
NODE_NEVER: Final = 1
NODE_TYPES: Final = 2
NODE_NUMBER: Final = 3
NODE_STRING_LENGTH: Final = 4
NODE_STRING_LANGUAGE: Final = 5
NODE_ENUM: Final = 6
NODE_ARRAY: Final = 7
NODE_ITEM_COUNT: Final = 8
NODE_OBJECT: Final = 9
NODE_REQUIRED: Final = 10
NODE_MEMBER_COUNT: Final = 11
NODE_ALL_OF: Final = 12
NODE_ANY_OF: Final = 13
NODE_ONE_OF: Final = 14
NODE_NOT: Final = 15
NODE_MULTIPLE_OF: Final = 16
NODE_CONTAINS: Final = 17
NODE_UNIQUE_ITEMS: Final = 18
NODE_MEMBER_NAMES: Final = 19
NODE_DEPENDENT_REQUIRED: Final = 20

TYPE_NULL: Final = 1
TYPE_BOOLEAN: Final = 2
TYPE_INTEGER: Final = 4
TYPE_NUMBER: Final = 8
TYPE_STRING: Final = 16
TYPE_ARRAY: Final = 32
TYPE_OBJECT: Final = 64
TYPE_ALL: Final = 127

#: The types by the names that JSON Schema gives them.
TYPE_MASKS: Final = {
    "null": TYPE_NULL,
    "boolean": TYPE_BOOLEAN,
    "integer": TYPE_INTEGER,
    "number": TYPE_NUMBER,
    "string": TYPE_STRING,
    "array": TYPE_ARRAY,
    "object": TYPE_OBJECT,
}

NUMBER_HAS_LO: Final = 1
NUMBER_HAS_HI: Final = 2
NUMBER_LO_EXCLUSIVE: Final = 4
NUMBER_HI_EXCLUSIVE: Final = 8

LITERAL_NULL: Final = 1
LITERAL_FALSE: Final = 2
LITERAL_TRUE: Final = 4

JSON_ANY_ORDER: Final = 1
JSON_ANY_WHITESPACE: Final = 2
JSON_STRICT: Final = 4
JSON_DECIMAL_NUMBERS: Final = 8
JSON_PLAIN_NUMBERS: Final = 16

NumberSpelling = Literal["any", "decimal", "plain"]

#: How numbers are spelled, by flags.
NUMBER_SPELLINGS: Final[dict[int, NumberSpelling]] = {
    0: "any",
    JSON_DECIMAL_NUMBERS: "decimal",
    JSON_PLAIN_NUMBERS: "plain",
}

#: Whether a text is a plain decimal in its one normal form: no exponent, needless zeros or "-0".
is_decimal: Final = re.compile(r"(?!-0\Z)-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?\Z").match

#: The type code of an ``array`` of 32-bit words.
WORD_TYPE: Final = "I" if array("I").itemsize == 4 else "L"
