"""What can go wrong with mail, in words that say what to do."""

from mnemon.errors import MnemonError, NotFound


class ImportGone(NotFound):
    """The bytes of an import, or the import itself, are no longer here."""

    code = "IMPORT_GONE"


class SourceUnreachable(MnemonError):
    """A source of mail did not give what it was asked for."""

    code = "SOURCE_UNREACHABLE"
    status = 502
    retry = True


class SourceRefused(MnemonError):
    """A source of mail cannot be read as it is given: its place, its kind or its credentials are wrong."""

    code = "SOURCE_REFUSED"
    status = 422
