"""Extraction of a foreign file in a process of its own, with limits on time and memory."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import ForeignFile, extract_file
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.recognition.tesseract import is_installed
from mnemon.documents.ingest.content import Extraction
from mnemon.settings import Settings
from mnemon.work.errors import MemoryLimitExceeded, ProcessorTimeExceeded, SubprocessFailed
from mnemon.work.fork_client import Preparation
from mnemon.work.isolate import run_isolated

Argument = TypeVar("Argument", bound=BaseModel)
Result = TypeVar("Result")

# How much longer than its processor time a file may take where other work has the processor.
WAITING_TOO = 3


async def extract_isolated(path: Path, kind: FileKind, settings: Settings) -> Extraction:
    """What `extract` gives, or ExtractionFailed."""
    return await within_limits(extract_file, ForeignFile(path=path, kind=kind, limits=limits_of(settings)), settings)


async def within_limits(
    function: Callable[[Argument], Result], file: Argument, settings: Settings, prepared: Preparation | None = None
) -> Result:
    """What the function gives, or ExtractionFailed.

    Processor time is the file's own doing, and another attempt would need as much. A file that waits or kills its
    process ends in TimeLimitExceeded or ProcessDied: the queue counts such attempts, since a busy machine can be to
    blame for the first one; the limit is wider for that.
    """
    try:
        return await run_isolated(
            function,
            file,
            memory_mb=settings.extract_memory_mb,
            seconds=WAITING_TOO * settings.extract_seconds,
            cpu_seconds=settings.extract_seconds,
            prepared=prepared,
        )
    except MemoryLimitExceeded:
        raise ExtractionFailed(
            f"The file needs more than {settings.extract_memory_mb} MB of memory: split it, "
            "or raise MNEMON_EXTRACT_MEMORY_MB.",
            reason="memory",
        ) from None
    except ProcessorTimeExceeded:
        raise ExtractionFailed(
            f"The file needs more than {settings.extract_seconds} s of processor time to read: split it, "
            "or raise MNEMON_EXTRACT_SECONDS.",
            reason="time",
        ) from None
    except SubprocessFailed as error:
        raise ExtractionFailed(f"The file cannot be read: {error.message}", reason="damaged") from None


def limits_of(settings: Settings) -> Limits:
    return Limits(
        pages=settings.extract_pages,
        characters=settings.extract_characters,
        expanded_bytes=settings.extract_expanded_mb << 20,
        chunks=settings.extract_chunks,
        recognise=settings.ocr_languages if settings.ocr == "auto" and is_installed() else "",
    )
