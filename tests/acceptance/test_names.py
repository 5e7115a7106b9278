"""Names have one owner: a class that is called like one of another room makes a reader look twice."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "mnemon"
# A door names the parameters of its own routes and options by aliases, which are used where they stand.
DOORS = {"api", "mcp", "cli", "web"}

# Names with more than one owner, and why they still have. Take an entry out with the rename; add none.
SHARED = {"Parts": "by custom: what the operations of a room need of Mnemon"}


def owners() -> dict[str, list[str]]:
    """The modules that define each public class, or alias of a type outside the doors."""
    found = defaultdict(list)
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE)
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            name = node.name if isinstance(node, ast.ClassDef) else _alias(node, place.parts[0])
            if name is not None and not name.startswith("_"):
                found[name].append(str(place))
    return found


def _alias(node: ast.stmt, room: str) -> str | None:
    """`Name = Literal[…]` or `Name = A | B`; what is `Annotated` describes a parameter."""
    if room in DOORS or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Subscript | ast.BinOp):
        return None
    if isinstance(node.value, ast.Subscript) and ast.unparse(node.value.value) == "Annotated":
        return None
    [target] = node.targets
    is_type = isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper()
    return target.id if isinstance(target, ast.Name) and is_type else None


def test_no_new_name_has_two_owners() -> None:
    shared = {name: modules for name, modules in owners().items() if len(modules) > 1}
    new = {name: modules for name, modules in shared.items() if name not in SHARED}
    assert not new, "say whose it is in the name, like FoundEvents"


def test_the_log_and_the_work_room_share_no_name_with_each_other_or_within() -> None:
    for name, modules in owners().items():
        own = [one for one in modules if one.startswith(("log/", "work/"))]
        assert len(own) < 2, (name, own)


def test_every_room_of_the_log_opens_with_a_page_that_names_its_modules() -> None:
    rooms = [one.parent for one in (SOURCE / "log").glob("*/__init__.py") if one.parent.name != "operations"]
    for folder in (SOURCE / "log", *rooms):
        page = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert len(page.splitlines()) >= 20, folder
        for file in folder.glob("*.py"):
            assert file.stem == "__init__" or f"`{file.stem}`" in page, f"{folder.name} does not name {file.stem}"
