"""Cues for work that somebody did or finished."""

from mnemon.semantics.cues.cue import PEOPLE, cue
from mnemon.semantics.cues.verbs import DONE
from mnemon.semantics.semantic_event import Category

_E = Category.EXECUTION
_ADVERB = (
    r"(?:\s+(?:now|just|also|already|then|finally|successfully|formally|officially|all|fully|since|both|recently))*"
)

EXECUTION_CUES = (
    cue("done_active", _E, rf"(?:(?<=\w)\s+(?:have|has|had)|'ve|'s|(?<=\w)){_ADVERB}\s+{DONE}\b(?!\s+by\b)", agents=PEOPLE),
    cue("done_passive", _E, rf"\b(?:was|were|has\s+been|have\s+been|had\s+been|is\s+now|are\s+now|got){_ADVERB}\s+{DONE}\b", about="before"),
    cue("done_clipped", _E, rf"^\W*(?:(?:[\d.]+\s+\w+|\w+day)\s*:\s*)?(?:just\s+|also\s+|already\s+)?{DONE}\b(?!\s*[:])(?=\s+\w)", clipped=True),
    cue("done_trailing", _E, rf"(?<=\w)\s+{DONE}(?:\s+and\s+{DONE})?\W*$", about="before", clipped=True),
    cue("done_dated", _E, rf"^\W*(?:\d{{1,2}}\.?\s+\w+|[\d-]{{8,10}}|\w+day)\s*:\s+(?:[\w-]+\s+){{1,5}}?{DONE}\b"),
    cue("went_live", _E, r"\b(?:went\s+live|gone\s+live|left\s+(?:our|the)\s+(?:plant|warehouse|factory|port)|(?:is|are)\s+(?:now\s+)?(?:done|complete)\W*$)", about="before"),
)  # fmt: skip
