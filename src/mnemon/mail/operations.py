"""What a user may do with mail, declared once for REST, agents, the command line and the web."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import PurePosixPath
from typing import Any, Protocol
from urllib.parse import urlsplit

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as, reader_ids
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.terms import person_behind
from mnemon.documents.sources import events as happened
from mnemon.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from mnemon.identity.roles import Action
from mnemon.ids import new_uuid
from mnemon.log.events import NewEvent
from mnemon.log.store import EventLog
from mnemon.mail import inputs, outputs, reading
from mnemon.mail.check import check_mail
from mnemon.mail.errors import SourceRefused
from mnemon.mail.sources.kinds import local_path, source_type_of, without_password
from mnemon.mail.sources.looking import enqueue_look
from mnemon.mail.sources.reach import refuse_from_afar
from mnemon.operations import Caller, Door, operation

ADD_SOURCE = """
INSERT INTO mnemon.mail_sources AS s
       (tenant_id, source_id, name, source_type, location, every_minutes, next_check_at, created_by, visibility_scope,
        readers)
VALUES (mnemon.current_tenant(), %(id)s, %(name)s, %(type)s, %(location)s, %(every)s,
        CASE WHEN %(every)s::int IS NOT NULL THEN now() + make_interval(mins => %(every)s) END, %(by)s,
        %(scope)s, %(readers)s)
ON CONFLICT (tenant_id, name) DO UPDATE
   SET every_minutes = coalesce(excluded.every_minutes, s.every_minutes),
       next_check_at = coalesce(excluded.next_check_at, s.next_check_at)
 WHERE s.location = excluded.location AND s.readers IS NOT DISTINCT FROM excluded.readers
RETURNING source_id, mnemon.mail_source_seal(s) AS seal
"""
KNOWN = "SELECT mnemon.mail_source_seal(s) AS seal, readers FROM mnemon.mail_sources s WHERE name = %s FOR UPDATE"
SOURCES = """
SELECT source_id, name, source_type, location, every_minutes, paused, status, failures, last_error, last_checked_at,
       next_check_at, visibility_scope, readers
  FROM mnemon.mail_sources
 WHERE tenant_id = mnemon.current_tenant() AND mnemon.may_read(readers) ORDER BY name
"""
# One that is for others looks like one that is not there, to an administrator too; the machine's owner removes any.
REMOVE = """
DELETE FROM mnemon.mail_sources
 WHERE tenant_id = mnemon.current_tenant() AND name = %(name)s AND (%(any)s OR mnemon.may_read(readers))
RETURNING source_id, source_type
"""
IMPORTS = """
SELECT import_id, source, source_url, archive_id, status, stage, position, total, counts, attempts, error_code, error,
       created_at, started_at, finished_at
  FROM mnemon.mail_imports
 WHERE tenant_id = mnemon.current_tenant() AND mnemon.may_read(readers) ORDER BY created_at DESC, import_id LIMIT %s
"""
KEY = "a1b2c3d4e5f60718"
THREAD = "<20231015120000.XYZ789@example.com>"
ENOUGH: Mapping[Door, str] = {"mcp": "mail_threads and mail_thread give agents what they ask about."}
FOR_OPERATORS: Mapping[Door, str] = {"mcp": "Whoever keeps the archives does it, not an agent."}


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...

    @property
    def files(self) -> Files: ...


@asynccontextmanager
async def _reading(mnemon: Parts, caller: Caller) -> AsyncIterator[Connection]:
    """A transaction that shows what the caller may read: some lists are for some people alone."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        yield tx


@operation(
    "mail.threads", Action.VIEW_DOCUMENTS, read_only=True, errors=(),
    example={"list_name": "quic.ietf.org", "draft": "draft-ietf-quic-transport"},
)  # fmt: skip
async def threads(mnemon: Parts, caller: Caller, asked: inputs.ThreadsAsked) -> outputs.ThreadPage:
    """List threads of mailing lists, those with the newest messages first."""
    async with _reading(mnemon, caller) as tx:
        return await reading.find_threads(tx, asked)


@operation(
    "mail.thread", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), example={"thread": THREAD},
)  # fmt: skip
async def thread(mnemon: Parts, caller: Caller, asked: inputs.ThreadAsked) -> outputs.ThreadShown:
    """One thread with its messages, each below the one that it answers."""
    async with _reading(mnemon, caller) as tx:
        return await reading.one_thread(tx, asked.thread)


@operation(
    "mail.messages", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=ENOUGH,
    example={"person": "anna@example.org", "since": "2023-10-01"},
)  # fmt: skip
async def messages(mnemon: Parts, caller: Caller, asked: inputs.MessagesAsked) -> outputs.MailPage:
    """List messages of mailing lists, newest first."""
    async with _reading(mnemon, caller) as tx:
        return await reading.find_messages(tx, asked)


@operation(
    "mail.message", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), example={"message": KEY},
    absent=ENOUGH,
)  # fmt: skip
async def message(mnemon: Parts, caller: Caller, asked: inputs.MessageAsked) -> outputs.MailShown:
    """One message: its text, what in it is new, whom it answers and where its copies stand."""
    async with _reading(mnemon, caller) as tx:
        return await reading.one_message(tx, asked.message)


@operation(
    "mail.archives", Action.VIEW_DOCUMENTS, read_only=True, example={"source": "ietf-quic"}, absent=FOR_OPERATORS
)
async def archives(mnemon: Parts, caller: Caller, asked: inputs.MailArchivesAsked) -> outputs.ArchivePage:
    """List the archives that mail was read from, newest first."""
    async with _reading(mnemon, caller) as tx:
        return await reading.find_archives(tx, asked)


@operation(
    "mail.archive", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), example={"archive_id": KEY},
    absent=FOR_OPERATORS,
)  # fmt: skip
async def archive(mnemon: Parts, caller: Caller, asked: inputs.MailArchiveAsked) -> outputs.ArchiveWhole:
    """One archive, with the bytes in it that are no messages."""
    async with _reading(mnemon, caller) as tx:
        return await reading.one_archive(tx, asked.archive_id)


@operation(
    "mail.import", Action.MANAGE_SOURCES, errors=(SourceRefused, Conflict, NotAllowed, InvalidRequest),
    absent=FOR_OPERATORS,
    example={"location": "https://lists.example.org/quic/2023-10.mbox.gz", "name": "ietf-quic"},
)  # fmt: skip
async def import_mail(mnemon: Parts, caller: Caller, asked: inputs.ImportAsked) -> outputs.ImportBegun:
    """Look for mail at a place, now and, if told, again and again.

    What is new there is kept, read and stored by workers. The same place again goes on where it ended.
    """
    kind = source_type_of(asked.location)
    if caller.principal is not None:
        await asyncio.to_thread(refuse_from_afar, kind, asked.location)
    elif kind == "file" and not asked.every_minutes and not await asyncio.to_thread(local_path(asked.location).exists):
        raise SourceRefused(f"There is nothing at {asked.location}: give a file, a folder or an address.")
    name = asked.name or _name_of(asked.location)
    values: dict[str, Any] = {
        "id": new_uuid(), "name": name, "type": kind, "location": asked.location, "every": asked.every_minutes,
        "by": caller.actor.id,
    }  # fmt: skip
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        values |= await _audience(tx, caller, asked)
        known = await (await tx.execute(KNOWN, (name,))).fetchone()
        if known is not None and _are_same_people(caller, known["readers"], values["readers"]):
            values["readers"] = known["readers"]
        row = await (await tx.execute(ADD_SOURCE, values)).fetchone()
        if row is None:
            words = f"{name} is the name of a source at another place, or for other readers: give another name."
            raise Conflict(words, name=name)
        job_id = await enqueue_look(tx, row["source_id"], values["readers"])
        if known is None or known["seal"] != row["seal"]:
            await transaction.append([_followed(caller, values | row, known is None)])
    return outputs.ImportBegun(source_id=row["source_id"], name=name, source_type=kind, job_id=job_id)


async def _audience(tx: Connection, caller: Caller, asked: inputs.ImportAsked) -> dict[str, Any]:
    """Who may read what comes from a source: everyone of the tenant, or whoever asks and those whom they name."""
    scope = asked.visibility_scope or ("custom" if asked.readers else "org")
    if (scope == "custom") != bool(asked.readers):
        raise InvalidRequest("visibility_scope custom and readers go together: name who may read it.", field="readers")
    if scope == "org":
        return {"scope": scope, "readers": None}
    named = await reader_ids(tx, asked.readers)
    return {"scope": scope, "readers": sorted({person_behind(caller.actor), *named})}


def _are_same_people(caller: Caller, one: Sequence[str] | None, other: Sequence[str] | None) -> bool:
    """Whoever calls may be among them by another of their names."""
    me = Reader.of(caller.actor)
    if not (one and other and me.is_among(one) and me.is_among(other)):
        return False
    return {*one} - {*me.names} == {*other} - {*me.names}


def _followed(caller: Caller, source: dict[str, Any], is_new: bool) -> NewEvent:
    """What is for some people alone has no name in the log, which others read too."""
    told = {"kind": f"mail {source['type']}", "seal": source["seal"]}
    if source["readers"] is None:
        told |= {"name": source["name"], "place": without_password(source["location"])}
    return happened.about_source(
        happened.ADDED if is_new else happened.CHANGED, source["source_id"], caller.actor, **told
    )


def _name_of(location: str) -> str:
    place = urlsplit(location)
    last = PurePosixPath(place.path or location).name or place.hostname or "mail"
    for ending in (".gz", ".mbox", ".mboxrd", ".txt"):
        last = last.removesuffix(ending)
    return last[:200] or "mail"


@operation("mail.sources", Action.MANAGE_SOURCES, read_only=True, example={}, absent=FOR_OPERATORS)
async def sources(mnemon: Parts, caller: Caller, asked: inputs.SourcesAsked) -> outputs.SourceList:
    """The sources of mail: where they are, when they are looked at, and what went wrong."""
    async with _reading(mnemon, caller) as tx:
        rows = await (await tx.execute(SOURCES)).fetchall()
    return outputs.SourceList(items=[outputs.SourceShown(**row) for row in rows])


@operation(
    "mail.remove_source", Action.MANAGE_SOURCES, destructive=True, errors=(NotFound,), example={"name": "ietf-quic"},
    absent=FOR_OPERATORS,
)  # fmt: skip
async def remove_source(mnemon: Parts, caller: Caller, asked: inputs.SourceAsked) -> outputs.SourceRemoved:
    """Look at a source no more. The mail that came from it stays."""
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        await read_as(tx, Reader.of(caller.actor))
        row = await (await tx.execute(REMOVE, {"name": asked.name, "any": caller.principal is None})).fetchone()
        if row is None:
            raise NotFound(f"There is no source {asked.name}.", name=asked.name)
        kind = f"mail {row['source_type']}"
        await transaction.append([happened.about_source(happened.REMOVED, row["source_id"], caller.actor, kind=kind)])
    return outputs.SourceRemoved(name=asked.name, removed=True)


@operation("mail.imports", Action.VIEW_RUNS, read_only=True, example={"limit": 10}, absent=FOR_OPERATORS)
async def imports(mnemon: Parts, caller: Caller, asked: inputs.MailImportsAsked) -> outputs.MailImportList:
    """Imports of archives, newest first: how far each is, and what it found."""
    async with _reading(mnemon, caller) as tx:
        rows = await (await tx.execute(IMPORTS, (asked.limit,))).fetchall()
    return outputs.MailImportList(items=[outputs.MailImportShown(**row) for row in rows])


@operation("mail.check", Action.MANAGE_SOURCES, idempotent=True, example={"repair": True}, absent=FOR_OPERATORS)
async def check(mnemon: Parts, caller: Caller, asked: inputs.CheckAsked) -> outputs.MailChecked:
    """Check that messages, threads, passages, vectors and archives agree; `repair` mends what can be mended."""
    return await check_mail(mnemon.database, mnemon.files, caller.tenant_id, asked.repair)
