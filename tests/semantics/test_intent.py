"""The sentence model: what it believes, and that its table holds words and no one's text."""

import json
from importlib import resources

import pytest

from mnemon.semantics.rules.intent import LIKELY, actionable, features


@pytest.mark.parametrize(
    "sentence",
    [
        "Could you please send me the signed copy by Friday?",
        "Please give me a call to discuss the budget.",
        "Let me know what you think.",
    ],
)
def test_requests_are_believed(sentence: str) -> None:
    assert actionable(sentence) > LIKELY


@pytest.mark.parametrize(
    "sentence",
    [
        "To ensure delivery, please add us to your address book.",
        "The weather was lovely.",
        "Click here to start shopping now:",
    ],
)
def test_formulas_and_statements_are_not(sentence: str) -> None:
    assert actionable(sentence) < LIKELY


def test_numbers_links_and_addresses_are_signs_only() -> None:
    found = features("Call 555-1234 or write to ann@example.org, see https://example.org/a?b=1")
    assert {"0", "<mail>", "<url>"} <= found
    assert not any("555" in each or "ann" in each or "example" in each for each in found)


def test_the_shipped_table_holds_short_features_only() -> None:
    weights = json.loads(resources.files("mnemon.semantics.rules").joinpath("intent_weights.json").read_text())[
        "weights"
    ]
    assert 500 < len(weights) < 5000
    assert max(len(each.split()) for each in weights) == 2
