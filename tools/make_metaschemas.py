"""Makes the file of meta-schemas that the JSON Schema front-end carries.

What it does: takes the documents of the package ``jsonschema-specifications`` (installed with the
test requirements), which are the ones that json-schema.org publishes, and writes those of the
supported drafts as one compact file.
Run ``python tools/make_metaschemas.py`` to write it, with ``--check`` to compare.
"""

from __future__ import annotations

import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from generated import write_or_check

TARGET = (
    Path(__file__).resolve().parent.parent / "src/maskwright/frontends/json_schema/metaschemas.json"
)
SOURCE = resources.files("jsonschema_specifications") / "schemas"
DRAFTS = ("draft4", "draft6", "draft7", "draft201909", "draft202012")
LICENCE = (
    "The JSON Schema meta-schemas and vocabularies of drafts 4, 6, 7, 2019-09 and 2020-12, as "
    "published at json-schema.org. Copyright (c) the JSON Schema authors. The documents are "
    "licensed under the Academic Free License 3.0 or the 3-clause BSD license, at your option: "
    "https://github.com/json-schema-org/json-schema-spec/blob/main/LICENSE"
)


def main() -> int:
    """Write the file, or compare it with what would be written."""
    text = json.dumps(
        {"$comment": LICENCE, "documents": _documents()}, separators=(",", ":"), sort_keys=False
    )
    return write_or_check(TARGET, text + "\n")


def _documents() -> dict[str, Any]:
    documents: dict[str, Any] = {}
    for draft in DRAFTS:
        folder = SOURCE / draft
        files = [folder / "metaschema.json"]
        if (folder / "vocabularies").is_dir():
            files += sorted((folder / "vocabularies").iterdir(), key=lambda path: path.name)
        for file in files:
            document = json.loads(file.read_text(encoding="utf-8"))
            uri = document.get("$id") or document["id"]
            documents[uri.partition("://")[2].rstrip("#")] = document
    return documents


if __name__ == "__main__":
    sys.exit(main())
