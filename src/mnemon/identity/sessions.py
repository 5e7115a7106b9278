"""Sessions: signed tokens that a login gives and every request shows."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jwt

from mnemon.db.database import Database
from mnemon.errors import NotAuthenticated
from mnemon.identity.roles import Principal, Role

ALGORITHM = "HS256"
CLAIMS = ["sub", "tenant_id", "role", "iat", "exp"]
# How long a changed role or a disabled account may go unnoticed by a process that has just asked.
ACCOUNT_STATE_LIVES = 5.0
REMEMBERED_ACCOUNTS = 10_000

ACCOUNT_STATE = """
SELECT role, disabled_at IS NOT NULL AS disabled, sessions_valid_from FROM mnemon.users WHERE user_id = %s
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
    disabled: bool
    sessions_valid_from: datetime
    asked_at: float


class Sessions:
    """Issues and checks session tokens with one key."""

    def __init__(self, database: Database, key: str, lasts: timedelta) -> None:
        self._database = database
        self._key = key
        self._lasts = lasts
        self._accounts: dict[UUID, AccountState] = {}

    def issue(self, principal: Principal) -> Session:
        now = datetime.now(UTC)
        expires_at = now + self._lasts
        claims = {
            "sub": str(principal.user_id),
            "tenant_id": str(principal.tenant_id),
            "role": principal.role,
            # With its fraction, so that a session begun in the second of a password change is told from an older one.
            "iat": now.timestamp(),
            "exp": int(expires_at.timestamp()),
        }
        return Session(jwt.encode(claims, self._key, ALGORITHM), expires_at, principal)

    async def principal_of(self, token: str) -> Principal:
        """Who the token stands for now: signed by us, not expired, and the account still as it was."""
        claims = self._claims(token)
        tenant_id, user_id = UUID(claims["tenant_id"]), UUID(claims["sub"])
        account = await self._account(tenant_id, user_id)
        began = datetime.fromtimestamp(claims["iat"], UTC)
        if account is None or account.disabled or began < account.sessions_valid_from:
            raise NotAuthenticated("This session has ended: log in again.")
        return Principal(tenant_id, user_id, account.role)

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(token, self._key, [ALGORITHM], options={"require": CLAIMS})
            UUID(claims["tenant_id"]), UUID(claims["sub"])
        except jwt.ExpiredSignatureError:
            raise NotAuthenticated("This session has expired: log in again.") from None
        except (jwt.InvalidTokenError, ValueError, AttributeError, TypeError):
            raise NotAuthenticated("This is not a valid session: log in again.") from None
        return claims

    async def _account(self, tenant_id: UUID, user_id: UUID) -> AccountState | None:
        known = self._accounts.get(user_id)
        if known and time.monotonic() - known.asked_at < ACCOUNT_STATE_LIVES:
            return known
        async with self._database.transaction(tenant_id) as tx:
            row = await (await tx.execute(ACCOUNT_STATE, (user_id,))).fetchone()
        if row is None:
            return None
        state = AccountState(Role(row["role"]), row["disabled"], row["sessions_valid_from"], time.monotonic())
        if len(self._accounts) >= REMEMBERED_ACCOUNTS:
            self._accounts.clear()
        self._accounts[user_id] = state
        return state
