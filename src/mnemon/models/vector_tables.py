"""The tables of vectors that the capabilities keep, known here so that a change of model reaches them all."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from mnemon.db.database import Connection


@dataclass(frozen=True)
class VectorTable:
    """A relation with the columns tenant_id, a key, model_id and embedding (`vector` of any length), unique over
    the first three; the application role may read, insert, update and delete. A key's text never changes.
    `texts` gives the texts of these keys; a key without one loses its vector.
    """

    relation: str
    key: str
    texts: Callable[[Connection, Sequence[Any]], Awaitable[Mapping[Any, str]]]

    def query(self, template: sql.SQL) -> sql.Composed:
        return template.format(relation=sql.Identifier(*self.relation.split(".")), key=sql.Identifier(self.key))


_registered: dict[str, VectorTable] = {}


def register_vector_table(table: VectorTable) -> VectorTable:
    """Call it at module level, in a module that every worker imports. The last of one relation holds."""
    _registered[table.relation] = table
    return table


def vector_tables() -> list[VectorTable]:
    """Every table that the imported modules registered."""
    return [_registered[relation] for relation in sorted(_registered)]
