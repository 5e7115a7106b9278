"""The tables of vectors that the capabilities keep, known here so that one upkeep reaches them all."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, LiteralString

from psycopg import sql

from mnemon.db.database import Connection
from mnemon.models.active import ModelInUse, model_to_write

if TYPE_CHECKING:
    from mnemon.models.embedder import Vectors

STORE = sql.SQL("""
INSERT INTO {relation} (tenant_id, {key}, model_id, embedding)
SELECT mnemon.current_tenant(), given.key, %(model)s,
    (%(numbers)s::real[])[(given.place - 1) * %(dimension)s + 1 : given.place * %(dimension)s]::vector
FROM unnest(%(keys)s::{key_type}[]) WITH ORDINALITY AS given (key, place)
ON CONFLICT DO NOTHING
""")


async def _nothing(tx: Connection, keys: Sequence[Any]) -> None:
    pass


@dataclass(frozen=True)
class VectorTable:
    """A relation with the columns tenant_id, a key, model_id and embedding (`vector` of any length), unique over
    the first three; the application role may read, insert, update and delete. A key's text never changes.
    `texts` gives the texts of these keys; a key without one loses its vector. `wanted` selects as `key` the tenant's
    keys that should have a vector: those that lack one get it by the upkeep, which calls `before_store` in the
    transaction that stores, to keep the texts from being forgotten until it ends.
    """

    relation: str
    key: str
    texts: Callable[[Connection, Sequence[Any]], Awaitable[Mapping[Any, str]]]
    key_type: Literal["uuid", "text", "bytea"] = "uuid"
    wanted: LiteralString | None = None
    before_store: Callable[[Connection, Sequence[Any]], Awaitable[None]] = _nothing

    def query(self, template: sql.SQL, **more: sql.Composable) -> sql.Composed:
        return template.format(
            relation=sql.Identifier(*self.relation.split(".")),
            key=sql.Identifier(self.key),
            key_type=sql.SQL(self.key_type),
            **more,
        )

    async def store(self, tx: Connection, keys: Sequence[Any], vectors: "Vectors", model_id: str) -> int:
        """Row `n` of the vectors is key `n`'s. Those of a model that is not in use yet wait beside the others: searches
        find them after the change. How many were new."""
        if not keys:
            return 0
        await model_to_write(tx, self.relation, ModelInUse(model_id, vectors.shape[1]))
        values = {
            "keys": list(keys), "model": model_id, "numbers": vectors.ravel(), "dimension": vectors.shape[1],
        }  # fmt: skip
        return (await tx.execute(self.query(STORE), values)).rowcount


_registered: dict[str, VectorTable] = {}


def register_vector_table(table: VectorTable) -> VectorTable:
    """Call it at module level, in a module that every worker imports. The last of one relation holds."""
    _registered[table.relation] = table
    return table


def vector_tables() -> list[VectorTable]:
    """Every table that the imported modules registered."""
    return [_registered[relation] for relation in sorted(_registered)]
