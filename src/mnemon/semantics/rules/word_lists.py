"""Lists of words, written as running text and read as sets and patterns."""

# "Statt des Busses", and not "findet am Freitag statt".
STATT = r"statt(?=\s+(?!und\b|oder\b|wie\b)\w)"
# "Texts for changes and cancellations" calls nothing off; "the cancellation of the fair" does.
CANCELS = r"cancel(?!l?ations?\b(?! of (?:the|our|this|that)\b))\w*"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def one_of(text: str) -> str:
    """A pattern for any of the words, longest first; `_` within one stands for white space."""
    return "(?:" + "|".join(sorted((word.replace("_", r"\s+") for word in text.split()), key=len, reverse=True)) + ")"
