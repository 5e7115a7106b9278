"""The sample corpus: half a year of a small company, for the demo and for those who look around."""

from pathlib import Path


def sample_corpus() -> Path:
    return _sample("kestrel")


def sample_list() -> Path:
    """The archive of a mailing list."""
    return _sample("list") / "tern-dev.mbox"


def _sample(name: str) -> Path:
    """Inside the installed package, or beside it where the package is used from its repository."""
    package = Path(__file__).parents[1]
    installed = package / "samples" / name
    return installed if installed.is_dir() else package.parents[1] / "examples" / name


def sample_files() -> list[Path]:
    """In order; none where the package came without them."""
    folder = sample_corpus()
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
