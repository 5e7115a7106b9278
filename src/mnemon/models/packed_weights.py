"""The model's numbers in two thirds of the bytes, and none that is used is another: words in half precision, as the
graph takes them, and matrices with the bytes that are alike beside each other, since those can be pressed."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

WORDS = "embeddings.word_embeddings.weight"
# No vector is calculated with it.
UNUSED = "pooler."
IN_BYTES = ".bytes"
# What reading a damaged file may raise.
UNREADABLE = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
# Of the numbers of the published file, by `digest_of`: however a file was pressed, they are these.
DIGEST = "9efe6acbccdd958cf1d50b6e1e9ae82c8287355f949f11be4bbd2095f30ae940"

Tensors: TypeAlias = "dict[str, NDArray[np.float32]]"


def packed(tensors: Tensors) -> Iterator[tuple[str, NDArray[Any]]]:
    """What the file holds, by name, in an order that does not depend on the source."""
    for name in _used(tensors):
        value = np.ascontiguousarray(tensors[name])
        if name == WORDS:
            yield name, value.astype(np.float16)
        elif value.ndim == 1:
            yield name, value
        else:
            yield name + IN_BYTES, np.moveaxis(value.view(np.uint8).reshape(*value.shape, 4), -1, 0)


def write_packed(tensors: Tensors, output: IO[bytes], moment: tuple[int, int, int, int, int, int]) -> None:
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, value in packed(tensors):
            entry = zipfile.ZipInfo(f"{name}.npy", moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as file:
                np.lib.format.write_array(file, np.ascontiguousarray(value), allow_pickle=False)


def read_packed(path: Path) -> Tensors:
    with path.open("rb") as stream, np.load(stream) as file:
        return {name.removesuffix(IN_BYTES): _number(name, file[name]) for name in file.files}


def digest_of(tensors: Tensors) -> str:
    """The same for a file as it was published and for one that was packed."""
    digest = hashlib.sha256()
    for name in _used(tensors):
        value = tensors[name].astype(np.float16) if name == WORDS else tensors[name]
        digest.update(f"{name} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def _used(tensors: Tensors) -> list[str]:
    return sorted(name for name in tensors if not name.startswith(UNUSED))


def _number(name: str, value: NDArray[Any]) -> NDArray[np.float32]:
    if not name.endswith(IN_BYTES):
        return value.astype(np.float32)
    return np.ascontiguousarray(np.moveaxis(value, 0, -1)).view(np.float32)[..., 0]
