"""Markdown stays as it is; its blocks and its front matter are found in it."""

from datetime import UTC, datetime

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.markdown import extract_markdown
from mnemon.documents.ingest.content import Extraction

NOTES = """---
title: "Board meeting"
authors:
  - Anna Berg
  - Ben Ito
date: 2026-03-02
tags: [board, 2026]
---
# Minutes of *March* #

Some text
on two lines.

Decisions
---------

* Move the release
  to March

  and say so.
* Tell all

1. one
2. two

| who | what |
|-----|:----:|
| Anna | writes |

```python
# not a heading
```

> Less is
> more.

    indented code

***
Last.
"""


def read(text: str) -> Extraction:
    return extract_markdown(text.encode(), DEFAULT_LIMITS)


def test_blocks_are_found_and_the_text_is_untouched() -> None:
    found = read(NOTES)
    assert found.text == NOTES
    assert [
        (block.kind, block.level, found.text[block.start : block.end].split("\n")[0]) for block in found.blocks
    ] == [
        ("header", 0, "---"),
        ("heading", 1, "# Minutes of *March* #"),
        ("paragraph", 0, "Some text"),
        ("heading", 2, "Decisions"),
        ("list", 0, "* Move the release"),
        ("table", 0, "| who | what |"),
        ("code", 0, "```python"),
        ("quote", 0, "> Less is"),
        ("code", 0, "indented code"),
        ("paragraph", 0, "***"),
        ("paragraph", 0, "Last."),
    ]


def test_front_matter_says_what_the_file_says_of_itself() -> None:
    details = read(NOTES).details
    assert details.title == "Board meeting"
    assert details.authors == ["Anna Berg", "Ben Ito"]
    assert details.written_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert details.more["tags"] == "[board, 2026]"


def test_without_front_matter_the_first_heading_is_the_title() -> None:
    assert read("Text.\n\n## The [plan](x.md) #\n").details.title == "The plan"
    assert read("---\nno front matter\n").details.title is None


def test_a_fence_that_never_ends_reaches_to_the_end() -> None:
    found = read("```\n# a\n\n# b")
    assert [block.kind for block in found.blocks] == ["code"]


def test_links_between_notes_are_the_words_they_show() -> None:
    found = read("See [[Plan]], [[notes/Kestrel#Costs|the costs]] and ![[map.png]].\n\n```\na[[0]]\n```\n`b[[1]]`\n")
    assert found.text == "See Plan, the costs and map.png.\n\n```\na[[0]]\n```\n`b[[1]]`\n"


def test_front_matter_of_a_note_names_its_people_and_links() -> None:
    people = 'people:\n  - "[[Anna Berg]]"\n  - Ben Ito\n'
    note = f"---\ntitle: Launch\ndate: 2026-03-02\ntags: [board, kestrel]\n{people}---\nText.\n"
    details = read(note).details
    assert (details.title, list(details.participants)) == ("Launch", ["Anna Berg", "Ben Ito"])
    assert details.more["tags"] == "[board, kestrel]"


def test_front_matter_in_german_is_understood() -> None:
    details = read(
        "---\ntitel: Umzug\ndatum: 2026-04-14\nautor: Karin Vogt\nteilnehmer: Jens, Tarek\n---\nText.\n"
    ).details
    assert (details.title, details.authors) == ("Umzug", ["Karin Vogt"])
    assert (list(details.participants), details.written_at) == (["Jens", "Tarek"], datetime(2026, 4, 14, tzinfo=UTC))
