"""Dates as files write them about themselves."""

from datetime import UTC, datetime


def moment(value: str | None) -> datetime | None:
    """A date or time as ISO 8601 writes it; UTC where it names no zone."""
    try:
        found = datetime.fromisoformat(value.strip()) if value else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)
