"""The index over one model's vectors in a table that holds vectors of several."""

import hashlib
from collections.abc import Sequence

from psycopg import sql

from mnemon.db.database import Connection
from mnemon.models.active import ModelInUse

# Half precision has the same recall at little more than half the size.
CREATE = sql.SQL("""
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {relation}
USING hnsw (({distance_of}) halfvec_cosine_ops) WHERE model_id = {model_id}
""")
OF_TABLE = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass(%s)
"""
VALID = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def index_name(relation: str, model: ModelInUse) -> str:
    """One name per table and model; a model's own id may be too long and too odd for one."""
    digest = hashlib.sha256(f"{model.model_id}\0{model.dimension}".encode()).hexdigest()[:10]
    return f"{_stem(relation)}{digest}"


def _stem(relation: str) -> str:
    return f"{relation.split('.')[-1][:40]}_near_"


def indexed_vector(model: ModelInUse) -> sql.Composed:
    """What the index holds. A search orders by this `<=>` its question, and names the model as a literal, not as a
    parameter: PostgreSQL uses a partial index only where it can prove the condition while planning.
    """
    return sql.SQL("embedding::halfvec({})").format(sql.Literal(model.dimension))


async def ensure_vector_index(owner: Connection, relation: str, model: ModelInUse) -> str:
    """Build it while reads and writes go on; one left broken by a crash is built again. Takes an owner's connection."""
    name = index_name(relation, model)
    qualified = _beside(relation, name)
    found = await (await owner.execute(VALID, (qualified.as_string(owner),))).fetchone()
    if found and found["valid"]:
        return name
    if found:
        await owner.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(qualified))
    await owner.execute(
        CREATE.format(
            name=sql.Identifier(name),
            relation=sql.Identifier(*relation.split(".")),
            distance_of=indexed_vector(model),
            model_id=sql.Literal(model.model_id),
        )
    )
    return name


async def drop_other_indexes(owner: Connection, relation: str, kept: Sequence[ModelInUse]) -> list[str]:
    """Drop the indexes of models that are not among these; they hold nothing, but every write looks at them."""
    wanted = {index_name(relation, model) for model in kept}
    rows = await (await owner.execute(OF_TABLE, (relation,))).fetchall()
    dropped = [row["relname"] for row in rows if row["relname"].startswith(_stem(relation))]
    dropped = [name for name in dropped if name not in wanted]
    for name in dropped:
        await owner.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(_beside(relation, name)))
    return dropped


def _beside(relation: str, name: str) -> sql.Identifier:
    """An index lies in the schema of its table."""
    return sql.Identifier(*relation.split(".")[:-1], name)
