"""What a finding of the learned reader is not, however like it: rows of a price list, proposals, offers, requests."""

import re

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.learned.owner_mentions import mentions_in
from mnemon.semantics.learned.proposals import Proposal
from mnemon.semantics.link.cue_words import REVERSES
from mnemon.semantics.rules.labels import is_named
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.mood import is_proposed, plain
from mnemon.semantics.semantic_event import Category

_OWED = frozenset({"owner", "task", "due"})
_CELL = re.compile(r"(?:(?P<heading>[^|:\t;\n]{1,40}):\s)?\s*(?P<words>[^|\t;\n]{2,60})")
# Over such a column stand people: "Baker", "Fahrerin".
_PEOPLE_COLUMN = re.compile(
    r"(?:staff|employee|member|volunteer|driver|baker|cook|teacher|trainer|coach|host|speaker|author|reporter|worker|helper"
    r"|contact|person|people|mitarbeiter|fahrer|bäcker|koch|köchin|lehrer|helfer|leiter|ansprechpartner|kontakt)\w*",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"\b(?:offers?|offered|quotes?|quoted|bietet|bieten|bot|verlangt|angebot(?:en)?)\b(?=.*\d)|\d.*\b(?:offered|quoted|angeboten)\b",
    re.IGNORECASE,
)
_OURS = re.compile(r"\b(?:we|I|our|wir|ich|unser\w*)\b", re.IGNORECASE)
_SETTLED = re.compile(
    r"\b(?:decid\w+|agree[ds]?|accept\w*|approv\w+|chose\w*|choose|adopt\w*|took|take|beschl\w+|entsch(?:ied|eid)\w*"
    r"|angenommen|nehmen|genehmigt|einig\w*|vereinbart)\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\W*(?:(?:there is |we have )?no(?:thing)? (?:final )?(?:decision|decided)\b|(?:it is |this is )?"
    r"(?:not|nothing)(?: yet)? (?:been )?decided\b|undecided\b"
    r"|(?:the )?decision (?:is )?(?:pending|open|still to come)\b|to be decided\b|tbd\b"
    r"|(?:es gibt |wir haben )?noch (?:keine? (?:entscheidung|beschluss)|nicht(?:s)? (?:entschieden|beschlossen))\b"
    r"|(?:die )?entscheidung (?:ist |steht )?(?:noch )?(?:offen|aus)\b"
    r"|(?:noch )?(?:keine entscheidung|nicht entschieden)\b)",
    re.IGNORECASE,
)
# Who is against it has decided nothing: "Jonas does not agree", "Frau Adler ist dagegen".
_AGAINST = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were)(?: not|n['’]t) (?:\w+ )?(?:agree[ds]?|agreeing|convinced|happy with)\b"
    r"|disagree[sd]?\b|(?:am|is|are|was|were) (?:still |strictly |rather |clearly )?(?:against|opposed to)\b"
    r"|object(?:s|ed)? to\b|(?:ist|bin|sind|war|waren) (?:\w+ )?dagegen\b|nicht einverstanden\b"
    r"|widerspr(?:icht|ach)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\W*(?:(?-i:[A-ZÄÖÜ])[\w.]+, )?(?:please|pls|kindly|bitte)\b", re.IGNORECASE)


def speaks_against(revision: Revision, proposal: Proposal) -> bool:
    """Of a finding that no rule shares."""
    unit, category = revision.layout.units[proposal.unit], proposal.category
    sentence = _up_to(unit, proposal.end)
    if category is Category.COMMITMENT and is_named(revision, Category.DECISION, proposal.start):
        # "Decision: split the order": it is settled what, and not who owes it.
        said, german = _said(revision, proposal), is_german(revision.text)
        return not _OURS.search(said) and not mentions_in(revision, said, german)
    if category is Category.DECISION and _only_objects(_said(revision, proposal)):
        return True
    if category is Category.COMMITMENT and unit.form == "row":
        return not is_owed_row(revision, unit)
    if category in (Category.COMMITMENT, Category.DECISION) and is_proposed(_said(revision, proposal), sentence):
        return not _SETTLED.search(sentence)
    if category in (Category.COMMITMENT, Category.DECISION) and not _SETTLED.search(sentence):
        offered = _OFFERED.search(sentence) is not None and not _OURS.search(sentence)
        return offered or (category is Category.DECISION and _left_open(revision, proposal))
    return category is Category.QUALITY_RISK and _ASKS.match(sentence) is not None


def _only_objects(said: str) -> bool:
    """ "She objects, and so we dropped it" decides all the same."""
    rest = _AGAINST.sub(" ", said)
    return rest != said and not _SETTLED.search(rest) and not REVERSES.search(rest)


def _said(revision: Revision, proposal: Proposal) -> str:
    return plain(revision.text[proposal.start : proposal.end])


def is_owed_row(revision: Revision, unit: Unit) -> bool:
    """A column names who, what is to be done or until when; or a cell is somebody whom the document knows."""
    if _OWED & unit.cells.keys():
        return True
    return any(_is_somebody(revision, cell["words"].strip(), cell["heading"]) for cell in _CELL.finditer(unit.text))


def _is_somebody(revision: Revision, cell: str, heading: str | None) -> bool:
    """One who takes part, or whom sentences name too, or who stands where people stand; "Walnut bread" does not."""
    people = revision.people
    if not cell[:1].isupper() or len(cell.split()) > 4:
        return False
    if people.is_told(cell) or people.full_name(cell) in revision.named_in_words:
        return True
    return heading is not None and _PEOPLE_COLUMN.fullmatch(heading.strip()) is not None and people.is_person(cell)


def _up_to(unit: Unit, end: int) -> str:
    """From where the sentence begins to where the finding ends."""
    words = plain(unit.text)[: max(0, end - unit.start)]
    borders = list(re.finditer(r"[.!?;]\s+(?=\S)", words))
    return words[borders[-1].end() :] if borders else words


def _left_open(revision: Revision, proposal: Proposal) -> bool:
    """ "No decision yet." right behind it."""
    unit, units = revision.layout.units[proposal.unit], revision.layout.units
    rest = unit.text[max(0, proposal.end - unit.start) :]
    if _UNDECIDED.match(rest):
        return True
    behind = units[proposal.unit + 1] if proposal.unit + 1 < len(units) else None
    same = behind is not None and behind.speaker == unit.speaker and not rest.strip(" .")
    return same and behind is not None and _UNDECIDED.match(behind.text) is not None
