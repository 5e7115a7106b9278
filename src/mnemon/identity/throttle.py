"""The guard against guessing: after some failures every further try has to wait, for longer each time."""

import hashlib
from dataclasses import dataclass

from mnemon.db.database import Database
from mnemon.errors import TooManyRequests

# Seconds: the first wait, and the longest that it doubles to.
FIRST_WAIT = 1
LONGEST_WAIT = 300
FORGET_AFTER = "1 hour"
REMOVE_AFTER = "1 day"

# The try is counted before the password is checked, so that a hundred tries at once count as a hundred.
COUNT_ATTEMPT = """
INSERT INTO mnemon.login_attempts AS known (key_hash, failures, last_attempt, open_again)
VALUES (%(key)s, 1, now(), now())
ON CONFLICT (key_hash) DO UPDATE
   SET failures = CASE WHEN known.last_attempt < now() - %(forget)s::interval THEN 1 ELSE known.failures + 1 END,
       last_attempt = now(),
       open_again = CASE
           WHEN known.failures + 1 >= %(allowed)s AND known.last_attempt >= now() - %(forget)s::interval
           THEN now() + least(%(first)s * power(2, least(known.failures + 1 - %(allowed)s, 16)), %(longest)s)
                      * interval '1 second'
           ELSE now() END
 WHERE known.open_again <= now()
RETURNING failures
"""
WAIT = (
    "SELECT ceil(extract(epoch FROM open_again - now()))::int AS seconds FROM mnemon.login_attempts WHERE key_hash = %s"
)
# A success under a key opens it again: people who share an address are not to wait for a guesser among them.
UNCOUNT = """
UPDATE mnemon.login_attempts SET failures = greatest(failures - 1, 0), open_again = now() WHERE key_hash = %s
"""
FORGIVE = "DELETE FROM mnemon.login_attempts WHERE key_hash = %s OR last_attempt < now() - %s::interval"


@dataclass(frozen=True)
class Guard:
    """Counts tries under one key, an account's or an address's."""

    key: str
    allowed: int

    @property
    def key_hash(self) -> bytes:
        return hashlib.sha256(self.key.encode()).digest()

    async def count_attempt(self, database: Database) -> int:
        """Return how many tries failed in a row, this one included, or refuse it because it comes too early."""
        async with database.session() as session:
            waits = {"first": FIRST_WAIT, "longest": LONGEST_WAIT, "forget": FORGET_AFTER}
            values = waits | {"key": self.key_hash, "allowed": self.allowed}
            counted = await (await session.execute(COUNT_ATTEMPT, values)).fetchone()
            if counted is not None:
                return int(counted["failures"])
            wait = await (await session.execute(WAIT, (self.key_hash,))).fetchone()
        seconds = max(1, wait["seconds"]) if wait else 1
        raise TooManyRequests(f"Too many failed tries: wait {seconds} s and try again.", retry_after_seconds=seconds)

    async def uncount(self, database: Database) -> None:
        """This try was no failure; earlier ones under the same key still count."""
        async with database.session() as session:
            await session.execute(UNCOUNT, (self.key_hash,))

    async def forgive(self, database: Database) -> None:
        """Start anew, and clear away what is long past."""
        async with database.session() as session:
            await session.execute(FORGIVE, (self.key_hash, REMOVE_AFTER))
