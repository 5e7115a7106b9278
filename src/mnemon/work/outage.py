"""One log line when the database goes away and one when it is back, however often it is tried in between."""

from mnemon.telemetry import logger

log = logger(__name__)


class Outage:
    """The state of one user of the database."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._lasting = False

    def seen(self, failure: BaseException) -> None:
        if not self._lasting:
            log.warning("database_lost", by=self._who, error=str(failure).strip())
        self._lasting = True

    def over(self) -> None:
        if self._lasting:
            log.warning("database_back", by=self._who)
        self._lasting = False
