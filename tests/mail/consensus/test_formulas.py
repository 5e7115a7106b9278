"""Fixed words of agreement and disagreement, and the same words in another sense."""

import pytest

from mnemon.mail.consensus.formulas import formula_of


@pytest.mark.parametrize(
    ("words", "stance"),
    [
        ("I support adoption.", "support"),
        ("Agreed.", "support"),
        ("That makes sense.", "support"),
        ("LGTM", "support"),
        ("I support this if section 4 is dropped.", "support_conditional"),
        ("I agree, provided that the old name keeps working.", "support_conditional"),
        ("I don't agree with this change.", "object"),
        ("I object to publishing this.", "object"),
        ("I'm not convinced.", "object"),
        ("NAK, the lock is taken twice.", "object"),
        ("I withdraw my objection.", "withdraw"),
        ("That resolves my concern, thanks.", "withdraw"),
        ("Which version did you test?", "question"),
        ("The library has support for both curves.", None),
        ("If the server agrees, the session is resumed.", None),
        ("The two clocks do not agree.", None),
        ("Ich bin nicht einverstanden.", "object"),
        ("I take back my +1 until that is out.", "object"),
        ("Ich ziehe meine Zustimmung zurück.", "object"),
        ("I don't disagree about the wording.", None),
        ("You can't ship it without the source.", None),
        ("+1 / 0 / -1", None),
        ("Es sind 19 Antworten gekommen, 13 dagegen.", None),
        ("Ich bin dagegen.", "object"),
        ("Ich nehme meinen Einwand zurück.", "withdraw"),
        ("My objection stands: off by default, or not at all.", "object"),
        ("Mein Einwand bleibt bestehen.", "object"),
        ("I stand by my -1.", "object"),
        ("My objection stands withdrawn.", "withdraw"),
    ],
)
def test_fixed_words(words: str, stance: str | None) -> None:
    assert formula_of(words) == stance
