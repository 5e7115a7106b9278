"""The first page, before anything is asked."""

from mnemon.web.asking.glance import of_several


def test_one_document_does_not_fill_what_was_lately_decided() -> None:
    found = [{"artifact_uid": uid, "event_id": f"{uid}{number}"} for uid in ("rules", "minutes") for number in range(4)]
    shown = [one["event_id"] for one in of_several(found)]
    assert shown[:4] == ["rules0", "rules1", "minutes0", "minutes1"]
    assert len(shown) == 8
