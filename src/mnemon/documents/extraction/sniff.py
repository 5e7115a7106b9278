"""What kind of file this is: by its name and by its content, which must agree."""

import re
from pathlib import Path

from mnemon.documents.extraction.errors import UnsupportedFile
from mnemon.documents.extraction.kinds import EXTENSIONS, KINDS, NAMES, PICTURES, FileKind

HEAD_BYTES = 64 << 10
# The list of a zip file's members is at its end; a Word file needs far less than this for it.
TAIL_BYTES = 1 << 20

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file"),
    (b"{\\rtf", "rich text (RTF)"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"%!PS", "a PostScript file"),
    (b"SQLite format 3", "a SQLite database"),
)
# The folder that holds the main part, in the packages of Microsoft's Office.
OFFICE_PARTS: tuple[tuple[bytes, FileKind], ...] = ((b"word/", "docx"), (b"xl/", "xlsx"), (b"ppt/", "pptx"))
# What stands first in the packages that say themselves what they are.
ZIP_TYPES: tuple[tuple[bytes, FileKind], ...] = (
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"mimetypeapplication/vnd.oasis.opendocument.presentation", "odp"),
    (b"mimetypeapplication/epub+zip", "epub"),
)
ZIPPED = ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "zip")
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
HEADER_LINE = re.compile(rb"(?:From |[!-9;-~]+[ \t]*:)")
MAIL_HEADER = re.compile(
    rb"^(?:from|to|cc|date|subject|received|return-path|message-id|mime-version|delivered-to|reply-to|sender|"
    rb"content-type|x-[a-z-]+)[ \t]*:|\AFrom ",
    re.IGNORECASE | re.MULTILINE,
)


def sniff(path: Path, filename: str) -> FileKind:
    """The kind that both the name and the content say, or an error that names both."""
    extension = Path(filename).suffix.lower()
    kind = EXTENSIONS.get(extension)
    if kind is None:
        raise UnsupportedFile(
            f"{filename!r} cannot be read: give a file that ends in {', '.join(EXTENSIONS)}.", extension=extension
        )
    head, tail = _ends(path)
    content = content_of(head, tail)
    if not _agree(kind, content, head):
        found = next((NAMES[one] for one in KINDS if one == content), content)
        raise UnsupportedFile(
            f"{filename!r} is named as {NAMES[kind]} ({extension}), but its content is {found}: "
            "give it its right name, or save it again.",
            extension=extension,
            content=found,
        )
    return kind


def content_of(head: bytes, tail: bytes = b"") -> str:
    """One of the kinds where the content alone shows it, `txt` for any text, else the name of what it is."""
    if not head:
        return "empty"
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_content(head, tail)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    if (known := next((name for mark, name in SIGNATURES if head.startswith(mark)), None)) and not _is_text(head):
        return known
    if not _is_text(head):
        return "binary data"
    return "txt"


def _ends(path: Path) -> tuple[bytes, bytes]:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return head, file.read(TAIL_BYTES)


def _zip_content(head: bytes, tail: bytes) -> str:
    if b"[Content_Types].xml" in tail and (found := next((kind for mark, kind in OFFICE_PARTS if mark in tail), None)):
        return found
    if found := next((kind for mark, kind in ZIP_TYPES if mark in head[:256]), None):
        return found
    return "epub" if b"META-INF/container.xml" in tail and b".opf" in tail else "zip"


def _is_text(head: bytes) -> bool:
    if head.startswith(BYTE_ORDER_MARKS):
        return True
    if b"\x00" in head:
        return _is_wide(head)
    odd = sum(head.count(bytes([one])) for one in range(32) if one not in (8, 9, 10, 12, 13, 27))
    return odd <= len(head) // 100


def _is_wide(head: bytes) -> bool:
    """UTF-16 without a mark: nearly all NULs on the same side of the pairs."""
    even, uneven = head[::2].count(0), head[1::2].count(0)
    return max(even, uneven) > len(head) // 5 and min(even, uneven) * 20 < max(even, uneven)


def _agree(kind: FileKind, content: str, head: bytes) -> bool:
    if kind == "pdf" or kind in (*ZIPPED, *PICTURES):
        return content == kind
    if content != "txt":
        return False
    if kind == "rtf":
        return head.lstrip().startswith(b"{\\rtf")
    return kind != "eml" or starts_as_mail(head)


def agrees(kind: FileKind, content: bytes) -> bool:
    """Whether a file within another is what its name says."""
    head = content[:HEAD_BYTES]
    return _agree(kind, content_of(head, content[-TAIL_BYTES:]), head)


def starts_as_mail(head: bytes) -> bool:
    """Header lines first, and at least one of them a header that mails have."""
    first = head.lstrip(b"\xef\xbb\xbf\r\n")
    return bool(HEADER_LINE.match(first)) and bool(MAIL_HEADER.search(first[:16_384]))
