"""AWS KMS as the keeper of the key-encryption key, which then never leaves Amazon's hardware."""

import asyncio
import base64
import hashlib
from collections.abc import Collection
from functools import cached_property
from typing import Any

from mnemon.errors import BadSettings
from mnemon.log.errors import KeyUnavailable, SealBroken
from mnemon.log.privacy.wrapping_keys import OfOthers, Wrapper

# Calls that are under way at once; KMS throttles per account.
AT_ONCE = 8


class KmsKey:
    """One KMS key, known by its ARN."""

    def __init__(self, keys: "KmsKeys", key_id: str) -> None:
        self._keys = keys
        self.key_id = key_id

    async def wrap(self, secret: bytes, context: bytes) -> bytes:
        answer = await self._keys.call(
            "encrypt", KeyId=self.key_id, Plaintext=secret, EncryptionContext=_named(context)
        )
        wrapped: bytes = answer["CiphertextBlob"]
        return wrapped

    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        answer = await self._keys.call(
            "decrypt", KeyId=self.key_id, CiphertextBlob=wrapped, EncryptionContext=_named(context)
        )
        secret: bytes = answer["Plaintext"]
        return secret


class KmsKeys:
    """The keys of one account and region. To renew means to name another key, or to let KMS rotate its own."""

    def __init__(self, key: str, endpoint: str | None = None) -> None:
        self._key = key
        self._endpoint = endpoint
        self._arn: str | None = None
        self._turns = asyncio.Semaphore(AT_ONCE)

    @cached_property
    def _client(self) -> Any:
        try:
            import boto3
            from botocore.config import Config
        except ModuleNotFoundError:
            raise BadSettings("MNEMON_KEK_SOURCE=kms needs boto3: pip install 'mnemon[kms]'.") from None
        patience = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3, "mode": "standard"})
        return boto3.client("kms", endpoint_url=self._endpoint, config=patience)

    async def current(self) -> Wrapper | None:
        if self._arn is None:
            # An alias may come to mean another key; what a data key was wrapped with must not change with it.
            answer = await self.call("describe_key", KeyId=self._key)
            self._arn = str(answer["KeyMetadata"]["Arn"])
        return KmsKey(self, self._arn)

    async def find(self, key_id: str) -> Wrapper | None:
        return KmsKey(self, key_id) if key_id.startswith("arn:") else None

    async def renew(self) -> Wrapper:
        self._arn = None
        current = await self.current()
        assert current is not None
        return current

    def discard_all_but(self, needed: Collection[str], of_others: OfOthers = ()) -> list[str]:
        return []

    async def call(self, operation: str, **arguments: Any) -> Any:
        client = self._client
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            async with self._turns:
                return await asyncio.to_thread(getattr(client, operation), **arguments)
        except ClientError as failure:
            if failure.response["Error"]["Code"] == "InvalidCiphertextException":
                raise SealBroken("A person's wrapped key was changed, or moved from another row.") from None
            raise _unavailable(operation, self._key, failure) from failure
        except BotoCoreError as failure:
            raise _unavailable(operation, self._key, failure) from failure


def _unavailable(operation: str, key: str, failure: Exception) -> KeyUnavailable:
    return KeyUnavailable(f"AWS KMS refused {operation} with the key {key}, or did not answer: {failure}", key_id=key)


def _named(context: bytes) -> dict[str, str]:
    """A digest: KMS logs its contexts, and they should not tell who a key belongs to."""
    return {"mnemon": base64.b64encode(hashlib.sha256(context).digest()).decode()}
