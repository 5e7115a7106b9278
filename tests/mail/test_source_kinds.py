"""What a source of mail may be, told by its location."""

import pytest

from mnemon.mail.errors import SourceRefused
from mnemon.mail.sources.kinds import source_type_of, without_password


@pytest.mark.parametrize("location", ["~nobody-of-that-name/list.mbox", "http://[", "file://[x"])
def test_what_can_be_no_place_is_refused(location: str) -> None:
    with pytest.raises(SourceRefused):
        source_type_of(location)


def test_a_password_in_an_address_is_not_told() -> None:
    assert without_password("https://eve:s3cret@lists.example/a.mbox") == "https://eve@lists.example/a.mbox"
    assert without_password("imaps://eve@mail.example/INBOX") == "imaps://eve@mail.example/INBOX"
    assert without_password("/var/mail/a:b@c") == "/var/mail/a:b@c"
