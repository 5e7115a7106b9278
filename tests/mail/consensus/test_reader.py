"""Reader and formulas together."""

from mnemon.mail.consensus.reader import weighed
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.stances import JUDGED


def judged(words: str, **logits: float) -> tuple[str, bool]:
    read = [logits.get(stance, -6.0) for stance in JUDGED]
    found = weighed(SaidSentence(0, len(words), words), [read, read])
    return found.stance, found.by_formula


def test_fixed_words_are_not_lost_whatever_the_reader_says() -> None:
    assert judged("I object to section 4.") == ("object", True)
    assert judged("I object to section 4.", support=8.0) == ("object", True)


def test_other_words_are_what_the_reader_takes_them_for() -> None:
    assert judged("It breaks my scripts.", object=6.0) == ("object", False)
    assert judged("It breaks my scripts.") == ("neutral", False)
    assert judged("We run it since May.", support=6.0) == ("support", False)


def test_both_readers_are_heard() -> None:
    """What one is sure of and the other denies is not what both are sure of."""
    words = "It breaks my scripts."
    sure = [6.0 if stance == "object" else -6.0 for stance in JUDGED]
    denies = [-6.0] * len(JUDGED)
    said = SaidSentence(0, len(words), words)
    both, first, second = (
        weighed(said, pair).scores["object"] for pair in ([sure, sure], [sure, denies], [denies, sure])
    )
    assert both > first > weighed(said, [denies, denies]).scores["object"]
    assert both > second > weighed(said, [denies, denies]).scores["object"]
