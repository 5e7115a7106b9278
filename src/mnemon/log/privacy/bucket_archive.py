"""Archived payloads in a bucket."""

import asyncio
from collections.abc import AsyncIterator

from mnemon.bucket_versions import remove_for_good
from mnemon.buckets import ObjectBucket, ObjectGone
from mnemon.log.errors import ArchiveDamaged


class BucketArchive:
    """An object of the bucket for each that is archived. It is durable when `put` returns."""

    def __init__(self, bucket: ObjectBucket) -> None:
        self._bucket = bucket

    async def put(self, key: str, content: bytes) -> None:
        await asyncio.to_thread(self._bucket.write, key, content)

    async def get(self, key: str) -> bytes:
        try:
            return await asyncio.to_thread(self._bucket.read_whole, key)
        except ObjectGone:
            raise ArchiveDamaged(
                f"The archive holds no {key}: put it back into {self._bucket.address}.", object_key=key
            ) from None

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(remove_for_good, self._bucket, key)

    async def keys(self) -> AsyncIterator[str]:
        pages = self._bucket.pages()
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            for one in page:
                yield one.key
