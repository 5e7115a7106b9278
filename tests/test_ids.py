"""ULIDs: unique, well formed, and led by their time."""

import time

from mnemon.ids import is_ulid, new_ulid


def test_ulids_are_unique_and_canonical() -> None:
    made = {new_ulid() for _ in range(10_000)}
    assert len(made) == 10_000
    assert all(is_ulid(one) for one in made)


def test_a_ulid_begins_with_its_millisecond() -> None:
    earlier = new_ulid()
    time.sleep(0.002)
    assert earlier[:10] < new_ulid()[:10]


def test_other_spellings_are_refused() -> None:
    good = new_ulid()
    for bad in (good.lower(), good[:-1], good + "0", "8" + good[1:], good[:-1] + "U", good[:-1] + "é"):
        assert not is_ulid(bad)
