"""The model file in the home folder: made once from the weights, by whichever process comes first."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from mnemon.models.minilm.graph import NAME, REVISION, hidden_graph, minilm_graph
from mnemon.models.weights import PUBLISHED, Tensors, Weights
from mnemon.telemetry import logger

log = logger(__name__)


def cached_graph(home: Path, weights: Weights) -> Path:
    """The graph's file, whose name says from which weights and by which revision of the calculation it was made."""
    path = home / "models" / f"{NAME}-{PUBLISHED['model.safetensors'][:12]}-{REVISION}.onnx"
    if not path.exists():
        weights.check()
        _write_whole(path, minilm_graph(weights.tensors()))
        log.info("embedding graph written", path=str(path))
    return path


def adapted_graph(home: Path, weights: Weights, name: str, digest: str, merged: Callable[[Tensors], Tensors]) -> Path:
    """The same with an adapter merged into the weights; its digest is in the file's name."""
    start = f"{NAME}-{PUBLISHED['model.safetensors'][:12]}-{REVISION}-{name}"
    path = home / "models" / f"{start}-{digest[:12]}.onnx"
    if not path.exists():
        weights.check()
        _write_whole(path, hidden_graph(merged(weights.tensors())))
        log.info("adapted graph written", path=str(path))
    return path


def _write_whole(path: Path, contents: bytes) -> None:
    """Readers see the whole file or none. Processes that write at once write the same bytes, so the last may win."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
