"""Rules of the repository that no reviewer should have to check by eye."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_FILES = 30
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def locked() -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", LOCK, re.MULTILINE))


def test_every_dependency_is_pinned_with_hashes_and_no_address() -> None:
    for entry in re.split(r"\n(?=[a-z0-9])", LOCK.strip()):
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry
    assert "://" not in LOCK
    assert "--index" not in LOCK
    assert "--find-links" not in LOCK


def test_the_lock_covers_what_the_project_asks_for_and_never_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[\[<>=;~! ]", one, maxsplit=1)[0].lower() for one in asked}
    assert names <= set(locked())
    assert not {"torch", "sentence-transformers"} & set(locked())


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_no_file_names_a_registry_or_an_unreasonably_large_thing() -> None:
    registry = re.compile(r"https?://[^\s\"']*(?:/simple\b|registry\.)")
    for file in tracked_files():
        assert file.stat().st_size < 1_000_000, f"{file} is large"
        text = file.read_text(encoding="utf-8", errors="replace")
        assert not registry.search(text) or file.name == Path(__file__).name, f"{file} names a registry"


def test_every_module_opens_with_its_duty() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        first = file.read_text(encoding="utf-8").lstrip().split("\n", 1)[0]
        assert first.startswith('"""'), file


def test_a_room_of_more_than_thirty_files_gets_rooms() -> None:
    packages = {file.parent for file in (ROOT / "src" / "mnemon").rglob("*.py")}
    crowded = {str(one.relative_to(ROOT)): len(list(one.glob("*.py"))) for one in packages}
    assert {name: files for name, files in crowded.items() if files > MOST_FILES} == {}


def test_every_bench_ends_with_its_figures_under_its_name() -> None:
    for file in (ROOT / "bench").glob("bench_*.py"):
        name = file.stem.removeprefix("bench_")
        assert re.search(rf'"bench": "{name}", "results": ', file.read_text(encoding="utf-8")), file


def test_every_test_module_mirrors_a_room() -> None:
    rooms = {folder.name for folder in (ROOT / "src" / "mnemon").iterdir() if folder.is_dir()}
    apart = {"acceptance", "crash", "properties", "docs", "fixtures", "storm", "attack"}
    for folder in (ROOT / "tests").iterdir():
        if folder.is_dir() and not folder.name.startswith("_"):
            assert folder.name in rooms | apart, folder
