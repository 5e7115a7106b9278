"""A folder that the settings name is followed by itself: nobody adds it, and nobody asks for a look."""

import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.sources.filters import KeyFilter
from mnemon.documents.sources.watching import state_of, watching
from mnemon.settings import Settings
from mnemon.work.worker import Worker
from tests.documents.conftest import rows
from tests.documents.sources.conftest import Listed
from tests.work.conftest import Eventually

OFTEN = 0.02


@pytest.fixture
def settings(tmp_path: Path, folder: Path, tenant: UUID) -> Settings:
    return Settings(home=tmp_path / "home", embedder="none", watch_folders=(f"t-{tenant.hex}={folder}",))


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemon.documents.sources.watching.REST", 0)


async def versions(listed: Listed) -> dict[str, int]:
    return {name: one["version_number"] for name, one in (await listed()).items()}


async def test_what_changes_in_a_watched_folder_changes_here(
    folder: Path, mnemon: Mnemon, tenant: UUID, at_work: Worker, listed: Listed, eventually: Eventually
) -> None:
    async def served(**wanted: int) -> None:
        async def is_so() -> bool:
            return await versions(listed) == {f"{name}.txt": version for name, version in wanted.items()}

        await eventually(is_so)

    async def looks() -> list[dict[str, Any]]:
        return await rows(mnemon, tenant, "SELECT sync_id, status, counts FROM mnemon.source_syncs")

    (folder / "travel.txt").write_text("Travel is booked by the office.")
    async with watching(mnemon, OFTEN):
        await served(travel=1)
        (folder / "leave.txt").write_text("Leave is asked for in writing.")
        await served(travel=1, leave=1)
        (folder / "travel.txt").write_text("Travel is booked by everyone now.")
        await served(travel=2, leave=1)
        (folder / "leave.txt").unlink()
        await served(travel=2)

    (folder / "while-away.txt").write_text("Written while nobody watched.")
    async with watching(mnemon, OFTEN):
        await served(**{"travel": 2, "while-away": 1})

        async def all_ended() -> bool:
            return all(one["status"] == "succeeded" for one in await looks())

        await eventually(all_ended)
    [source] = await rows(mnemon, tenant, "SELECT name, kind, place, created_by FROM mnemon.document_sources")
    assert source == {"name": folder.name, "kind": "folder", "place": str(folder), "created_by": "mnemon"}


async def test_a_folder_at_rest_is_not_looked_at_and_one_that_is_gone_is_not_empty(
    folder: Path, mnemon: Mnemon, tenant: UUID, at_work: Worker, listed: Listed, eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    walked = 0

    def counted(*given: Any) -> str:
        nonlocal walked
        walked += 1
        return state_of(*given)

    monkeypatch.setattr("mnemon.documents.sources.watching.state_of", counted)

    async def looks() -> int:
        [row] = await rows(mnemon, tenant, "SELECT count(*) AS looks FROM mnemon.source_syncs")
        return int(row["looks"])

    async def walked_on(further: int) -> None:
        until = walked + further

        async def enough() -> bool:
            return walked >= until

        await eventually(enough)

    (folder / "kept.txt").write_text("Kept.")
    async with watching(mnemon, OFTEN):

        async def is_served() -> bool:
            return set(await listed()) == {"kept.txt"} and await looks() == 2

        await eventually(is_served)
        (folder / "trace.log.tmp").write_text("Nobody wants this.")
        await walked_on(5)
        assert await looks() == 2, "one as it was added, one as it was first seen"
        shutil.move(folder, folder.with_name("elsewhere"))
        before = walked
        folder.mkdir(mode=0o000)
        folder.rmdir()
        shutil.move(folder.with_name("elsewhere"), folder)
        await walked_on(3)
        assert walked > before and set(await listed()) == {"kept.txt"} and await looks() == 2


def test_the_state_of_a_folder_is_of_the_files_that_are_wanted(folder: Path) -> None:
    (folder / "one.txt").write_text("One.")
    before = state_of(folder, KeyFilter())
    (folder / "noise.bin").write_text("noise")
    assert state_of(folder, KeyFilter()) == before
    (folder / "two.txt").write_text("Two.")
    assert state_of(folder, KeyFilter()) != before
