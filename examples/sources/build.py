"""Writes the PDF and DOCX files of the sample corpus from the texts beside them. Needs reportlab; same in, same out."""

import re
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Paragraph, SimpleDocTemplate

HERE = Path(__file__).parent
CORPUS = HERE.parent / "kestrel"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
LONG_AGO = (1980, 1, 1, 0, 0, 0)

CONTENT_TYPES = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels"
ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml"
ContentType="application/xml"/><Override PartName="/word/document.xml"
ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override
PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
<Override PartName="/word/numbering.xml"
ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"/><Override
PartName="/word/footnotes.xml"
ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"/></Types>"""
ROOT_LINKS = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{RELATIONS}/officeDocument"
Target="word/document.xml"/></Relationships>"""
LINKS = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{RELATIONS}/styles" Target="styles.xml"/>
<Relationship Id="rId2" Type="{RELATIONS}/numbering" Target="numbering.xml"/><Relationship Id="rId3"
Type="{RELATIONS}/footnotes" Target="footnotes.xml"/></Relationships>"""
STYLES = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>
</w:style><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/>
</w:pPr><w:rPr><w:b/><w:sz w:val="36"/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name
w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:rPr><w:b/><w:sz w:val="28"/></w:rPr></w:style>
</w:styles>"""
NUMBERING = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText
w:val="-"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>"""


def blocks_of(text: str) -> list[str]:
    """Headings, paragraphs, whole lists and whole tables; lines of a paragraph are joined."""
    blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", text)]
    return [block if block.startswith(("- ", "|")) else " ".join(block.split("\n")) for block in blocks if block]


def write_pdf(source: Path, target: Path) -> None:
    styles = getSampleStyleSheet()
    body = ParagraphStyle("body", parent=styles["BodyText"], fontName="Times-Roman", fontSize=11, leading=15)
    named = {"# ": styles["Title"], "## ": styles["Heading2"]}
    story = []
    for block in blocks_of(source.read_text("utf-8")):
        mark = next((mark for mark in named if block.startswith(mark)), "")
        story.append(Paragraph(escape(block.removeprefix(mark)), named.get(mark, body)))
    page = SimpleDocTemplate(
        str(target), pagesize=A4, title="Data Retention Policy", author="Priya Raman", invariant=1,
        leftMargin=25 * mm, rightMargin=25 * mm, topMargin=25 * mm, bottomMargin=25 * mm,
    )  # fmt: skip
    page.build(story)


def write_docx(source: Path, target: Path) -> None:
    body, notes = [], []
    for block in blocks_of(source.read_text("utf-8")):
        if note := re.fullmatch(r"\[\^(\d+)\]: (.+)", block):
            notes.append(f'<w:footnote w:id="{note[1]}">{paragraph(note[2])}</w:footnote>')
        else:
            body.append(docx_block(block))
    parts = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": ROOT_LINKS,
        "word/_rels/document.xml.rels": LINKS,
        "word/document.xml": part("document", f"<w:body>{''.join(body)}</w:body>"),
        "word/styles.xml": STYLES,
        "word/numbering.xml": NUMBERING,
        "word/footnotes.xml": part("footnotes", "".join(notes)),
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)


def part(name: str, inside: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<w:{name} xmlns:w="{WORD}">{inside}</w:{name}>'


def docx_block(block: str) -> str:
    if block.startswith("|"):
        rows = [row.strip("|").split("|") for row in block.split("\n") if not row.startswith("|---")]
        cells = ["".join(f"<w:tc>{paragraph(cell.strip())}</w:tc>" for cell in row) for row in rows]
        return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"
    if block.startswith("- "):
        numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
        return "".join(paragraph(item.removeprefix("- "), numbered) for item in block.split("\n"))
    if heading := re.fullmatch(r"(#+) (.+)", block):
        return paragraph(heading[2], f'<w:pStyle w:val="Heading{len(heading[1])}"/>')
    return paragraph(block)


def paragraph(text: str, properties: str = "") -> str:
    runs = [
        f'<w:r><w:footnoteReference w:id="{piece[2:-1]}"/></w:r>' if piece.startswith("[^")
        else f'<w:r><w:t xml:space="preserve">{escape(piece)}</w:t></w:r>'
        for piece in re.split(r"(\[\^\d+\])", text) if piece
    ]  # fmt: skip
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


if __name__ == "__main__":
    for version in ("v1", "v2"):
        write_pdf(HERE / f"data-retention-{version}.md", CORPUS / f"policy/data-retention-{version}.pdf")
    write_docx(HERE / "skagen-services-agreement.md", CORPUS / "contract/skagen-services-agreement.docx")
