"""What a heading promises about the lines below it."""

import re
from enum import StrEnum


class Section(StrEnum):
    DECISIONS = "decisions"
    ACTIONS = "actions"
    DONE = "done"
    RISKS = "risks"
    FEEDBACK = "feedback"
    CHANGES = "changes"
    PEOPLE = "people"
    MEETINGS = "meetings"
    # What stands here is explained, not reported: definitions, templates, examples.
    REFERENCE = "reference"


# A heading counts when one of these is all it says, numbers and marks aside. Add words here to teach a new heading.
_HEADINGS: dict[Section, str] = {
    Section.DECISIONS: r"(?:key |main )?decisions?(?: made| taken| log| #?\d+)?|we (?:have )?(?:agreed|decided)"
    r"|resolutions?|what we (?:decided|agreed)(?: on)?",
    Section.ACTIONS: r"(?:(?:open|new|corrective|preventive|immediate|agreed|outstanding|remaining|further) )?"
    r"action(?:s| items?| points?)?(?: required| agreed)?|(?:open )?(?:to ?-?dos?|tasks?)(?: list)?"
    r"|next(?: steps?| week| up)?|follow[- ]?ups?"
    r"|open points?|deliverables?|assignments?|commitments?|what(?:'s| is) next|plan(?:s"
    r"|ned)?(?: for next week)?|who does what",
    Section.DONE: r"done(?: this week| today)?|completed|achievements?|accomplishments?|accomplished|shipped|delivered"
    r"|what we did|progress"
    r"|finished|work done|closed",
    Section.RISKS: r"(?:key |open |known )?(?:risks?|issues?|problems?|blockers?|concerns?|defects?"
    r"|bugs?)(?: and (?:risks?|issues?|blockers?))?"
    r"|(?:what )?(?:did not|didn'?t|did n't) go (?:so )?well|what went wrong|impediments?|obstacles?",
    Section.FEEDBACK: r"(?:customer |user |client )?feedback(?: received)?|what they said|comments?|reviews?"
    r"|complaints?|voices?|user comments?",
    Section.CHANGES: r"changes?(?: log)?|changelog|what(?:'s| has)? changed|scope changes?|updates? to the plan",
    Section.PEOPLE: r"who was there|people|team|roles?(?: and responsibilities)?|responsibilities|stakeholders?"
    r"|contacts?|attendees|staffing|personnel",
    Section.MEETINGS: r"meetings?(?: held)?|workshops?",
    Section.REFERENCE: r"glossary|definitions?|examples?|templates?|faq|frequently asked questions|terms|how to .*",
}
_MARKS = re.compile(r"^[\s#*_\d.)(\-–—:]+|[\s#*_:.–—\-]+$")
# "Decisions of the week", "Risks today".
_WHEN = re.compile(
    r"\s+(?:today|(?:(?:of|for|from|in)\s+)?(?:the|this|last)\s+(?:day|week|month|quarter|year|sprint|meeting|session))$",
    re.IGNORECASE,
)
_PATTERNS = {section: re.compile(rf"(?:{words})", re.IGNORECASE) for section, words in _HEADINGS.items()}


# What the head noun of a longer heading promises: "Decisions on the roof", "Offene Punkte aus der Sitzung".
_HEAD_NOUNS: dict[Section, str] = {
    Section.DECISIONS: r"decisions?|resolutions?|\w*beschl(?:uss|üsse)|\w*entscheidung(?:en)?|festlegung(?:en)?",
    Section.ACTIONS: r"actions?|action items?|action points?|to-?dos?|tasks?|next steps?|follow-?ups?|commitments?"
    r"|\w*aufgaben?|\w*maßnahmen?|\w*massnahmen?|schritte?|pendenz(?:en)?|arbeitsaufträge|zusagen?",
    Section.DONE: r"achievements?|accomplishments?|erledigt(?:es)?|fertig|abgeschlossen(?:es)?|geschafft",
    Section.RISKS: r"risks?|issues?|problems?|blockers?|concerns?|defects?|bugs?|\w*risik(?:o|en)|\w*probleme?"
    r"|\w*mängel"
    r"|sorgen|hindernisse?|schwierigkeiten|störungen?",
    Section.FEEDBACK: r"feedback|complaints?|\w*rückmeldung(?:en)?|beschwerden?|kritik|kundenstimmen|lob",
    Section.CHANGES: r"changes?|\w*änderung(?:en)?|neuerung(?:en)?",
    Section.PEOPLE: r"roles?|responsibilities|stakeholders?|contacts?|staffing|personal|personelles|rollen"
    r"|zuständigkeiten"
    r"|ansprechpartner(?:innen)?|verantwortlichkeiten",
    Section.REFERENCE: r"glossary|definitions?|glossar|begriffe|begriffsbestimmungen",
}
_HEAD_PATTERNS = {section: re.compile(words, re.IGNORECASE) for section, words in _HEAD_NOUNS.items()}
_AFTER_HEAD = re.compile(
    r"\s+(?:of|on|for|from|in|with|to|at|by|since|about|before|after|until|we|that|which|and|or|aus|der|des|die"
    r"|zu[mr]?|von|vom"
    r"|für|bei[m]?|seit|bis|am|im|mit|nach|über|und|oder)\s.*|\s*[(,–—/].*",
    re.IGNORECASE | re.DOTALL,
)
_MOST_HEADING_WORDS = 8


def _by_head_noun(heading: str) -> Section | None:
    """English and German both set the head of a noun phrase last, before what a preposition adds."""
    if len(heading.split()) > _MOST_HEADING_WORDS or heading.rstrip().endswith(("?", "!", ".")):
        return None
    words = _AFTER_HEAD.sub("", heading).split()
    for count in (2, 1):
        head = " ".join(words[-count:])
        for section, pattern in _HEAD_PATTERNS.items():
            if pattern.fullmatch(head):
                return section
    return None


# "The Harbour shall", and then a list of what.
_LEAD_IN = re.compile(r"\b(?:shall|will|must|agrees to|undertakes to)\s*:?\s*$")


def is_lead_in(text: str, start: int, end: int) -> bool:
    return _LEAD_IN.search(text, start, end) is not None


def section_of(heading: str) -> Section | None:
    """What a heading announces; None where it says nothing that we know."""
    if _LEAD_IN.search(heading):
        return Section.ACTIONS
    plain = _MARKS.sub("", heading).replace("’", "'")
    for words in (plain, _WHEN.sub("", plain)):
        for section, pattern in _PATTERNS.items():
            if pattern.fullmatch(words):
                return section
    return _by_head_noun(plain)
