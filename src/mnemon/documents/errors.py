"""What can be wrong with a file, a document or a run."""

from mnemon.errors import Conflict, MnemonError, NotFound, RequestTooLarge


class RefusedFile(MnemonError):
    """The file is not taken in."""

    code = "FILE_REFUSED"
    status = 400


class NoFile(RefusedFile):
    """The request holds no file."""

    code = "NO_FILE"


class BadUpload(RefusedFile):
    """The request is not a well-formed multipart form."""

    code = "BAD_UPLOAD"


class UnfitField(RefusedFile):
    """A field beside the file is unknown, too long, or does not fit the others."""

    code = "UNFIT_FIELD"


class EmptyFile(RefusedFile):
    """The file has no bytes."""

    code = "EMPTY_FILE"


class UploadTooLarge(RequestTooLarge):
    """The file is over the size limit."""

    code = "FILE_TOO_LARGE"


class UploadStalled(MnemonError):
    """The sender of an upload fell silent."""

    code = "UPLOAD_STALLED"
    status = 408
    retry = True


class UploadNotStored(MnemonError):
    """The file could not be written to disk; nothing of it is kept."""

    code = "UPLOAD_NOT_STORED"
    status = 500
    retry = True


class FileChanged(Conflict):
    """The stored file is not the one that was taken in."""

    code = "FILE_CHANGED"


class FileGone(Conflict):
    """The raw file that this needs was removed."""

    code = "FILE_GONE"


class RunNotRetriable(Conflict):
    """The run did not fail, so there is nothing to retry."""

    code = "RUN_NOT_RETRIABLE"


class ArtifactNotFound(NotFound):
    """There is no document of this name, or it is not for this reader: both look the same."""

    code = "ARTIFACT_NOT_FOUND"


class DocumentPurged(Conflict):
    """The document's content is gone for good."""

    code = "DOCUMENT_PURGED"


class NothingActive(Conflict):
    """The document has no revision in the state that this needs."""

    code = "NO_SUCH_VERSION_STATE"


class TextDiffers(Conflict):
    """An extractor of the same name and version read another text than before; the first one stays."""

    code = "TEXT_DIFFERS"
