"""Who may do what: one declaration, one decision."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mnemon.errors import NotAllowed
from mnemon.log.events import Actor, Delegator


class Role(StrEnum):
    ADMIN = "admin"
    USER = "user"


class CredentialScope(StrEnum):
    """How far a credential reaches. A session writes; an access token may be limited to reading."""

    READ = "read"
    WRITE = "write"


class Action(StrEnum):
    """Everything that a route, tool or command can do on a person's behalf."""

    UPLOAD_DOCUMENTS = "upload documents"
    VIEW_DOCUMENTS = "view documents"
    QUERY = "query"
    CORRECT_EVENTS = "correct semantic events"
    VIEW_RUNS = "view ingestion runs"
    MANAGE_SOURCES = "manage sources"
    TRIGGER_SYNC = "trigger sync"
    MANAGE_USERS = "manage users"
    DEACTIVATE_DOCUMENTS = "deactivate documents"
    MANAGE_PRIVACY = "manage privacy"
    MANAGE_LOG = "manage log"
    READ_LOG = "read log"
    APPEND_EVENTS = "append events"
    FOLLOW_LOG = "follow log"
    VIEW_JOBS = "view jobs"
    MANAGE_JOBS = "manage jobs"
    READ_MEMORY = "read memory"
    WRITE_MEMORY = "write memory"
    MANAGE_MEMORY = "manage memory"
    VIEW_OWN_ACCOUNT = "view own account"
    MANAGE_OWN_ACCOUNT = "manage own account"


EVERYONE = frozenset(Role)
ADMINS = frozenset({Role.ADMIN})


@dataclass(frozen=True)
class Rule:
    """Which roles may act, the least scope their credential needs, and whether an access token will do at all."""

    roles: frozenset[Role]
    scope: CredentialScope
    # Credentials are made by people: a token that could make others, or let someone in, would outlive its revocation.
    by_token: bool = True


RULES: dict[Action, Rule] = {
    Action.UPLOAD_DOCUMENTS: Rule(EVERYONE, CredentialScope.WRITE),
    Action.VIEW_DOCUMENTS: Rule(EVERYONE, CredentialScope.READ),
    Action.QUERY: Rule(EVERYONE, CredentialScope.READ),
    # Of documents that they may read.
    Action.CORRECT_EVENTS: Rule(EVERYONE, CredentialScope.WRITE),
    Action.VIEW_RUNS: Rule(EVERYONE, CredentialScope.READ),
    Action.MANAGE_SOURCES: Rule(ADMINS, CredentialScope.WRITE),
    Action.TRIGGER_SYNC: Rule(ADMINS, CredentialScope.WRITE),
    Action.MANAGE_USERS: Rule(ADMINS, CredentialScope.WRITE, by_token=False),
    Action.DEACTIVATE_DOCUMENTS: Rule(ADMINS, CredentialScope.WRITE),
    Action.MANAGE_PRIVACY: Rule(ADMINS, CredentialScope.WRITE),
    Action.MANAGE_LOG: Rule(ADMINS, CredentialScope.WRITE),
    Action.READ_LOG: Rule(EVERYONE, CredentialScope.READ),
    Action.APPEND_EVENTS: Rule(EVERYONE, CredentialScope.WRITE),
    Action.FOLLOW_LOG: Rule(EVERYONE, CredentialScope.WRITE),
    Action.VIEW_JOBS: Rule(EVERYONE, CredentialScope.READ),
    Action.MANAGE_JOBS: Rule(ADMINS, CredentialScope.WRITE),
    Action.READ_MEMORY: Rule(EVERYONE, CredentialScope.READ),
    Action.WRITE_MEMORY: Rule(EVERYONE, CredentialScope.WRITE),
    Action.MANAGE_MEMORY: Rule(ADMINS, CredentialScope.WRITE),
    Action.VIEW_OWN_ACCOUNT: Rule(EVERYONE, CredentialScope.READ),
    Action.MANAGE_OWN_ACCOUNT: Rule(EVERYONE, CredentialScope.WRITE, by_token=False),
}


@dataclass(frozen=True)
class Principal:
    """The person or agent behind a request, as its credential proves it."""

    tenant_id: UUID
    user_id: UUID
    role: Role
    scope: CredentialScope = CredentialScope.WRITE
    token_id: UUID | None = None
    # As people know the person, and the token: for what is recorded as said by them.
    name: str | None = None
    token_name: str | None = None
    # Of a session: which one, and until when it would last.
    session_id: UUID | None = None
    session_ends: datetime | None = None

    @property
    def actor(self) -> Actor:
        """Under which pseudonym this caller's acts are recorded: a person, or an agent that acts for its owner."""
        person = user_actor_id(self.user_id)
        if self.token_id is None:
            return Actor("human", person)
        return Actor("agent", f"token:{self.token_id}", on_behalf_of=Delegator("human", person))


def user_actor_id(user_id: UUID) -> str:
    return f"user:{user_id}"


def user_of(actor_id: str) -> UUID | None:
    """Whose account a pseudonym means; None for whatever is none."""
    try:
        user_id = UUID(actor_id.removeprefix("user:"))
    except ValueError:
        return None
    return user_id if actor_id == user_actor_id(user_id) else None


def has_credential(actor_id: str) -> bool:
    """Whether it names somebody who came through a door, and not whoever sits at the machine."""
    return actor_id.startswith(("user:", "token:"))


def may(role: Role, scope: CredentialScope, action: Action, *, by_token: bool = False) -> bool:
    rule = RULES[action]
    far_enough = scope is CredentialScope.WRITE or rule.scope is CredentialScope.READ
    return role in rule.roles and far_enough and (rule.by_token or not by_token)


def authorise(principal: Principal, action: Action) -> None:
    """Let the caller act, or say which role or scope is missing."""
    by_token = principal.token_id is not None
    if may(principal.role, principal.scope, action, by_token=by_token):
        return
    if principal.role not in RULES[action].roles:
        raise NotAllowed(
            f"The role {principal.role} may not {action}: ask an administrator.", action=action, role=principal.role
        )
    if by_token and not RULES[action].by_token:
        raise NotAllowed(
            f"An access token may not {action}: log in on the page, or run the command on the server's own machine.",
            action=action,
        )
    raise NotAllowed(
        f"This access token may only read: to {action}, use one with the scope write.",
        action=action,
        scope=principal.scope,
    )
