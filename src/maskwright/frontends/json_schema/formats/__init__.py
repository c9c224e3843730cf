"""The formats that some draft of JSON Schema defines, as languages of strings.

One module per family: `dates`, `hosts`, `mail`, `uris`, `identifiers`; `keyword` is the handler of
`format`. To add a format, enter a `Format` in the table of its family.
"""

from __future__ import annotations

from .dates import DATES
from .hosts import HOSTS
from .identifiers import IDENTIFIERS
from .mail import MAIL
from .pattern import Format
from .uris import URIS

__all__ = ["FORMATS", "Format"]

FORMATS: dict[str, Format] = {**DATES, **HOSTS, **IDENTIFIERS, **MAIL, **URIS}
"""By name; any other name is an annotation."""
