"""A web page becomes its own text with its structure, without what stands around it."""

from datetime import UTC, datetime

import pytest

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.html.extract import extract_html
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.ingest.content import Extraction

PAGE = """<!doctype html><html lang="en"><head><title>Travel policy - Acme</title>
<meta name="author" content="Anna Berg"><meta property="article:published_time" content="2026-03-02T10:00:00+01:00">
<style>p { color: red }</style><script>var tracked = true</script></head>
<body><header><nav><a href="/">Home</a> <a href="/x">Products</a></nav></header>
<div class="cookie-banner">We use cookies. <button>Accept</button></div>
<div id="sidebar"><p>Related articles</p></div>
<div class="content"><h1>Travel <em>policy</em></h1>
<p>Everybody may travel by <a href="https://example.org">train</a>.<br>Flights need consent.</p>
<ul><li>Trains first<ol><li>second class</li><li>first class</li></ol></li><li>Then <b>buses</b></li></ul>
<table><thead><tr><th>Who</th><th>What</th></tr></thead><tr><td>Anna</td><td>writes <i>notes</i></td></tr></table>
<pre>if a:
    b()</pre>
<blockquote><p>Less is more.</p><p>Always.</p></blockquote>
<p style="display: none">unseen</p><p aria-hidden="true">unseen</p><p hidden>unseen</p>
</div>
<footer>Imprint and contact</footer></body></html>"""


def read(page: str | bytes) -> Extraction:
    return extract_html(page.encode() if isinstance(page, str) else page, DEFAULT_LIMITS)


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [(block.kind, extraction.text[block.start : block.end]) for block in extraction.blocks]


def test_the_text_keeps_its_structure_and_loses_what_is_around_it() -> None:
    assert blocks(read(PAGE)) == [
        ("heading", "Travel policy"),
        ("paragraph", "Everybody may travel by train.\nFlights need consent."),
        ("list", "- Trains first\n  1. second class\n  2. first class\n- Then buses"),
        ("table", "Who | What\nAnna | writes notes"),
        ("code", "if a:\n    b()"),
        ("quote", "Less is more.\nAlways."),
    ]


def test_what_the_page_says_of_itself_is_kept() -> None:
    details = read(PAGE).details
    assert details.title == "Travel policy - Acme"
    assert details.authors == ["Anna Berg"]
    assert details.written_at is not None
    assert details.written_at.astimezone(UTC) == datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    assert details.language == "en"


def test_only_the_main_part_is_read_where_the_page_names_it() -> None:
    page = (
        "<body><div>Advert for shoes</div><main><h1>News</h1><p>It rained all day.</p></main><p>More shoes</p></body>"
    )
    assert read(page).text == "News\n\nIt rained all day."


def test_a_careless_name_does_not_hide_the_text() -> None:
    page = f"<body><div class='modal sidebar'><p>{'The whole text stands here. ' * 20}</p></div><p>End.</p></body>"
    assert "The whole text stands here." in read(page).text


def test_tables_that_only_lay_out_a_page_are_not_tables() -> None:
    page = (
        "<table><tr><td><h1>News</h1><p>One.</p></td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>"
    )
    assert blocks(read(page)) == [("heading", "News"), ("paragraph", "One."), ("table", "a | b")]


@pytest.mark.parametrize(
    ("encoding", "declaration"),
    [
        ("utf-8", ""),
        ("utf-16", ""),
        ("cp1252", '<meta charset="windows-1252">'),
        ("cp1252", '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">'),
        ("shift_jis", '<meta charset="Shift_JIS">'),
        ("utf-8", '<meta charset="no-such-thing">'),
        ("cp1252", '<meta charset="utf-8">'),
    ],
)
def test_the_encoding_is_found_whether_declared_rightly_wrongly_or_not_at_all(encoding, declaration) -> None:
    words = "会議は月曜日です" if encoding == "shift_jis" else "Grüße aus Köln – 5 €"
    page = f"<html><head>{declaration}</head><body><p>{words}</p></body></html>"
    assert read(page.encode(encoding)).text == words


def test_deep_nesting_harms_nothing() -> None:
    assert read("<div>" * 9_000 + "deep" + "</div>" * 9_000).text == "deep"
    with pytest.raises(ExtractionFailed, match="deeper than 10,000"):
        read("<div>" * 50_000 + "deep")
    assert "deep" in read("<ul><li>" * 5_000 + "deep").text
    assert "deep" in read("<table><tr><td>" * 2_000 + "deep").text


def test_broken_markup_is_read_as_a_browser_would() -> None:
    assert read("<p>One<p>Two<b>bold</p></i>three").text == "One\n\nTwobold\n\nthree"
    assert read("no markup at all & more").text == "no markup at all & more"
