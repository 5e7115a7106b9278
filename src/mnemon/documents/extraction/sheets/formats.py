"""How a workbook shows its numbers: dates, times and percentages by the format of their cell."""

import re
from datetime import datetime, timedelta

from lxml import etree

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_BUILT_IN_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_BUILT_IN_PERCENT = frozenset({9, 10})
# Words in quotes, colours and conditions in brackets, and signs that stand for themselves.
_LITERAL = re.compile(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]')
_DATED = re.compile(r"[dmyhs]", re.IGNORECASE)
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001


class NumberFormats:
    """Which cell styles mean dates and which percentages."""

    def __init__(self, styles: etree._Element | None, since_1904: bool = False) -> None:
        self._epoch = _EPOCH_1904 if since_1904 else _EPOCH
        self._dates: set[int] = set()
        self._percent: set[int] = set()
        if styles is None:
            return
        own = {_number(one.get("numFmtId")): one.get("formatCode") or "" for one in styles.iter(S + "numFmt")}
        cells = styles.find(S + "cellXfs")
        for style, one in enumerate(() if cells is None else cells):
            self._sort(style, _number(one.get("numFmtId")), own)

    def _sort(self, style: int, number: int, own: dict[int, str]) -> None:
        code = _LITERAL.sub("", own.get(number, "")).split(";")[0]
        if number in _BUILT_IN_PERCENT or "%" in code:
            self._percent.add(style)
        elif number in _BUILT_IN_DATES or (code.lower() != "general" and _DATED.search(code)):
            self._dates.add(style)

    def shown(self, value: str, style: str | None) -> str:
        try:
            number, place = float(value), _number(style)
        except ValueError:
            return value
        if place in self._percent:
            return f"{number * 100:.10g}%"
        if place in self._dates and (day := self._day(number)):
            return day
        return f"{number:.15g}"

    def _day(self, number: float) -> str | None:
        try:
            moment = self._epoch + timedelta(seconds=round(number * 86_400))
        except OverflowError:
            return None
        if 0 <= number < 1:
            return f"{moment:%H:%M}" if not moment.second else f"{moment:%H:%M:%S}"
        return f"{moment:%Y-%m-%d}" if number == int(number) else f"{moment:%Y-%m-%d %H:%M}"


def _number(value: str | None) -> int:
    try:
        return int(value or 0)
    except ValueError:
        return 0
