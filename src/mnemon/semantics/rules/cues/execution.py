"""Cues for work that somebody did or finished."""

from mnemon.semantics.rules.cues.cue import PEOPLE, cue
from mnemon.semantics.rules.cues.verbs import DONE
from mnemon.semantics.semantic_event import Category

_E = Category.EXECUTION
_ADVERB = (
    r"(?: (?:now|just|also|already|then|finally|successfully|formally|officially|all|fully|since|both"
    r"|recently))*"
)
# "Measured on two cores", "Built with care": no report of work.
_LOOSE = r"(?:on|with|by|to|in|at|as|from|for|using|upon|off)"

EXECUTION_CUES = (
    cue("done_active", _E, rf"(?:(?<=\w) (?:have|has|had)|'ve|'s|(?<=\w)){_ADVERB} {DONE}\b(?! by\b)", agents=PEOPLE),
    # "Wanjiru sent the invoice": an object makes who begins the sentence somebody. "Invoice sent" has none.
    cue(
        "done_to",
        _E,
        rf"(?<=\w){_ADVERB} {DONE} (?:the|an?|our|all|my|his|her|their|its|both|new|\d+|two|three)\b",
        agents=frozenset({"opener"}),
    ),
    cue(
        "done_passive",
        _E,
        rf"\b(?:was|were|has been|have been|had been|is now|are now|got){_ADVERB} {DONE}\b",
        about="before",
    ),
    cue(
        "done_clipped",
        _E,
        rf"^\W*(?:(?:[\d.]+ \w+|\w+day)\s*:\s*)?(?:just |also |already )?{DONE}\b(?!\s*[:])(?= (?!{_LOOSE}\b)\w)",
        clipped=True,
    ),
    cue(
        "done_trailing",
        _E,
        rf"^(?!.*\b(?:is|are|was|were|be)\b)(?:[\w-]+ ){{0,4}}[\w-]+:? {DONE}(?: and {DONE})?\W*$",
        about="before",
        clipped=True,
    ),
    cue(
        "done_reported",
        _E,
        rf"^(?:[\w-]+ ){{1,3}}(?:{DONE}|done|taken)(?=\s*[,;])",
        about="before",
        clipped=True,
    ),
    cue(
        "done_state",
        _E,
        rf"^\W*(?:(?:the|my|our|his|her|your|all) )?(?:[\w'-]+ ){{1,6}}(?:is|are){_ADVERB} (?:done|finished|ready"
        rf"|complete|up and running|live|in place)(?: and {DONE})?(?: now| too| as well)?\W*$",
        about="before",
    ),
    cue(
        "done_now",
        _E,
        rf"^\W*(?:(?:the|my|our|all) )?(?:[\w.'-]+ ){{1,4}}(?:is|are){_ADVERB} (?:{DONE}|up for review)\W*$",
        about="before",
        clipped=True,
    ),
    cue("done_dated", _E, rf"^\W*(?:\d{{1,2}}\.? \w+|[\d-]{{8,10}}|\w+day)\s*: (?:[\w-]+ ){{1,5}}?{DONE}\b"),
    cue(
        "went_live",
        _E,
        r"\b(?:went live|gone live|(?:went|gone|moved) into production"
        r"|left (?:our|the) (?:plant|warehouse|factory|port))\b",
        about="before",
    ),
)
