"""Tenants: made by the operator, over the owner's connection, since no credential reaches across them."""

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import psycopg
from psycopg.rows import class_row

from mnemon.db.database import SET_TENANT, Connection, Database
from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.identity.changes import record_change, row_seal
from mnemon.identity.events import TENANT_ADDED
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor
from mnemon.log.proof.pinned_keys import FIELD, pin_in
from mnemon.log.store import EventLog

SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?")

ADD = """
INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, %s)
RETURNING tenant_id, slug, name, created_at
"""
BY_SLUG = "SELECT tenant_id, slug, name, created_at FROM mnemon.tenants WHERE slug = %s"
ELSEWHERE = """
SELECT slug, url FROM mnemon.tenant_moves
 WHERE slug = %s AND (state = 'moved' OR state = 'arriving' AND url <> '') ORDER BY changed_at DESC LIMIT 1
"""
ALL = "SELECT tenant_id, slug, name, created_at FROM mnemon.tenants ORDER BY slug"
ONE = "SELECT tenant_id, slug, name, created_at FROM mnemon.tenants WHERE tenant_id = %s"


@dataclass(frozen=True)
class Tenant:
    tenant_id: UUID
    slug: str
    name: str
    created_at: datetime


async def add_tenant(
    log: EventLog, owner: Connection, actor: Actor, slug: str, name: str
) -> tuple[Tenant, LogTransaction]:
    """Add it, and go on as it in the owner's transaction: what follows there belongs to the new tenant."""
    if not SLUG.fullmatch(slug):
        raise InvalidRequest(
            f"{slug!r} is no short name: use 1 to 64 of a-z, 0-9 and -, with a letter or digit at each end."
        )
    if not 1 <= len(name) <= 200:
        raise InvalidRequest("A tenant's name has 1 to 200 characters.")
    try:
        made = await owner.cursor(row_factory=class_row(Tenant)).execute(ADD, (new_uuid(), slug, name))
    except psycopg.errors.UniqueViolation:
        raise Conflict(f"There is a tenant {slug!r} already.", slug=slug) from None
    tenant = await made.fetchone()
    assert tenant is not None
    await owner.execute(SET_TENANT, (str(tenant.tenant_id),))
    transaction = log.within(owner, tenant.tenant_id)
    sealed = await row_seal(
        owner, "SELECT mnemon.tenant_seal(t) AS seal FROM mnemon.tenants t WHERE tenant_id = %s", tenant.tenant_id
    )
    pinned = {} if log.signing_key is None else {FIELD: log.signing_key}
    await record_change(transaction, actor, TENANT_ADDED, tenant_id=tenant.tenant_id, seal=sealed, **pinned)
    if log.signing_key is not None:
        await pin_in(owner, tenant.tenant_id, log.signing_key, ())
    return tenant, transaction


async def tenant_by_slug(database: Database, slug: str) -> Tenant:
    async with database.owner() as owner:
        tenant = await (await owner.cursor(row_factory=class_row(Tenant)).execute(BY_SLUG, (slug,))).fetchone()
        moved = await (await owner.execute(ELSEWHERE, (slug,))).fetchone() if tenant is None else None
    if moved is not None:
        raise NotFound(f"The tenant {slug!r} is in another database, and answered at {moved['url']}.", **moved)
    if tenant is None:
        raise NotFound(f"There is no tenant {slug!r}: `mnemon tenant list` names them.", slug=slug)
    return tenant


async def all_tenants(database: Database) -> list[Tenant]:
    async with database.owner() as owner:
        return await (await owner.cursor(row_factory=class_row(Tenant)).execute(ALL)).fetchall()


async def own_tenant(tx: Connection, tenant_id: UUID) -> Tenant:
    """The caller's own tenant, inside its own transaction."""
    tenant = await (await tx.cursor(row_factory=class_row(Tenant)).execute(ONE, (tenant_id,))).fetchone()
    if tenant is None:
        raise NotFound("This tenant no longer exists.", tenant_id=str(tenant_id))
    return tenant
