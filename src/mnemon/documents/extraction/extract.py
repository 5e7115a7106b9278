"""The one door to all extractors: a file and its kind in, an extraction or a reason out."""

from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.kinds import NAMES, FileKind
from mnemon.documents.extraction.limits import DEFAULT_LIMITS, Limits
from mnemon.documents.ingest.content import Extraction
from mnemon.errors import MnemonError

FileExtractor = Callable[[bytes, Limits], Extraction]


class ForeignFile(BaseModel):
    """A file that has yet to be read, as a subprocess is told of it."""

    path: Path
    kind: FileKind
    limits: Limits


def extract_file(file: ForeignFile) -> Extraction:
    return extract(file.path, file.kind, file.limits)


def extract(path: Path, kind: FileKind, limits: Limits = DEFAULT_LIMITS) -> Extraction:
    """The text of the file with its structure, always the same for the same bytes.

    A foreign file is for `extract_isolated`; this is what runs inside the limits.
    """
    try:
        found = extractor_of(kind)(path.read_bytes(), limits)
    except (MnemonError, MemoryError, OSError):
        raise
    # Whatever a damaged file makes a parser raise, the run ends with a reason, and no retry would help.
    except Exception as error:
        raise ExtractionFailed(
            f"The file cannot be read as {NAMES[kind]}: {type(error).__name__}: {error}"[:500], reason="damaged"
        ) from error
    limits.check_blocks(len(found.blocks))
    if not found.text or found.text.isspace():
        raise ExtractionFailed("The file holds no text.", reason="empty")
    return found


def load_extractors() -> None:
    """Import all of them: for the process whose forks read one file each."""
    for kind in NAMES:
        extractor_of(kind)


def extractor_of(kind: FileKind) -> FileExtractor:
    """Imported only when needed: the commands that read no file begin without them."""
    match kind:
        case "pdf":
            from mnemon.documents.extraction.pdf.extract import extract_pdf as found
        case "docx":
            from mnemon.documents.extraction.docx.extract import extract_docx as found
        case "html":
            from mnemon.documents.extraction.html.extract import extract_html as found
        case "eml":
            from mnemon.documents.extraction.eml.extract import extract_eml as found
        case "md":
            from mnemon.documents.extraction.markdown import extract_markdown as found
        case "csv":
            from mnemon.documents.extraction.tables.csv_text import extract_csv as found
        case "json":
            from mnemon.documents.extraction.tables.json_text import extract_json as found
        case "srt" | "vtt":
            from mnemon.documents.extraction.subtitles.extract import extract_subtitles as found
        case "xlsx":
            from mnemon.documents.extraction.sheets.xlsx import extract_xlsx as found
        case "pptx":
            from mnemon.documents.extraction.slides.pptx import extract_pptx as found
        case "odt":
            from mnemon.documents.extraction.opendocument.text import extract_odt as found
        case "odp":
            from mnemon.documents.extraction.opendocument.text import extract_odp as found
        case "ods":
            from mnemon.documents.extraction.opendocument.sheet import extract_ods as found
        case "epub":
            from mnemon.documents.extraction.books.epub import extract_epub as found
        case "rtf":
            from mnemon.documents.extraction.rtf import extract_rtf as found
        case "zip":
            from mnemon.documents.extraction.archives.zip_files import extract_zip as found
        case "png" | "jpeg" | "tiff" | "webp":
            from mnemon.documents.extraction.recognition.extract import extract_picture as found
        case "txt":
            from mnemon.documents.extraction.plain import extract_plain as found
    return found
