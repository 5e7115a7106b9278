"""Reader and formulas together."""

from mnemon.mail.consensus.reader import weighed
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.stances import JUDGED


def judged(words: str, **logits: float) -> tuple[str, bool]:
    found = weighed(SaidSentence(0, len(words), words), [logits.get(stance, -6.0) for stance in JUDGED])
    return found.stance, found.by_formula


def test_fixed_words_are_not_lost_whatever_the_reader_says() -> None:
    assert judged("I object to section 4.") == ("object", True)
    assert judged("I object to section 4.", support=8.0) == ("object", True)


def test_other_words_are_what_the_reader_takes_them_for() -> None:
    assert judged("It breaks my scripts.", object=6.0) == ("object", False)
    assert judged("It breaks my scripts.") == ("neutral", False)
    assert judged("We run it since May.", support=6.0) == ("support", False)
