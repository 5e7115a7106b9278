"""The engine is a setting; the default needs no model."""

from uuid import uuid4

from mnemon.models.language import NoLanguageModel
from mnemon.semantics.extract.extractor import choose_extractor
from mnemon.settings import Settings


def test_rules_are_the_default_and_a_model_is_asked_for_by_name() -> None:
    assert choose_extractor(Settings(), NoLanguageModel(), uuid4()).name == "rules"
    assert choose_extractor(Settings(extraction_engine="llm"), NoLanguageModel(), uuid4()).name == "llm"
