"""The kinds of file that are read: how their names end, what they are called, and their media types."""

from typing import Literal, get_args

FileKind = Literal["pdf", "docx", "html", "md", "txt", "eml", "csv", "srt", "vtt", "json"]
KINDS: tuple[FileKind, ...] = get_args(FileKind)

EXTENSIONS: dict[str, FileKind] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "md",
    ".markdown": "md",
    ".txt": "txt",
    ".text": "txt",
    ".log": "txt",
    ".eml": "eml",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".srt": "srt",
    ".vtt": "vtt",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
NAMES: dict[FileKind, str] = {
    "pdf": "a PDF",
    "docx": "a Word document",
    "html": "an HTML page",
    "md": "Markdown text",
    "txt": "plain text",
    "eml": "a mail",
    "csv": "a table in plain text",
    "srt": "subtitles",
    "vtt": "WebVTT subtitles",
    "json": "JSON",
}
MEDIA_TYPES: dict[FileKind, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "md": "text/markdown",
    "txt": "text/plain",
    "eml": "message/rfc822",
    "csv": "text/csv",
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
    "json": "application/json",
}
