"""The demo's part about the log: everything is in it, and a change behind its back shows."""

from typing import Any

import psycopg

from mnemon.app import Mnemon
from mnemon.cli.demonstration.demo_stage import DemoClient, result, step
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.proof.verify import verify

TYPE = {
    "type": "board.decision.taken",
    "description": "The board decided something.",
    "data_schema": {
        "type": "object",
        "required": ["title", "outcome"],
        "properties": {"title": {"type": "string"}, "outcome": {"enum": ["approved", "rejected", "postponed"]}},
    },
    "required_entity_refs": [{"entity_type": "decision", "role": "subject"}],
}
# What someone with every right to the database would write to hide a change from it.
FALSIFY = """
UPDATE mnemon.event_payloads p SET payload = replace(payload, '"outcome":"rejected"', '"outcome":"approved"')
  FROM mnemon.partitions h
 WHERE h.tenant_id = %s AND p.tenant_id = h.tenant_id AND p.partition_id = h.partition_id
"""


def _decision(outcome: str) -> dict[str, Any]:
    return {
        "type": TYPE["type"],
        "occurred_at": "2026-06-15T15:00:00Z",
        "data": {"title": "Move the office to Marstal", "outcome": outcome},
        "entities": [{"entity_type": "decision", "entity_id": "D-1"}],
    }


async def record_a_decision(caller: DemoClient) -> None:
    step("Record", "a decision in the log; each event is checked against its type")
    await caller.post("/v1/event-types", TYPE)
    wrong = await caller.post("/v1/events", {"events": [_decision("maybe")]})
    result(f"a wrong one: {wrong['error_code']}, {wrong['details']['violations'][0]}")
    [made] = (await caller.post("/v1/events", {"events": [_decision("rejected")]}))["events"]
    result(f"event {made['sequence']}: rejected, Move the office to Marstal")


async def tamper(mnemon: Mnemon) -> None:
    assert mnemon.first_start is not None
    tenant = mnemon.first_start.tenant_id
    step("Verify", "the log, then make that rejection an approval, as the database's superuser")
    await mnemon.integrity.checkpoint(tenant)
    # The clock may have signed one before.
    signed = mnemon.integrity.checkpoints.list(tenant)
    report = await verify(mnemon.log.reader, tenant, checkpoints=signed)
    assert report.intact, report.faults
    result(f"intact: {report.checked} events, every file and question above among them", events=report.checked)
    _falsify(mnemon, str(tenant))
    report = await verify(mnemon.log.reader, tenant, checkpoints=signed)
    for fault in report.faults:
        result(f"caught: {fault.message}")
    assert not report.intact, "a change of a recorded payload was not found"


def _falsify(mnemon: Mnemon, tenant: str) -> None:
    server = mnemon.database.server
    assert isinstance(server, EmbeddedServer), "the demo brings its own database"
    with psycopg.connect(server.cluster.conninfo("postgres"), dbname="mnemon") as superuser:
        try:
            with superuser.transaction():
                superuser.execute(FALSIFY, (tenant,))
        except psycopg.errors.InsufficientPrivilege as refusal:
            result(f"first try: {refusal.diag.message_primary}")
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(FALSIFY, (tenant,))
        result("with the triggers switched off, PostgreSQL lets the superuser do it")
