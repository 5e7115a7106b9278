"""What may go wrong on the way to a recipient."""

from mnemon.errors import MnemonError


class DeliveryRefused(MnemonError):
    """A recipient refuses what is sent for good, or may not be reached from here."""

    code = "DELIVERY_REFUSED"
    status = 502
    retry = False


class Undelivered(MnemonError):
    """A recipient or its server did not answer, or asked to come again."""

    code = "UNDELIVERED"
    status = 502
    retry = True
