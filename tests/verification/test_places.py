"""Sources and recipients from before their events told digests, and what findings about them say."""

from mnemon.mail.inputs import ImportAsked, SourceAsked
from mnemon.mail.operations import import_mail, remove_source
from mnemon.operations import Caller
from mnemon.verification.findings import CheckReport, VerifyTask
from mnemon.verification.places import FIRST_STEP, check_places
from mnemon.verification.run import verify_everything

from .conftest import Copy
from .world import ADA, HOOK, World

OLD_SOURCE = """
INSERT INTO mnemon.mail_sources (tenant_id, source_id, name, source_type, location, created_by)
VALUES (%(tenant)s, gen_random_uuid(), 'old', 'http', 'https://lists.example/old.mbox', 'operator')
"""


async def found(world: World, before: dict[str, object]) -> tuple[list[str], dict[str, str]]:
    """What the check says, and what it would have the next one know."""
    report = CheckReport("places")
    await check_places(VerifyTask(world.mnemon, world.tenant, before=before), report)
    return [one.message for one in report.findings], report.remembered


async def test_places_from_before_the_upgrade_are_noted_once_and_watched_from_then_on(copied: Copy) -> None:
    async with copied() as world:
        world.sql(OLD_SOURCE)
        [message], _ = await found(world, {})
        assert message == "No event tells that this source was added.", "a tenant of today is given no trust"
        world.sql(f"UPDATE mnemon.migrations SET applied_at = now() WHERE step = {FIRST_STEP}")
        messages, noted = await found(world, {})
        assert messages == []
        assert (await found(world, {"places": noted}))[0] == []
        world.sql("UPDATE mnemon.mail_sources SET location = 'https://mallory.example/x' WHERE name = 'old'")
        changed, still = await found(world, {"places": noted})
        assert changed == ["The row of this source is not as its last event left it."]
        assert still == noted, "what was changed is not what the next one compares with"
        world.sql("DELETE FROM mnemon.mail_sources WHERE name = 'old'")
        assert (await found(world, {"places": noted}))[0] == ["The row of this source is gone."]
        world.sql(OLD_SOURCE)
        assert "No event tells that this source was added." in (await found(world, {"places": noted}))[0]


async def test_an_old_place_that_is_changed_or_removed_properly_is_no_finding(copied: Copy) -> None:
    async with copied() as world:
        world.sql(OLD_SOURCE)
        world.sql(f"UPDATE mnemon.migrations SET applied_at = now() WHERE step = {FIRST_STEP}")
        _, noted = await found(world, {})
        operator = Caller(world.tenant, ADA)
        again = ImportAsked(location="https://lists.example/old.mbox", name="old", every_minutes=30)
        await import_mail(world.mnemon, operator, again)
        messages, left = await found(world, {"places": noted})
        assert (messages, left) == ([], {}), "its event vouches for it now"
        await remove_source(world.mnemon, operator, SourceAsked(name="old"))
        assert (await found(world, {"places": noted}))[0] == []


async def test_what_was_noted_stands_in_the_event_of_the_verification(copied: Copy) -> None:
    async with copied() as world:
        world.sql("UPDATE mnemon.recipients SET name = 'other' WHERE tenant_id = %(tenant)s AND way = 'webhook'")
        await verify_everything(world.mnemon, world.tenant, complete=False)
        report = await verify_everything(world.mnemon, world.tenant, complete=False)
        [finding] = report.findings
        assert finding.part == "places", "it is found each night, until it is mended"
        assert HOOK not in str(report.as_json()), "findings name ids alone"
        assert "other" not in finding.where + finding.message
