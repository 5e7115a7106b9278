"""Tenants, users, tokens, login links and approvals, held against the events that made and changed them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from mnemon.identity import events as identity
from mnemon.identity.changes import CHANGES, OURS
from mnemon.log.events import Event
from mnemon.verification.findings import CheckReport, VerifyTask

TENANT = "SELECT mnemon.tenant_seal(t) AS seal FROM mnemon.tenants t WHERE tenant_id = %s"
USERS = """
SELECT user_id::text AS id, role, disabled_at IS NOT NULL AS disabled, mnemon.user_seal(u) AS seal
  FROM mnemon.users u WHERE tenant_id = %s
"""
TOKENS = """
SELECT token_id::text AS id, revoked_at IS NOT NULL AS revoked, mnemon.token_seal(t) AS seal
  FROM mnemon.access_tokens t WHERE tenant_id = %s
"""
OPEN_LINKS = """
SELECT user_id::text AS id, mnemon.link_seal(l) AS seal FROM mnemon.login_links l
 WHERE tenant_id = %s AND used_at IS NULL AND expires_at > now()
"""
APPROVALS = """
SELECT approval_id::text AS id, act, legal_entity, period, requested_by, status IN ('approved', 'used') AS given,
       CASE WHEN status IN ('approved', 'used') THEN decided_by END AS given_by
  FROM mnemon.approvals WHERE tenant_id = %s
"""
PAGE = 1000


@dataclass
class _Told:
    """What the log says there is: rows by their ids, each with the columns that events tell."""

    added: bool = False
    tenant: str | None = None
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    approvals: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        data = event.data
        match event.type:
            case identity.TENANT_ADDED.type:
                self.added, self.tenant = True, data.get("seal")
            case identity.USER_ADDED.type:
                self.users[data["user_id"]] = {"role": data["role"], "disabled": False, "seal": data.get("seal")}
            case identity.TOKEN_ADDED.type:
                self.tokens[data["token_id"]] = {"revoked": False, "seal": data.get("seal")}
            case identity.TOKEN_REVOKED.type:
                token = self.tokens.setdefault(data["token_id"], {})
                token.update(revoked=True, seal=data.get("seal", token.get("seal")))
            case identity.LINK_ADDED.type:
                self.links.add(data.get("seal", ""))
            case identity.APPROVAL_REQUESTED.type:
                asked = {name: data[name] for name in ("act", "legal_entity", "period")}
                self.approvals[data["approval_id"]] = {**asked, "requested_by": _person_of(event), "given": False}
            case identity.APPROVAL_GIVEN.type:
                given = self.approvals.setdefault(data["approval_id"], {})
                given.update(given=True, given_by=_person_of(event))
            case identity.APPROVAL_DECLINED.type:
                self.approvals.setdefault(data["approval_id"], {})["given"] = False
            case _:
                self._change(event.type, data)

    def _change(self, kind: str, data: dict[str, Any]) -> None:
        user = self.users.setdefault(data["user_id"], {})
        user["seal"] = data.get("seal", user.get("seal"))
        if kind == identity.ROLE_CHANGED.type:
            user["role"] = data["new"]
        if kind in (identity.USER_DISABLED.type, identity.USER_ERASED.type, identity.USER_ENABLED.type):
            user["disabled"] = kind != identity.USER_ENABLED.type


async def check_people(task: VerifyTask, report: CheckReport) -> None:
    told = _Told()
    async for event in _happenings(task):
        told.take(event)
    async with task.parts.database.transaction(task.tenant) as tx:
        tenant = await (await tx.execute(TENANT, (task.tenant,))).fetchone()
        users = await (await tx.execute(USERS, (task.tenant,))).fetchall()
        tokens = await (await tx.execute(TOKENS, (task.tenant,))).fetchall()
        links = await (await tx.execute(OPEN_LINKS, (task.tenant,))).fetchall()
        approvals = await (await tx.execute(APPROVALS, (task.tenant,))).fetchall()
    report.checked += 1 + len(users) + len(tokens) + len(links) + len(approvals)
    if not told.added:
        report.find("tenant", "No event tells that it was added.")
    if tenant is None or (told.tenant is not None and told.tenant != tenant["seal"]):
        report.find("tenant", "Its row is gone, or its names were changed.")
    _compare(report, "user", told.users, {row["id"]: row for row in users})
    _compare(report, "token", told.tokens, {row["id"]: row for row in tokens})
    _compare(report, "approval", told.approvals, {row["id"]: row for row in approvals})
    for row in links:
        if row["seal"] not in told.links:
            report.find(f"user {row['id']}", "A login link that no event tells of, or that was changed, lets them in.")


def _person_of(event: Event) -> str:
    """Whoever did it, also through a token of theirs."""
    actor = event.envelope["actor"]
    person: str = (actor.get("on_behalf_of") or actor)["id"]
    return person


async def _happenings(task: VerifyTask) -> AsyncIterator[Event]:
    cursor = None
    while True:
        page = await task.parts.log.read_page(task.tenant, CHANGES, OURS, cursor=cursor, limit=PAGE)
        for event in page.events:
            yield event
        cursor = page.next_cursor
        if cursor is None:
            return


def _compare(report: CheckReport, kind: str, told: dict[str, dict[str, Any]], rows: dict[str, dict[str, Any]]) -> None:
    for one in sorted(rows.keys() - told.keys()):
        report.find(f"{kind} {one}", f"No event tells that this {kind} was added.")
    for one in sorted(told.keys() - rows.keys()):
        report.find(f"{kind} {one}", f"The row of this {kind} is gone.")
    for one in sorted(told.keys() & rows.keys()):
        differing = [name for name, value in told[one].items() if value is not None and rows[one][name] != value]
        if differing:
            what = ", ".join("another column" if name == "seal" else name for name in differing)
            report.find(f"{kind} {one}", f"The row is not as its last event left it: {what}.")
