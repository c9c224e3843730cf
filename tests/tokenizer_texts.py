"""Texts for tokenizers: real JSON instances, and generated Unicode of awkward kinds."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_RANGES = (
    (0x20, 0x7E),
    (0x20, 0x2FF),
    (0x370, 0x1FFF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0x1F300, 0x1FAFF),
    (0x20000, 0x2FFFF),
    (0xE000, 0xFFFD),
)
_PIECES = (
    " ",
    "  ",
    " " * 17,
    "\t\t",
    "\n",
    "\r\n",
    "\n\n\n",
    " \n\t ",
    "\u00a0",
    "\u3000",
    "\u200b",
    "\u00e9",
    "e\u0301",
    "a\u0323\u0301\u0308",
    "\u1112\u1161\u11ab",
    "\U0001f469\u200d\U0001f680",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea",
    "\u2764\ufe0f",
    "\u65e5\u672c\u8a9e",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\u05e9\u05c1\u05dc\u05d5\u05dd",
    "\u0939\u093f\u0928\u094d\u0926\u0940",
    "\x00",
    "\x01",
    "\x0b\x0c",
    "\x7f\u0080",
    "\ufeff",
    "\uffff",
    "0",
    "1234567",
    "3.14e-10",
    "don't",
    "I'LL",
    "</s>",
    "<|im_end|>",
    "<tool_call>",
    "<0x0A>",
    "\u0120",
    "\u2581",
    "<unk>",
    '{"a": [1, null]}',
    "\\u00e9",
    "x",
    "Hello",
)


def generated_texts(count: int, seed: int) -> list[str]:
    """Seeded texts of up to some hundred characters."""
    generator = random.Random(seed)
    texts = []
    for _ in range(count):
        if generator.random() < 0.5:
            low, high = generator.choice(_RANGES)
            size = generator.randint(1, 60)
            texts.append("".join(chr(generator.randint(low, high)) for _ in range(size)))
        else:
            texts.append("".join(generator.choices(_PIECES, k=generator.randint(1, 20))))
    return texts


def instance_texts(folder: Path, count: int, seed: int) -> list[str]:
    """Instances of real schemas, in several layouts, of up to 2,000 characters."""
    generator = random.Random(seed)
    instances = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_bytes().split(b"\n")  # text has line ends of other kinds too
        for line in filter(None, lines[:40]):
            instances.extend(test["data"] for test in json.loads(line)["tests"][:2])
    return [
        json.dumps(
            generator.choice(instances),
            ensure_ascii=generator.random() < 0.2,
            indent=generator.choice((None, None, 2, 4, "\t")),
        )[:2000]
        for _ in range(count)
    ]
