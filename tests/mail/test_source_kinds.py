"""What a source of mail may be, told by its location."""

import pytest

from mnemon.mail.errors import SourceRefused
from mnemon.mail.sources.kinds import source_type_of


@pytest.mark.parametrize("location", ["~nobody-of-that-name/list.mbox", "http://[", "file://[x"])
def test_what_can_be_no_place_is_refused(location: str) -> None:
    with pytest.raises(SourceRefused):
        source_type_of(location)
