"""Who may read a document: the person behind a request, known to the database for one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import user_actor_id
from mnemon.identity.users import user_by_email
from mnemon.log.events import Actor

SET = "SELECT set_config('mnemon.reader', %s, true)"
HIDDEN = """
SELECT FROM mnemon.documents
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND NOT mnemon.may_read(readers)
"""
HIDDEN_OF = """
SELECT doc_id FROM mnemon.documents
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = ANY(%s) AND NOT mnemon.may_read(readers)
"""
HIDDEN_REVISION = "SELECT mnemon.is_hidden(%s) AS hidden"
READERS = "SELECT readers FROM mnemon.documents WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s"
READERS_OF_REVISION = """
SELECT readers FROM mnemon.document_revisions WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
"""
KINDS = ("user", "operator")
# As `mnemon.current_reader` and `mnemon.may_read` take it; no name holds it.
BETWEEN = "\x1f"


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose eyes. A token reads what its owner may; a role adds nothing, so an administrator reads no private notes."""

    name: str | None = None
    # Under which they kept things too.
    earlier: tuple[str, ...] = ()

    @classmethod
    def of(cls, actor: Actor) -> "Reader":
        if actor.reads_as:
            return cls(actor.reads_as[0], actor.reads_as[1:])
        return cls(actor.on_behalf_of.id if actor.on_behalf_of else actor.id)

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.name is None else (self.name, *self.earlier)

    def is_among(self, names: Iterable[str | None]) -> bool:
        return not {*self.names}.isdisjoint(names)


# Sees what everyone of the tenant may see.
ANYONE = Reader()


async def read_as(tx: Connection, reader: Reader) -> None:
    """Until the transaction ends, searches show what this reader may see."""
    await tx.execute(SET, (BETWEEN.join(reader.names),))


async def open_as(tx: Connection, reader: Reader, doc_id: UUID) -> None:
    """Let the reader at a document; one that is not for them looks like one that is not there."""
    await read_as(tx, reader)
    if await (await tx.execute(HIDDEN, (doc_id,))).fetchone() is not None:
        raise NotFound(f"There is no document {doc_id}.", doc_id=str(doc_id))


async def open_revision_as(tx: Connection, reader: Reader, revision: UUID) -> None:
    await read_as(tx, reader)
    row = await (await tx.execute(HIDDEN_REVISION, (revision,))).fetchone()
    if row is None or row["hidden"]:
        raise NotFound(f"There is no revision {revision}, or it was purged.", doc_version_id=str(revision))


async def hidden_documents(tx: Connection, reader: Reader, documents: Sequence[UUID]) -> set[UUID]:
    """Those of these documents that the reader may not see."""
    await read_as(tx, reader)
    rows = await (await tx.execute(HIDDEN_OF, (list(documents),))).fetchall()
    return {row["doc_id"] for row in rows}


async def readers_of_document(tx: Connection, doc_id: UUID) -> list[str] | None:
    """Who may see what is done with a document; None for everyone of the tenant."""
    row = await (await tx.execute(READERS, (doc_id,))).fetchone()
    return row["readers"] if row else None


async def readers_of_revision(tx: Connection, revision: UUID) -> list[str] | None:
    row = await (await tx.execute(READERS_OF_REVISION, (revision,))).fetchone()
    return row["readers"] if row else None


async def reader_ids(tx: Connection, named: Iterable[str]) -> tuple[str, ...]:
    """Ids as they are, and the ids of those who are named by their address."""
    return tuple([await _reader_id(tx, one) for one in named])


async def _reader_id(tx: Connection, named: str) -> str:
    """What is neither would let nobody in, and nobody would hear of it."""
    kind, _, name = named.partition(":")
    if kind in KINDS and name:
        return named
    if "@" not in named:
        raise InvalidRequest(f"{named!r} is no reader: give an e-mail address, or an id like user:….", field="readers")
    try:
        return user_actor_id((await user_by_email(tx, named)).user_id)
    except NotFound:
        raise InvalidRequest(f"There is no user {named} who could read it.", field="readers") from None
