"""The term of an event type is kept: what has outlived it is forgotten, after a notice and not before; no more."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.errors import BadSettings
from mnemon.log.errors import InvalidEvent
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.terms import Terms, class_years_of
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.proof.verify import verify
from mnemon.log.types.event_type import EventType
from mnemon.log.types.registry import Registry

from .conftest import CUSTOMER_JOINED, SHOP, joined

KEPT = replace(CUSTOMER_JOINED, retention_class="regulatory", minimum_retention_years=7)
FOR_GOOD = replace(CUSTOMER_JOINED, type="shop.customer.knighted")
TYPES = (*(one for one in SHOP if one.type != KEPT.type), KEPT, FOR_GOOD)
YEAR = timedelta(days=365.25)


def privacy_with(database: Database, ring: KeyRing, folder: Path, types: Sequence[EventType], **years: int) -> Privacy:
    return Privacy(
        database, ring, DirectoryStore(folder), registry=Registry(database, types), listening=False,
        retention_notice=timedelta(days=30), terms=Terms(years),
    )  # fmt: skip


@pytest.fixture
async def terms(database: Database, ring: KeyRing, tmp_path: Path, tenant: UUID) -> AsyncIterator[Privacy]:
    privacy = privacy_with(database, ring, tmp_path, TYPES)
    await privacy.log.append(tenant, [joined("c-1", "Ada"), joined("c-2", "Bo")])
    await privacy.log.append(tenant, [joined("c-2", "Sir Bo", type=FOR_GOOD.type)])
    yield privacy
    await privacy.close()


async def names(privacy: Privacy, tenant: UUID) -> list[object]:
    privacy.keys.forget_all()
    return [one.data["name"] async for one in privacy.log.scan(tenant) if one.type.startswith("shop.customer")]


async def test_what_outlives_its_term_is_told_ahead_and_destroyed_on_the_day(terms: Privacy, tenant: UUID) -> None:
    now = datetime.now(UTC)
    assert await terms.retention.enforce(tenant, now + 6 * YEAR) == []
    assert await terms.retention.ending(tenant, now + 6 * YEAR) == []
    [ending] = await terms.retention.ending(tenant, now + 8 * YEAR)
    assert ending.subject_id.startswith("term:regulatory:7:20") and ending.events == 2
    assert abs(ending.ends_at - (now + 7 * YEAR)) < timedelta(days=3)

    [asked] = await terms.retention.enforce(tenant, ending.ends_at - timedelta(days=20))
    assert (asked.subject_id, asked.status, asked.reason) == (ending.subject_id, "requested", "retention_expired")
    assert await terms.retention.enforce(tenant, ending.ends_at - timedelta(days=1)) == []
    assert await names(terms, tenant) == ["Ada", "Bo", "Sir Bo"]

    [done] = await terms.retention.enforce(tenant, ending.ends_at + timedelta(days=11))
    assert (done.erasure_id, done.status) == (asked.erasure_id, "completed")
    assert await names(terms, tenant) == [REDACTED, REDACTED, "Sir Bo"], "the same person, under no term"
    assert await terms.retention.enforce(tenant, ending.ends_at + YEAR) == []
    erased = [one async for one in terms.log.scan(tenant) if one.type == "privacy.subject.erased"]
    assert [(one.envelope["actor"]["type"], one.actor_id) for one in erased] == [("system", "mnemon:retention")]
    people = await terms.people(tenant, 10)
    assert {one.subject_id: one.erased_at for one in people} == {"c-1": None, "c-2": None, "u-1": None}, "nobody is"
    assert (await verify(terms.log.reader, tenant)).intact


async def test_a_person_can_be_forgotten_before_the_term_ends(terms: Privacy, tenant: UUID) -> None:
    asked = await terms.erasures.request(tenant, "c-2", reason="subject_request", requested_by="u-1")
    await terms.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    assert await names(terms, tenant) == ["Ada", REDACTED, REDACTED]
    assert [one async for one in terms.data_of(tenant, "c-2")] == []
    with pytest.raises(InvalidEvent, match="begins with term:"):
        await terms.log.append(tenant, [joined("term:regulatory:7:2026-11", "Eve")])


async def test_the_years_of_a_class_count_where_a_type_has_none(
    database: Database, ring: KeyRing, tmp_path: Path, tenant: UUID
) -> None:
    privacy = privacy_with(database, ring, tmp_path, TYPES, standard=2, regulatory=1)
    await privacy.log.append(tenant, [joined("c-1", "Ada"), joined("c-1", "Dame Ada", type=FOR_GOOD.type)])
    later = datetime.now(UTC) + 3 * YEAR
    [ending] = await privacy.retention.ending(tenant, later)
    assert ending.subject_id.startswith("term:standard:2:"), "the type's own seven years come before its class's one"
    for day in (later, later + timedelta(days=31)):
        await privacy.retention.enforce(tenant, day)
    assert await names(privacy, tenant) == ["Ada", REDACTED]
    await privacy.close()
    for wrong in ("regulatory", "forever=1", "standard=x", "standard=5000"):
        with pytest.raises(BadSettings, match="MNEMON_RETENTION_CLASS_YEARS"):
            class_years_of(wrong)
    assert class_years_of("regulatory=10, pii_subject=3,") == {"regulatory": 10, "pii_subject": 3}


async def test_what_was_recorded_before_its_type_had_a_term_ends_with_its_person(
    database: Database, ring: KeyRing, tmp_path: Path, tenant: UUID
) -> None:
    before = privacy_with(database, ring, tmp_path, SHOP)
    await before.log.append(tenant, [joined("c-1", "Ada"), joined("c-2", "Bo")])
    await before.close()
    since = privacy_with(database, ring, tmp_path, TYPES)
    await since.log.append(tenant, [joined("c-2", "Sir Bo", type=FOR_GOOD.type)])
    later = datetime.now(UTC) + 8 * YEAR
    assert [one.subject_id for one in await since.retention.ending(tenant, later)] == ["c-1"]
    for day in (later, later + timedelta(days=31)):
        await since.retention.enforce(tenant, day)
    assert await names(since, tenant) == [REDACTED, "Bo", "Sir Bo"]
    await since.close()


async def test_what_is_declined_is_held_for_a_year(terms: Privacy, tenant: UUID) -> None:
    later = datetime.now(UTC) + 8 * YEAR
    [asked] = await terms.retention.enforce(tenant, later)
    await terms.erasures.decline(tenant, asked.erasure_id, declined_by="u-1")
    assert (await terms.retention.last_words(tenant, [asked.subject_id]))[asked.subject_id].status == "declined"
    # By the real clock it was declined now, so that eight years on the hold is over.
    assert await terms.retention.enforce(tenant, datetime.now(UTC)) == []
    assert [one.status for one in await terms.retention.enforce(tenant, later)] == ["requested"]
