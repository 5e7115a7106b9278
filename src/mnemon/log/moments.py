"""Points in time: how they are written in JSON and counted in microseconds."""

from datetime import UTC, date, datetime

EPOCH_1970 = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_2000 = datetime(2000, 1, 1, tzinfo=UTC)
EPOCH_DAY_2000 = date(2000, 1, 1).toordinal()


def now() -> datetime:
    return datetime.now(UTC)


def microseconds_since(epoch: datetime, moment: datetime) -> int:
    """Whole microseconds, exact where a float would not be."""
    passed = moment - epoch
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def written(moment: datetime) -> str:
    """Always UTC, always six decimals: `2026-03-01T09:30:00.000000Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def read_moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
