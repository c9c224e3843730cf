"""`date-time`, `date`, `time` and `duration`.

Idea: months have their lengths, and the 29th of February needs a leap year of the Gregorian
calendar, by the last two digits of the year or of the century. A second 60 is a leap second, which
is 23:59:60 in UTC: the local time then fixes the offset. Every pair would need states of its own,
so offsets beside Z are those of whole and half hours.
Source: RFC 3339, section 5.6 and 5.7 (dates, times), appendix A (durations), appendix C (leap
years), appendix D (leap seconds).
"""

from __future__ import annotations

from .pattern import Format, any_of

__all__ = ["DATES"]

_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = any_of(
    "[0-9]{4}-"
    + any_of(
        "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
        "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
        "02-(?:0[1-9]|1[0-9]|2[0-8])",
    ),
    f"{_LEAP_YEAR}-02-29",
)
_HOUR = "(?:[01][0-9]|2[0-3])"
_MINUTE = "[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"


def _leap_seconds() -> str:
    """Return the pattern of times with second 60: per local hour, the offsets that fit."""
    options = [f"23:59:60{_FRACTION}[Zz]"]
    for hour in range(24):
        west = 23 - hour
        for local, east, minutes in (("59", (hour + 1) % 24, "00"), ("29", hour, "30")):
            offsets = f"(?:\\+{east:02}|-{west:02}):{minutes}"
            options.append(f"{hour:02}:{local}:60{_FRACTION}{offsets}")
    return any_of(*options)


_TIME = any_of(
    f"{_HOUR}:{_MINUTE}:{_MINUTE}{_FRACTION}(?:[Zz]|[+-]{_HOUR}:{_MINUTE})", _leap_seconds()
)
_LEAP_OFFSETS = "leap seconds with an offset of whole or half hours only"

_TIME_OF_DAY = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DAYS = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION = f"P(?:{_DAYS}(?:{_TIME_OF_DAY})?|{_TIME_OF_DAY}|[0-9]+W)"

DATES = {
    "date": Format(_DATE),
    "date-time": Format(f"{_DATE}[Tt]{_TIME}", narrowed=_LEAP_OFFSETS),
    "duration": Format(_DURATION, narrowed="letters in upper case only"),
    "time": Format(_TIME, narrowed=_LEAP_OFFSETS),
}
