"""Decides which category a clause speaks for: its cues, weighed with its heading and its mood."""

import re
from dataclasses import dataclass
from functools import cache

from mnemon.documents.structure.names import NAME
from mnemon.documents.structure.sections import Section
from mnemon.semantics.rules.agents import NOBODY, Agent, agent_before, agent_in, split_names
from mnemon.semantics.rules.cues import CUES
from mnemon.semantics.rules.cues.cue import Cue
from mnemon.semantics.rules.cues.verbs import DIRECTION, DONE, TASK
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.mood import Mood, is_denied, is_quoted, mood_of
from mnemon.semantics.rules.people import People
from mnemon.semantics.semantic_event import Category, CommitmentKind

# What a heading promises, and how much: as a score where no cue speaks, and as a bonus where one agrees.
_PROMISED: dict[Section, tuple[Category, float]] = {
    Section.DECISIONS: (Category.DECISION, 3.5),
    Section.ACTIONS: (Category.COMMITMENT, 2.5),
    Section.RISKS: (Category.QUALITY_RISK, 3.0),
    Section.DONE: (Category.EXECUTION, 1.5),
    Section.FEEDBACK: (Category.FEEDBACK, 1.5),
    Section.CHANGES: (Category.CHANGE, 2.5),
}
_BONUS = 1.5
_SECOND_CUE = 0.5
_LEAST_SCORE = 2.0
_OWNER = re.compile(
    rf"(?P<names>@?{NAME}(?:(?:,\s*|\s+and\s+|\s*&\s*|\s*/\s*){NAME})*|@?[a-z][\w.]+)\s*(?::"
    r"|\s[-–—])\s+(?=\w)"
)
_INITIALS = re.compile(r"(?P<letters>[A-Z]{1,3})\.?\s*(?::|\s[-–—])\s+(?=\w+\s+\w)")
# After a name in any list, a verb makes a task of the rest: "Dev: open a ticket", but not "Dev: dentist".
_TASK_TOLD = re.compile(
    rf"(?:to\s+|will\s+|please\s+)?(?:{TASK}|{DIRECTION}|[a-z]+(?<!ed)(?=\s+(?:the|an?|our|all|with|for|to)\b))",
    re.IGNORECASE,
)
# Reports and states are no tasks under any heading: "NAME: deployed 1.8 yesterday", "on holiday", "was ill".
_TOLD = re.compile(
    rf"(?:(?:has|have|had|is|was|were|on|off|out|back|still|just|already|no|not|nothing)\b|[\w-]+ing\b"
    rf"|(?:[\w.%-]+\s+){{0,4}}?(?:{DONE}|done|finished|yesterday|yday)\b)",
    re.IGNORECASE,
)
# "Add the certificates (Beatriz, due 18 Aug)", "Rewrite the runbook: Kwame, by May", "Send a letter - owner: Care".
_OWNER_LABEL = re.compile(
    r"[(\[,;–—-]?\s*\b(?:owner|responsible|assignee|assigned to|who)\s*:\s*(?P<names>[^,;()\[\]]{2,60})", re.IGNORECASE
)
_OWNER_AT_END = re.compile(
    rf"(?:[(\[]\s*|(?::|\s[-–—]|→|[-=]>)\s+|\s(?=@))(?P<names>@?{NAME}(?:(?:,\s*|\s+and\s+|\s*&\s*|\s*/\s*){NAME})*)"
    r"(?:\s*[,;]?\s*(?:(?:by|due|until|before|eta|tbd|\d)[^()\[\]]{0,40}))?\s*[)\]]?\s*\.?$"
)
_SAYING = re.compile(
    r"\b(?P<who>(?:[A-Za-z]\w*s|people(?=\s+(?:from|of|in|at)\b))(?:\s+(?:from|of|in|at)\s+(?:the\s+)?[\w-]+(?:\s[A-Z]\b)?)?)\s+"
    r"(?:(?:have|had|all|also|both|often)\s+)?(?:are|were|keep|told|say|said|feel|felt|find|found|like|love|hate|want"
    r"|ask|asked|report|reported|complain|complained|moan|moaned|grumbled|wrote|comment|commented|praised|criticised)\b"
)
_ALL_CLEAR = re.compile(
    r"\b(?:no|not|without|nothing|none)\b.{0,24}\b(?:risks?|issues?|problems?|concerns?|blockers?|danger"
    r"|report|decision|decided|findings|objections?|changes?|open)\b"
    r"|^\W*(?:[\w-]+\W+){0,2}tbd\W*$|\b(?:n/a|none|nothing|resolved|solved|no\s+longer\s+an?)\b",
    re.IGNORECASE,
)
_SPEAKING = re.compile(r"\W*(?:(?:So|And|But|Then|Also|Yes|Ok|Okay|Well),?\s+)*(?P<who>I|[Ww]e)\b")
# "The buttons that we agreed on", "what I sent": these speak of something else.
_SUBORDINATE = re.compile(
    r"\b(?:what|which|whatever|whoever|how|why|when|where|than|ever|once)\s+(?:(?:I|we|you|he|she"
    r"|they)(?:'ve|'d)?\s*)?(?:have|has|had)?$"
    r"|\b(?:who|that|which)\s+(?:(?:have|has|had|was|were|is|are|got|been)\s*)*$",
    re.IGNORECASE,
)
# "The buttons we agreed on", but not "this morning we agreed".
_RELATIVE = re.compile(
    r"\b(?:the|an?|our|your|my|all|these|those|this(?!\s+(?:morning|afternoon|evening|week|month|year"
    r"|quarter)))\s+\w+(?:\s+\w+)?\s+(?:I|we|you|they|he|she)(?:'ve|'d)?\s*(?:have|had|just|already"
    r"|recently)?\s*$"
    r"|\b(?:things?|ones?|all)\s+(?:I|we|you|they|he|she)(?:'ve)?\s*$",
    re.IGNORECASE,
)
# "After the device has been removed": told in passing, perhaps of no device in particular.
_IN_PASSING = re.compile(
    r"\b(?:after|before|when|whenever|once|until|while|so\s+that|in\s+order\s+to)\b[^,]*$", re.IGNORECASE
)
_REPORTS = frozenset({Category.EXECUTION, Category.QUALITY_RISK, Category.CHANGE})
_LEAD_IN = re.compile(r"(?P<who>.{2,60}?)\s+(?:shall|will|must|agrees to|undertakes to)$")
_VAGUE = re.compile(r"\b(?:someone|somebody|anyone|one\s+day|some\s?day|at\s+some\s+point)\b", re.IGNORECASE)


@dataclass(frozen=True)
class FoundCategory:
    """A category for a clause, the rule that gave it, and where in the clause the cue stands."""

    category: Category
    rule: str
    score: float
    start: int
    end: int
    agent: Agent
    about: str = "after"
    kind: CommitmentKind | None = None


def best_match(clause: str, sentence: str, unit: Unit, people: People, clipped: bool) -> FoundCategory | None:
    """The strongest category that the mood allows; None where the clause states no event."""
    mood = mood_of(clause, sentence)
    small = clause.lower()
    cues = _cues_for(mood, spoken=unit.speaker is not None and not clipped, clipped=clipped)
    found = [match for each in cues if each.may_be_in(small) and (match := _try(each, clause, people))]
    if owner := _owned_item(clause, unit, mood, people):
        found.append(owner)
    scores: dict[Category, float] = {}
    for match in sorted(found, key=lambda match: -match.score):
        scores[match.category] = scores.get(match.category, match.score - _SECOND_CUE) + _SECOND_CUE
    promised = _promised(clause, unit, mood, bool(found), people)
    if promised:
        scores[promised.category] = max(promised.score, scores.get(promised.category, -_BONUS) + _BONUS)
    if not scores:
        return None
    category = max(scores, key=lambda each: scores[each])
    if scores[category] < _LEAST_SCORE:
        return None
    mine = [match for match in found if match.category is category]
    return max(mine, key=lambda match: match.score) if mine else promised


@cache
def _cues_for(mood: Mood, spoken: bool, clipped: bool) -> tuple[Cue, ...]:
    """Those that this mood and this way to write do not rule out."""
    return tuple(
        each
        for each in CUES
        if (clipped or not each.clipped)
        and not (each.written and spoken)
        and (each.in_question or not mood.question)
        and (each.in_condition or not mood.conditional)
        and (each.when_tentative or not mood.tentative)
        and (each.when_general or not mood.general)
    )


def _try(each: Cue, clause: str, people: People) -> FoundCategory | None:
    for match in each.pattern.finditer(clause):
        if not each.when_denied and is_denied(clause, match.start(), match.end()):
            continue
        if not each.when_quoted and is_quoted(clause, match.start(), match.end()):
            continue
        if (
            _SUBORDINATE.search(clause[: match.start()])
            or _RELATIVE.search(clause[: match.start()])
            or (each.category in _REPORTS and _IN_PASSING.search(clause[: match.start()]))
        ):
            continue
        agent = _agent_of(clause, match, people)
        if agent.kind == "opener" and each.about == "before":
            # What the cue speaks of stands before it: "Invoice sent".
            agent = NOBODY
        if agent.kind in each.agents:
            agent = agent if agent != NOBODY else _wider_agent(clause, match, people)
            if agent.kind in ("thing", "self", "we") and each.category is Category.FEEDBACK:
                agent = _audience(clause, match) or agent
            return FoundCategory(
                each.category, each.name, each.strength, match.start(), match.end(), agent, each.about, each.kind
            )
    return None


def _agent_of(clause: str, match: re.Match[str], people: People) -> Agent:
    """Who stands in the cue's first words ("I'll send") or right before it."""
    opening = re.match(r"(?P<who>I|we)(?:\b|')", match[0].lstrip(), re.IGNORECASE)
    if opening:
        return Agent("self" if opening["who"].lower() == "i" else "we")
    if who := match.groupdict().get("who"):
        return agent_in(who.strip(" ,"), people)
    if re.search(r"\b(?:and|but|then)\s*$", clause[: match.start()]):
        return _opening_agent(clause, people)
    return agent_before(clause, match.start(), people)


def _opening_agent(clause: str, people: People) -> Agent:
    """Who begins the clause, and so does what stands after its "and"."""
    for word in list(re.finditer(r"\S+", clause))[:5]:
        agent = agent_in(clause[: word.end()], people)
        if agent.kind not in ("thing", "you"):
            return agent
    return NOBODY


def _wider_agent(clause: str, match: re.Match[str], people: People) -> Agent:
    """Who the cue itself names ("drivers complain"), or who speaks ("We considered it and rejected it")."""
    for word in re.finditer(r"\S+", match[0]):
        inside = agent_in(clause[: match.start() + word.end()].rstrip(".,;:"), people)
        if inside.kind in ("group", "person", "name", "pronoun", "they"):
            return inside
    speaking = _SPEAKING.match(clause)
    return Agent("self" if speaking["who"] == "I" else "we") if speaking else NOBODY


def _audience(clause: str, match: re.Match[str]) -> Agent | None:
    """Those who say it, whatever they are called: "two of the pickers complained", "most readers want"."""
    found = _SAYING.search(clause, 0, match.end())
    return Agent("group", (found["who"],)) if found else None


def _owned_item(clause: str, unit: Unit, mood: Mood, people: People) -> FoundCategory | None:
    """ "Dev: open a ticket": an item that begins with who has to do it."""
    listed = unit.form == "item" and unit.section is None
    if mood.question or not (listed or unit.section is Section.ACTIONS):
        return None
    if initials := _INITIALS.match(clause):
        name = people.by_initials(initials["letters"])
        agent = Agent("person", (name,)) if name else NOBODY
        return (
            FoundCategory(Category.COMMITMENT, "owned_item", 3.0, 0, initials.end(), agent, "after", "assignment")
            if name
            else None
        )
    match = _OWNER.match(clause)
    if not match or (listed and not _TASK_TOLD.match(clause, match.end())) or _TOLD.match(clause, match.end()):
        return None
    names = [name for name in split_names(match["names"]) if people.is_known(name) or unit.section is Section.ACTIONS]
    if not names or not all(people.is_person(name) or people.is_known(name) for name in names):
        return None
    agent = Agent("person", tuple(people.full_name(name) for name in names))
    return FoundCategory(Category.COMMITMENT, "owned_item", 3.0, 0, match.end(), agent, "after", "assignment")


def _promised(clause: str, unit: Unit, mood: Mood, any_cue: bool, people: People) -> FoundCategory | None:
    """What the heading says about a line that says it in other words, or in none we know."""
    # An open box is a task under any heading.
    section = unit.section or (Section.ACTIONS if unit.ticked is False else None)
    promise = _PROMISED.get(section) if section else None
    if not promise or not unit.leads or mood.question or len(clause.split()) < 2:
        return None
    category, score = promise
    # "Decision: we ship without it if the test fails" is one, condition and all.
    if mood.conditional and not unit.announced and (category is not Category.DECISION or unit.form != "item"):
        return None
    if _ALL_CLEAR.search(clause) and category is not Category.DECISION:
        return None
    if _ALL_CLEAR.search(clause) and re.search(r"\bdeci(?:ded|sion)\b", clause, re.IGNORECASE):
        return None
    if category is Category.COMMITMENT and (mood.tentative or _VAGUE.search(clause) or len(clause.split()) < 3):
        return None
    if unit.form == "sentence" and (category is Category.COMMITMENT or any_cue):
        score -= 1.0
    kind: CommitmentKind | None = "assignment" if category is Category.COMMITMENT else None
    lead_in = _LEAD_IN.match(unit.heading)
    agent = agent_in(lead_in["who"], people) if lead_in else NOBODY
    if category is Category.COMMITMENT and agent == NOBODY:
        agent = _owner_at_end(clause, people)
    return FoundCategory(category, f"under_{section}", score, 0, 0, agent, "after", kind)


def _owner_at_end(clause: str, people: People) -> Agent:
    """Whom a task names last, as lists do."""
    if labelled := _OWNER_LABEL.search(clause):
        return Agent("person", tuple(people.full_name(name) for name in split_names(labelled["names"])))
    match = _OWNER_AT_END.search(clause)
    names = split_names(match["names"]) if match else []
    if not names or not all(people.is_person(name) for name in names):
        return NOBODY
    return Agent("person", tuple(people.full_name(name) for name in names))
