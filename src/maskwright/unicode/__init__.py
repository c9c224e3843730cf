"""Unicode 17.0 character properties, read on first use from one committed table.

Idea: ``ucd.bin`` (made by tools/make_unicode_tables.py) holds a text index and, per property, its
code point ranges as varints. The index is parsed once, a property is decoded when it is asked for,
and nothing is read at import time. Names are matched exactly as ECMA-262 does: no loose matching.
Cost: index 0.5 ms once; a property 1 to 500 µs once, then a cached tuple.
Source: Unicode Character Database 17.0; ECMA-262, "UnicodeMatchProperty".
"""

from __future__ import annotations

from .tables import (
    UNICODE_VERSION,
    UnknownPropertyError,
    case_orbits,
    property_names,
    property_ranges,
)

__all__ = [
    "UNICODE_VERSION",
    "UnknownPropertyError",
    "case_orbits",
    "property_names",
    "property_ranges",
]
