"""A bucket as a source."""

from collections.abc import Callable, Iterator

from mnemon.buckets import ObjectBucket
from mnemon.documents.sources.places import SeenObject


class BucketPlace:
    """Objects below a prefix; those that stand for folders are none."""

    def __init__(self, bucket: ObjectBucket, prefix: str) -> None:
        self._bucket = bucket
        self._prefix = prefix

    @property
    def requests(self) -> int:
        return self._bucket.requests

    def pages(self, after: str) -> Iterator[list[SeenObject]]:
        for page in self._bucket.pages(self._prefix, after):
            yield [
                SeenObject(one.key, f"{one.etag} {one.size}", one.size, one.modified)
                for one in page
                if not one.key.endswith("/") and "\x00" not in one.key
            ]

    def read(self, key: str, write: Callable[[bytes], object]) -> None:
        self._bucket.read(key, write)

    def address_of(self, key: str) -> str:
        return f"s3://{self._bucket.address.bucket}/{key}"
