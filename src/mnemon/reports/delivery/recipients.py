"""Recipients as they are kept: what they want to be told, and, sealed, where they are."""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import orjson
from cryptography.exceptions import InvalidTag
from psycopg import errors as postgres

from mnemon.db.database import Connection
from mnemon.errors import Conflict, NotFound
from mnemon.log.errors import KeyUnavailable
from mnemon.log.privacy.subjects import SubjectKeys
from mnemon.reports.delivery.happenings import subject_of_recipient

Way = Literal["webhook", "e-mail"]
ALL = "SELECT * FROM mnemon.recipients WHERE tenant_id = mnemon.current_tenant() AND way = %s ORDER BY created_at, name"
WANTING = "SELECT * FROM mnemon.recipients WHERE tenant_id = mnemon.current_tenant() AND NOT paused"
BY_NAME = "SELECT * FROM mnemon.recipients WHERE tenant_id = mnemon.current_tenant() AND way = %s AND name = %s"
BY_ID = "SELECT * FROM mnemon.recipients WHERE tenant_id = mnemon.current_tenant() AND recipient_id = %s"
ADD = """
INSERT INTO mnemon.recipients
       (tenant_id, recipient_id, way, name, sealed, event_types, report_kinds, created_by)
VALUES (mnemon.current_tenant(), %(recipient_id)s, %(way)s, %(name)s, %(sealed)s, %(event_types)s, %(report_kinds)s,
        %(created_by)s)
RETURNING *
"""
SEAL = "SELECT mnemon.recipient_seal(r) AS seal FROM mnemon.recipients r WHERE recipient_id = %s"
REMOVE = "DELETE FROM mnemon.recipients WHERE tenant_id = mnemon.current_tenant() AND recipient_id = %s"
NONCE = 12


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who is told, with where they are."""

    recipient_id: UUID
    way: Way
    name: str
    place: str
    secret: str | None
    event_types: Sequence[str]
    report_kinds: Sequence[str]
    created_at: datetime


def name_of_address(address: str) -> str:
    """What an e-mail address is called where it must not be read."""
    return hashlib.sha256(address.strip().lower().encode()).hexdigest()[:32]


def wants(row: dict[str, Any], event_type: str, report_kind: str | None) -> bool:
    """Whether a recipient wants to be told of an event of this type; of a report, also of which kind."""
    if report_kind is not None and row["report_kinds"] and report_kind not in row["report_kinds"]:
        return False
    return any(fits(pattern, event_type) for pattern in row["event_types"])


def fits(pattern: str, event_type: str) -> bool:
    """As brokers match: `*` is one word, `#` any number of them."""
    words = {"*": r"[^.]+", "#": r".*"}
    parts = [words.get(one) or re.escape(one) for one in pattern.split(".")]
    text = r"\.".join(parts).replace(r"\..*", r"(?:\..*)?").replace(r".*\.", r"(?:.*\.)?")
    return re.fullmatch(text, event_type) is not None


async def seal_place(
    keys: SubjectKeys, tx: Connection, tenant: UUID, recipient_id: UUID, place: str, secret: str | None
) -> bytes:
    """In the transaction whose append names the recipient: its key is made here."""
    subject = subject_of_recipient(recipient_id)
    living = await keys.admit(tenant, subject, tx)
    if living is None:
        raise KeyUnavailable(f"The key of {subject} was destroyed: add the recipient again.")
    nonce = os.urandom(NONCE)
    return nonce + living.cipher.encrypt(nonce, orjson.dumps([place, secret]), _context(tenant, recipient_id))


async def open_recipients(keys: SubjectKeys, tenant: UUID, rows: Sequence[dict[str, Any]]) -> list[Recipient]:
    """Whose key is gone is left out: nobody knows any more where they are."""
    found = await keys.of(tenant, [subject_of_recipient(row["recipient_id"]) for row in rows])
    opened = []
    for row in rows:
        living = found[subject_of_recipient(row["recipient_id"])].living
        if living is None:
            continue
        sealed = row["sealed"]
        try:
            plain = living.cipher.decrypt(sealed[:NONCE], sealed[NONCE:], _context(tenant, row["recipient_id"]))
        except InvalidTag:
            raise KeyUnavailable(
                f"What is kept of recipient {row['recipient_id']} was changed: add it again."
            ) from None
        place, secret = orjson.loads(plain)
        opened.append(
            Recipient(
                row["recipient_id"], row["way"], row["name"], place, secret, row["event_types"], row["report_kinds"],
                row["created_at"],
            )
        )  # fmt: skip
    return opened


async def add_recipient(tx: Connection, values: dict[str, Any], shown: str) -> dict[str, Any]:
    try:
        async with tx.transaction():
            row = await (await tx.execute(ADD, values)).fetchone()
    except postgres.UniqueViolation:
        raise Conflict(f"{shown} is told already: remove it first, or give another name.", name=shown) from None
    assert row is not None
    return row


async def row_by_name(tx: Connection, way: Way, name: str, shown: str) -> dict[str, Any]:
    row = await (await tx.execute(BY_NAME, (way, name))).fetchone()
    if row is None:
        what, command = ("webhook", "webhooks") if way == "webhook" else ("digest for", "digests")
        raise NotFound(f"There is no {what} {shown}: `mnemon {command} list` shows those there are.", name=shown)
    return row


def _context(tenant: UUID, recipient_id: UUID) -> bytes:
    return f"mnemon/recipient/1 {tenant} {recipient_id}".encode()
