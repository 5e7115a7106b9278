"""What `pip install` of the wheels puts on the disk: Mnemon, the weights, and whatever they need without extras."""

import tempfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mnemon
from mnemon.models.weights import find_weights
from mnemon.models.weights_wheel import write_wheel


@dataclass(frozen=True)
class Install:
    """Bytes of each package, compiled modules included."""

    sizes: dict[str, int]

    @property
    def packages(self) -> int:
        return len(self.sizes)

    @property
    def megabytes(self) -> float:
        return sum(self.sizes.values()) / 1e6

    def largest(self, most: int) -> list[tuple[str, int]]:
        return sorted(self.sizes.items(), key=lambda one: -one[1])[:most]


def default_install() -> Install:
    """Of this environment: all that Mnemon needs, and nothing that only its developers have."""
    found: dict[str, int] = {}
    left, seen = [Requirement("mnemon")], set()
    while left:
        wanted = left.pop()
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            # For another system or another Python.
            continue
        found[name] = size_of(package)
        needs = (Requirement(one) for one in package.requires or ())
        left += [
            one for one in needs if not one.marker or any(one.marker.evaluate({"extra": of}) for of in ("", *extras))
        ]
    # In the repository the package is not where it is installed, and the weights come in a wheel of their own.
    found["mnemon"] = size_below(Path(mnemon.__file__).parent)
    found["mnemon-minilm"] = size_in_wheel()
    return Install(found)


def size_in_wheel() -> int:
    """Of the weights as `make build` packs them."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(write_wheel(find_weights(), Path(folder))) as wheel:
        return sum(entry.file_size for entry in wheel.infolist())


def size_of(package: Distribution) -> int:
    files = {Path(str(file.locate())) for file in package.files or ()}
    return sum(file.stat().st_size for file in files if file.is_file())


def size_below(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
