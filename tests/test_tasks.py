"""A task that is ended ends, also if it lost its cancellation."""

import asyncio

import pytest

from mnemon import tasks
from mnemon.tasks import for_each
from tests.patience import PATIENCE


async def test_a_lost_cancellation_is_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "AGAIN_SECONDS", 0.01)
    lost = []

    async def loop() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError as cancellation:
                if lost:
                    raise
                lost.append(cancellation)

    task = asyncio.create_task(loop())
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await tasks.end(task)
    assert task.cancelled()
    assert len(lost) == 1


async def test_what_a_task_failed_with_is_told() -> None:
    async def fail() -> None:
        raise ValueError("broken")

    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    with pytest.raises(ValueError, match="broken"):
        await tasks.end(task)


async def test_what_goes_wrong_with_one_is_raised_when_all_have_had_their_turn() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        if number % 2 == 0:
            raise ValueError(f"{number} is even")
        done.append(number)

    with pytest.raises(ValueError, match="2 is even"):
        await for_each([1, 2, 3, 4, 5], work)
    assert done == [1, 3, 5]
