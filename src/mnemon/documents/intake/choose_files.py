"""Where the settings say that files are: in the home's folders, or in a bucket."""

from mnemon.buckets import BucketAddress, ObjectBucket
from mnemon.documents.intake.bucket_files import BucketFiles
from mnemon.documents.intake.files import Files
from mnemon.settings import Settings


def files_for(settings: Settings) -> Files:
    here = Files.of(settings)
    if settings.blob_store is None:
        return here
    bucket = ObjectBucket(BucketAddress.parse(settings.blob_store, "MNEMON_BLOB_STORE"))
    return BucketFiles(here.uploads, here.blobs, here.largest, bucket)
