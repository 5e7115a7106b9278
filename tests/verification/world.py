"""A small Mnemon with something of everything in it, signed and verified, for others to tamper with."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from pydantic import SecretStr

from mnemon.app import Mnemon, open_mnemon
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.intake.receive import accept
from mnemon.documents.sources.inputs import FollowedSource, NewSource, SourceChanges
from mnemon.documents.sources.operations import add as add_source
from mnemon.documents.sources.operations import change as change_source
from mnemon.documents.sources.operations import remove as remove_source
from mnemon.identity.approvals import ApprovedAct, decide_approval, request_approval
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import CredentialScope, Role
from mnemon.identity.tokens import add_token, revoke_token
from mnemon.identity.users import add_user, change_user
from mnemon.log.append.periods import Period
from mnemon.log.events import Actor, EntityReference, NewEvent, Scope
from mnemon.log.moments import now
from mnemon.log.project.entity_states import EntityStates
from mnemon.log.types.event_type import BusinessKey, EventType, PersonalField
from mnemon.log.types.state_rules import StateRule
from mnemon.mail.inputs import ImportAsked
from mnemon.mail.operations import import_mail
from mnemon.memory.changing.change_events import Author
from mnemon.memory.gateway import Memory
from mnemon.operations import Caller
from mnemon.reports.delivery.managing import added_recipient
from mnemon.schedules import schedules_of
from mnemon.settings import Settings
from mnemon.work.worker import Worker
from tests.work.conftest import running

ADA = Actor("human", "user:ada", "Ada Clerk", ip_address="192.0.2.7")
BEN = Actor("human", "user:ben", "Ben Second")
INVOICE = EventType(
    type="shop.invoice.sent",
    data_schema={"type": "object", "required": ["number"], "properties": {"number": {"type": "string"}}},
    business_key=BusinessKey(("number",)),
    personal_fields=(PersonalField("name", "name", subject_path="customer"),),
    state=(StateRule(entity_type="invoice", set={"number": "$.number"}),),
)
TEXT = "# Plan\n\nWe decided to ship on Friday. Grace will write the notes.\n"
# So long that it is compared outside the database.
LONG_TEXT = "".join(
    f"# Day {n}\n\u00a0\nThe tide was at {n} feet, as the harbour master wrote down.\n\n" for n in range(900)
)
# Each for one change to a whole partition.
OTHERS = (
    "cut",
    "head",
    "dropped",
    "rehashed",
    "beyond",
    "file",
    "shortened",
    "stranger",
    "seal",
    "old-seal",
    "both",
    "record",
    "seal-row",
    "head-hash",
    "head-time",
    "archived",
)
HOOK = "https://chat.example.org/hooks/7"
DECLARE = "SELECT mnemon.declare_schedule(%s, %s, %s, %s, %s)"


@dataclass(frozen=True)
class World:
    """The Mnemon, whose it is, its home, and a way in for someone who owns the machine."""

    mnemon: Mnemon
    tenant: UUID
    home: Path
    superuser: psycopg.Connection[dict[str, Any]]

    def sql(self, statement: str, **values: Any) -> int:
        """No trigger holds a superuser; whatever this does, it must do something."""
        values = {"tenant": self.tenant} | values
        return self.superuser.execute(statement, values if "%(" in statement else None).rowcount

    def one(self, statement: str, **values: Any) -> Any:
        row = self.superuser.execute(statement, {"tenant": self.tenant} | values).fetchone()
        assert row is not None
        return next(iter(row.values()))

    def partition(self, legal_entity: str) -> int:
        return int(
            self.one(
                "SELECT partition_id FROM mnemon.partitions WHERE tenant_id = %(tenant)s AND legal_entity = %(name)s",
                name=legal_entity,
            )
        )


def settings_for(server: ExternalServer, home: Path) -> Settings:
    return Settings(
        home=home, embedder="none", worker_inside=False, source_folders=(str(home),),
        database_url=SecretStr(server.owner_conninfo), database_app_url=SecretStr(server.app_conninfo),
    )  # fmt: skip


@asynccontextmanager
async def opened_world(server: EmbeddedServer, way_in: ExternalServer, home: Path) -> AsyncIterator[World]:
    """A world that was filled before, or one to fill."""
    dbname = psycopg.conninfo.conninfo_to_dict(way_in.owner_conninfo)["dbname"]
    conninfo = make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname)
    async with open_mnemon(settings_for(way_in, home)) as mnemon:
        with psycopg.connect(conninfo, row_factory=dict_row, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            row = superuser.execute("SELECT tenant_id FROM mnemon.tenants WHERE slug = 'main'").fetchone()
            assert row is not None
            yield World(mnemon, row["tenant_id"], home, superuser)


async def fill(world: World) -> None:
    mnemon, tenant = world.mnemon, world.tenant
    await _people(mnemon, tenant)
    await _events(mnemon, tenant)
    await _privacy(world)
    await _texts(mnemon, tenant)
    await _places(mnemon, tenant)
    async with mnemon.database.owner() as owner:
        for one in schedules_of(mnemon.settings):
            due = one.next_after(world.one("SELECT now()"))
            await owner.execute(DECLARE, (one.name, one.kind.name, one.cron, one.timezone, due))
    await mnemon.integrity.checkpoint_all()
    for name in ("main", *OTHERS):
        await mnemon.log.append(tenant, [sent(f"after-{name}", name)])
    await mnemon.integrity.checkpoint_all()
    for name in ("main", *OTHERS):
        await mnemon.log.append(tenant, [sent(f"last-{name}", name)])
    await mnemon.integrity.seal_all()


def sent(number: str, legal_entity: str = "main", **data: Any) -> NewEvent:
    return NewEvent(
        type="shop.invoice.sent",
        data={"number": number, "customer": "c-2", "name": "Grace Hopper"} | data,
        actor=ADA,
        tags=["invoices"],
        scope=Scope(legal_entity),
        entities=[EntityReference("invoice", number)],
        idempotency_key=f"key-{number}",
    )


async def _people(mnemon: Mnemon, tenant: UUID) -> None:
    async with mnemon.log.transaction(tenant) as transaction:
        user = await add_user(transaction, ADA, "ada@example.org", Role.USER, password="correct horse battery")
        other = await add_user(transaction, ADA, "bob@example.org", Role.USER)
        await change_user(transaction, ADA, other.user_id, disabled=True)
        await add_token(transaction, ADA, user.user_id, "agent", CredentialScope.READ, timedelta(days=1))
        revoked = await add_token(transaction, ADA, user.user_id, "old agent", CredentialScope.READ)
        await revoke_token(transaction, ADA, revoked.token_id)
        await add_login_link(transaction, ADA, user.user_id)
        for reason in ("late", "wrong"):
            asked = await request_approval(transaction, ADA, ADA.id, ApprovedAct.OPEN_PERIOD, "main", "2020", reason)
        await decide_approval(transaction, BEN, BEN.id, asked.approval_id, approved=True)


async def _events(mnemon: Mnemon, tenant: UUID) -> None:
    await mnemon.log.register_type(tenant, INVOICE, ADA)
    await mnemon.log.append(tenant, [sent(f"A-{n}") for n in range(20)])
    for name in OTHERS:
        await mnemon.log.append(tenant, [sent(f"{name}-{n}", name) for n in range(5)])
    period = Period("2025-01", date(2025, 1, 1), date(2025, 1, 31))
    await mnemon.log.periods.define(tenant, period, actor=ADA, reason="a month")
    await mnemon.log.periods.change(tenant, "2025-01", "hard_closed", actor=ADA, reason="it is over")
    states = EntityStates(mnemon.log, snapshot_after=0)
    await states.read(tenant, "invoice", "A-1")


async def _privacy(world: World) -> None:
    mnemon, tenant = world.mnemon, world.tenant
    [event] = await mnemon.log.append(tenant, [sent("B-1", customer="c-1", note="plain words")])
    await mnemon.privacy.redactions.redact(
        tenant, event.id, ["/data/note"], reason="legacy_data", requested_by="u-1", approved_by="u-2"
    )
    asked = await mnemon.privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-1")
    await mnemon.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    await _came_back(world)
    await mnemon.privacy.archive.archive(tenant, now(), actor=ADA, legal_entity="archived")


async def _came_back(world: World) -> None:
    """Someone who was erased and recorded again, an hour later."""
    mnemon, tenant = world.mnemon, world.tenant
    await mnemon.log.append(tenant, [sent("C-1", customer="c-3")])
    asked = await mnemon.privacy.erasures.request(tenant, "c-3", reason="subject_request", requested_by="u-1")
    await mnemon.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    world.sql("UPDATE mnemon.subject_keys SET destroyed_at = destroyed_at - interval '1 hour' WHERE subject_id = 'c-3'")
    await mnemon.privacy.erasures.readmit(tenant, "c-3", reason="new_contract", by="u-1")
    await mnemon.log.append(tenant, [sent("C-2", customer="c-3")])


async def _texts(mnemon: Mnemon, tenant: UUID) -> None:
    await mnemon.memory.changes.create(tenant, Memory.place(tenant), Author(ADA), content="The key is under the mat.")
    for name, text in (("plan.md", TEXT), ("days.md", LONG_TEXT)):
        source = mnemon.settings.home / name
        source.write_text(text)
        received = mnemon.files.take_copy(tenant, source)
        outcome = await accept(mnemon.log, mnemon.files, tenant, ADA, received)
        async with running(Worker(mnemon.database, (INGEST,), context=mnemon, poll=0.1)):
            await _until_read(mnemon, tenant, outcome.run_id)


async def _places(mnemon: Mnemon, tenant: UUID) -> None:
    """Nobody looks at them and nothing is sent: no worker is here."""
    operator = Caller(tenant, ADA)
    folder = mnemon.settings.home / "watched"
    folder.mkdir()
    keys = {"access_key": "AK", "secret_key": SecretStr("a secret of the store")}
    await add_source(mnemon, operator, NewSource(location="s3://acme/policies/", name="bucket", **keys))
    await add_source(mnemon, operator, NewSource(location=str(folder), name="folder", every_minutes=60))
    await change_source(mnemon, operator, SourceChanges(source="folder", exclude=["drafts/**"]))
    await add_source(mnemon, operator, NewSource(location=str(folder), name="gone"))
    await remove_source(mnemon, operator, FollowedSource(source="gone"))
    for name in ("list", "other-list"):
        await import_mail(mnemon, operator, ImportAsked(location="https://lists.example/a.mbox", name=name))
    await import_mail(
        mnemon, operator, ImportAsked(location="https://lists.example/a.mbox", name="list", every_minutes=60)
    )
    for values, place, secret in (
        ({"way": "webhook", "name": "chat", "event_types": ["report.*"], "report_kinds": []}, HOOK, "signed"),
        ({"way": "e-mail", "name": "digest", "event_types": ["report.*"], "report_kinds": []}, "eve@example.org", None),
    ):
        await added_recipient(mnemon, operator, values, place, secret, str(values["name"]))


async def _until_read(mnemon: Mnemon, tenant: UUID, run_id: UUID | None) -> None:
    while True:
        async with mnemon.database.transaction(tenant) as tx:
            row = await (
                await tx.execute("SELECT status, error FROM mnemon.ingestion_runs WHERE run_id = %s", (run_id,))
            ).fetchone()
        assert row is not None
        assert row["status"] != "failed", row["error"]
        if row["status"] == "succeeded":
            return
        await asyncio.sleep(0.05)
