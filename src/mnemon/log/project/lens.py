"""Lenses: what a projection declares about itself."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.log.events import Event
from mnemon.log.read.pattern import ALL_EVENTS, Pattern
from mnemon.log.subscribe.subscriptions import LENS_PREFIX

# The names that a lens's SQL uses, and the tables that they stand for: the real ones, or those of a rebuild.
Tables = Mapping[str, str]
Apply = Callable[[Connection, Sequence[Event], Tables], Awaitable[None]]
# False where the rows have to be made anew after all.
Forget = Callable[[Connection, str, Tables], Awaitable[bool | None]]

TABLE = re.compile(r"mnemon\.([a-z_][a-z0-9_]{0,62})")
LENS = re.compile(r"[a-z0-9][a-z0-9._-]{0,93}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Lens:
    """A projection into tables.

    `tables` are written by `apply` and nothing else; each has `tenant_id` first in its primary key. `apply` finds
    them under their bare names in its last argument, and depends on nothing but the events, those tables, and the last
    state in the tables of lenses that were added before it.

    inline: written in the transaction of the append. async: soon after, each batch in one transaction with its cursor.
    """

    name: str
    tables: Sequence[str]
    apply: Apply
    lifecycle: Literal["inline", "async"] = "async"
    pattern: Pattern = ALL_EVENTS
    # Raise it when the code gives other rows: each tenant's are then made anew.
    version: int = 1
    # False only if no personal field ever gets into a row. Otherwise an erasure makes the rows anew.
    personal: bool = True
    # Takes one person out of the rows, where that is less work than making all of them anew.
    forget: Forget | None = None
    # Events between snapshots; None for a lens that is quickly rebuilt.
    snapshot_every: int | None = None
    # Columns that may differ between two rebuilds.
    unhashed: frozenset[str] = field(default=frozenset())
    # The SQL function that exchanges the rows for those of a rebuild, where the application role may not write them.
    exchange: str | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        for table in self.tables:
            if not TABLE.fullmatch(table):
                raise InvalidRequest(f"{table!r} is not a table of the schema mnemon.", table=table)

    @property
    def subscription_id(self) -> str:
        return f"{LENS_PREFIX}{self.name}"

    @property
    def real_tables(self) -> Tables:
        return {table.removeprefix("mnemon."): table for table in self.tables}


def lock_key(name: str, tenant: UUID) -> str:
    """What is locked, shared by whoever writes a lens's rows and alone by who exchanges them."""
    return f"lens {name} of {tenant}"


def _check_name(name: str) -> None:
    if not LENS.fullmatch(name):
        raise InvalidRequest(f"{name!r} is not a lens: use a-z, 0-9 and ._- only.", name=name)
