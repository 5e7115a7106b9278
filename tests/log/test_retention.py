"""The term of an event type is kept: whoever has outlived all of theirs is forgotten, after a notice, not before."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.types.registry import Registry

from .conftest import CUSTOMER_JOINED, SHOP, joined

KEPT = replace(CUSTOMER_JOINED, retention_class="regulatory", minimum_retention_years=7)
FOR_GOOD = replace(CUSTOMER_JOINED, type="shop.customer.knighted")
TYPES = (*(one for one in SHOP if one.type != KEPT.type), KEPT, FOR_GOOD)
YEAR = timedelta(days=365.25)


@pytest.fixture
async def terms(database: Database, ring: KeyRing, tmp_path: Path, tenant: UUID) -> Privacy:
    privacy = Privacy(
        database, ring, DirectoryStore(tmp_path), registry=Registry(database, TYPES), listening=False,
        retention_notice=timedelta(days=30),
    )  # fmt: skip
    await privacy.log.append(tenant, [joined("c-1", "Ada"), joined("c-2", "Bo")])
    await privacy.log.append(tenant, [joined("c-2", "Sir Bo", type=FOR_GOOD.type)])
    return privacy


async def names(privacy: Privacy, tenant: UUID) -> list[object]:
    return [one.data["name"] async for one in privacy.log.scan(tenant) if one.type.startswith("shop.customer")]


async def test_whose_last_term_ends_is_told_ahead_and_erased_on_the_day(terms: Privacy, tenant: UUID) -> None:
    now = datetime.now(UTC)
    assert await terms.retention.enforce(tenant, now + 6 * YEAR) == []
    assert await terms.retention.ending(tenant, now + 6 * YEAR) == []
    [ending] = await terms.retention.ending(tenant, now + 8 * YEAR)
    assert (ending.subject_id, ending.events) == ("c-1", 1)
    assert abs(ending.ends_at - (now + 7 * YEAR)) < timedelta(days=3)

    [asked] = await terms.retention.enforce(tenant, ending.ends_at - timedelta(days=20))
    assert (asked.subject_id, asked.status, asked.reason) == ("c-1", "requested", "retention_expired")
    assert await terms.retention.enforce(tenant, ending.ends_at - timedelta(days=1)) == []
    assert await names(terms, tenant) == ["Ada", "Bo", "Sir Bo"]

    [done] = await terms.retention.enforce(tenant, ending.ends_at + timedelta(days=11))
    assert (done.erasure_id, done.status) == (asked.erasure_id, "completed")
    terms.keys.forget_all()
    assert await names(terms, tenant) == [REDACTED, "Bo", "Sir Bo"]
    assert await terms.retention.enforce(tenant, ending.ends_at + YEAR) == []
    erased = [one async for one in terms.log.scan(tenant) if one.type == "privacy.subject.erased"]
    assert [(one.envelope["actor"]["type"], one.actor_id) for one in erased] == [("system", "mnemon:retention")]
    await terms.close()


async def test_what_is_declined_is_held_for_a_year(terms: Privacy, tenant: UUID) -> None:
    later = datetime.now(UTC) + 8 * YEAR
    [asked] = await terms.retention.enforce(tenant, later)
    await terms.erasures.decline(tenant, asked.erasure_id, declined_by="u-1")
    assert (await terms.retention.last_words(tenant, ["c-1"]))["c-1"].status == "declined"
    # By the real clock it was declined now, so that eight years on the hold is over.
    assert await terms.retention.enforce(tenant, datetime.now(UTC)) == []
    assert [one.status for one in await terms.retention.enforce(tenant, later)] == ["requested"]
    await terms.close()
