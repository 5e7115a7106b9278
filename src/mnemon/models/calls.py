"""The audit of calls to language models: who asked what kind of question, and what it took. Never the words."""

from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from mnemon.db.database import Database
from mnemon.models.language import Prompt, Usage
from mnemon.telemetry import counter, histogram

CallOutcome = Literal["answered", "failed", "cancelled"]

CALLS = counter("mnemon_model_calls_total", "Calls to the language model.", ("model", "prompt", "outcome"))
TOKENS = counter("mnemon_model_tokens_total", "Tokens of the language model.", ("model", "direction"))
COST = counter("mnemon_model_cost_dollars_total", "Cost of the language model where its price is known.", ("model",))
CALL_SECONDS = histogram(
    "mnemon_model_call_seconds",
    "Time of one call to the language model, retries included.",
    ("model",),
    buckets=(0.1, 0.3, 1, 3, 10, 30, 100, 300),
)

INSERT_CALL = """
INSERT INTO mnemon.model_calls
    (tenant_id, call_id, prompt_name, prompt_version, prompt_digest, model, outcome, error_code,
     requests, input_tokens, output_tokens, cost_dollars, milliseconds)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
FORGET_CALLS = "SELECT mnemon.delete_model_calls(now() - make_interval(days => %s), %s) AS count"
# So many in one short transaction, for nobody to wait long.
AT_ONCE = 1000


@dataclass(frozen=True)
class ModelCall:
    """One call: several requests when it was retried or its answer corrected."""

    tenant: UUID
    call_id: UUID
    prompt: Prompt
    model: str
    outcome: CallOutcome
    error_code: str | None
    requests: int
    usage: Usage
    seconds: float


class Recorder(Protocol):
    async def record(self, call: ModelCall) -> None: ...


class DatabaseRecorder:
    """Keeps calls in `mnemon.model_calls`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, call: ModelCall) -> None:
        async with self._database.transaction(call.tenant) as tx:
            await tx.execute(
                INSERT_CALL,
                (
                    call.tenant, call.call_id, call.prompt.name, call.prompt.version, call.prompt.digest, call.model,
                    call.outcome, call.error_code, call.requests, call.usage.input_tokens, call.usage.output_tokens,
                    call.usage.cost, round(call.seconds * 1000),
                ),
            )  # fmt: skip

    async def forget_older_than(self, days: int) -> int:
        """Delete the records of all tenants that are older; returns how many there were."""
        total = 0
        while True:
            async with self._database.session() as session:
                row = await (await session.execute(FORGET_CALLS, (days, AT_ONCE))).fetchone()
            assert row is not None
            count: int = row["count"]
            total += count
            if count < AT_ONCE:
                return total


def count_call(call: ModelCall) -> None:
    CALLS.labels(call.model, call.prompt.name, call.outcome).inc()
    TOKENS.labels(call.model, "input").inc(call.usage.input_tokens)
    TOKENS.labels(call.model, "output").inc(call.usage.output_tokens)
    COST.labels(call.model).inc(float(call.usage.cost or 0))
    CALL_SECONDS.labels(call.model).observe(call.seconds)
