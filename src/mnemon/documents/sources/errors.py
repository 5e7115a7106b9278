"""What can be wrong with a source."""

from mnemon.errors import MnemonError


class PlaceRefused(MnemonError):
    """A source cannot be where it is said to be: not a bucket, or a folder that the settings do not open."""

    code = "PLACE_REFUSED"
    status = 422


class PlaceUnavailable(MnemonError):
    """The folder of a source cannot be read now."""

    code = "PLACE_UNAVAILABLE"
    status = 503
    retry = True
