"""The documentation cannot lie: what it lists is what the code has."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from mnemon.reference import PAGES, addresses_file
from mnemon.schedules import schedules_of
from mnemon.settings import Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
HEADING_LINK = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
COMMAND = re.compile(r"^(?:\$ )?(mnemon(?: [a-z-]+)+)", re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_equals_what_the_code_says(name: str) -> None:
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run `make reference`"


def test_every_reference_page_is_known() -> None:
    assert {file.name for file in (DOCS / "reference").iterdir()} == set(PAGES)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_links_to_a_heading_lead_to_one(page: Path) -> None:
    for target, anchor in HEADING_LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            aimed = page.parent / target if target else page
            assert anchor in anchors(aimed), f"{page.name} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """What its headings are called in an address, as GitHub makes them: code marks and punctuation go."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    words = (one.lower() for one in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", one).strip().replace(" ", "-") for one in words}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((DOCS / "guide").glob("*.md"))], ids=lambda page: page.name
)
def test_commands_in_the_guide_exist(page: Path) -> None:
    from mnemon.cli.reference import commands

    known = {one.words for one in commands()} | {"mnemon"}
    for block in re.findall(r"```(?:console|bash|sh)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for words in COMMAND.findall(block):
            assert any(words.startswith(command) for command in known if command != "mnemon"), f"{page.name}: {words}"


def test_every_schedule_stands_in_the_guide() -> None:
    page = (DOCS / "guide" / "work.md").read_text(encoding="utf-8")
    table = page.split("| schedule | when | what |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `([a-z_.]+)`", table, re.MULTILINE)) == {one.name for one in schedules_of(Settings())}


def test_decisions_are_numbered_without_gap() -> None:
    numbers = sorted(int(file.name[:4]) for file in (DOCS / "decisions").glob("[0-9]*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_changelog_has_an_unreleased_part() -> None:
    assert "## Unreleased" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_decision_stands_in_the_index() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    for file in (DOCS / "decisions").glob("[0-9]*.md"):
        assert f"- [{file.name[:4]}]({file.name}) " in index, file.name


PAGES_BY_HAND = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES_BY_HAND, ids=lambda page: page.name)
def test_a_page_fits_an_editor(page: Path) -> None:
    """Rows of tables cannot be broken, and what a program printed stays as it was."""
    inside_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        inside_code ^= line.lstrip().startswith("```")
        assert len(line) <= 120 or inside_code or line.startswith("|"), f"{page.name}:{number}"


def test_the_map_of_the_house_names_every_room() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    for folder in (ROOT / "src" / "mnemon").iterdir():
        if (folder / "__init__.py").exists():
            assert f"`{folder.name}`" in page, folder.name


def test_the_clients_table_of_addresses_equals_the_routes() -> None:
    written = files("mnemon.client").joinpath("addresses.json").read_text(encoding="utf-8")
    assert written == addresses_file(), "run `make reference`"
