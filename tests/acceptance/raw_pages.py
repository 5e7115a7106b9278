"""What really stands in the database's files and write-ahead log, read byte by byte."""

from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from mnemon.db.embedded import EmbeddedServer

PAGES = """
SELECT pg_read_binary_file(pg_relation_filepath(i.inhrelid)) AS content
  FROM pg_inherits i JOIN mnemon.partitions p ON p.tenant_id = %s
 WHERE i.inhrelid::regclass::text IN (format('mnemon.events_%%s', p.partition_id),
                                      format('mnemon.event_payloads_%%s', p.partition_id))
"""
# By when they were written and not by name: a checkpoint gives segments that are done with the names of coming ones.
WRITTEN = """
SELECT count(*) FROM pg_ls_waldir()
 WHERE modification >= %s::timestamptz - interval '1 second'
   AND position(%s::bytea IN pg_read_binary_file('pg_wal/' || name)) > 0
"""


class RawPages:
    """As superuser, from where the write-ahead log was when this was made.

    Look for words of the test's own: a segment of that log also holds what tests before it wrote. Of two copies of
    a word one is whole: a page's end may cut through the other.
    """

    def __init__(self, server: EmbeddedServer) -> None:
        conninfo = make_conninfo(server.cluster.conninfo("postgres"), dbname="mnemon")
        self._superuser = psycopg.connect(conninfo, autocommit=True)
        self._began = self._one("SELECT clock_timestamp()::text")

    def close(self) -> None:
        self._superuser.close()

    def holds(self, tenant: UUID, text: str) -> tuple[bool, bool]:
        """Whether the log's tables, and the write-ahead log since then, hold a text."""
        self._superuser.execute("CHECKPOINT")
        pages = [bytes(row[0]) for row in self._superuser.execute(PAGES, (tenant,))]
        assert pages
        written = self._superuser.execute(WRITTEN, (self._began, text.encode())).fetchone()
        return any(text.encode() in page for page in pages), written is not None and written[0] > 0

    def _one(self, statement: str) -> str:
        row = self._superuser.execute(statement).fetchone()
        assert row is not None
        return str(row[0])
