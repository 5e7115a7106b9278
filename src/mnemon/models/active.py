"""Which model's vectors a tenant's searches use, and the change from one model to the next."""

from dataclasses import dataclass
from typing import Literal, LiteralString

from mnemon.db.database import Connection
from mnemon.models.failures import EmbeddingDimensionMismatch

State = Literal["filling", "active", "retired"]

ACTIVE = """
SELECT model_id, dimension FROM mnemon.embedding_models
WHERE tenant_id = mnemon.current_tenant() AND relation = %s AND state = 'active'
"""
FIRST_OF_ALL = """
INSERT INTO mnemon.embedding_models (tenant_id, relation, model_id, dimension, state)
VALUES (mnemon.current_tenant(), %s, %s, %s, 'active')
ON CONFLICT DO NOTHING
"""
STATES = """
SELECT model_id, state FROM mnemon.embedding_models
WHERE tenant_id = mnemon.current_tenant() AND relation = %s
ORDER BY model_id
"""
RETIRE = """
UPDATE mnemon.embedding_models SET state = 'retired', changed_at = now()
WHERE tenant_id = mnemon.current_tenant() AND relation = %s AND state = %s AND model_id <> %s
"""
PUT = """
INSERT INTO mnemon.embedding_models (tenant_id, relation, model_id, dimension, state)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s)
ON CONFLICT (tenant_id, relation, model_id) DO UPDATE
SET state = excluded.state, dimension = excluded.dimension, changed_at = now()
"""


@dataclass(frozen=True)
class ModelInUse:
    """A model and the length of its vectors."""

    model_id: str
    dimension: int


async def active_model(tx: Connection, relation: str) -> ModelInUse | None:
    """The model whose vectors searches compare with; None while the table has no vectors."""
    row = await (await tx.execute(ACTIVE, (relation,))).fetchone()
    return ModelInUse(row["model_id"], row["dimension"]) if row else None


async def model_to_write(tx: Connection, relation: str, offered: ModelInUse) -> ModelInUse:
    """The model for new rows: the active one, so that searches find them at once; the one offered if there is none.

    Holds a lock until the transaction ends, so that no change of model passes between this answer and the write.
    """
    row = await (await tx.execute(ACTIVE + " FOR SHARE", (relation,))).fetchone()
    if row is None:
        await tx.execute(FIRST_OF_ALL, (relation, offered.model_id, offered.dimension))
        row = await (await tx.execute(ACTIVE + " FOR SHARE", (relation,))).fetchone()
    assert row is not None
    active = ModelInUse(row["model_id"], row["dimension"])
    _refuse_other_length(active, offered)
    return active


async def begin_change(tx: Connection, relation: str, target: ModelInUse) -> State:
    """Make the target the one that fills up, unless it is active already. The state it now has.

    Locks nothing when there is nothing to change, so that the many steps of filling up do not hold up writers.
    """
    wanted, settled = await _wanted_state(tx, relation, target)
    if not settled:
        await model_states(tx, relation)
        wanted, settled = await _wanted_state(tx, relation, target)
    if not settled:
        await tx.execute(RETIRE, (relation, "filling", target.model_id))
        await tx.execute(PUT, (relation, target.model_id, target.dimension, wanted))
    return wanted


async def _wanted_state(tx: Connection, relation: str, target: ModelInUse) -> tuple[State, bool]:
    """The state that the target should have, and whether all is so already."""
    active = await active_model(tx, relation)
    if active:
        _refuse_other_length(active, target)
    wanted: State = "filling" if active and active.model_id != target.model_id else "active"
    states = await _states(tx, relation)
    others_fill = any(state == "filling" for model_id, state in states.items() if model_id != target.model_id)
    return wanted, states.get(target.model_id) == wanted and not others_fill


def _refuse_other_length(active: ModelInUse, offered: ModelInUse) -> None:
    if active.model_id == offered.model_id and active.dimension != offered.dimension:
        raise EmbeddingDimensionMismatch(
            f"{offered.model_id} now gives vectors of {offered.dimension} numbers, and the stored ones have "
            f"{active.dimension}: set MNEMON_OPENAI_EMBED_DIMS, which makes it another model.",
            expected=active.dimension,
            found=offered.dimension,
        )


async def finish_change(tx: Connection, relation: str, target: ModelInUse) -> None:
    """From here on searches use the target."""
    await tx.execute(RETIRE, (relation, "active", target.model_id))
    await tx.execute(PUT, (relation, target.model_id, target.dimension, "active"))


async def model_states(tx: Connection, relation: str) -> dict[str, str]:
    """Every model of the table by state, locked against writers and other changes until the transaction ends."""
    return await _states(tx, relation, " FOR UPDATE")


async def _states(tx: Connection, relation: str, lock: LiteralString = "") -> dict[str, str]:
    rows = await (await tx.execute(STATES + lock, (relation,))).fetchall()
    return {row["model_id"]: row["state"] for row in rows}
