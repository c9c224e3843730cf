"""`uri`, `uri-reference`, `iri`, `iri-reference` and `uri-template`.

Source: RFC 3986, appendix A (URI); RFC 3987, section 2.2 (IRI); RFC 6570, section 2 (templates;
with erratum 6937, which adds the apostrophe to the literals).
"""

from __future__ import annotations

from .hosts import IPV6
from .pattern import Format, any_of

__all__ = ["URIS"]

_ESCAPE = "%[0-9A-Fa-f]{2}"
_UNRESERVED = "A-Za-z0-9._~"
_DELIMITERS = "!$&'()*+,;="
_UCS = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}"
    r"\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}"
    r"\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}"
    r"\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}"
)
_PRIVATE = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"
_SCHEME = "[A-Za-z][A-Za-z0-9+.-]*"
_BRACKETED = rf"\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[{_UNRESERVED}{_DELIMITERS}:-]+)\]"


def _identifiers(letters: str, private: str) -> tuple[str, str]:
    """Return the patterns of absolute identifiers and of references.

    Args:
        letters: Characters of a class that are as good as letters everywhere.
        private: More of them for the query.
    """
    plain = f"{_UNRESERVED}{letters}{_DELIMITERS}"
    segment = f"(?:[{plain}:@-]|{_ESCAPE})"
    user = f"(?:[{plain}:-]|{_ESCAPE})*"
    name = f"(?:[{plain}-]|{_ESCAPE})*"
    authority = f"(?:{user}@)?(?:{_BRACKETED}|{name})(?::[0-9]*)?"
    query = rf"(?:\?(?:[{plain}:@/?{private}-]|{_ESCAPE})*)?"
    fragment = f"(?:#(?:[{plain}:@/?-]|{_ESCAPE})*)?"
    rest = f"(?:/{segment}*)*"
    rooted = any_of(f"//{authority}{rest}", f"/(?:{segment}+{rest})?")
    absolute = f"{_SCHEME}:(?:{rooted}|{segment}+{rest})?{query}{fragment}"
    first = f"(?:[{plain}@-]|{_ESCAPE})+"
    relative = f"(?:{rooted}|{first}{rest})?{query}{fragment}"
    return absolute, any_of(absolute, relative)


_URI, _URI_REFERENCE = _identifiers("", "")
_IRI, _IRI_REFERENCE = _identifiers(_UCS, _PRIVATE)

_NAME_PART = f"(?:[A-Za-z0-9_]|{_ESCAPE})"
_VARIABLE = rf"{_NAME_PART}+(?:\.{_NAME_PART}+)*(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}}"
_LITERAL = rf"[!#$&-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]"
_TEMPLATE = f"(?:{_LITERAL}|{_ESCAPE}|{_EXPRESSION})*"

URIS = {
    "iri": Format(_IRI),
    "iri-reference": Format(_IRI_REFERENCE),
    "uri": Format(_URI),
    "uri-reference": Format(_URI_REFERENCE),
    "uri-template": Format(_TEMPLATE),
}
