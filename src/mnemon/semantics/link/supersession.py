"""Links semantic events across revisions and documents: what a later one replaces, and what it fulfils."""

import re
from collections.abc import Sequence
from itertools import islice

from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS
from mnemon.semantics.link.kept import bare_report, by_another, owners_and_doers, reports_on, tells_promised_verb
from mnemon.semantics.link.likely import likely_links
from mnemon.semantics.link.placed import EventLink, Placed
from mnemon.semantics.link.prospects import (
    STANDING,
    Prospect,
    change_of_mind,
    in_time,
    is_one_choice,
    named_as_old,
    reversal,
    takes_back,
    tied_to,
    topic_taken_back,
)
from mnemon.semantics.link.wording import (
    content_words,
    is_negative,
    marks,
    measures,
    naming_numbers,
    overlap,
    proper_words,
    values,
    without_measures,
)
from mnemon.semantics.semantic_event import FACT_CONFIDENCE, Category, SemanticEvent

# "Use Anna as a reviewer": more than one may be that.
_AS_SOMEBODY = re.compile(
    r"\bas\s+(?:an?|the|our)?\s*[a-z-]+(?:er|or|ist|ant|ent|lead|head|chair|contact)\b", re.IGNORECASE
)
_CHOOSING = content_words(
    "we decided agreed team board use chose choose chosen pick picked select selected hold host adopt adopted going"
    " went switch settled opted named run launch held takes place"
)
# A promise that leads to something, and one that leads away from it.
_LEADS_TO = (
    r"\b(?:to|on|onto|with|in|into|us(?:e|es|ing)|adopt|install|set\s+up|buy|order|introduce)\s+(?:the\s+|our\s+)?"
)
_LEAVES = re.compile(
    r"\b(?:from|off|out\s+of|away|without|instead|rather|no\s+longer|stop|drop|remove|leave|export|cancel|compare|whether)\b",
    re.IGNORECASE,
)
# Words that decisions of any matter share.
_ANY_MATTER = content_words(
    " ".join(
        (*MONTHS, *WEEKDAYS, "decision decided decide resolution agreement agreed vote choice today tonight tomorrow")
    )
)
_SAME_TOPIC = 0.34
_SAME_SUBJECT = 0.5
# Of those that share a word the latest are compared: a text of thousands of likes must not take for ever.
_MOST_COMPARED = 200
_FEWEST_WORDS = 2
# So many letters at the front of two words make them kin, in a shorter word all of them.
_FRONT, _SHORTEST_FRONT = 7, 4
# More than these are compared with their likes only.
_FEW = 20


def links_with(new: Sequence[Placed], known: Sequence[Placed]) -> list[EventLink]:
    """Every link that one of the new events is part of.

    What the known ones end among themselves decides which of several links holds; most of them have no say in it.
    """
    own = {one.event.event_id for one in new}
    everything = [*known, *new]
    concerned = tied_to(new, known) if len(new) <= _FEW else everything
    return [link for link in link_events(concerned, everything) if link.later in own or link.earlier in own]


def link_events(placed: Sequence[Placed], beside: Sequence[Placed] | None = None) -> list[EventLink]:
    """Each later event ends at most one earlier one, and each earlier one ends once. Ties go to the latest. How rare a
    word is, is counted among all that stand `beside` them, or else among themselves."""
    ordered = in_time(placed)
    about = [_with_fronts(content_words(each.words) | content_words(each.event.subject.ref)) for each in ordered]
    prospects = [Prospect.of(each) for each in ordered]
    links: list[EventLink] = []
    ended: set[str] = set()
    for position, later in enumerate(ordered):
        own, prospect = about[position], prospects[position]
        near = (place for place in range(position - 1, -1, -1) if not about[place].isdisjoint(own))
        for place in islice(near, _MOST_COMPARED):
            earlier = ordered[place]
            if not prospect.may_end(prospects[place]) or earlier.event.event_id in ended:
                continue
            link = link_between(later, earlier) if earlier.event.event_id != later.event.event_id else None
            if link:
                links.append(link)
                ended.update(() if link.suggested else (link.earlier,))
                break
    links += _given_up(ordered, links)
    return [*links, *likely_links(ordered, links, beside or ordered)]


def _given_up(ordered: Sequence[Placed], links: Sequence[EventLink]) -> list[EventLink]:
    """Promises to bring about what a decision replaced before they were due to be kept: "move the shop to MySQL", and
    then "Postgres instead of MySQL for the shop". One decision ends all of these, and what it replaces besides."""
    by_id = {one.event.event_id: (place, one) for place, one in enumerate(ordered)}
    ended = {link.earlier for link in links}
    found = []
    for link in links:
        (end, later), (start, _) = by_id[link.later], by_id[link.earlier]
        old = named_as_old(later.words) if link.kind == "supersedes" and not link.suggested else None
        for promise in ordered[start + 1 : end] if old else ():
            if promise.event.event_id not in ended and old and _brings_about(promise, old):
                ended.add(promise.event.event_id)
                doubted = promise.event.confidence < FACT_CONFIDENCE
                reason = f'what it was to bring about was replaced: "{old.strip()}"'
                found.append(EventLink("supersedes", link.later, promise.event.event_id, reason, suggested=doubted))
    return found


def _brings_about(promise: Placed, old: str) -> bool:
    """Whether it leads to each of the names that were replaced, and speaks of what they were chosen for."""
    names = marks(f"of {old}")
    if promise.event.category is not Category.COMMITMENT or not names or _LEAVES.search(promise.words):
        return False
    leads = all(re.search(_LEADS_TO + re.escape(name) + r"\b", promise.words, re.IGNORECASE) for name in names)
    beside = content_words(old) - content_words(" ".join(names))
    return leads and bool(beside & content_words(promise.words))


def link_between(later: Placed, earlier: Placed) -> EventLink | None:
    """By rules of wording, which are certain; between events of which one is only a suggestion, one too."""
    ends = later.event.event_id, earlier.event.event_id
    doubted = min(later.event.confidence, earlier.event.confidence) < FACT_CONFIDENCE
    reason = _supersedes(later, earlier)
    if reason:
        return EventLink("supersedes", *ends, reason, suggested=doubted)
    if _fulfils(later, earlier):
        return EventLink("fulfils", *ends, "the same work, reported as done", suggested=doubted)
    return None


def _supersedes(later: Placed, earlier: Placed) -> str | None:
    if _same_words(later, earlier):
        return None
    if later.event.category is Category.COMMITMENT and earlier.event.category is Category.COMMITMENT:
        moved = _new_date(later.event, earlier.event) and _may_differ(later, earlier)
        return "the same promise with another date" if moved else None
    if later.event.category not in STANDING or earlier.event.category is not Category.DECISION:
        return None
    taken = takes_back(later.words)
    if taken and _is_of_day(earlier, taken[1]) and _matter(later.words) & _matter(earlier.words):
        return f'takes back what was decided that day: "{taken[0].strip()}"'
    topic = topic_taken_back(later.words)
    if topic and _is_about(earlier.words, topic):
        return f'takes back what was decided: "{topic.strip()}"'
    old = named_as_old(later.words)
    if old and _names(old, earlier.words) and (_matter(old) or _one_matter(later, earlier)):
        return f'names what it replaces: "{old.strip()}"'
    if later.event.category is not Category.DECISION:
        return None
    reversing = reversal(later.words)
    marker = reversing or change_of_mind(later.words)
    if marker and _may_turn(later, earlier, strong=reversing is not None):
        return f'a change of mind: "{marker}"'
    return "the same subject, decided differently" if _decided_differently(later, earlier) else None


def _is_about(text: str, topic: str) -> bool:
    """Each word of the topic stands there, or one that begins alike: "Samstagsarbeit", "samstags gearbeitet"."""
    told = content_words(text)
    wanted = content_words(topic)
    return bool(wanted) and all(word in told or any(_begin_alike(word, each) for each in told) for word in wanted)


def _with_fronts(said: frozenset[str]) -> frozenset[str]:
    return said | {word[:_FRONT] for word in said}


def _begin_alike(one: str, other: str) -> bool:
    front = min(len(one), len(other), _FRONT)
    return front >= _SHORTEST_FRONT and one[:front] == other[:front]


def _matter(text: str) -> frozenset[str]:
    """Of what is said the words other than numbers, months and "decision"."""
    return frozenset(word for word in content_words(text) if word not in _ANY_MATTER and not word[0].isdigit())


def _one_matter(later: Placed, earlier: Placed) -> bool:
    """ "The 9th instead of the 26th": a day or a number says of nothing by itself that it was this."""
    first, second = _matter(later.words), _matter(earlier.words)
    return 2 * len(first & second) >= min(len(first), len(second)) > 0


def _is_of_day(earlier: Placed, days: frozenset[tuple[int, int]]) -> bool:
    told = earlier.event.event_time or earlier.said_at
    return (told.day, told.month) in days or bool(days & {(earlier.said_at.day, earlier.said_at.month)})


def _same_words(later: Placed, earlier: Placed) -> bool:
    return content_words(later.words) == content_words(earlier.words) and is_negative(later.words) == is_negative(
        earlier.words
    )


def _new_date(later: SemanticEvent, earlier: SemanticEvent) -> bool:
    owners = [{actor.ref.casefold() for actor in event.actors if actor.role == "owner"} for event in (later, earlier)]
    alike = _one_subject(later, earlier) and values(later.subject.ref) == values(earlier.subject.ref)
    return bool(later.due and earlier.due and later.due != earlier.due and owners[0] & owners[1]) and alike


def _same_topic(later: Placed, earlier: Placed) -> bool:
    return overlap(content_words(later.words), content_words(earlier.words)) >= _SAME_TOPIC or _one_subject(
        later.event, earlier.event
    )


def _same_place(later: Placed, earlier: Placed) -> bool:
    """Another revision of the same document, in the same form of words: "Use MySQL", "use Postgres instead"."""
    return (
        later.document == earlier.document
        and later.revision_id != earlier.revision_id
        and bool(content_words(later.words) & content_words(earlier.words))
    )


def _decided_differently(later: Placed, earlier: Placed) -> bool:
    """The same subject, and other values or the opposite answer; or the same choice, with another name chosen."""
    if not _may_differ(later, earlier):
        return False
    differs = values(later.words) != values(earlier.words) or is_negative(later.words) != is_negative(earlier.words)
    alike = _one_subject(later.event, earlier.event) and _same_topic(later, earlier)
    if differs and alike and _one_name(later.words, earlier.words):
        return True
    return _measured_differently(later.words, earlier.words) or _chose_another(later.words, earlier.words)


def _one_name(later: str, earlier: str) -> bool:
    """Every name, letter and number that names a thing stands in both: the Gdansk depot is not any depot."""
    return marks(later) == marks(earlier) and naming_numbers(later) == naming_numbers(earlier)


def _may_turn(later: Placed, earlier: Placed, *, strong: bool) -> bool:
    """Whether words of a change of mind speak of the earlier decision: of the same names, or of one for another."""
    if not (_same_topic(later, earlier) or _same_place(later, earlier) or (strong and _same_thing(later, earlier))):
        return False
    new, old = (marks(one.words) | naming_numbers(one.words) for one in (later, earlier))
    return new <= old or old <= new or (strong and len(new - old) == 1 and len(old - new) == 1)


def _same_thing(later: Placed, earlier: Placed) -> bool:
    """A name that both speak of, "we keep Python 3.10 after all", or all of a subject: "the workshop is off". The
    words that turn it round are no subject."""
    subject = content_words(later.event.subject.ref) - content_words(reversal(later.words) or "")
    new, old = marks(later.words), marks(earlier.words)
    if new & old:
        return True
    # A name that only the later one has tells that it speaks of something else.
    return bool(subject) and subject <= content_words(earlier.words) and (not new or bool(old))


def _measured_differently(later: str, earlier: str) -> bool:
    """ "Five users", "three users": all the same but how much."""
    return (
        measures(later) != measures(earlier)
        and bool(measures(later) and measures(earlier))
        and content_words(without_measures(later)) == content_words(without_measures(earlier))
        and is_negative(later) == is_negative(earlier)
    )


def _chose_another(later: str, earlier: str) -> bool:
    """ "Chose Vue for the console", "chose React for the console": one place, and only another name in it."""
    if not (is_one_choice(later) and is_one_choice(earlier)):
        return False
    new, old = proper_words(later), proper_words(earlier)
    swapped = new - old, old - new
    if len(swapped[0]) != 1 or len(swapped[1]) != 1 or _AS_SOMEBODY.search(later):
        return False
    words = content_words(later), content_words(earlier)
    names = tuple(content_words(" ".join(side)) for side in swapped)
    return words[0] - names[0] == words[1] - names[1] and bool(words[0] - names[0] - _CHOOSING)


def _may_differ(later: Placed, earlier: Placed) -> bool:
    """In one text two alike are two, "launch in May, launch in June", unless it says that it changes its mind."""
    apart = (later.document, later.revision_id) != (earlier.document, earlier.revision_id)
    return apart or bool(reversal(later.words) or change_of_mind(later.words))


def _one_subject(later: SemanticEvent, earlier: SemanticEvent) -> bool:
    return overlap(content_words(later.subject.ref), content_words(earlier.subject.ref)) > _SAME_SUBJECT


def _fulfils(later: Placed, earlier: Placed) -> bool:
    """An execution that names the promised work; a different known owner speaks against it."""
    if later.event.category is not Category.EXECUTION or earlier.event.category is not Category.COMMITMENT:
        return False
    if by_another(later, earlier):
        return False
    owners, doers = owners_and_doers(later, earlier)
    names = content_words(" ".join(actor.ref for actor in earlier.event.actors))
    promised = content_words(earlier.event.subject.ref)
    work = [word for word in promised - names - _ANY_MATTER if word.isalpha()]
    # A name, a day or a number alone does not say which work, and one word of another text may be of any.
    if not work:
        return False
    apart = later.document != earlier.document and len(work) < _FEWEST_WORDS and not owners & doers
    if apart and not tells_promised_verb(later.words, earlier.words):
        return False
    if promised <= content_words(later.words):
        return reports_on(later.words, earlier.words)
    # "Sent.": who says it has just promised it, and only that gave the report its subject.
    return (
        bool(owners & doers)
        and later.revision_id == earlier.revision_id
        and promised == content_words(later.event.subject.ref)
        and bare_report(later.words) is not None
    )


def _names(old: str, earlier: str) -> bool:
    """Version 1 is not version 2, however alike the words around the numbers."""
    words = content_words(old)
    return (
        bool(words)
        and values(old) <= values(earlier)
        and all(name in earlier.lower() for name in marks(f"of {old}"))
        and _mostly_in(words, content_words(earlier))
    )


def _mostly_in(part: frozenset[str], whole: frozenset[str]) -> bool:
    return 2 * len(part & whole) > len(part)
