"""The index over one model's vectors in a table that holds vectors of several."""

import hashlib

from psycopg import sql

from mnemon.db.database import Connection
from mnemon.models.active import ModelInUse

# Half precision has the same recall at little more than half the size.
CREATE = sql.SQL("""
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {relation}
USING hnsw (({distance_of}) halfvec_cosine_ops) WHERE model_id = {model_id}
""")
BROKEN = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid"


def index_name(relation: str, model: ModelInUse) -> str:
    """One name per table and model; a model's own id may be too long and too odd for one."""
    digest = hashlib.sha256(f"{model.model_id}\0{model.dimension}".encode()).hexdigest()[:10]
    return f"{relation.split('.')[-1][:40]}_near_{digest}"


def indexed_vector(model: ModelInUse) -> sql.Composed:
    """What the index holds. A search orders by this `<=>` its question, and names the model as a literal, not as a
    parameter: PostgreSQL uses a partial index only where it can prove the condition while planning.
    """
    return sql.SQL("embedding::halfvec({})").format(sql.Literal(model.dimension))


async def ensure_vector_index(owner: Connection, relation: str, model: ModelInUse) -> str:
    """Build it while reads and writes go on; one left broken by a crash is built again. Takes an owner's connection."""
    schema, _, table = relation.rpartition(".")
    name = index_name(relation, model)
    qualified = sql.Identifier(schema, name) if schema else sql.Identifier(name)
    if await (await owner.execute(BROKEN, (qualified.as_string(owner),))).fetchone():
        await owner.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(qualified))
    await owner.execute(
        CREATE.format(
            name=sql.Identifier(name),
            relation=sql.Identifier(schema, table) if schema else sql.Identifier(table),
            distance_of=indexed_vector(model),
            model_id=sql.Literal(model.model_id),
        )
    )
    return name
