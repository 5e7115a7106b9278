"""Tenants of whom this home has checkpoints, and the database knows nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.identity.tenant_moves import moves
from mnemon.identity.tenants import all_tenants


@dataclass(frozen=True, slots=True)
class UnknownTenants:
    """With `is_shared` they may be of another database: a home that several share has the checkpoints of them all."""

    tenants: Sequence[UUID]
    is_shared: bool


async def unknown_tenants(mnemon: Any) -> UnknownTenants:
    known = {one.tenant_id for one in await all_tenants(mnemon.database)}
    known |= {row["tenant_id"] for row in await moves(mnemon.database)}
    found = [one for one in mnemon.integrity.checkpoints.tenants() if one not in known]
    return UnknownTenants(found, bool(found and await mnemon.privacy.other_databases()))
