"""What can go wrong with a foreign file, each with a reason that a user understands."""

from mnemon.errors import MnemonError


class UnsupportedFile(MnemonError):
    """The file is of a kind that Mnemon does not read, or its name and its content disagree."""

    code = "UNSUPPORTED_FILE"
    status = 400


class ExtractionFailed(MnemonError):
    """No text can be had from the file, however often it is tried; `details.reason` says why in one word."""

    code = "EXTRACTION_FAILED"
    status = 422

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, reason=reason)

    @property
    def reason(self) -> str:
        return str(self.details["reason"])
