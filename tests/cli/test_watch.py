"""A watched folder is followed: what is new or changed is taken in once it is whole, what is gone is told."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from mnemon.cli.adding import watch
from mnemon.cli.adding.added import Added, Interrupted
from mnemon.cli.adding.gone import Gone
from mnemon.cli.adding.watch import WatchedFiles, follow
from mnemon.documents.intake.folders import FoundFile, find_files
from tests.patience import PATIENCE


def changed(watched: WatchedFiles, folder: Path) -> list[str]:
    return [one.path.name for one in watched.changed(list(find_files([folder])))]


def test_a_file_is_taken_in_once_it_is_the_same_at_two_looks(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("known")
    watched = WatchedFiles(list(find_files([tmp_path])))
    (tmp_path / "new.md").write_text("half of")
    assert changed(watched, tmp_path) == []
    (tmp_path / "new.md").write_text("half of it, and the rest")
    assert changed(watched, tmp_path) == [], "it was still being written"
    assert changed(watched, tmp_path) == ["new.md"]
    assert changed(watched, tmp_path) == [], "and only once"


def test_a_file_that_is_saved_anew_under_its_name_is_a_change(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("one")
    watched = WatchedFiles(list(find_files([tmp_path])))
    (tmp_path / ".plan.md.swp").write_text("what an editor keeps")
    (tmp_path / "~$plan.docx").write_text("what Office keeps")
    (tmp_path / "plan.tmp").write_text("two words")
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "plan.tmp").replace(tmp_path / "plan.md")
    assert changed(watched, tmp_path) == []
    assert changed(watched, tmp_path) == ["plan.md"]


def test_a_file_that_comes_back_is_taken_in_again(tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_text("one")
    watched = WatchedFiles(list(find_files([tmp_path])))
    plan.unlink()
    assert changed(watched, tmp_path) == []
    plan.write_text("one")
    assert changed(watched, tmp_path) == []
    assert changed(watched, tmp_path) == ["plan.md"]


def test_a_new_file_that_is_not_read_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "old.xyz").write_text("told of at the first look")
    watched = WatchedFiles(list(find_files([tmp_path])))
    (tmp_path / "new.xyz").write_text("what is this?")
    assert changed(watched, tmp_path) == []
    assert changed(watched, tmp_path) == ["new.xyz"]
    (tmp_path / "new.xyz").write_text("still nobody knows")
    assert changed(watched, tmp_path) == changed(watched, tmp_path) == []


async def test_a_folder_is_followed_until_it_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.01)
    told: list[str] = []
    missing = Gone(tmp_path / "plan.md", uuid4(), "Plan", deactivated=False)

    async def take(files: Sequence[FoundFile]) -> list[Added]:
        return [Added(one.path, "succeeded", one.name) for one in files]

    async def gone() -> list[Gone]:
        return [missing] if told and not missing.path.exists() else []

    def tell(added: list[Added], lost: list[Gone]) -> None:
        told.extend([f"{one.name} {one.status}" for one in added] + [f"{one.path.name} gone" for one in lost])

    interrupted = Interrupted()
    following = asyncio.create_task(follow([tmp_path], WatchedFiles([]), take, gone, tell, interrupted))
    missing.path.write_text("We ship.")
    await _until(lambda: told == ["plan.md succeeded"])
    missing.path.write_text("We do not ship.")
    await _until(lambda: told[1:] == ["plan.md succeeded"])
    missing.path.unlink()
    await _until(lambda: told[2:] == ["plan.md gone"])
    interrupted.asked.set()
    await asyncio.wait_for(following, PATIENCE)
    assert len(told) == 3, "what is gone is told once"


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
