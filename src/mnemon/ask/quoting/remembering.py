"""Memory objects as stretches of text, so that what they say is weighed beside what documents say."""

from collections.abc import Sequence

from mnemon.ask.quoting.statements import statements_in
from mnemon.ask.quoting.surroundings import Origin, Stretch
from mnemon.ask.recall import Remembered

TITLE = "Memory"


def candidates_of(remembered: Sequence[Remembered]) -> list[Stretch]:
    """One stretch for each object, in their order."""
    return [_stretch(one) for one in remembered]


def _stretch(one: Remembered) -> Stretch:
    origin = Origin(
        one.emo_id, one.emo_id, one.emo_version, True, TITLE, f"memory:{one.emo_id}", "text/markdown", one.updated_at, one
    )  # fmt: skip
    statements = statements_in(one.content, 0, from_start=True)
    return Stretch(origin, (), 0, len(one.content), statements, one.score)
