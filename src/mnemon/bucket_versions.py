"""Objects removed for good: with every earlier version, where a bucket keeps them."""

from mnemon.buckets import UNKNOWN, BucketRefused, BucketUnavailable, ObjectBucket, ObjectVersion
from mnemon.errors import MnemonError

DENIED = frozenset({"403", "AccessDenied", "AllAccessDisabled"})


def remove_for_good(bucket: ObjectBucket, key: str) -> None:
    """Gone when this returns, also if it was not there."""
    try:
        _remove(bucket, [one for one in bucket.versions(key) if one.key == key])
    except (BucketUnavailable, BucketRefused) as failure:
        bucket.remove(key)
        _tell_what_may_be_left(bucket, key, failure)


def remove_below(bucket: ObjectBucket, within: str) -> None:
    """The same for every object below `within`."""
    try:
        _remove(bucket, list(bucket.versions(within)))
    except (BucketUnavailable, BucketRefused) as failure:
        for one in [one for page in bucket.pages(within) for one in page]:
            bucket.remove(one.key)
        _tell_what_may_be_left(bucket, within, failure)


def remove_earlier(bucket: ObjectBucket, key: str) -> None:
    """What was there under this key before what is there now."""
    try:
        _remove(bucket, [one for one in bucket.versions(key) if one.key == key and not one.newest])
    except (BucketUnavailable, BucketRefused) as failure:
        _tell_what_may_be_left(bucket, key, failure)


def _remove(bucket: ObjectBucket, found: list[ObjectVersion]) -> None:
    """The newest last: without it an earlier one would be read as the present one."""
    for one in sorted(found, key=lambda one: one.newest):
        bucket.remove_version(one)


def _tell_what_may_be_left(bucket: ObjectBucket, key: str, failure: MnemonError) -> None:
    """Nothing, if the bucket keeps no versions or its store knows none."""
    said = failure.details.get("store_says")
    if said in UNKNOWN or (said in DENIED and not bucket.keeps_versions()):
        return
    if said not in DENIED:
        raise failure
    raise BucketRefused(
        f"Earlier versions of {bucket.address}{key} may be left: the store denies these keys to list or remove them. "
        "Allow s3:ListBucketVersions and s3:DeleteObjectVersion, take away what locks the objects, or name a bucket "
        "that keeps no versions.",
        store_says=said,
    ) from failure
