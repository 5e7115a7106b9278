"""Rows beside the log that its events tell of: heads, periods, event types, business keys, redactions, erasures."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import orjson

from mnemon.log.events import MAIN, Event
from mnemon.log.privacy import privacy_events as privacy
from mnemon.log.privacy.seal import canonical
from mnemon.log.proof.chain import digest
from mnemon.log.read.streams import Stream
from mnemon.log.types.builtin import PERIOD_CHANGED, TYPE_REGISTERED
from mnemon.log.types.paths import values_at, without
from mnemon.log.types.registry import CompiledType
from mnemon.verification.events import VERIFIED
from mnemon.verification.findings import CheckReport, VerifyTask

PAGE = 1000

HEADS = """
SELECT p.legal_entity FROM mnemon.partitions p
  LEFT JOIN mnemon.events e ON e.tenant_id = p.tenant_id AND e.partition_id = p.partition_id AND e.sequence = p.sequence
 WHERE p.tenant_id = %s AND p.sequence > 0 AND e.recorded_at IS DISTINCT FROM p.recorded_at
"""
PERIODS = """
SELECT name, starts_on::text, ends_on::text, status FROM mnemon.periods WHERE tenant_id = %s AND legal_entity = %s
"""
TYPES = """
SELECT type, schema_version, declaration::text AS declaration FROM mnemon.event_types
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
SELECT r.attested_by, encode(r.old_digest, 'hex') AS old, encode(r.new_digest, 'hex') AS new
  FROM mnemon.redactions r JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE r.tenant_id = %s AND p.legal_entity = %s
"""
ERASURES = """
SELECT erasure_id FROM mnemon.erasures WHERE tenant_id = %s AND status IN ('key_destroyed', 'completed')
"""
LIVING = """
SELECT subject_id FROM mnemon.subject_keys WHERE tenant_id = %s AND subject_id = ANY(%s) AND wrapped_key IS NOT NULL
"""
KEYLESS = """
SELECT DISTINCT subject_id FROM mnemon.event_subjects s WHERE tenant_id = %s AND NOT EXISTS (
    SELECT FROM mnemon.subject_keys k WHERE k.tenant_id = s.tenant_id AND k.subject_id = s.subject_id) LIMIT 100
"""

RESULT = "SELECT event_id, findings FROM mnemon.verification_results WHERE tenant_id = %s"


async def check_log_rows(task: VerifyTask, report: CheckReport) -> None:
    names = [one.legal_entity for one in await task.parts.log.list_partitions(task.tenant)]
    for row in await _rows(task, HEADS):
        report.find(row["legal_entity"], "The head says another time than its last event.")
    await _check_types(task, report)
    for name in names:
        await _check_periods(task, report, name)
        await _check_redactions(task, report, name)
        await _check_business_keys(task, report, name)
    for row in await _rows(task, OUT_OF_PLACE):
        report.find(row["legal_entity"] or "keys", f"{row['amount']} keys name events that are not there.")
    await _check_erasures(task, report, names)
    await _check_last_result(task, report)


async def _check_last_result(task: VerifyTask, report: CheckReport) -> None:
    """The row that `/ready` looks at, with the event that was recorded beside it; twice, as another may record one."""
    report.checked += 1
    for _ in range(2):
        rows = await _rows(task, RESULT)
        page = await task.parts.log.read_page(task.tenant, Stream.of_type(VERIFIED.type), direction="backward", limit=1)
        if [(row["event_id"], row["findings"]) for row in rows] == [(e.id, e.data["findings"]) for e in page.events]:
            return
    report.find("last verification", "Its result is not what its event tells.")


async def _check_periods(task: VerifyTask, report: CheckReport, name: str) -> None:
    told: dict[str, tuple[str, str, str]] = {}
    async for event in _events(task, name, PERIOD_CHANGED.type):
        data = event.data
        told[data["name"]] = data["starts_on"], data["ends_on"], data["status"]
    rows = await _rows(task, PERIODS, name)
    there = {row["name"]: (row["starts_on"], row["ends_on"], row["status"]) for row in rows}
    report.checked += len(there)
    for one in sorted(told.keys() | there.keys()):
        if told.get(one) != there.get(one):
            report.find(f"{name} period {one}", "It is not as its last event left it.")


async def _check_types(task: VerifyTask, report: CheckReport) -> None:
    told: dict[tuple[str, int], list[Any]] = {}
    async for event in _events(task, MAIN, TYPE_REGISTERED.type):
        declared = event.data["declaration"]
        told.setdefault((declared["type"], declared["schema_version"]), []).append(declared)
    there: dict[tuple[str, int], list[Any]] = {}
    for row in await _rows(task, TYPES):
        there.setdefault((row["type"], row["schema_version"]), []).append(orjson.loads(row["declaration"]))
    report.checked += len(there)
    for one in sorted(told.keys() | there.keys()):
        if told.get(one) != there.get(one):
            report.find(f"event type {one[0]}", f"Version {one[1]} is not declared as the log tells.")


async def _check_redactions(task: VerifyTask, report: CheckReport, name: str) -> None:
    told = {}
    async for event in _events(task, name, privacy.PAYLOAD_REDACTED.type):
        told[event.id] = event.data["old_digest"], event.data["new_digest"]
    there = {row["attested_by"]: (row["old"], row["new"]) for row in await _rows(task, REDACTIONS, name)}
    report.checked += len(there)
    for one in sorted(told.keys() | there.keys()):
        if told.get(one) != there.get(one):
            report.find(f"{name} redaction {one}", "Its record is not what its event tells.")


async def _check_business_keys(task: VerifyTask, report: CheckReport, name: str) -> None:
    """Keys for ever can be made again from the events. Those for a while are gone soon, and are not looked at."""
    lasting = 0
    for compiled in await _keyed_types(task):
        batch: list[Event] = []
        async for event in _events(task, name, compiled.declaration.type, opened=False):
            batch.append(event)
            if len(batch) == PAGE:
                lasting += await _compare_keys(task, report, name, compiled, batch)
                batch = []
        lasting += await _compare_keys(task, report, name, compiled, batch)
    row = (await _rows(task, LASTING, name))[0]
    if row["lasting"] != lasting:
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
) -> int:
    wanted: dict[bytes, tuple[bytes | None, int]] = {}
    for event in events:
        if event.payload_text is not None:
            key, content = _key_of(event, compiled)
            wanted.setdefault(key, (content, event.sequence))
    rows = await _rows(task, KEYS, name, list(wanted))
    there = {bytes(row["key"]): (bytes(row["content"]), row["sequence"]) for row in rows}
    report.checked += len(wanted)
    for key, (content, sequence) in wanted.items():
        found, place = there.get(key, (None, None))
        if place != sequence or (content is not None and found != content):
            report.find(f"{name} {sequence}", f"The key of event {sequence} is missing or was changed.")
    return len(wanted)


def _key_of(event: Event, compiled: CompiledType) -> tuple[bytes, bytes | None]:
    """Without the content where something was taken out of the payload since: the key is of what it was."""
    assert compiled.business_key is not None
    data = orjson.loads(event.payload_text or "{}")["data"]
    values = [list(values_at(data, path)) for path in compiled.business_key.paths]
    plain = without(data, compiled.personal_paths) if compiled.personal_paths else data
    as_recorded = digest((event.payload_text or "").encode()) == event.payload_digest
    return digest(b"business\n" + canonical([event.type, values])), digest(canonical(plain)) if as_recorded else None


async def _check_erasures(task: VerifyTask, report: CheckReport, names: Iterable[str]) -> None:
    erased: dict[str, str] = {}
    readmitted: set[str] = set()
    for name in names:
        async for event in _events(task, name, privacy.SUBJECT_ERASED.type):
            erased[event.data["erasure_id"]] = event.data["subject_id"]
        async for event in _events(task, name, privacy.SUBJECT_READMITTED.type):
            readmitted.add(event.data["subject_id"])
    there = {row["erasure_id"] for row in await _rows(task, ERASURES)}
    report.checked += len(there)
    for one in sorted(there ^ erased.keys()):
        report.find(f"erasure {one}", "Its record and the log do not agree that it took place.")
    gone = [subject for subject in erased.values() if subject not in readmitted]
    for row in await _rows(task, LIVING, gone):
        report.find(f"person {row['subject_id']}", "They were erased, and have a key again that no event tells of.")
    for row in await _rows(task, KEYLESS):
        report.find(f"person {row['subject_id']}", "Their key is gone, and no erasure tells why.")


async def _events(task: VerifyTask, name: str, kind: str, *, opened: bool = True) -> AsyncIterator[Event]:
    """The events of a type in order. Sealed ones for what was hashed: no reader has lifted them to a newer version."""
    reader = task.parts.log.reader
    after = 0
    while True:
        async with reader.transaction(task.tenant) as connection:
            page = await reader.page_in(
                connection, task.tenant, Stream.of_type(kind), legal_entity=name, start=after, limit=PAGE
            )
        for event in await reader.open(task.tenant, page) if opened else page:
            yield event
        if len(page) < PAGE:
            return
        after = page[-1].sequence


async def _rows(task: VerifyTask, statement: str, *values: Any) -> list[dict[str, Any]]:
    async with task.parts.database.transaction(task.tenant) as tx:
        return await (await tx.execute(statement, (task.tenant, *values))).fetchall()
