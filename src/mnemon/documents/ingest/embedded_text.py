"""The words that a chunk's vector stands for: those of its section's headings, then its own."""

from collections.abc import Sequence

from mnemon.documents.ingest.sizes import HEADING_CHARACTERS
from mnemon.documents.structure.talk import turn_on


def text_to_embed(headings: Sequence[str], text: str, speaker: str | None = None) -> str:
    """Without the stamps of a chat, which say nothing of what is meant."""
    words = _said(text, speaker) if speaker else text
    return "\n".join([heading_line(headings), words]) if headings else words


def heading_line(headings: Sequence[str]) -> str:
    """The end of a long path tells most."""
    return " > ".join(headings)[-HEADING_CHARACTERS:]


def _said(text: str, speaker: str) -> str:
    first, _, rest = text.partition("\n")
    turn = turn_on(first)
    if turn is None or not turn.stamp:
        return text
    own = first[turn.begin :]
    return f"{turn.speaker}: {own}" + (f"\n{rest}" if rest else "")
