"""Whether the learned reader looks again at what the rules gave at once, and the engine that does."""

from collections.abc import Mapping

from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.weights import find_weights
from mnemon.semantics.extract.extractor import Extractor
from mnemon.settings import Settings


def refines(settings: Settings) -> bool:
    """Where nobody switched it off, and the embedder is installed that it is an adapter of."""
    if settings.extraction_engine != "learned" or settings.embedder == "none":
        return False
    try:
        find_weights(settings.embedder_folder)
    except EmbedderUnavailable:
        return False
    return True


def learned_extractor(settings: Settings, weights: Mapping[str, float] | None = None) -> Extractor:
    # Its model takes a while to load, and most commands extract nothing.
    from mnemon.semantics.learned.engine import LearnedExtractor
    from mnemon.semantics.learned.reader import shared_reader

    return LearnedExtractor(shared_reader(settings.home, settings.embedder_folder), weights=weights)
