"""What can be wrong with a source."""

from mnemon.errors import MnemonError


class PlaceRefused(MnemonError):
    """A source cannot be where it is said to be: not a bucket, or a folder that the settings do not open."""

    code = "PLACE_REFUSED"
    status = 422


class PlaceEmpty(MnemonError):
    """A source lists nothing at all any more; a disk that is not mounted, or a bucket made anew, looks like that."""

    code = "PLACE_EMPTY"
    status = 409


class PlaceUnavailable(MnemonError):
    """The folder of a source cannot be read now."""

    code = "PLACE_UNAVAILABLE"
    status = 503
    retry = True
