"""Accounts of people who are forgotten: only ids are left of them, and nobody comes in with what was theirs."""

import os
from collections.abc import Sequence
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.identity import events
from mnemon.identity.changes import record_change, row_seal
from mnemon.identity.roles import user_of
from mnemon.identity.tokens import SEAL as TOKEN_SEAL
from mnemon.identity.users import SEAL as USER_SEAL
from mnemon.identity.users import VOID_LINKS
from mnemon.log.events import SYSTEM
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.retention import REASON as TERM_ENDED
from mnemon.log.store import EventLog

# No mail reaches it, and it is one for each.
NO_ADDRESS = "@erased.invalid"

TOKENS = """
SELECT 'token:' || t.token_id AS id FROM mnemon.users u LEFT JOIN mnemon.access_tokens t USING (tenant_id, user_id)
 WHERE u.user_id = %s ORDER BY t.created_at, t.token_id
"""
# Whoever only outlived a term goes on to work here.
STAYS = """
SELECT reason = %s AS stays FROM mnemon.erasures
 WHERE tenant_id = %s AND subject_id = %s AND status <> 'declined' ORDER BY requested_at DESC LIMIT 1
"""
# The salt too: with it a guess at the address could be held against the digests that earlier events tell.
CLOSE = f"""
UPDATE mnemon.users
   SET name = '{REDACTED}', email = user_id || '{NO_ADDRESS}', password_hash = NULL, salt = %(salt)s,
       disabled_at = coalesce(disabled_at, now()), sessions_valid_from = now()
 WHERE user_id = %(user_id)s AND email <> user_id || '{NO_ADDRESS}'
RETURNING user_id
"""
OF_USER = f"SELECT token_id FROM mnemon.access_tokens WHERE user_id = %s AND name <> '{REDACTED}' FOR UPDATE"
REVOKE = f"""
UPDATE mnemon.access_tokens
   SET name = '{REDACTED}', secret_hash = %s, revoked_at = coalesce(revoked_at, now()) WHERE token_id = %s
"""


async def also_known_as(connection: Connection, subject_id: str) -> Sequence[str] | None:
    """The ids under which tokens of theirs act; None for who has no account."""
    user_id = user_of(subject_id)
    rows = await (await connection.execute(TOKENS, (user_id,))).fetchall() if user_id else []
    return [row["id"] for row in rows if row["id"]] if rows else None


async def close_accounts(log: EventLog, tenant: UUID, subjects: Sequence[str]) -> None:
    """Also in a database that was restored from a time before; once for good."""
    for subject_id in subjects:
        user_id = user_of(subject_id)
        if user_id is not None:
            await _close(log, tenant, subject_id, user_id)


async def _close(log: EventLog, tenant: UUID, subject_id: str, user_id: UUID) -> None:
    async with log.transaction(tenant) as transaction:
        tx = transaction.connection
        word = await (await tx.execute(STAYS, (TERM_ENDED, tenant, subject_id))).fetchone()
        if word is not None and word["stays"]:
            return
        if await (await tx.execute(CLOSE, {"user_id": user_id, "salt": os.urandom(32)})).fetchone() is None:
            return
        await tx.execute(VOID_LINKS, (user_id,))
        for row in await (await tx.execute(OF_USER, (user_id,))).fetchall():
            token_id = row["token_id"]
            await tx.execute(REVOKE, (os.urandom(32), token_id))
            sealed = await row_seal(tx, TOKEN_SEAL, token_id)
            await record_change(
                transaction, SYSTEM, events.TOKEN_REVOKED, token_id=token_id, user_id=user_id, seal=sealed
            )
        sealed = await row_seal(tx, USER_SEAL, user_id)
        await record_change(transaction, SYSTEM, events.USER_ERASED, user_id=user_id, seal=sealed)
