"""Small office files, made by the libraries that people make them with, or put together from their parts."""

import io
import zipfile
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import openpyxl
import pptx

ODF = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in [
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("meta", "meta"),
        ("presentation", "presentation"), ("manifest", "manifest"),
    ]
)  # fmt: skip
ODF_TYPE = "application/vnd.oasis.opendocument."


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            stored = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            package.writestr(name, content, compress_type=stored)
    return made.getvalue()


def xlsx(sheets: Mapping[str, list[list[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.properties.title = "The plan"
    book.properties.creator = "Anna Berg"
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def tasks_xlsx() -> bytes:
    return xlsx(
        {
            "Tasks": [
                ["Task", "Owner", "Due", "Share"],
                ["Write the report", "Anna Berg", date(2026, 3, 2), 0.5],
                ["Call", "Ben Ito", datetime.fromisoformat("2026-03-05T14:30"), 1],
            ],
            "Sums": [["Name", "Sum"], ["All", "=SUM(A1:A2)"]],
        }
    )


def slides() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Launch"
    slide.placeholders[1].text = "Ship on Friday\nRest on Saturday"
    slide.placeholders[1].text_frame.paragraphs[1].level = 1
    slide.notes_slide.notes_text_frame.text = "Say who ships."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Costs"
    table = second.shapes.add_table(2, 2, 0, 0, 100, 100).table
    for place, words in enumerate(("Item", "Sum", "Rent", "12")):
        table.cell(place // 2, place % 2).text = words
    made = io.BytesIO()
    deck.save(made)
    return made.getvalue()


def opendocument(kind: str, body: str, **parts: str) -> bytes:
    content = f"<office:document-content {ODF}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
    meta = (
        f'<office:document-meta {ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<dc:title>The plan</dc:title><meta:initial-creator>Anna Berg</meta:initial-creator>"
        "<meta:creation-date>2026-03-02T10:00:00</meta:creation-date></office:meta></office:document-meta>"
    )
    return packed({
        "mimetype": ODF_TYPE + kind, "content.xml": content + "</office:document-content>", "meta.xml": meta,
        **{f"{name}.xml": text for name, text in parts.items()},
    })  # fmt: skip


ODT_BODY = (
    '<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h text:outline-level="2">Scope</text:h>'
    '<text:p>Goods<text:s text:c="2"/>and<text:tab/>more<text:note><text:note-citation>1</text:note-citation>'
    "<text:note-body><text:p>A note.</text:p></text:note-body></text:note>.</text:p>"
    "<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item>"
    "</text:list></text:list-item></text:list>"
    "<table:table><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell>"
    "<text:p>Task</text:p></table:table-cell></table:table-row></table:table>"
)
ODS_BODY = (
    '<table:table table:name="Costs"><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell>'
    "<table:table-cell><text:p>Sum</text:p></table:table-cell>"
    '<table:table-cell table:number-columns-repeated="16382"/></table:table-row>'
    "<table:table-row><table:table-cell><text:p>Rent</text:p></table:table-cell><table:table-cell>"
    '<text:p>12 €</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048574">'
    '<table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
)
ODP_BODY = (
    '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Launch</text:p></draw:text-box>'
    "</draw:frame>"
    "<draw:frame><draw:text-box><text:p>Ship on Friday</text:p></draw:text-box></draw:frame><presentation:notes>"
    "<draw:frame><draw:text-box><text:p>Say who.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
)


def epub() -> bytes:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The Sea</dc:title><dc:creator>Anna Berg</dc:creator><dc:language>en</dc:language></metadata>"
        '<manifest><item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    return packed({
        "mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package,
        "OEBPS/one.xhtml": "<html><body><h1>One</h1><p>The sea is blue.</p></body></html>",
        "OEBPS/two b.xhtml": "<html><body><h1>Two</h1><p>The sky too.</p></body></html>",
    })  # fmt: skip


RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title The plan}{\author Anna Berg}}"
    rb"\f0 Gr\'fc\'dfe and \u8364? 12.\par Second \b paragraph\b0 .\par}"
)
