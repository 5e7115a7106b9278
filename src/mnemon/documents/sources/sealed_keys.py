"""Credentials of sources: sealed with a key of the source's own, which is kept and renewed like the keys of people."""

import os
from uuid import UUID

import orjson
from cryptography.exceptions import InvalidTag
from pydantic import SecretStr

from mnemon.buckets import BucketKeys
from mnemon.db.database import Connection
from mnemon.log.errors import KeyUnavailable
from mnemon.log.privacy.subjects import SubjectKeys

NONCE = 12


def subject_of_source(source_id: UUID) -> str:
    """Whose key seals where a source is, and with which keys it is read."""
    return f"source:{source_id}"


async def seal_keys(keys: SubjectKeys, tx: Connection, tenant: UUID, source_id: UUID, given: BucketKeys) -> bytes:
    """In the transaction whose append names the source: its key is made here."""
    subject = subject_of_source(source_id)
    living = await keys.admit(tenant, subject, tx)
    if living is None:
        raise KeyUnavailable(f"The key of {subject} was destroyed: remove the source and add it again.")
    nonce = os.urandom(NONCE)
    assert given.secret_key is not None
    plain = orjson.dumps([given.access_key, given.secret_key.get_secret_value()])
    return nonce + living.cipher.encrypt(nonce, plain, _context(tenant, source_id))


async def open_keys(keys: SubjectKeys, tenant: UUID, source_id: UUID, sealed: bytes) -> BucketKeys:
    subject = subject_of_source(source_id)
    living = (await keys.of(tenant, [subject]))[subject].living
    if living is None:
        raise KeyUnavailable(f"The key of {subject} is destroyed: give the source its access key and secret again.")
    try:
        plain = living.cipher.decrypt(sealed[:NONCE], sealed[NONCE:], _context(tenant, source_id))
    except InvalidTag:
        raise KeyUnavailable(f"The credentials of {subject} were changed: give them again.") from None
    access_key, secret_key = orjson.loads(plain)
    return BucketKeys("keys", access_key, SecretStr(secret_key))


def _context(tenant: UUID, source_id: UUID) -> bytes:
    return f"mnemon/source/1 {tenant} {source_id}".encode()
