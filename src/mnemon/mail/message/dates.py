"""When a message was written: by its Date, else by who received it, else by the line before it in the archive."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz

from mnemon.mail.message.headers import MailHeaders
from mnemon.mail.message.message import DateSource

# Before mail, and after anything that is not a broken clock.
EARLIEST, LATEST = 1971, 2100
# As nearly all programs write it; what is written otherwise takes the standard library five times as long.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
USUAL = re.compile(
    rf"(?:[A-Z][a-z]{{2}}, )?(\d{{1,2}}) ({'|'.join(MONTHS)}) ([12]\d{{3}}) (\d\d):(\d\d):(\d\d) "
    r"([+-])([01]\d|2[0-3])([0-5]\d)(?: \([A-Z]{1,5}\))?",
    re.ASCII,
)
STAMP = re.compile(r"[A-Z][a-z]{2} [ \d]?\d \d\d?:\d\d(?::\d\d)?.{0,20}\d{4}")


def date_of(headers: MailHeaders, separator: bytes = b"") -> tuple[datetime | None, DateSource]:
    if found := moment_in(headers.raw("date")):
        return found, "date"
    # The last line is the first server's, which all copies share.
    for received in reversed(headers.every("received")):
        if found := moment_in(received.rpartition(";")[2]):
            return found, "received"
    if found := _in_separator(separator):
        return found, "separator"
    return None, "none"


def moment_in(text: str) -> datetime | None:
    """A moment in universal time, if the words tell one that can be."""
    if usual := USUAL.fullmatch(text):
        return _usual_moment(*usual.groups())
    try:
        parts = parsedate_tz(text[:200])
    except Exception:
        # The parser of the standard library raises many things on foreign input.
        return None
    if parts is None:
        return None
    year, month, day, hour, minute, second = parts[:6]
    try:
        zone = timezone(timedelta(seconds=parts[9] or 0))
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if EARLIEST <= moment.year <= LATEST else None


def _usual_moment(
    day: str, month: str, year: str, hour: str, minute: str, second: str, sign: str, hours: str, minutes: str
) -> datetime | None:
    ahead = timedelta(minutes=int(hours) * 60 + int(minutes))
    try:
        local = datetime(
            int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC
        )  # fmt: skip
        moment = local - ahead if sign == "+" else local + ahead
    except (ValueError, OverflowError):
        return None
    return moment if EARLIEST <= moment.year <= LATEST else None


def _in_separator(separator: bytes) -> datetime | None:
    """The line's own time; public-inbox writes the beginning of 1970 there, which tells nothing."""
    line = separator[:300].decode("latin-1")
    found = STAMP.search(line)
    return moment_in(found[0]) if found else None
