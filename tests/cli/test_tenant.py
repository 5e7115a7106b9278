"""`mnemon tenant move`, and what is known afterwards of who has left."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.cli.verify import describe
from mnemon.db.database import open_database
from mnemon.ids import new_uuid
from mnemon.settings import Settings

from ..conftest import SETTING_NAMES, MakeHome, new_folder
from .conftest import mnemon

ELSEWHERE = ["--url", "https://two.example.org", "--to", "postgresql://mnemon@127.0.0.1:9/mnemon"]
MOVED = "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'left', 'moved', 'https://two')"


@pytest.fixture(scope="module")
def folder(open_folder: Path) -> Iterator[Path]:
    yield new_folder(open_folder, "cli-tenant")


@pytest.fixture(scope="module")
def environment(folder: Path, make_home: MakeHome) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in SETTING_NAMES}
    make_home(folder / "home")
    return plain | {"MNEMON_HOME": str(folder / "home"), "MNEMON_DATABASE_LINGER_SECONDS": "2", "COLUMNS": "200"}


@pytest.mark.parametrize(
    ("place", "setting"),
    [("blobs", "MNEMON_BLOB_STORE"), ("uploads", "MNEMON_BLOB_STORE"), ("archive", "MNEMON_ARCHIVE_STORE")],
)
def test_a_tenant_whose_files_are_on_this_machine_alone_does_not_move(
    environment: dict[str, str], folder: Path, place: str, setting: str
) -> None:
    [tenant] = json.loads(mnemon(environment, "tenant", "list", "--json").stdout)
    kept = folder / "home" / place / tenant["tenant_id"] / "17" / "file"
    kept.parent.mkdir(parents=True)
    kept.write_text("Kept.")
    refused = mnemon(environment, "tenant", "move", "main", *ELSEWHERE)
    assert refused.returncode == 1
    assert refused.stderr.startswith("Error: Files of main are in") and setting in refused.stderr
    goes_on = mnemon(environment, "tenant", "move", "main", *ELSEWHERE, "--same-files")
    assert goes_on.stderr.startswith("Error: "), "there is no database there"
    kept.unlink()


def test_checkpoints_of_a_tenant_that_has_moved_are_none_of_a_lost_one(
    environment: dict[str, str], folder: Path
) -> None:
    moved, lost = new_uuid(), new_uuid()

    async def note(tenant: UUID) -> None:
        async with open_database(Settings(home=folder / "home")) as database, database.owner() as owner:
            await owner.execute(MOVED, (tenant,))

    for one in (moved, lost):
        (folder / "home" / "checkpoints" / str(one)).mkdir(parents=True)
    asyncio.run(note(moved))
    verified = mnemon(environment, "verify", "--json")
    assert verified.returncode == 1
    assert json.loads(verified.stdout)["lost_tenants"] == [str(lost)]
    (folder / "home" / "checkpoints" / str(lost)).rmdir()
    assert mnemon(environment, "verify").returncode == 0


def test_verify_says_which_tenants_another_database_should_have(capsys: pytest.CaptureFixture[str]) -> None:
    one = new_uuid()
    describe({}, [], [one])
    told = " ".join(capsys.readouterr().out.split())
    assert told == f"There are checkpoints of the tenant {one}: another database of this home should have it."
