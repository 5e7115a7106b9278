"""Who reads: the person behind a request, known to the database for one transaction."""

from dataclasses import dataclass

from mnemon.db.database import Connection
from mnemon.log.events import Actor

SET = "SELECT set_config('mnemon.reader', %s, true)"


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose eyes. A token reads what its owner may; a role adds nothing, so an administrator reads no private notes."""

    name: str | None = None

    @classmethod
    def of(cls, actor: Actor) -> "Reader":
        return cls(actor.on_behalf_of.id if actor.on_behalf_of else actor.id)


# Sees what everyone of the tenant may see.
ANYONE = Reader()


async def read_as(tx: Connection, reader: Reader) -> None:
    """Until the transaction ends, searches show what this reader may see."""
    await tx.execute(SET, (reader.name or "",))
