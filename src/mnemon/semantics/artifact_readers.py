"""Turns whom a sender names as readers of an artifact into the ids that searches compare."""

from collections.abc import Iterable

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import user_actor_id
from mnemon.identity.users import user_by_email

KINDS = ("user", "operator")


async def known_readers(tx: Connection, named: Iterable[str]) -> tuple[str, ...]:
    """Ids as they are, and the ids of those who are named by their address."""
    return tuple([await _reader(tx, one) for one in named])


async def _reader(tx: Connection, named: str) -> str:
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
