"""How a process that works or serves settles down."""

import gc
from collections.abc import Iterator

import pytest

from mnemon.cli.process import OBJECTS_BETWEEN_COLLECTIONS, settle_memory


@pytest.fixture
def own_collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


class _Knot:
    def __init__(self) -> None:
        self.own = self


def test_what_is_loaded_is_left_alone_and_garbage_is_still_collected(own_collector: None) -> None:
    gc.collect()
    kept = _Knot()
    settle_memory()
    assert gc.get_freeze_count() > 0
    assert not any(one is kept for one in gc.get_objects())
    left = len(gc.get_objects())
    for _ in range(3 * OBJECTS_BETWEEN_COLLECTIONS):
        _Knot()
    assert len(gc.get_objects()) - left < 2 * OBJECTS_BETWEEN_COLLECTIONS
