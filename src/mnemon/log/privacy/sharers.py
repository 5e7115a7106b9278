"""Databases whose installations share one home, so that tenants move between them: none may destroy a key that
another's people are wrapped with."""

from collections.abc import Collection, Mapping

import orjson

from mnemon.buckets import ObjectGone
from mnemon.db.database import Connection
from mnemon.shared_home import Home, SharedHome

PLACE = "databases/"
IDENTITY = """
SELECT s.system_identifier || '-' || d.oid AS own
  FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()
"""


async def identity_of(connection: Connection) -> str:
    """The same for whoever uses this database, and for no other."""
    row = await (await connection.execute(IDENTITY)).fetchone()
    assert row is not None
    return str(row["own"])


class Sharers:
    """What each database has noted of itself in the bucket; a home that is a folder has one. It asks the network: call
    it in a thread."""

    def __init__(self, home: Home) -> None:
        self._bucket = home.bucket if isinstance(home, SharedHome) else None

    def note(self, own: str, keys: Collection[str], *, alone: bool = False) -> None:
        """These keys, and newer ones, wrap what is in this database, and those noted before what is in its backups:
        `alone` gives these up. Written where it is news: the bucket may keep versions."""
        if self._bucket is None:
            return
        try:
            before = self._bucket.read_whole(PLACE + own)
        except ObjectGone:
            before = b""
        told = orjson.dumps({"keys": sorted(keys if alone else {*keys, *_keys_of(before)})})
        if told != before:
            self._bucket.write(PLACE + own, told)

    def others(self, own: str) -> Mapping[str, Collection[str]]:
        """The other databases, and the keys that each has noted."""
        if self._bucket is None:
            return {}
        names = [one.key.removeprefix(PLACE) for page in self._bucket.pages(PLACE) for one in page]
        return {name: _keys_of(self._bucket.read_whole(PLACE + name)) for name in names if name != own}

    def where(self, other: str) -> str:
        return f"{self._bucket.address}{PLACE}{other}" if self._bucket else other


def _keys_of(noted: bytes) -> Collection[str]:
    """None, where what lies there is not what a database wrote: nobody knows then what it needs."""
    try:
        keys = orjson.loads(noted)["keys"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ()
    return [one for one in keys if isinstance(one, str)] if isinstance(keys, list) else ()
