"""Makes the file of the formats' languages that the JSON Schema front-end carries.

What it does: reads the patterns of all formats and writes the IR that they become, as
``maskwright.frontends.json_schema.formats.languages`` describes it.
Run ``python tools/make_formats.py`` to write it, with ``--check`` to compare.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import write_or_check

from maskwright.frontends.json_schema.formats import FORMATS
from maskwright.frontends.json_schema.formats.languages import FILE_NAME, pack

TARGET = (
    Path(__file__).resolve().parent.parent
    / "src/maskwright/frontends/json_schema/formats"
    / FILE_NAME
)


def main() -> int:
    """Write the file, or compare it with what would be written."""
    return write_or_check(TARGET, pack(FORMATS))


if __name__ == "__main__":
    sys.exit(main())
