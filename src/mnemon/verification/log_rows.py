"""Rows beside the log that its events tell of: heads, periods, event types, business keys, redactions, erasures."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import orjson

from mnemon.log.events import MAIN, Event
from mnemon.log.privacy import privacy_events as privacy
from mnemon.log.privacy.seal import canonical
from mnemon.log.proof.chain import digest
from mnemon.log.read.streams import Filter, Stream
from mnemon.log.types.builtin import PERIOD_CHANGED, TYPE_REGISTERED
from mnemon.log.types.paths import values_at, without
from mnemon.log.types.registry import CompiledType
from mnemon.verification.events import VERIFIED
from mnemon.verification.findings import CheckReport, VerifyTask
from mnemon.verification.forgotten import check_forgotten
from mnemon.verification.reads import PAGE, events_of, rows_of

HEADS = """
SELECT p.legal_entity FROM mnemon.partitions p
  LEFT JOIN mnemon.events e ON e.tenant_id = p.tenant_id AND e.partition_id = p.partition_id AND e.sequence = p.sequence
 WHERE p.tenant_id = %s AND p.sequence > 0 AND e.recorded_at IS DISTINCT FROM p.recorded_at
"""
PERIODS = """
SELECT name, starts_on::text, ends_on::text, status FROM mnemon.periods WHERE tenant_id = %s AND legal_entity = %s
"""
TYPES = """
SELECT type, schema_version, declaration::text AS declaration, registered_by FROM mnemon.event_types
 WHERE tenant_id = %s ORDER BY type, schema_version, revision
"""
KEYS = """
SELECT k.key, k.content, k.sequence FROM mnemon.event_keys k JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE k.tenant_id = %s AND p.legal_entity = %s AND k.key = ANY(%s)
"""
LASTING = """
SELECT count(*) AS lasting FROM mnemon.event_keys k JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE k.tenant_id = %s AND p.legal_entity = %s AND k.expires_at = 'infinity'
"""
OUT_OF_PLACE = """
SELECT p.legal_entity, count(*) AS amount
  FROM mnemon.event_keys k LEFT JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE k.tenant_id = %s AND (p.sequence IS NULL OR k.sequence NOT BETWEEN 1 AND p.sequence)
 GROUP BY p.legal_entity
"""
REDACTIONS = """
SELECT r.attested_by, r.sequence::text AS sequence, encode(r.old_digest, 'hex') AS old,
       encode(r.new_digest, 'hex') AS new
  FROM mnemon.redactions r JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE r.tenant_id = %s AND p.legal_entity = %s
"""

RESULT = "SELECT event_id, findings, verified_at, complete_at FROM mnemon.verification_results WHERE tenant_id = %s"
# A row is written right before its event.
AT_ONCE = timedelta(minutes=1)


async def check_log_rows(task: VerifyTask, report: CheckReport) -> None:
    names = [one.legal_entity for one in await task.parts.log.list_partitions(task.tenant)]
    for row in await rows_of(task, HEADS):
        report.find(row["legal_entity"], "The head says another time than its last event.")
    await _check_types(task, report)
    for name in names:
        await _check_periods(task, report, name)
        await _check_redactions(task, report, name)
        await _check_business_keys(task, report, name)
    for row in await rows_of(task, OUT_OF_PLACE):
        report.find(row["legal_entity"] or "keys", f"{row['amount']} keys name events that are not there.")
    await check_forgotten(task, report, names)
    await _check_last_result(task, report)


async def _check_last_result(task: VerifyTask, report: CheckReport) -> None:
    """The row that `/ready` looks at, with the event that was recorded beside it; twice, as another may record one."""
    report.checked += 1
    stream = Stream.of_type(VERIFIED.type)
    for _ in range(2):
        rows = await rows_of(task, RESULT)
        page = await task.parts.log.read_page(task.tenant, stream, direction="backward", limit=1)
        told = [(event.id, event.data["findings"]) for event in page.events]
        same = [(row["event_id"], row["findings"]) for row in rows] == told
        if same and all([await _when_told(task, row) for row in rows]):
            return
    report.find("last verification", "Its result is not what its event tells.")


async def _when_told(task: VerifyTask, row: dict[str, Any]) -> bool:
    """Whether verifications were recorded when the row says that the last one, and the last whole one, took place."""
    for at, whole in ((row["verified_at"], False), (row["complete_at"], True)):
        if at is not None:
            near = Filter(recorded_from=at - AT_ONCE, recorded_to=at + AT_ONCE)
            page = await task.parts.log.read_page(task.tenant, Stream.of_type(VERIFIED.type), near, limit=100)
            if not any(event.data["complete"] or not whole for event in page.events):
                return False
    return True


async def _check_periods(task: VerifyTask, report: CheckReport, name: str) -> None:
    told: dict[str, tuple[str, str, str]] = {}
    async for event in events_of(task, name, PERIOD_CHANGED.type):
        data = event.data
        told[data["name"]] = data["starts_on"], data["ends_on"], data["status"]
    rows = await rows_of(task, PERIODS, name)
    there = {row["name"]: (row["starts_on"], row["ends_on"], row["status"]) for row in rows}
    report.checked += len(there)
    for one in sorted(told.keys() | there.keys()):
        if told.get(one) != there.get(one):
            report.find(f"{name} period {one}", "It is not as its last event left it.")


async def _check_types(task: VerifyTask, report: CheckReport) -> None:
    told: dict[tuple[str, int], list[Any]] = {}
    async for event in events_of(task, MAIN, TYPE_REGISTERED.type):
        declared = event.data["declaration"]
        by = event.envelope["actor"]["id"]
        told.setdefault((declared["type"], declared["schema_version"]), []).append((declared, by))
    there: dict[tuple[str, int], list[Any]] = {}
    for row in await rows_of(task, TYPES):
        declared = orjson.loads(row["declaration"])
        there.setdefault((row["type"], row["schema_version"]), []).append((declared, row["registered_by"]))
    report.checked += len(there)
    for one in sorted(told.keys() | there.keys()):
        if told.get(one) != there.get(one):
            report.find(f"event type {one[0]}", f"Version {one[1]} is not declared as the log tells.")


async def _check_redactions(task: VerifyTask, report: CheckReport, name: str) -> None:
    told = {}
    async for event in events_of(task, name, privacy.PAYLOAD_REDACTED.type):
        told[event.id] = event.data["sequence"], event.data["old_digest"], event.data["new_digest"]
    rows = await rows_of(task, REDACTIONS, name)
    there = {row["attested_by"]: (row["sequence"], row["old"], row["new"]) for row in rows}
    report.checked += len(there)
    for one in sorted(told.keys() | there.keys()):
        if told.get(one) != there.get(one):
            report.find(f"{name} redaction {one}", "Its record is not what its event tells.")


async def _check_business_keys(task: VerifyTask, report: CheckReport, name: str) -> None:
    """Keys for ever can be made again from the events. Those for a while are gone soon, and are not looked at."""
    lasting = lost = 0
    for compiled in await _keyed_types(task):
        batch: list[Event] = []
        async for event in events_of(task, name, compiled.declaration.type, opened=False):
            batch.append(event)
            if len(batch) == PAGE:
                keys, unread = await _compare_keys(task, report, name, compiled, batch)
                lasting, lost, batch = lasting + keys, lost + unread, []
        keys, unread = await _compare_keys(task, report, name, compiled, batch)
        lasting, lost = lasting + keys, lost + unread
    row = (await rows_of(task, LASTING, name))[0]
    if not lasting <= row["lasting"] <= lasting + lost:
        report.find(name, f"There are {row['lasting']} lasting keys where the events call for {lasting}.")


async def _keyed_types(task: VerifyTask) -> list[CompiledType]:
    registry = task.parts.log.registry
    newest: dict[str, CompiledType] = {}
    for one in await registry.list(task.tenant):
        if one.business_key is not None and one.business_key.window is None:
            newest[one.type] = await registry.find(task.tenant, one.type, one.schema_version)
    return list(newest.values())


async def _compare_keys(
    task: VerifyTask, report: CheckReport, name: str, compiled: CompiledType, events: list[Event]
) -> tuple[int, int]:
    """How many keys there must be, and how many payloads cannot be read, whose keys nobody can make."""
    wanted: dict[bytes, tuple[bytes | None, int]] = {}
    archived = await _archived(task, events)
    lost = 0
    for event in events:
        text = event.payload_text if event.payload_text is not None else archived.get(event.sequence)
        if text is None:
            lost += 1
            continue
        key, content = _key_of(event, text, compiled)
        wanted.setdefault(key, (content, event.sequence))
    rows = await rows_of(task, KEYS, name, list(wanted))
    there = {bytes(row["key"]): (bytes(row["content"]), row["sequence"]) for row in rows}
    report.checked += len(wanted)
    for key, (content, sequence) in wanted.items():
        found, place = there.get(key, (None, None))
        if place != sequence or (content is not None and found != content):
            report.find(f"{name} {sequence}", f"The key of event {sequence} is missing or was changed.")
    return len(wanted), lost


async def _archived(task: VerifyTask, events: list[Event]) -> Mapping[int, str]:
    moved = [event.sequence for event in events if event.payload_text is None]
    return await task.parts.log.reader.archived(task.tenant, events[0].partition_id, moved) if moved else {}


def _key_of(event: Event, text: str, compiled: CompiledType) -> tuple[bytes, bytes | None]:
    """Without the content where something was taken out of the payload since: the key is of what it was."""
    assert compiled.business_key is not None
    data = orjson.loads(text)["data"]
    values = [list(values_at(data, path)) for path in compiled.business_key.paths]
    plain = without(data, compiled.personal_paths) if compiled.personal_paths else data
    as_recorded = digest(text.encode()) == event.payload_digest
    return digest(b"business\n" + canonical([event.type, values])), digest(canonical(plain)) if as_recorded else None
