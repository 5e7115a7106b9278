"""Takes the engine that the settings name."""

from uuid import UUID

from mnemon.models.language import LanguageModel
from mnemon.semantics.extract.extractor import Extractor
from mnemon.settings import Settings


def choose_extractor(settings: Settings, model: LanguageModel, tenant: UUID) -> Extractor:
    """The language model is asked only where the settings say so, even if one is configured."""
    # Each engine's patterns and prompts take a while to make, and most commands extract nothing.
    if settings.extraction_engine == "llm":
        from mnemon.semantics.extract.llm import LanguageModelExtractor

        return LanguageModelExtractor(model, tenant)
    from mnemon.semantics.rules.engine import RulesExtractor

    return RulesExtractor()
