"""`email` and `idn-email`.

Source: RFC 5321, section 4.1.2 ("Mailbox") and 4.1.3 (address literals, of IPv4 and IPv6; no other
tag is registered); RFC 6531, section 3.3 (internationalised).
"""

from __future__ import annotations

from .hosts import IPV4, IPV6
from .pattern import Format, any_of

__all__ = ["MAIL"]

_NON_ASCII = r"\u0080-\u{10FFFF}"
_LITERAL = rf"\[(?:{IPV4}|IPv6:{IPV6})\]"


def _mailbox(more: str) -> str:
    """Return the pattern of mailboxes, with more characters than those of ASCII."""
    atom = f"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~{more}-]+"
    quoted = rf'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    label = f"[A-Za-z0-9{more}](?:[A-Za-z0-9{more}-]*[A-Za-z0-9{more}])?"
    local = any_of(rf"{atom}(?:\.{atom})*", quoted)
    return rf"{local}@(?:{label}(?:\.{label})*|{_LITERAL})"


MAIL = {"email": Format(_mailbox("")), "idn-email": Format(_mailbox(_NON_ASCII))}
