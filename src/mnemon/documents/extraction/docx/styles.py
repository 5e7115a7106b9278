"""What a Word document's styles and numbering say of a paragraph: a heading, an item, its number."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Longer chains of styles are loops.
MOST_PARENTS = 20
DEEPEST = 9


@dataclass(slots=True)
class Style:
    name: str = ""
    parent: str | None = None
    outline: int | None = None
    list_id: str | None = None
    depth: int | None = None


@dataclass(slots=True)
class Level:
    form: str = "bullet"
    text: str = "•"
    start: int = 1


def value(parent: etree._Element | None, path: str) -> str | None:
    """The `w:val` of a descendant such as `numPr/ilvl`."""
    if parent is None:
        return None
    found = parent.find("/".join(W + part for part in path.split("/")))
    return None if found is None else found.get(W + "val")


def number(text: str | None) -> int | None:
    return int(text) if text and text.lstrip("-").isdigit() and len(text) < 10 else None


class Styles:
    """Paragraph styles by their id, each with what it takes over from those it is based on."""

    def __init__(self, root: etree._Element | None) -> None:
        self._styles: dict[str, Style] = {}
        for one in () if root is None else root.iter(W + "style"):
            properties = one.find(W + "pPr")
            self._styles[one.get(W + "styleId") or ""] = Style(
                (value(one, "name") or "").lower(),
                value(one, "basedOn"),
                number(value(properties, "outlineLvl")),
                value(properties, "numPr/numId"),
                number(value(properties, "numPr/ilvl")),
            )

    def chain(self, style_id: str | None) -> list[Style]:
        """The style, and those it is based on, nearest first."""
        found: list[Style] = []
        while style_id in self._styles and len(found) < MOST_PARENTS:
            found.append(self._styles[style_id])
            style_id = found[-1].parent
        return found

    def heading_level(self, style_id: str | None) -> int:
        """1 to 9 for a heading, -1 for a document's title, 0 for text."""
        for style in self.chain(style_id):
            if style.name == "title":
                return -1
            if style.outline is not None:
                return style.outline + 1 if style.outline < DEEPEST else 0
            if style.name.startswith("heading ") and style.name[8:].isdigit():
                return min(int(style.name[8:]), DEEPEST)
        return 0


@dataclass(slots=True)
class Numbering:
    """Counts the items of every list as Word does, and gives the mark that it prints."""

    levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)

    def mark(self, list_id: str, depth: int) -> str:
        levels = self.levels.get(list_id)
        if levels is None or list_id == "0":
            return ""
        level = levels.get(depth, Level())
        counts = self.counts.setdefault(self.lists[list_id], {})
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        if level.form == "bullet":
            return "•"
        if level.form == "none":
            return ""
        text = level.text
        for place in range(depth + 1):
            above = levels.get(place, Level("decimal"))
            text = text.replace(f"%{place + 1}", _written(counts.get(place, above.start), above.form))
        return text.strip()


def numbering_of(root: etree._Element | None) -> Numbering:
    found = Numbering()
    if root is None:
        return found
    kinds = {
        one.get(W + "abstractNumId"): {
            number(level.get(W + "ilvl")) or 0: _level(level) for level in one.iter(W + "lvl")
        }
        for one in root.iter(W + "abstractNum")
    }
    for one in root.iter(W + "num"):
        list_id, kind = one.get(W + "numId") or "", value(one, "abstractNumId")
        found.levels[list_id] = dict(kinds.get(kind, {}))
        overrides = list(one.iter(W + "lvlOverride"))
        # Lists of one kind count together, unless a list begins anew.
        found.lists[list_id] = f"own {list_id}" if overrides else f"kind {kind}"
        for override in overrides:
            depth, start = number(override.get(W + "ilvl")) or 0, number(value(override, "startOverride"))
            level = override.find(W + "lvl")
            if level is not None:
                found.levels[list_id][depth] = _level(level)
            elif start is not None and depth in found.levels[list_id]:
                old = found.levels[list_id][depth]
                found.levels[list_id][depth] = Level(old.form, old.text, start)
    return found


def _level(element: etree._Element) -> Level:
    start = number(value(element, "start"))
    return Level(value(element, "numFmt") or "decimal", value(element, "lvlText") or "", 1 if start is None else start)


def _written(count: int, form: str) -> str:
    forms: dict[str, Callable[[int], str]] = {
        "lowerLetter": lambda one: _letters(one).lower(),
        "upperLetter": _letters,
        "lowerRoman": lambda one: _roman(one).lower(),
        "upperRoman": _roman,
        "decimalZero": lambda one: f"{one:02}",
    }
    return forms.get(form, str)(count)


def _letters(count: int) -> str:
    """A to Z, then AA, BB …, as Word counts."""
    return chr(65 + (count - 1) % 26) * min((count - 1) // 26 + 1, 9) if count > 0 else str(count)


def _roman(count: int) -> str:
    if not 0 < count < 4000:
        return str(count)
    signs = zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    )
    written = ""
    for worth, sign in signs:
        written += sign * (count // worth)
        count %= worth
    return written
