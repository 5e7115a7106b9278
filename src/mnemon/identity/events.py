"""The events of identity: what can happen to tenants, users, tokens and links. They hold ids, never names."""

from collections.abc import Mapping
from typing import Any

from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.proof.pinned_keys import FIELD, PINNING_TYPES
from mnemon.log.types.builtin import PUBLIC_KEY
from mnemon.log.types.event_type import EntityRequirement, EventType, declare

MODULE = "identity"
ID = {"type": "string", "format": "uuid"}
ROLE = {"enum": [str(role) for role in Role]}
# Of the row as the change left it: see `functions/user_seal.sql` and its like.
SEALED = {"seal": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
SCOPE = {"enum": [str(scope) for scope in CredentialScope]}

_SOMEONE = "6f1c1f0a-4b60-4f0e-9d4e-2a6a5f1f8b01"
_SOMETHING = "0d9b5a52-3c1e-4f57-8a34-7be0f6c7a902"
_EXAMPLES = {
    "act": "periods.open",
    "legal_entity": "main",
    "period": "2026-03",
    "old": "user",
    "new": "admin",
    "role": "user",
    "scope": "read",
    "user_id": _SOMEONE,
}


def _happening(
    name: str, subject: str, description: str, optional: Mapping[str, Any] = SEALED, **fields: Any
) -> EventType:
    return declare(
        EventType(
            type=f"{MODULE}.{name}",
            description=description,
            data_schema={
                "type": "object",
                "required": list(fields),
                "properties": {**fields, **optional},
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(subject, "subject"),),
            examples=({field: _EXAMPLES.get(field, _SOMETHING) for field in fields},),
            # A month that is closed for business does not keep anyone from being locked out.
            bound_to_periods=False,
        )
    )


TENANT_ADDED = _happening("tenant.added", "tenant", "A tenant was added.", {**SEALED, FIELD: PUBLIC_KEY}, tenant_id=ID)
PINNING_TYPES.add(TENANT_ADDED.type)
USER_ADDED = _happening("user.added", "user", "A user was added.", user_id=ID, role=ROLE)
USER_RENAMED = _happening("user.renamed", "user", "A user got another name.", user_id=ID)
USER_ENABLED = _happening("user.enabled", "user", "A disabled user was let in again.", user_id=ID)
USER_DISABLED = _happening("user.disabled", "user", "A user was locked out.", user_id=ID)
USER_ERASED = _happening("user.erased", "user", "The account of a forgotten person was emptied and closed.", user_id=ID)
ROLE_CHANGED = _happening("user.role_changed", "user", "A user got another role.", user_id=ID, old=ROLE, new=ROLE)
PASSWORD_CHANGED = _happening("user.password_changed", "user", "A user got a new password.", user_id=ID)
TOKEN_ADDED = _happening("token.added", "token", "An access token was made.", token_id=ID, user_id=ID, scope=SCOPE)
TOKEN_REVOKED = _happening("token.revoked", "token", "An access token was revoked.", token_id=ID, user_id=ID)
TEXT = {"type": "string", "maxLength": 200}
APPROVAL_REQUESTED = _happening(
    "approval.requested", "approval", "Someone asked that another agree to an act.",
    approval_id=ID, act=TEXT, legal_entity=TEXT, period=TEXT,
)  # fmt: skip
APPROVAL_GIVEN = _happening("approval.given", "approval", "Another person agreed to the act.", approval_id=ID)
APPROVAL_DECLINED = _happening("approval.declined", "approval", "A request was declined or taken back.", approval_id=ID)
SESSION_ENDED = _happening("session.ended", "user", "A user logged out.", user_id=ID)
LINK_ADDED = _happening("link.added", "user", "A one-time login link was made for a user.", user_id=ID)

ALL = (
    TENANT_ADDED,
    USER_ADDED,
    USER_RENAMED,
    USER_ENABLED,
    USER_DISABLED,
    USER_ERASED,
    ROLE_CHANGED,
    PASSWORD_CHANGED,
    TOKEN_ADDED,
    TOKEN_REVOKED,
    LINK_ADDED,
    APPROVAL_REQUESTED,
    APPROVAL_GIVEN,
    APPROVAL_DECLINED,
    SESSION_ENDED,
)
