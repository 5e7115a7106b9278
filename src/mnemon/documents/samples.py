"""The sample corpus: half a year of a small company, for the demo and for those who look around."""

from pathlib import Path


def sample_corpus() -> Path:
    """Inside the installed package, or beside it where the package is used from its repository."""
    package = Path(__file__).parents[1]
    installed = package / "samples" / "kestrel"
    return installed if installed.is_dir() else package.parents[1] / "examples" / "kestrel"


def sample_list() -> Path:
    """The archive of a mailing list, in the same places."""
    package = Path(__file__).parents[1]
    installed = package / "samples" / "list" / "tern-dev.mbox"
    return installed if installed.is_file() else package.parents[1] / "examples" / "list" / "tern-dev.mbox"


def sample_files() -> list[Path]:
    """In order; none where the package came without them."""
    folder = sample_corpus()
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
