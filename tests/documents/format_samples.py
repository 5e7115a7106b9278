"""One small file of each kind that is neither among the examples nor made by a sample module of its own."""

import json
from collections.abc import Callable

from mnemon.documents.extraction.kinds import FileKind
from tests.documents.office_samples import (
    ODP_BODY,
    ODS_BODY,
    ODT_BODY,
    RTF,
    epub,
    opendocument,
    packed,
    slides,
    tasks_xlsx,
)  # fmt: skip

CSV = "Task,Owner,Due\n" + "".join(f'"Write part {n}, then rest",Anna Berg,2026-03-{n:02}\n' for n in range(1, 29))
VTT = "WEBVTT\n\n" + "".join(
    f"00:{n:02}:01.000 --> 00:{n:02}:04.000\n<v {'Anna Berg' if n % 2 else 'Ben Ito'}>We ship on <i>Friday</i></v>\n\n"
    for n in range(20)
)
SLACK = [
    {"type": "message", "user": f"U{n % 3}", "text": f"<@U1> says &amp; means {n}", "ts": f"17724475{n:02}.0001"}
    for n in range(30)
]


def _subtitles() -> bytes:
    cues = (f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nANNA: <i>word</i> {n}\n" for n in range(1, 30))
    return "\n".join(cues).encode()


MADE: dict[FileKind, Callable[[], bytes]] = {
    "csv": lambda: CSV.encode(),
    "vtt": lambda: VTT.encode(),
    "srt": _subtitles,
    "json": lambda: json.dumps(SLACK, indent=1).encode(),
    "xlsx": tasks_xlsx,
    "pptx": slides,
    "odt": lambda: opendocument("text", ODT_BODY),
    "ods": lambda: opendocument("spreadsheet", ODS_BODY),
    "odp": lambda: opendocument("presentation", ODP_BODY),
    "epub": epub,
    "rtf": lambda: RTF,
    "zip": lambda: packed({"a.csv": CSV, "b.vtt": VTT, "c.md": "# Plan\n\nWe ship.\n" * 20}),
}
