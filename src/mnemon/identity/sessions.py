"""Sessions: signed tokens that a login gives and every request shows."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
from jwt.types import Options

from mnemon.db.database import Database
from mnemon.errors import NotAuthenticated
from mnemon.identity.changes import record_change
from mnemon.identity.events import SESSION_ENDED
from mnemon.identity.roles import Principal, Role
from mnemon.ids import new_uuid
from mnemon.log.store import EventLog

ALGORITHM = "HS256"
CLAIMS = ["sub", "tenant_id", "role", "iat", "exp", "jti"]
# One that began later than now is ours all the same: the clock was set back since.
CHECKED: Options = {"require": CLAIMS, "verify_iat": False}
# What the account said at the login of when its sessions began to count: by the clock alone, a session that began
# before the clock was set back would outlive a change of password.
VALID_FROM = "valid_from"
# How long a changed role or a disabled account may go unnoticed by a process that has just asked.
ACCOUNT_STATE_LIVES = 5.0
REMEMBERED_ACCOUNTS = 10_000

ACCOUNT_STATE = """
SELECT u.role, u.name, u.disabled_at IS NOT NULL AS disabled, u.sessions_valid_from,
       ARRAY(SELECT session_id FROM mnemon.ended_sessions e
              WHERE e.tenant_id = u.tenant_id AND e.user_id = u.user_id AND e.expires_at > now()) AS ended
  FROM mnemon.users u WHERE u.user_id = %s
"""
FORGET_OVER = "DELETE FROM mnemon.ended_sessions WHERE user_id = %s AND expires_at <= now()"
END = """
INSERT INTO mnemon.ended_sessions (tenant_id, user_id, session_id, expires_at)
VALUES (mnemon.current_tenant(), %s, %s, %s) ON CONFLICT DO NOTHING RETURNING session_id
"""


@dataclass(frozen=True)
class Session:
    """What a login returns."""

    token: str
    expires_at: datetime
    principal: Principal


@dataclass(frozen=True)
class AccountState:
    role: Role
    name: str
    disabled: bool
    sessions_valid_from: datetime
    ended: frozenset[UUID]
    asked_at: float


class Sessions:
    """Issues and checks session tokens with one key."""

    def __init__(self, database: Database, key: str, lasts: timedelta) -> None:
        self._database = database
        self._key = key
        self._lasts = lasts
        self._accounts: dict[UUID, AccountState] = {}

    async def begin(self, principal: Principal) -> Session:
        """A session that ends with the next change of password, role or state, whatever the clocks say."""
        self._accounts.pop(principal.user_id, None)
        account = await self._account(principal.tenant_id, principal.user_id)
        if account is None:
            raise NotAuthenticated("This account is gone: log in again.")
        return self.issue(principal, account.sessions_valid_from)

    def issue(self, principal: Principal, valid_from: datetime | None = None) -> Session:
        now = datetime.now(UTC)
        expires_at = now + self._lasts
        claims = {
            "sub": str(principal.user_id),
            "tenant_id": str(principal.tenant_id),
            "role": principal.role,
            # With its fraction, so that a session begun in the second of a password change is told from an older one.
            "iat": now.timestamp(),
            "exp": int(expires_at.timestamp()),
            "jti": str(new_uuid()),
        }
        if valid_from is not None:
            claims[VALID_FROM] = valid_from.timestamp()
        return Session(jwt.encode(claims, self._key, ALGORITHM), expires_at, principal)

    async def principal_of(self, token: str) -> Principal:
        """Who the token stands for now: signed by us, not expired, and the account still as it was."""
        claims = self._claims(token)
        tenant_id, user_id = UUID(claims["tenant_id"]), UUID(claims["sub"])
        account = await self._account(tenant_id, user_id)
        if account is not None and _is_over(claims, account):
            # It may have begun at another gateway after a change that this one has yet to hear of.
            self._accounts.pop(user_id, None)
            account = await self._account(tenant_id, user_id)
        session_id = UUID(claims["jti"])
        if account is None or account.disabled or session_id in account.ended or _is_over(claims, account):
            raise NotAuthenticated("This session has ended: log in again.")
        ends = datetime.fromtimestamp(claims["exp"], UTC)
        return Principal(tenant_id, user_id, account.role, name=account.name, session_id=session_id, session_ends=ends)

    async def end(self, principal: Principal, log: EventLog) -> None:
        """Log out: whoever has the token has nothing any more, in this process at once and in others within moments."""
        if principal.session_id is None:
            return
        async with log.transaction(principal.tenant_id) as transaction:
            await transaction.connection.execute(FORGET_OVER, (principal.user_id,))
            values = (principal.user_id, principal.session_id, principal.session_ends)
            if await (await transaction.connection.execute(END, values)).fetchone() is not None:
                await record_change(transaction, principal.actor, SESSION_ENDED, user_id=principal.user_id)
        self._accounts.pop(principal.user_id, None)

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(token, self._key, [ALGORITHM], options=CHECKED)
            UUID(claims["tenant_id"]), UUID(claims["sub"]), UUID(claims["jti"])
        except jwt.ExpiredSignatureError:
            raise NotAuthenticated("This session has expired: log in again.") from None
        except (jwt.InvalidTokenError, ValueError, AttributeError, TypeError):
            raise NotAuthenticated(
                "This is neither a session nor an access token, which begins with mnm_: log in again."
            ) from None
        return claims

    async def _account(self, tenant_id: UUID, user_id: UUID) -> AccountState | None:
        known = self._accounts.get(user_id)
        if known and time.monotonic() - known.asked_at < ACCOUNT_STATE_LIVES:
            return known
        async with self._database.transaction(tenant_id) as tx:
            row = await (await tx.execute(ACCOUNT_STATE, (user_id,))).fetchone()
        if row is None:
            return None
        state = AccountState(
            Role(row["role"]), row["name"], row["disabled"], row["sessions_valid_from"], frozenset(row["ended"]),
            time.monotonic(),
        )  # fmt: skip
        if len(self._accounts) >= REMEMBERED_ACCOUNTS:
            self._accounts.clear()
        self._accounts[user_id] = state
        return state


def _is_over(claims: dict[str, Any], account: AccountState) -> bool:
    if VALID_FROM in claims:
        return bool(claims[VALID_FROM] != account.sessions_valid_from.timestamp())
    return datetime.fromtimestamp(claims["iat"], UTC) < account.sessions_valid_from
