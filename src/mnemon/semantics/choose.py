"""Takes the engine that the settings name."""

from uuid import UUID

from mnemon.models.language import LanguageModel
from mnemon.semantics.extractor import Extractor
from mnemon.semantics.llm import LanguageModelExtractor
from mnemon.semantics.rules import RulesExtractor
from mnemon.settings import Settings


def choose_extractor(settings: Settings, model: LanguageModel, tenant: UUID) -> Extractor:
    """The language model is asked only where the settings say so, even if one is configured."""
    if settings.extraction_engine == "llm":
        return LanguageModelExtractor(model, tenant)
    return RulesExtractor()
