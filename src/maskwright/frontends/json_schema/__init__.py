"""The JSON Schema front-end: `compile_json_schema` turns a schema into IR and a certificate.

Where things are: `compile` has the entry point and its options, `inputs` the forms a schema comes
in, `convert` the walk, `references`, `resources` and `registry` what references lead to, `dialects`
and `vocabularies` the table of keywords per draft, and one module per keyword family the handlers
(`scalars`, `numbers`, `counts`, `arrays`, `objects`, `applicators`, `conditions`, `formats`,
`unsupported`), with `constants` for the values of `enum` and `const`; `coverage` and `blame`
report. To add a keyword, write its handler beside its family and enter it in `dialects`.
"""

from __future__ import annotations

from .compile import compile_json_schema

__all__ = ["compile_json_schema"]
