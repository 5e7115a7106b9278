"""Having a file read in a process of its own, under limits that the kernel enforces."""

from pathlib import Path

from mnemon.documents.extraction.isolated import limits_of, within_limits
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.ingest.reading import FileToRead, ReadFile, ReadingTools, load_tools, read_file
from mnemon.documents.ingest.sizes import ChunkSizes
from mnemon.settings import Settings
from mnemon.work.fork_client import Preparation


async def read_isolated(path: Path, kind: FileKind, settings: Settings) -> ReadFile:
    """What `read_file` gives, or the errors of `within_limits`."""
    wanted = FileToRead(
        path=path, kind=kind, limits=limits_of(settings), embedder_folder=settings.embedder_folder,
        sizes=ChunkSizes.of(settings),
    )  # fmt: skip
    ready = Preparation(load_tools, ReadingTools(embedder_folder=settings.embedder_folder))
    return await within_limits(read_file, wanted, settings, ready)
