"""Who was forgotten: the records of erasures and redactions, the keys of people and documents, and the erasure list."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from mnemon.documents.events import PURGED
from mnemon.log.errors import KeyUnavailable, SealBroken
from mnemon.log.events import Event
from mnemon.log.privacy import privacy_events as privacy
from mnemon.log.privacy.subjects import context_of
from mnemon.log.privacy.wrapping_keys import LocalKey
from mnemon.verification.findings import NIGHTS, CheckReport, VerifyTask
from mnemon.verification.reads import PAGE, events_of, rows_of

ERASURES = """
SELECT erasure_id, subject_id, reason, reference, requested_by, decided_by,
       CASE WHEN status = 'completed' THEN events_affected END AS events_affected,
       CASE WHEN status = 'completed' THEN lenses_rebuilt END AS lenses_rebuilt
  FROM mnemon.erasures
 WHERE tenant_id = %s AND status IN ('key_destroyed', 'completed')
"""
REDACTIONS = """
SELECT attested_by, event_id, requested_by, decided_by FROM mnemon.redaction_requests
 WHERE tenant_id = %s AND attested_by IS NOT NULL
"""
# Everybody has a first key; later ones are for those who were erased and came back.
LIVING = """
SELECT subject_id, generation FROM mnemon.subject_keys
 WHERE tenant_id = %s AND (generation <> 1 OR subject_id = ANY(%s)) AND wrapped_key IS NOT NULL
"""
KEYLESS = """
SELECT DISTINCT subject_id FROM mnemon.event_subjects s WHERE tenant_id = %s AND NOT EXISTS (
    SELECT FROM mnemon.subject_keys k WHERE k.tenant_id = s.tenant_id AND k.subject_id = s.subject_id) LIMIT 100
"""
DESTROYED = """
SELECT subject_id, max(generation) AS generation, max(destroyed_at) AS at FROM mnemon.subject_keys
 WHERE tenant_id = %s AND destroyed_at IS NOT NULL GROUP BY subject_id
"""
KEYS = """
SELECT subject_id, generation, key_id, wrapped_key FROM mnemon.subject_keys
 WHERE tenant_id = %(tenant)s AND wrapped_key IS NOT NULL
   AND (subject_id, generation) > (%(subject)s, %(generation)s::int)
   AND (%(number)s::int IS NULL OR created_at > %(since)s
        OR abs(hashtextextended(subject_id, 0) %% %(nights)s) = %(number)s)
 ORDER BY subject_id, generation LIMIT %(limit)s
"""
LISTED_LIVING = """
SELECT subject_id, min(generation) AS generation FROM mnemon.subject_keys
 WHERE tenant_id = %s AND subject_id = ANY(%s) AND wrapped_key IS NOT NULL GROUP BY subject_id
"""
# Where several homes have a list, each takes over what the others have listed when Mnemon starts there.
NOTED = """
SELECT bool_and(list_id = %(list)s) IS NOT FALSE AS only_one,
       max(noted_until) FILTER (WHERE list_id = %(list)s) AS until
  FROM mnemon.erasure_lists
"""
DOCUMENT = "document:"
KINDS = (
    privacy.ERASURE_REQUESTED, privacy.SUBJECT_ERASED, privacy.ERASURE_COMPLETED, privacy.SUBJECT_READMITTED,
    privacy.ERASURE_REPEATED, privacy.PAYLOAD_REDACTED, PURGED,
)  # fmt: skip


async def check_forgotten(task: VerifyTask, report: CheckReport, names: Sequence[str]) -> None:
    told = await _told(task, names)
    await _check_erasures(task, report, told, names)
    await _check_generations(task, report, told, names)
    await _check_redactions(task, report, told)
    await _check_destroyed(task, report, told)
    await _check_keys(task, report)
    await _check_list(task, report)


async def _told(task: VerifyTask, names: Sequence[str]) -> dict[str, list[Event]]:
    """What the log tells of erasures and redactions, by type."""
    told: dict[str, list[Event]] = {one.type: [] for one in KINDS}
    for name in names:
        for kind in told:
            told[kind] += [event async for event in events_of(task, name, kind)]
    return told


async def _check_erasures(
    task: VerifyTask, report: CheckReport, told: dict[str, list[Event]], names: Sequence[str]
) -> None:
    there = await _records(task)
    erased = _erased(told)
    report.checked += len(there)
    if differing := {one for one in there.keys() | erased.keys() if there.get(one) != erased.get(one)}:
        # One may have come between the two looks; what was changed behind our back stays so.
        there, erased = await _records(task), _erased(await _told(task, names))
        differing = {one for one in differing if there.get(one) != erased.get(one)}
    for one in sorted(differing):
        report.find(
            f"erasure {one}", "Its record and the log do not agree: whether, whom, by whom, why, and what was done."
        )
    for row in await rows_of(task, KEYLESS):
        report.find(f"person {row['subject_id']}", "Their key is gone, and no erasure tells why.")


async def _check_generations(
    task: VerifyTask, report: CheckReport, told: dict[str, list[Event]], names: Sequence[str]
) -> None:
    """Who was erased has no key, who came back the next one, and everybody else their first."""
    found = await _wrong_generations(task, told)
    if found:  # as above
        again = await _wrong_generations(task, await _told(task, names))
        found = {subject: what for subject, what in found.items() if subject in again}
    for subject, what in sorted(found.items()):
        report.find(f"person {subject}", what)


async def _wrong_generations(task: VerifyTask, told: dict[str, list[Event]]) -> dict[str, str]:
    due: dict[str, int | None] = {}
    kinds = (privacy.SUBJECT_ERASED, privacy.ERASURE_REPEATED, privacy.SUBJECT_READMITTED)
    for event in sorted((one for kind in kinds for one in told[kind.type]), key=lambda one: one.sequence):
        came_back = event.type == privacy.SUBJECT_READMITTED.type
        due[event.data["subject_id"]] = event.data["generation"] if came_back else None
    living: dict[str, set[int]] = {}
    for row in await rows_of(task, LIVING, list(due)):
        living.setdefault(row["subject_id"], set()).add(row["generation"])
    found = {}
    for subject in due.keys() | living.keys():
        wanted, there = due.get(subject, 1), living.get(subject, set())
        if wanted is None and there:
            found[subject] = "They were erased, and have a key again that no event tells of."
        elif wanted is not None and subject in due and wanted not in there:
            found[subject] = "They came back, and the key that they got is gone: no erasure tells why."
        elif there - {wanted}:
            found[subject] = "Their key is said to be a later one than any event tells of: what it sealed is not found."
    return found


async def _records(task: VerifyTask) -> dict[str, dict[str, Any]]:
    return {row.pop("erasure_id"): row for row in await rows_of(task, ERASURES)}


def _erased(told: dict[str, list[Event]]) -> dict[str, dict[str, Any]]:
    references = {one.data["erasure_id"]: one.data.get("reference") for one in told[privacy.ERASURE_REQUESTED.type]}
    completed = {one.data["erasure_id"]: one.data for one in told[privacy.ERASURE_COMPLETED.type]}
    return {
        event.data["erasure_id"]: {
            "subject_id": event.data["subject_id"],
            "reason": event.data["reason"],
            "reference": references.get(event.data["erasure_id"]),
            "requested_by": event.envelope["actor"]["id"],
            "decided_by": event.envelope.get("approved_by"),
            "events_affected": completed.get(event.data["erasure_id"], {}).get("events_affected"),
            "lenses_rebuilt": completed.get(event.data["erasure_id"], {}).get("lenses_rebuilt"),
        }
        for event in told[privacy.SUBJECT_ERASED.type]
    }


async def _check_redactions(task: VerifyTask, report: CheckReport, told: dict[str, list[Event]]) -> None:
    redacted = {
        event.id: (event.data["event_id"], event.envelope["actor"]["id"], event.envelope.get("approved_by"))
        for event in told[privacy.PAYLOAD_REDACTED.type]
    }
    for row in await rows_of(task, REDACTIONS):
        report.checked += 1
        if redacted.get(row["attested_by"]) != (row["event_id"], row["requested_by"], row["decided_by"]):
            report.find(f"redaction of {row['event_id']}", "Its record is not what its event tells.")


async def _check_destroyed(task: VerifyTask, report: CheckReport, told: dict[str, list[Event]]) -> None:
    """Who takes a key away forgets somebody whom nobody asked to forget."""
    kinds = (privacy.SUBJECT_ERASED, privacy.ERASURE_REPEATED)
    known = {event.data["subject_id"] for kind in kinds for event in told[kind.type]}
    known |= {f"{DOCUMENT}{event.data['doc_id']}" for event in told[PURGED.type]}
    for row in await rows_of(task, DESTROYED):
        report.checked += 1
        if row["subject_id"] not in known:
            report.find(f"person {row['subject_id']}", "Their key was destroyed, and no event tells of it.")


async def _check_keys(task: VerifyTask, report: CheckReport) -> None:
    """A key that does not open forgets somebody too. One that a service has wrapped is looked at when it is used."""
    try:
        await task.parts.privacy.keys.check()
    except KeyUnavailable as failure:
        report.find("keys", failure.message)
    async for row in _keys(task):
        report.checked += 1
        try:
            wrapper = await task.parts.privacy.keys.ring.find(row["key_id"])
            if isinstance(wrapper, LocalKey):
                await wrapper.unwrap(row["wrapped_key"], context_of(task.tenant, row["subject_id"]))
        except SealBroken:
            report.find(f"person {row['subject_id']}", "Their key was changed: what it sealed cannot be read any more.")
        except KeyUnavailable as failure:
            report.find("keys", failure.message)
            return


async def _keys(task: VerifyTask) -> AsyncIterator[dict[str, Any]]:
    portion = task.portion
    values: dict[str, Any] = {
        "tenant": task.tenant,
        "subject": "",
        "generation": 0,
        "number": portion.number if portion else None,
        "since": portion.since if portion else None,
        "nights": NIGHTS,
        "limit": PAGE,
    }
    while True:
        async with task.parts.database.transaction(task.tenant) as tx:
            rows = await (await tx.execute(KEYS, values)).fetchall()
        for row in rows:
            yield row
        if len(rows) < PAGE:
            return
        values |= {"subject": rows[-1]["subject_id"], "generation": rows[-1]["generation"]}


async def _check_list(task: VerifyTask, report: CheckReport) -> None:
    """A restore forgets again whom the list names: all who were forgotten, and nobody else."""
    listed = task.parts.privacy.erasure_list
    if listed is None:
        return
    if not await asyncio.to_thread(listed.exists):
        report.find("erasure list", f"{listed.where} is gone: a restore would bring back who was forgotten.")
        return
    entries = await asyncio.to_thread(lambda: [one for one in listed.entries() if one.tenant_id == task.tenant])
    named = {(one.subject_id, one.generation) for one in entries}
    async with task.parts.database.owner() as owner:
        noted = await (await owner.execute(NOTED, {"list": await asyncio.to_thread(listed.list_id)})).fetchone()
    assert noted is not None
    for row in await rows_of(task, DESTROYED):
        report.checked += 1
        due = noted["only_one"] or (noted["until"] and row["at"] <= noted["until"])
        if due and (row["subject_id"], row["generation"]) not in named:
            report.find(f"person {row['subject_id']}", "They were forgotten, and the erasure list does not name them.")
    newest: dict[str, int] = {}
    for subject, generation in named:
        newest[subject] = max(generation, newest.get(subject, 0))
    for row in await rows_of(task, LISTED_LIVING, list(newest)):
        if row["generation"] <= newest[row["subject_id"]]:
            report.find(
                f"person {row['subject_id']}",
                "The erasure list names them, and they have a key: the next start destroys it. Who did not ask for "
                "that takes the line out of the list.",
            )
