"""The demo's part about the log: record decisions, prove them, change one behind its back."""

from typing import Any

import psycopg

from mnemon.app import Mnemon
from mnemon.cli.demo_stage import Caller, result, step
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.verify import verify

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


def _decision(number: str, title: str, outcome: str, day: str, caused_by: str | None = None) -> dict[str, Any]:
    return {
        "type": TYPE["type"],
        "occurred_at": f"{day}T15:00:00Z",
        "correlation_id": "hosting-2026",
        "data": {"title": title, "outcome": outcome},
        "entities": [{"entity_type": "decision", "entity_id": number}],
        "caused_by": caused_by,
    }


async def record_decisions(caller: Caller, session: str) -> None:
    step("Record decisions", "in a log that only grows, each event checked against its type")
    await caller.post("/v1/event-types", TYPE, session)
    wrong = await caller.post("/v1/events", {"events": [_decision("D-1", "x", "maybe", "2026-03-02")]}, session)
    result(f"a wrong one: {wrong['error_code']}, {wrong['details']['violations'][0]}")
    first = _decision("D-1", "Renew the contract for hosting in Dublin", "rejected", "2026-03-02")
    [made] = (await caller.post("/v1/events", {"events": [first]}, session))["events"]
    follows = _decision("D-2", "Move the archive to Frankfurt", "approved", "2026-03-09", made["id"])
    await caller.post("/v1/events", {"events": [follows]}, session)
    trace = await caller.get("/v1/events/process/hosting-2026", session)
    for event in trace["events"]:
        data = event["data"]
        result(f"{event['sequence']}: {data['outcome']}, {data['title']} ({event['metadata']['checksum'][:12]}…)")
    stale = follows | {"expected_versions": [{"entity_type": "decision", "entity_id": "D-2", "version": 0}]}
    refused = await caller.post("/v1/events", {"events": [stale]}, session)
    result(f"from someone who had not seen D-2: {refused['error_code']}, {refused['error']}")


async def tamper(mnemon: Mnemon) -> None:
    assert mnemon.first_start is not None
    tenant = mnemon.first_start.tenant_id
    step("Verify the log", "then turn a rejection into an approval, as the superuser of the database")
    signed = await mnemon.integrity.checkpoint(tenant)
    report = await verify(mnemon.log.reader, tenant, checkpoints=[signed])
    result(f"intact: {report.checked} events, and a signed checkpoint at {signed.sequence}")
    _falsify(mnemon, str(tenant))
    report = await verify(mnemon.log.reader, tenant, checkpoints=[signed])
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
