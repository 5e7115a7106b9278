"""Whatever is changed behind Mnemon's back, `mnemon verify` says so: all at once, and each alone in the long form."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from mnemon.db.database import Database
from mnemon.verification import derived
from mnemon.verification.findings import VerifyFinding
from mnemon.verification.run import verify_everything

from .conftest import Copy
from .content_tampers import CONTENT, LENSES
from .engine_tampers import ENGINE
from .forgotten_tampers import FORGOTTEN
from .guard_tampers import AROUND, GUARDS
from .tampers import FIRST, Tamper

TABLES = """
SELECT relname AS name FROM pg_class WHERE relnamespace = 'mnemon'::regnamespace AND relkind IN ('r', 'p')
   AND NOT relispartition ORDER BY relname COLLATE "C"
"""
TAMPERS = [*FIRST, *CONTENT, *LENSES, *FORGOTTEN, *GUARDS, *AROUND, *ENGINE]
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "tampering.md"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "PATIENCE", 0.5)


def unnoticed(tampers: Iterable[Tamper], findings: Iterable[VerifyFinding]) -> list[str]:
    said = [f"{one.part} {one.where} {one.message}" for one in findings]
    return [one.name for one in tampers if not any(re.search(one.says, line) for line in said)]


def test_there_are_enough_and_the_guide_lists_each() -> None:
    assert len(TAMPERS) >= 60
    listed = re.findall(r"^\| ([^|]+?) \| `", GUIDE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(one.name for one in TAMPERS)


async def test_the_guide_says_of_each_table_who_vouches_for_it(database: Database) -> None:
    part = GUIDE.read_text().partition("## Who vouches for each table")[2].partition("\n## ")[0]
    told = [name for row in re.findall(r"^\| (`[^|]+`) \|", part, re.MULTILINE) for name in row.strip("`").split("` `")]
    async with database.owner() as owner:
        rows = await (await owner.execute(TABLES)).fetchall()
    assert sorted(told) == [row["name"] for row in rows]


async def test_none_of_many_changes_goes_unnoticed(copied: Copy) -> None:
    together = [one for one in TAMPERS if not one.alone]
    async with copied() as world:
        for one in together:
            one.apply(world)
        report = await verify_everything(world.mnemon, world.tenant, record=False)
    assert unnoticed(together, report.findings) == []


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda one: one.name)
async def test_each_change_alone_is_noticed(copied: Copy, tamper: Tamper) -> None:
    async with copied() as world:
        try:
            tamper.apply(world)
            report = await verify_everything(world.mnemon, world.tenant)
        finally:
            if tamper.undo:
                world.sql(tamper.undo)
    assert unnoticed([tamper], report.findings) == []
