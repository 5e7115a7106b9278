"""A verification of everything: what it records, what the next one need not do again, and who is told."""

from typing import Any

import httpx
import psycopg
import pytest
from httpx import ASGITransport

from mnemon.identity.roles import Role
from mnemon.identity.tenants import add_tenant
from mnemon.identity.users import add_user
from mnemon.log.read.streams import Stream
from mnemon.readiness import check_integrity
from mnemon.verification.content import check_content
from mnemon.verification.events import VERIFIED
from mnemon.verification.findings import CheckReport, VerifyTask
from mnemon.verification.jobs import verification_schedules
from mnemon.verification.run import FINDINGS, verify_everything
from mnemon.web.site import create_site
from tests.conftest import make_tenant

from .conftest import Copy
from .content_tampers import OF_LONG
from .world import ADA, World, sent

LOGIN = {"email": "eve@example.org", "password": "correct horse battery", "tenant": "main"}


async def page_of(world: World) -> str:
    """The page as a user of the tenant sees it."""
    async with world.mnemon.log.transaction(world.tenant) as transaction:
        await add_user(transaction, ADA, LOGIN["email"], Role.USER, password=LOGIN["password"])
    transport = ASGITransport(create_site(world.mnemon))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.post("/login", data=LOGIN, headers={"Origin": "http://test"})).status_code == 303
        return (await client.get("/integrity")).text


async def test_a_result_is_an_event_a_line_in_ready_and_a_page(copied: Copy) -> None:
    async with copied() as world:
        intact = await check_integrity(world.mnemon.database)
        assert (intact.ok, intact.needed, intact.detail[:6]) == (True, False, "intact")
        world.sql("UPDATE mnemon.periods SET status = 'open' WHERE tenant_id = %(tenant)s")
        report = await verify_everything(world.mnemon, world.tenant)
        page = await world.mnemon.log.read_page(
            world.tenant, Stream.of_type(VERIFIED.type), direction="backward", limit=1
        )
        [event] = page.events
        assert (event.id, event.data["intact"], event.data["findings"]) == (report.event_id, False, 1)
        assert event.data["found"][0]["where"] == "main period 2025-01"
        found = FINDINGS.labels("log_rows")._value.get()
        assert found >= 1
        async with world.mnemon.database.owner() as owner, owner.transaction():
            other, _ = await add_tenant(world.mnemon.log, owner, ADA, "other", "Other")
        await verify_everything(world.mnemon, other.tenant_id)
        assert FINDINGS.labels("log_rows")._value.get() >= found, "an intact tenant hides nothing of another"
        changed = await check_integrity(world.mnemon.database)
        assert not changed.ok
        assert "1 findings" in changed.detail
        shown = await page_of(world)
        assert "main period 2025-01" in shown
        assert "Something was changed" in shown


async def test_ready_says_so_where_the_nights_pass_without_a_verification(copied: Copy) -> None:
    async with copied() as world:
        schedules = verification_schedules(world.mnemon.settings)
        database = world.mnemon.database
        assert (await check_integrity(database, schedules)).ok
        world.sql("UPDATE mnemon.verification_results SET verified_at = now() - interval '4 days'")
        late = await check_integrity(database, schedules)
        assert not late.ok
        assert "only verified since" in late.detail
        assert (await check_integrity(database, [])).ok, "nobody asked for one each night"


async def test_ready_says_so_where_there_was_never_a_verification(copied: Copy) -> None:
    """Of any tenant, or of one beside others that are verified each night."""
    async with copied() as world:
        schedules, database = verification_schedules(world.mnemon.settings), world.mnemon.database
        async with database.owner() as owner, owner.transaction():
            await add_tenant(world.mnemon.log, owner, ADA, "other", "Other")
        assert (await check_integrity(database, schedules)).ok, "it has only just come"
        world.sql("UPDATE mnemon.tenants SET created_at = now() - interval '4 days' WHERE slug = 'other'")
        late = await check_integrity(database, schedules)
        assert not late.ok
        assert "never verified" in late.detail
        assert (await check_integrity(database, [])).ok, "nobody asked for one each night"
        world.sql("DELETE FROM mnemon.verification_results")
        assert not (await check_integrity(database, schedules)).ok
        world.sql("UPDATE mnemon.tenants SET created_at = now()")
        assert (await check_integrity(database, schedules)).detail == "not verified yet"


async def test_what_is_new_is_looked_at_and_what_is_old_only_in_part(copied: Copy) -> None:
    async with copied() as world:
        await world.mnemon.log.append(world.tenant, [sent("new-1"), sent("new-2")])
        report = await verify_everything(world.mnemon, world.tenant, complete=False)
        assert report.intact, report.findings
        assert not report.complete
        checked = {one.part: one.checked for one in report.checks}
        everything = await verify_everything(world.mnemon, world.tenant, record=False)
        whole = {one.part: one.checked for one in everything.checks}
        assert checked["log"] < whole["log"]
        # Nothing has happened to the lenses: their hashes are compared, and nothing is replayed.
        assert checked["lenses"] == 0
        world.sql("UPDATE mnemon.documents SET title = 'Other' WHERE tenant_id = %(tenant)s")
        again = await verify_everything(world.mnemon, world.tenant, complete=False)
        assert [one.where for one in again.findings] == ["lens documents"]


async def test_a_change_to_what_is_new_is_found_by_the_next_night(copied: Copy) -> None:
    async with copied() as world:
        await world.mnemon.log.append(world.tenant, [sent("new-1")])
        changed = world.sql(
            "UPDATE mnemon.event_payloads SET payload = replace(payload, 'new-1', 'new-9') "
            "WHERE tenant_id = %(tenant)s AND payload LIKE '%%new-1%%'"
        )
        assert changed == 1
        report = await verify_everything(world.mnemon, world.tenant, complete=False)
        assert any("The payload of event" in one.message for one in report.findings)


async def test_a_long_file_that_is_made_anew_while_it_is_compared_is_no_finding(
    copied: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with copied() as world:
        connection = vars(psycopg.AsyncConnection)["cursor"]
        gone = 0

        def cursor(self: Any, name: str = "", **how: Any) -> Any:
            nonlocal gone
            if name == "passages":
                gone += world.sql(f"DELETE FROM mnemon.chunks WHERE {OF_LONG.replace('ordinal = 1', 'ordinal >= 0')}")
                gone += world.sql("DELETE FROM mnemon.revision_texts WHERE octet_length(text) > 50000")
            return connection(self, name, **how)

        monkeypatch.setattr(psycopg.AsyncConnection, "cursor", cursor)
        report = CheckReport("content")
        await check_content(VerifyTask(world.mnemon, world.tenant), report)
        assert gone > 10, "it was compared"
        assert [one.message for one in report.findings if "none of its chunks" in one.message] == []


async def test_a_tenant_that_no_event_tells_of_is_found(copied: Copy) -> None:
    async with copied() as world:
        forged = await make_tenant(world.mnemon.database)
        report = await verify_everything(world.mnemon, forged, record=False)
        assert [(one.part, one.where) for one in report.findings] == [("people", "tenant")]
