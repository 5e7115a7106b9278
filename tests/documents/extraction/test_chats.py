"""Exports of chats become turns, each with its speaker and its day."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.ingest.content import Extraction
from tests.documents.invariants import check, structure_of

SLACK = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined", "ts": "1772447400.0001"},
    {
        "type": "message", "user": "U1", "text": "We &amp; <@U2> ship on <https://x.org|Friday>.\n\nAgreed?",
        "ts": "1772447520.000100", "user_profile": {"real_name": "Anna Berg"},
    },
    {"type": "message", "user": "U2", "text": "Yes", "ts": "1772533980.0", "user_profile": {"real_name": "Ben Ito"}},
]  # fmt: skip
DISCORD = {
    "guild": {"name": "Kestrel"},
    "channel": {"name": "general"},
    "messages": [
        {
            "timestamp": "2026-03-02T10:32:00+01:00", "author": {"name": "anna", "nickname": "Anna Berg"},
            "content": "Hi",
        },
        {
            "timestamp": "2026-03-03T10:33:00+01:00", "author": {"name": "Ben Ito"}, "content": "",
            "attachments": [{"fileName": "plan.pdf"}],
        },
    ],
}  # fmt: skip
GRAPH = {
    "value": [
        {
            "messageType": "message", "createdDateTime": "2026-03-03T10:33:00Z",
            "from": {"user": {"displayName": "Ben Ito"}}, "body": {"contentType": "html", "content": "<p>Fine</p>"},
        },
        {
            "messageType": "message", "createdDateTime": "2026-03-02T10:32:00.123Z",
            "from": {"user": {"displayName": "Anna Berg"}},
            "body": {"contentType": "html", "content": "<div>We ship <b>Friday</b> &amp; rest</div>"},
        },
        {"messageType": "systemEventMessage", "createdDateTime": "2026-03-02T10:31:00Z", "body": {"content": "x"}},
    ]
}  # fmt: skip
OWN_TEAMS = {
    "userId": "8:anna",
    "conversations": [
        {
            "displayName": "Launch",
            "MessageList": [
                {"displayName": "Ben Ito", "originalarrivaltime": "2026-03-03T10:33:00Z", "messagetype": "Text",
                 "content": "Fine"},
                {"from": "8:live:anna", "originalarrivaltime": "2026-03-02T10:32:00Z",
                 "messagetype": "RichText/Html", "content": "<p>We ship.</p>"},
            ],
        }
    ],
}  # fmt: skip
TELEGRAM = {
    "name": "Launch", "type": "private_group",
    "messages": [
        {"type": "service", "date": "2026-03-02T10:31:00", "actor": "Anna", "text": ""},
        {"type": "message", "date": "2026-03-02T10:32:00", "from": "Anna Berg",
         "text": ["See ", {"type": "link", "text": "x.org"}]},
        {"type": "message", "date": "2026-03-03T10:32:00", "from": "Ben Ito", "text": "Yes"},
    ],
}  # fmt: skip
ANDROID = """02/03/2026, 10:30 - Messages and calls are end-to-end encrypted.
02/03/2026, 10:32 - Anna Berg: We ship on Friday.
And we rest on Saturday.
02/03/2026, 10:40 - Anna Berg added Cara
14/03/2026, 10:33 - +49 170 1234567: Not I.
14/03/2026, 10:35 - Anna 🌻: Then who?
"""
IPHONE = """[02.03.26, 10:32:15] Anna Berg: We ship on Friday.
[03.03.26, 10:33:01] ~ Ben: Yes
"""


def read(tmp_path: Path, content: Any, kind: FileKind = "json") -> Extraction:
    file = tmp_path / "upload"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    found = extract(file, kind)
    check(found)
    return found


def messages(found: Extraction) -> list[tuple[str | None, str]]:
    return [(one.speaker, found.text[one.start : one.end]) for one in found.blocks if one.kind == "message"]


def turns(found: Extraction) -> list[tuple[str | None, date | None]]:
    parts = structure_of(found).parts
    return list(dict.fromkeys((part.speaker, part.day) for part in parts if part.kind == "paragraph"))


def test_slack(tmp_path: Path) -> None:
    found = read(tmp_path, SLACK)
    assert messages(found) == [
        ("Anna Berg", "[2026-03-02 10:32] Anna Berg: We & @Ben Ito ship on Friday.\nAgreed?"),
        ("Ben Ito", "[2026-03-03 10:33] Ben Ito: Yes"),
    ]
    assert found.details.participants == ["Anna Berg", "Ben Ito"]


def test_discord(tmp_path: Path) -> None:
    found = read(tmp_path, DISCORD)
    assert found.details.title == "Kestrel #general"
    assert messages(found) == [
        ("Anna Berg", "[2026-03-02 10:32] Anna Berg: Hi"),
        ("Ben Ito", "[2026-03-03 10:33] Ben Ito: (file: plan.pdf)"),
    ]


def test_teams(tmp_path: Path) -> None:
    assert messages(read(tmp_path, GRAPH)) == [
        ("Anna Berg", "[2026-03-02 10:32] Anna Berg: We ship Friday & rest"),
        ("Ben Ito", "[2026-03-03 10:33] Ben Ito: Fine"),
    ]
    own = read(tmp_path, OWN_TEAMS)
    assert own.details.title == "Launch"
    assert messages(own)[0] == ("anna", "[2026-03-02 10:32] anna: We ship.")


def test_telegram(tmp_path: Path) -> None:
    found = read(tmp_path, TELEGRAM)
    assert messages(found)[0] == ("Anna Berg", "[2026-03-02 10:32] Anna Berg: See x.org")


@pytest.mark.parametrize("export", [SLACK, DISCORD, GRAPH, TELEGRAM])
def test_the_reading_of_structure_knows_who_spoke_on_which_day(tmp_path: Path, export: Any) -> None:
    assert turns(read(tmp_path, export)) == [("Anna Berg", date(2026, 3, 2)), ("Ben Ito", date(2026, 3, 3))]


def test_whatsapp_keeps_names_of_every_form(tmp_path: Path) -> None:
    found = read(tmp_path, ANDROID, "txt")
    assert found.text == ANDROID, "the text stays as it is"
    assert messages(found) == [
        ("Anna Berg", "02/03/2026, 10:32 - Anna Berg: We ship on Friday.\nAnd we rest on Saturday."),
        ("+49 170 1234567", "14/03/2026, 10:33 - +49 170 1234567: Not I."),
        ("Anna 🌻", "14/03/2026, 10:35 - Anna 🌻: Then who?"),
    ]
    assert messages(read(tmp_path, IPHONE, "txt"))[1] == ("Ben", "[03.03.26, 10:33:01] ~ Ben: Yes")


def test_what_a_stranger_says_is_not_the_last_speakers(tmp_path: Path) -> None:
    found = read(tmp_path, ANDROID, "txt")
    said = {part.speaker: found.text[part.start : part.end] for part in structure_of(found).parts}
    assert "Not I." in said["+49 170 1234567"]
    assert "Then who?" in said["Anna 🌻"]
