"""Subtitles and transcripts become turns, from which second on and by whom."""

from pathlib import Path

import pytest

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.ingest.content import Extraction
from tests.documents.invariants import check

VTT = """WEBVTT

NOTE made by a recorder

00:00:01.000 --> 00:00:04.000 align:start
<v Anna Berg>We ship on <i>Friday</i></v>

7b/1
00:00:04.100 --> 00:00:06.000
<v Anna Berg>if the tests pass.</v>

01:02:06.500 --> 01:02:08.000
<v Ben Ito>Fine &amp; good.</v>
"""
SRT = """1
00:00:01,000 --> 00:00:04,000
ANNA: We ship on Friday
if the tests pass.

2
00:00:05,000 --> 00:00:06,000
BEN: {\\an8}Fine.

3
00:00:07,000 --> 00:00:08,000
Really?

4
00:00:09,000 --> 00:00:10,000
ANNA: Yes.

5
00:00:11,000 --> 00:00:12,000
BEN: Good."""
FILM = "1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>The sea</i>\r\n\r\n2\r\n00:00:02,000 --> 00:00:03,000\r\nis blue.\r\n"


def read(tmp_path: Path, content: str, kind: FileKind) -> Extraction:
    file = tmp_path / "upload"
    file.write_bytes(content.encode())
    found = extract(file, kind)
    check(found)
    return found


def test_voices_of_a_recording_are_its_speakers(tmp_path: Path) -> None:
    found = read(tmp_path, VTT, "vtt")
    assert found.text == (
        "[00:00:01] Anna Berg: We ship on Friday if the tests pass.\n\n[01:02:06] Ben Ito: Fine & good."
    )
    assert [block.speaker for block in found.blocks] == ["Anna Berg", "Ben Ito"]
    assert found.details.participants == ["Anna Berg", "Ben Ito"]


def test_names_before_a_colon_are_speakers(tmp_path: Path) -> None:
    found = read(tmp_path, SRT, "srt")
    assert found.text.split("\n\n") == [
        "[00:00:01] ANNA: We ship on Friday if the tests pass.",
        "[00:00:05] BEN: Fine. Really?",
        "[00:00:09] ANNA: Yes.",
        "[00:00:11] BEN: Good.",
    ]


def test_without_names_the_words_are_joined_as_they_are_spoken(tmp_path: Path) -> None:
    assert read(tmp_path, FILM, "srt").text == "[00:00:01] The sea is blue."


@pytest.mark.parametrize("content", ["no times here", "WEBVTT\n\n", "1\n00:00:01,000 --> 00:00:02,000\n\n"])
def test_a_file_without_cues_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(ExtractionFailed):
        read(tmp_path, content, "srt")
