"""Having a file read in a subprocess of its own, under limits that the kernel enforces."""

from pathlib import Path

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.isolated import limits_of
from mnemon.documents.extraction.sniff import Kind
from mnemon.documents.reading import FileToRead, ReadFile, read_file
from mnemon.settings import Settings
from mnemon.work.errors import MemoryLimitExceeded, SubprocessFailed
from mnemon.work.isolate import run_isolated


async def read_isolated(path: Path, kind: Kind, settings: Settings) -> ReadFile:
    """What `read_file` gives, or ExtractionFailed. A file that hangs or kills its process ends in the errors of
    `run_isolated`, which the queue counts: TimeLimitExceeded, ProcessDied."""
    wanted = FileToRead(path=path, kind=kind, limits=limits_of(settings), embedder_folder=settings.embedder_folder)
    try:
        return await run_isolated(
            read_file, wanted, memory_mb=settings.extract_memory_mb, seconds=settings.extract_seconds
        )
    except MemoryLimitExceeded:
        raise ExtractionFailed(
            f"The file needs more than {settings.extract_memory_mb} MB of memory: split it, "
            "or raise MNEMON_EXTRACT_MEMORY_MB.",
            reason="memory",
        ) from None
    except SubprocessFailed as error:
        raise ExtractionFailed(f"The file cannot be read: {error.message}", reason="damaged") from None
