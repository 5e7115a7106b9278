"""Buckets: objects in S3, or in a store that speaks its language. The client is an extra and loads late.

Its methods wait for the network: call them in a thread.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr

from mnemon.errors import BadSettings, MnemonError

PAGE = 1_000
BLOCK = 1 << 20
# What the store says of keys and buckets that are wrong: no retry changes it.
FINAL = frozenset(
    {"403", "AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "NoSuchBucket", "SignatureDoesNotMatch"}
)
ABSENT = frozenset({"NoSuchKey", "404", "NotFound"})
CHANGED = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
# What stores say of requests that they do not know, such as conditional writes.
UNKNOWN = frozenset({"NotImplemented", "501"})


class BucketUnavailable(MnemonError):
    """The object store does not answer, or asks to be left alone for a while."""

    code = "BUCKET_UNAVAILABLE"
    status = 503
    retry = True


class BucketRefused(MnemonError):
    """The object store knows no such bucket, or does not let these keys at it."""

    code = "BUCKET_REFUSED"
    status = 422


class ObjectGone(MnemonError):
    """The bucket has no object of this key."""

    code = "OBJECT_GONE"
    status = 404


class ObjectChanged(MnemonError):
    """The object is there already, or is not the one that was read before: somebody else wrote it."""

    code = "OBJECT_CHANGED"
    status = 409
    retry = True


@dataclass(frozen=True)
class BucketAddress:
    """Where a bucket is; the prefix is part of every key in it."""

    bucket: str
    prefix: str = ""
    endpoint: str | None = None
    region: str = "us-east-1"

    @classmethod
    def parse(cls, place: str, told_by: str) -> "BucketAddress":
        """From `s3://bucket/prefix?endpoint=…&region=…`."""
        parts = urlsplit(place)
        options = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.scheme != "s3" or not parts.netloc or options.keys() - {"endpoint", "region"}:
            raise BadSettings(
                f"{told_by} is not the address of a bucket: give s3://bucket/prefix, with ?endpoint=https://… and "
                "&region=… where it is not Amazon's own.",
                variable=told_by,
            )
        prefix = parts.path.strip("/")
        region = options.get("region", "us-east-1")
        return cls(parts.netloc, f"{prefix}/" if prefix else "", options.get("endpoint"), region)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"


@dataclass(frozen=True)
class BucketKeys:
    """Who asks: `keys` with the two given here, `server` with what the machine has, `none` without a signature."""

    access: Literal["keys", "server", "none"] = "server"
    access_key: str = ""
    secret_key: SecretStr | None = None


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a listing tells of it; its key is without the prefix of the bucket's address."""

    key: str
    etag: str
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One state of an object in a bucket that keeps them all, or the mark that it was deleted."""

    key: str
    version_id: str
    newest: bool


@dataclass(frozen=True, slots=True)
class BucketPatience:
    """How long an answer is waited for, and how often it is asked for."""

    connect_seconds: float = 5
    read_seconds: float = 60
    tries: int = 4


class ObjectBucket:
    """One bucket. `requests` counts what was asked of it."""

    def __init__(
        self, address: BucketAddress, keys: BucketKeys | None = None, patience: BucketPatience | None = None
    ) -> None:
        self.address = address
        self.requests = 0
        self._patience = patience or BucketPatience()
        self._keys = keys or BucketKeys()

    def pages(self, within: str = "", after: str = "", size: int | None = None) -> Iterator[list[StoredObject]]:
        """All objects below `within`, in the order of their keys' bytes, from the one after `after`."""
        own = self.address.prefix
        more: dict[str, Any] = {"StartAfter": own + after} if after else {}
        while True:
            answer = self._ask("list_objects_v2", Prefix=own + within, MaxKeys=size or PAGE, **more)
            yield [self._listed(one) for one in answer.get("Contents", ())]
            if not answer.get("IsTruncated"):
                return
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    def read(self, key: str, write: Callable[[bytes], Any]) -> None:
        """Hand the object's bytes to `write`, block by block."""
        body = self._ask("get_object", key)["Body"]
        with self._told(key), body:
            for block in body.iter_chunks(BLOCK):
                write(block)

    def read_whole(self, key: str) -> bytes:
        blocks: list[bytes] = []
        self.read(key, blocks.append)
        return b"".join(blocks)

    def fetch(self, key: str) -> tuple[bytes, str]:
        """The object and its mark, by which a later write tells whether it is still the same."""
        answer = self._ask("get_object", key)
        with self._told(key), answer["Body"] as body:
            return body.read(), answer["ETag"]

    def first(self, within: str) -> StoredObject | None:
        """The one below `within` that comes first."""
        answer = self._ask("list_objects_v2", Prefix=self.address.prefix + within, MaxKeys=1)
        return next((self._listed(one) for one in answer.get("Contents", ())), None)

    def folders(self, within: str) -> Iterator[str]:
        """The names right below `within` that have objects below them."""
        start = self.address.prefix + within
        more: dict[str, Any] = {}
        while True:
            answer = self._ask("list_objects_v2", Prefix=start, Delimiter="/", MaxKeys=PAGE, **more)
            for one in answer.get("CommonPrefixes", ()):
                yield one["Prefix"].removeprefix(start).rstrip("/")
            if not answer.get("IsTruncated"):
                return
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    def write(self, key: str, content: bytes) -> None:
        self._ask("put_object", key, Body=content)

    def write_if(self, key: str, content: bytes, mark: str | None = None) -> None:
        """Only over the object of this mark, without one only where there is none; else ObjectChanged.

        A store that knows no conditions writes all the same: who must be sure has looked, and holds a lock elsewhere.
        """
        condition = {"IfMatch": mark} if mark is not None else {"IfNoneMatch": "*"}
        try:
            self._ask("put_object", key, Body=content, **condition)
        except ObjectGone:
            raise ObjectChanged(f"{self.address}{key} was removed by somebody else meanwhile.") from None
        except BucketUnavailable as failure:
            if failure.details.get("store_says") not in UNKNOWN:
                raise
            self.write(key, content)

    def write_file(self, key: str, file: Path) -> None:
        """In parts where it is large."""
        with self._told(key), file.open("rb") as content:
            self.requests += 1
            self._client.upload_fileobj(content, self.address.bucket, self.address.prefix + key)

    def state(self, key: str) -> StoredObject | None:
        try:
            answer = self._ask("head_object", key)
        except ObjectGone:
            return None
        return StoredObject(key, answer["ETag"].strip('"'), answer["ContentLength"], answer["LastModified"])

    def remove(self, key: str) -> None:
        """Gone when this returns, also if it was not there."""
        self._ask("delete_object", key)

    def versions(self, within: str) -> Iterator[ObjectVersion]:
        """What the bucket has and had below `within`, and the marks of what was deleted."""
        more: dict[str, Any] = {}
        while True:
            answer = self._ask("list_object_versions", Prefix=self.address.prefix + within, **more)
            for one in (*answer.get("Versions", ()), *answer.get("DeleteMarkers", ())):
                yield ObjectVersion(one["Key"].removeprefix(self.address.prefix), one["VersionId"], one["IsLatest"])
            if not answer.get("IsTruncated"):
                return
            more = {"KeyMarker": answer["NextKeyMarker"], "VersionIdMarker": answer["NextVersionIdMarker"]}

    def remove_version(self, one: ObjectVersion) -> None:
        self._ask("delete_object", one.key, VersionId=one.version_id)

    def keeps_versions(self) -> bool:
        """Or has kept them once; or may do so: who is not told must not take it for a no."""
        try:
            return "Status" in self._ask("get_bucket_versioning")
        except (BucketUnavailable, BucketRefused):
            return True

    def _listed(self, one: dict[str, Any]) -> StoredObject:
        key = one["Key"].removeprefix(self.address.prefix)
        return StoredObject(key, one["ETag"].strip('"'), one["Size"], one["LastModified"])

    def _ask(self, what: str, key: str | None = None, **given: Any) -> Any:
        if key is not None:
            given["Key"] = self.address.prefix + key
        self.requests += 1
        with self._told(key):
            return getattr(self._client, what)(Bucket=self.address.bucket, **given)

    @contextmanager
    def _told(self, key: str | None) -> Iterator[None]:
        """What the client raises, as one of ours."""
        _ = self._client
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        place = f"{self.address}{key or ''}"
        try:
            yield
        except ClientError as failure:
            code, words = failure.response["Error"]["Code"], failure.response["Error"].get("Message", "")
            if code in ABSENT and key is not None:
                raise ObjectGone(f"There is no {place}.") from None
            if code in CHANGED:
                raise ObjectChanged(f"{place} was written by somebody else meanwhile.") from None
            told = f"{place} cannot be reached: {code} {words}".strip()
            if code in FINAL or code in ABSENT:
                raise BucketRefused(f"{told}. Check the bucket's name and the keys.", store_says=code) from None
            raise BucketUnavailable(f"{told}.", store_says=code) from None
        except (BotoCoreError, Boto3Error) as failure:
            raise BucketUnavailable(f"{place} cannot be reached: {failure}") from None

    @cached_property
    def _client(self) -> Any:
        boto3 = client_library("S3")
        from botocore import UNSIGNED
        from botocore.config import Config

        signed = {"signature_version": UNSIGNED} if self._keys.access == "none" else {}
        manner = Config(
            connect_timeout=self._patience.connect_seconds, read_timeout=self._patience.read_seconds,
            retries={"total_max_attempts": self._patience.tries, "mode": "standard"},
            max_pool_connections=20, s3={"addressing_style": "path" if self.address.endpoint else "auto"},
            request_checksum_calculation="when_required", response_checksum_validation="when_required", **signed,
        )  # fmt: skip
        given, secret = self._keys.access == "keys", self._keys.secret_key
        return boto3.client(
            "s3", endpoint_url=self.address.endpoint, region_name=self.address.region, config=manner,
            aws_access_key_id=self._keys.access_key if given else None,
            aws_secret_access_key=secret.get_secret_value() if given and secret else None,
        )  # fmt: skip


def client_library(what: str, extra: str = "s3") -> Any:
    """The client of Amazon's services, or a sentence that says how to get it."""
    try:
        import boto3
    except ModuleNotFoundError:
        raise BadSettings(f"{what} needs boto3: pip install 'mnemon[{extra}]'.") from None
    return boto3
