"""Small PDFs made on the spot: columns, hyphens, ligatures, running headers, turned pages."""

import io
from collections.abc import Callable

from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
LEFT_COLUMN = [
    "The committee met on Monday and talked about",
    "the second release of the product. It decided to",
    "move the release to March, since the tests of the",
    "new importer are not ready. Anna will tell the cus-",
    "tomers by mail before the end of this week, and",
    "Ben will write a short note for the web page of",
    "the product that says what will change for them.",
    "Nobody objected to the plan that was presented.",
]
RIGHT_COLUMN = [
    "In the second part the budget was on the table.",
    "The costs of the hall have gone up by a third,",
    "and the offer of the other hall is still open. A",
    "decision will follow in the next meeting, when",
    "the numbers of all three houses are known. The",
    "treasurer asked everybody to send their bills to",
    "her until the last day of the month, as always.",
    "The meeting was closed by the chair at six.",
]


def pdf(*pages: Callable[[Canvas], None], password: str | None = None, title: str = "", **options: object) -> bytes:
    """A PDF of which each function draws one page."""
    file = io.BytesIO()
    encrypt = StandardEncryption(password, ownerPassword="owner") if password else None
    canvas = Canvas(file, pagesize=options.get("pagesize", A4), encrypt=encrypt, invariant=1)
    canvas.setTitle(title)
    canvas.setAuthor("Anna Berg")
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def lines(*texts: str, x: float = 72, y: float = 740, size: float = 11, font: str = "Helvetica", lead: float = 14):
    """Draws one line below the other."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for number, text in enumerate(texts):
            canvas.drawString(x, y - number * lead, text)

    return draw


def together(*drawings: Callable[[Canvas], None]) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for one in drawings:
            one(canvas)

    return draw


def heading(text: str, y: float = 780, size: float = 20) -> Callable[[Canvas], None]:
    return lines(text, y=y, size=size, font="Helvetica-Bold")


def columns(canvas: Canvas) -> None:
    """As most programs write: the left column, then the right one."""
    lines(*LEFT_COLUMN, x=50)(canvas)
    lines(*RIGHT_COLUMN, x=320)(canvas)


def interleaved_columns(canvas: Canvas) -> None:
    """As some do: line by line across both columns."""
    canvas.setFont("Helvetica", 11)
    for number, (left, right) in enumerate(zip(LEFT_COLUMN, RIGHT_COLUMN, strict=True)):
        canvas.drawString(50, 740 - number * 14, left)
        canvas.drawString(320, 740 - number * 14, right)


def picture(canvas: Canvas) -> None:
    canvas.rect(100, 100, 300, 300, fill=1)


def japanese(text: str) -> Callable[[Canvas], None]:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    return lines(text, font="HeiseiMin-W3")
