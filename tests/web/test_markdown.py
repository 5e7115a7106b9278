"""Markdown is shown as it reads, with no markup of its own and exactly the cited words marked."""

import re
from html import unescape

import pytest

from mnemon.web.markdown import plain_words, render_markdown

TEXT = """---
title: Notes
---
# Prices <b>2026</b>

Berths cost **39 *euro*** a night, see [the list](https://example.org/list) and `code <i>`.
They are
due in advance.

- first
  - inner **bold**
- second

3. third

| berth | price |
|---|---|
| A | **39** |

> quoted words

```
<script>alert(1)</script>
```
"""


def marked(shown: str) -> str:
    return "".join(unescape(one) for one in re.findall(r"<mark[^>]*>(.*?)</mark>", shown, re.DOTALL))


def test_headings_lists_tables_emphasis_code_and_links_are_shown() -> None:
    shown = str(render_markdown(TEXT))
    for one in (
        "<h2>Prices &lt;b&gt;2026&lt;/b&gt;</h2>", "<strong>39 <em>euro</em></strong>", "<code>code &lt;i&gt;</code>",
        '<a href="https://example.org/list" rel="noopener noreferrer nofollow">the list</a>',
        '<li>first<ul dir="auto">\n<li>inner <strong>bold</strong></li>', '<ol start="3" dir="auto">\n<li>third</li>',
        "<th>berth</th><th>price</th>", "<td>A</td><td><strong>39</strong></td>",
        '<blockquote dir="auto"><p>quoted words</p>', "<pre><code>&lt;script&gt;alert(1)&lt;/script&gt;</code></pre>",
        "<pre><code>title: Notes</code></pre>",
    ):  # fmt: skip
        assert one in shown
    assert "##" not in shown


@pytest.mark.parametrize("quote", ["39 *euro", "They are\ndue in advance.", "| **39** |", "Prices <b>2026</b>"])
def test_the_marked_words_are_the_quoted_ones(quote: str) -> None:
    start = TEXT.index(quote)
    shown = str(render_markdown(TEXT, 0, None, start, start + len(quote)))
    assert marked(shown).split() == re.sub(r"[*|]", "", quote).split()
    assert shown.count('id="cited"') == 1


def test_offsets_count_from_the_beginning_of_the_text_where_a_part_is_shown() -> None:
    first, start = TEXT.index("They"), TEXT.index("advance")
    assert marked(str(render_markdown(TEXT, first, None, start, start + 7))) == "advance"


@pytest.mark.parametrize(
    "hostile",
    [
        "[x](javascript:alert(1))", "<img src=x onerror=alert(1)>", '[x](https://a.b/"onmouseover="alert(1))',
        "<https://a.b/><script>alert(1)</script>", "[<script>](https://a.b)", "# <script>alert(1)</script>",
        "[x](data:text/html,<script>)", "![x](https://evil.example/pixel.png)", "| <script> |\n|---|\n| <b> |",
    ],
)  # fmt: skip
def test_nothing_of_a_text_is_markup(hostile: str) -> None:
    shown = str(render_markdown(hostile))
    tags = set(re.findall(r"<(/?\w+)", shown))
    assert not tags & {"script", "img", "b"}
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', shown))
    assert not re.search(r"<a [^>]*onmouseover=\"", shown)


@pytest.mark.parametrize("piece", ["*", "**a ", "[", "`", "- ", "> ", "_a ", "|", "a\n", "- a\n", "> a\n", " - "])
def test_a_hostile_text_is_shown_whole(piece: str) -> None:
    assert render_markdown(piece * 2000 + "end").rstrip().count("end") == 1


def test_a_passage_is_shown_without_signs() -> None:
    assert plain_words("## Prices\n\n- **39** euro, [list](https://a.b)\n\n| a | b |") == "Prices: 39 euro, list a b"


def test_a_heading_does_not_run_into_the_text_below_it() -> None:
    assert plain_words("## 2. Models\n\nRafael would rather have one price.") == (
        "2. Models: Rafael would rather have one price."
    )
