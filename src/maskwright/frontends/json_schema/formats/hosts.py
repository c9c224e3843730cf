"""`ipv4`, `ipv6`, `hostname` and `idn-hostname`.

Idea: what a Punycode label (``xn--``) stands for, and which characters an internationalised label
may combine, are no regular languages, so these formats are a subset that is surely valid: no
Punycode, and beside ASCII the letters of some scripts that are written from left to right and that
normalisation and case folding leave alone. A label of nine such letters is below the bound on its
Punycode form (six digits per letter at most, and the prefix), and four labels are below that on
names.
Source: RFC 2673, section 3.2 (IPv4); RFC 4291, section 2.2 and RFC 3986, section 3.2.2 (IPv6); RFC
1123, section 2.1 (host names); RFC 5890 to 5893 (internationalised ones); RFC 3492 (Punycode).
"""

from __future__ import annotations

from .pattern import Format, any_of

__all__ = ["HOSTS", "IPV4", "IPV6", "LABEL"]

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"

_GROUP = "[0-9A-Fa-f]{1,4}"
_LAST = any_of(f"{_GROUP}:{_GROUP}", IPV4)
# The groups before "::", and how many come after it.
_SHORTENED = [
    f"(?:(?:{_GROUP}:){{0,{before}}}{_GROUP})?::{after}"
    for before, after in (
        (0, f"(?:{_GROUP}:){{4}}{_LAST}"),
        (1, f"(?:{_GROUP}:){{3}}{_LAST}"),
        (2, f"(?:{_GROUP}:){{2}}{_LAST}"),
        (3, f"{_GROUP}:{_LAST}"),
        (4, _LAST),
        (5, _GROUP),
        (6, ""),
    )
]
IPV6 = any_of(f"(?:{_GROUP}:){{6}}{_LAST}", f"::(?:{_GROUP}:){{5}}{_LAST}", *_SHORTENED)

LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = rf"{LABEL}(?:\.{LABEL})*"
_PUNYCODE = r"(?:[^]*[.\u3002\uFF0E\uFF61])?[Xx][Nn]--[^]*"
_MAX_NAME = 253

# Latin, Greek and Cyrillic in lower case, kana, Han, Hangul syllables.
_LETTERS = (
    r"\u00DF-\u00F6\u00F8-\u00FF\u0101\u0103\u0105\u0107\u0109\u010B\u010D\u010F\u0111\u0113\u0115"
    r"\u0117\u0119\u011B\u011D\u011F\u0121\u0123\u0125\u0127\u0129\u012B\u012D\u012F\u0131\u0135"
    r"\u0137\u013A\u013C\u013E\u0142\u0144\u0146\u0148\u014D\u014F\u0151\u0153\u0155\u0157\u0159"
    r"\u015B\u015D\u015F\u0161\u0163\u0165\u0167\u0169\u016B\u016D\u016F\u0171\u0173\u0175\u0177"
    r"\u017A\u017C\u017E\u03AC-\u03CE\u0430-\u045F\u3041-\u3096\u30A1-\u30FA\u4E00-\u9FA5"
    r"\uAC00-\uD7A3"
)
_LETTER = f"[a-z0-9{_LETTERS}]"
# Single hyphens only, so that none stand at the third and fourth place.
_IDN_LABEL = f"{_LETTER}(?:-?{_LETTER}){{0,4}}|{_LETTER}{{1,9}}"
_DOT = r"[.\u3002\uFF0E\uFF61]"
_IDN_NAME = f"(?:{_IDN_LABEL})(?:{_DOT}(?:{_IDN_LABEL})){{0,3}}"
_NO_PUNYCODE = "no Punycode labels"

HOSTS = {
    "hostname": Format(_NAME, _PUNYCODE, _MAX_NAME, _NO_PUNYCODE),
    "idn-hostname": Format(
        any_of(_NAME, _IDN_NAME),
        _PUNYCODE,
        _MAX_NAME,
        f"{_NO_PUNYCODE}, short labels in Latin, Greek, Cyrillic, kana, Han or Hangul",
    ),
    "ipv4": Format(IPV4),
    "ipv6": Format(IPV6),
}
