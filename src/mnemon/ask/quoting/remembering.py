"""Memory objects as stretches of text, so that what they say is weighed beside what documents say."""

from collections.abc import Sequence

from mnemon.ask.quoting.statements import statements_in
from mnemon.ask.quoting.surroundings import StatementSource, Stretch
from mnemon.ask.recall import Remembered

TITLE = "Memory"


def candidates_of(remembered: Sequence[Remembered]) -> list[Stretch]:
    """One stretch for each object, in their order."""
    return [_stretch(one) for one in remembered]


def _stretch(one: Remembered) -> Stretch:
    uri = f"memory:{one.emo_id}"
    origin = StatementSource(
        one.emo_id, one.emo_id, one.emo_version, True, TITLE, uri, "text/markdown", one.updated_at, memory=one
    )
    statements = statements_in(one.content, 0, from_start=True)
    return Stretch(origin, (), 0, len(one.content), statements, one.score)
