"""What we say around the words of sources, in the language of the question: English or German.

Every door takes its sentences about an answer from here, so that nobody reads a German quote under an English heading.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

Language = Literal["en", "de"]
_WORD = re.compile(r"[^\W\d_]+")
# What only one of the two has; "was", "die", "war", "hat" and "am" are in both.
_GERMAN = frozenset(
    """ab als auch auf aus bei beim bis dann das dass dem den denn der des du ein eine einem einen einer eines er es für
    gegen gibt habe haben ich ihr ihre im ist ja je kann kein keine können mit muss müssen nach nicht noch nun nur ob
    ohne pro schon sein seine seit sich sie sind soll sollen über um und uns unser unsere unter vom von vor wann warum
    welche welchem welchen welcher welches wem wen wer werden weshalb wessen wie wieso wieviel wieviele wir wird wo
    wofür woher wohin womit worum wurde wurden zu zum zur zwischen""".split()  # noqa: SIM905
)
_ENGLISH = frozenset(
    """about and any are been by can did do does for from had has have how is it many much must of on or our should
    that the their there they this to we were what when where which who whom whose why with would you your""".split()  # noqa: SIM905
)
# "Was kostet …", where "Was it …" asks in English.
_WAS_GERMAN = re.compile(r"^\W*was\s+(?!(?:it|that|not|about)\b)[a-zäöü]+(?:t|en|ist)\b", re.IGNORECASE)
NoteKind = Literal[
    "replaced", "until", "since", "earlier", "due", "done", "denied", "disagrees", "withdrawn", "old_version", "said"
]


@dataclass(frozen=True)
class Note:
    """What is said of a quote before it; the day is None where none is known or told."""

    kind: NoteKind
    day: date | None = None
    # Of a version that is served no more: which it was, and which is served.
    versions: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Frames:
    """The sentences of one language; what stands in braces is filled in."""

    language: Language
    months: Sequence[str]
    day_form: str
    # Of each note, with a day and without.
    notes: Mapping[NoteKind, tuple[str, str]]
    refusals: Mapping[str, str]
    words: Mapping[str, str]

    def day(self, moment: date) -> str:
        """As a person writes it: 2 March 2026, 2. März 2026."""
        return self.day_form.format(day=moment.day, month=self.months[moment.month - 1], year=moment.year)

    def span(self, first: date | None, last: date | None) -> str:
        if first and last:
            return self.day(first) if first == last else self.say("span", first=self.day(first), last=self.day(last))
        return self.say("from", first=self.day(first)) if first else self.say("until", last=self.day(last or date.max))

    def note(self, note: Note | None) -> str:
        if note is None:
            return ""
        dated, undated = self.notes[note.kind]
        was, now = note.versions
        return dated.format(day=self.day(note.day), was=was, now=now) if note.day else undated.format(was=was, now=now)

    def refusal(self, what: str, **values: object) -> str:
        return self.refusals[what].format(**values)

    def say(self, what: str, **values: object) -> str:
        return self.words[what].format(**values)

    def counted(self, what: str, count: int) -> str:
        """`passages`, say: "1 passage", "1,204 passages"."""
        return self.say(what if count != 1 else f"{what}_one", count=f"{count:,}")

    def joined(self, parts: Sequence[str]) -> str:
        return f" {self.words['and']} ".join(parts)


ENGLISH = Frames(
    language="en",
    months=("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December"),
    day_form="{day} {month} {year}",
    notes={
        "replaced": ("Replaced on {day}:", "Replaced since:"),
        "until": ("Until {day}:", "Until an unknown day:"),
        "since": ("Since {day}:", "Since an unknown day:"),
        "earlier": ("Earlier, on {day}:", "Earlier:"),
        "said": ("Said on {day}:", ""),
        "due": ("Due {day}:", "Due:"),
        "done": ("Done:", "Done:"),
        "denied": ("Denied there:", "Denied there:"),
        "disagrees": ("The sources disagree; another says:", "The sources disagree; another says:"),
        "withdrawn": ("From a document that was withdrawn on {day}:", "From a document that was withdrawn:"),
        "old_version": ("Version {was}, replaced on {day} by version {now}:",
                        "Version {was}, replaced by version {now}:"),
    },
    refusals={
        "none_near": "No passage comes near enough to the question.",
        "filtered": "Nothing passes the filters: {filters}.",
        "empty": "Nothing is stored here yet.",
        "another_person": "What comes nearest is about someone or something else, not about {names}.",
        "weak_evidence": "The sources do not say enough about this to answer.",
        "another_time": "Nothing that was found is of {time}; what comes nearest is of another time{days}.",
        "unproven": "None of the {dropped} sentences drafted could be proven by the sources.",
        "no_sentence": "No sentence could be proven by the sources.",
    },
    words={
        "no_answer": "No answer.", "and": "and", "span": "{first} to {last}", "from": "from {first} on",
        "until": "until {last}", "searched": "Searched {passages}{unknown}.", "none_has": "; no passage has {words}",
        "no_passage_has": "No passage has: {words}.", "nearest_one": "Nearest: {snippet}",
        "passages": "{count} passages", "passages_one": "{count} passage",
        "near": "near", "not_near": "not near enough", "nearest": "What came nearest",
        "none_near_enough": "What came nearest, though not near enough",
        "read_as": "Read from the question: {limits}", "asked_as": "Asked as: {question}", "as_words": "As words",
        "take_as_words": "take it word by word", "own_words": "In the sources’ own words",
        "refused": "Refused",
        "to_open": "The source of a number, with the words marked: {command}",
        "to_keep": "The answer with its proof, as a file: {command}", "words_only": "Searched by words only. {why}",
        "version": "version {number}", "page": "page {number}", "memory": "memory", "sources": "Sources",
        "Decision": "decisions", "Change": "changes", "Commitment": "commitments", "QualityRisk": "risks",
        "Feedback": "feedback", "due": "due {time}", "due_any": "due on any day",
        "open": "open", "done": "done", "superseded": "superseded", "or": "or",
        "earlier_ones": "{count} earlier ones", "later_ones": "{count} later ones",
    },
)  # fmt: skip
GERMAN = Frames(
    language="de",
    months=("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
            "November", "Dezember"),
    day_form="{day}. {month} {year}",
    notes={
        "replaced": ("Ersetzt am {day}:", "Inzwischen ersetzt:"),
        "until": ("Bis {day}:", "Bis zu einem unbekannten Tag:"),
        "since": ("Seit dem {day}:", "Seit einem unbekannten Tag:"),
        "earlier": ("Früher, am {day}:", "Früher:"),
        "said": ("Gesagt am {day}:", ""),
        "due": ("Fällig am {day}:", "Fällig:"),
        "done": ("Erledigt:", "Erledigt:"),
        "denied": ("Dort bestritten:", "Dort bestritten:"),
        "disagrees": ("Die Quellen widersprechen sich; eine andere sagt:",
                      "Die Quellen widersprechen sich; eine andere sagt:"),
        "withdrawn": ("Aus einem Dokument, das am {day} zurückgezogen wurde:",
                      "Aus einem Dokument, das zurückgezogen wurde:"),
        "old_version": ("Version {was}, am {day} durch Version {now} ersetzt:",
                        "Version {was}, durch Version {now} ersetzt:"),
    },
    refusals={
        "none_near": "Keine Stelle kommt der Frage nahe genug.",
        "filtered": "Die Filter lassen nichts übrig: {filters}.",
        "empty": "Hier ist noch nichts gespeichert.",
        "another_person": "Was am nächsten kommt, handelt von jemand oder etwas anderem, nicht von {names}.",
        "weak_evidence": "Die Quellen sagen darüber nicht genug, um zu antworten.",
        "another_time": "Aus der gefragten Zeit ({time}) wurde nichts gefunden; was am nächsten kommt, ist aus einer "
                        "anderen{days}.",
        "unproven": "Keiner der {dropped} entworfenen Sätze ließ sich durch die Quellen belegen.",
        "no_sentence": "Kein Satz ließ sich durch die Quellen belegen.",
    },
    words={
        "no_answer": "Keine Antwort.", "and": "und", "span": "{first} bis {last}", "from": "ab {first}",
        "until": "bis {last}", "searched": "{passages} durchsucht{unknown}.", "none_has": "; keine enthält {words}",
        "no_passage_has": "Keine Stelle enthält: {words}.", "nearest_one": "Am nächsten: {snippet}",
        "passages": "{count} Stellen", "passages_one": "{count} Stelle",
        "near": "nah", "not_near": "nicht nah genug", "nearest": "Was am nächsten kam",
        "none_near_enough": "Was am nächsten kam, aber nicht nah genug",
        "read_as": "Aus der Frage gelesen: {limits}", "asked_as": "Gefragt als: {question}", "as_words": "Wörtlich",
        "take_as_words": "Wort für Wort nehmen", "own_words": "In den Worten der Quellen",
        "refused": "Abgelehnt",
        "to_open": "Die Quelle zu einer Nummer, mit den Worten markiert: {command}",
        "to_keep": "Die Antwort mit ihrem Beweis als Datei: {command}", "words_only": "Nur nach Worten gesucht. {why}",
        "version": "Version {number}", "page": "Seite {number}", "memory": "Erinnerung", "sources": "Quellen",
        "Decision": "Entscheidungen", "Change": "Änderungen", "Commitment": "Zusagen", "QualityRisk": "Risiken",
        "Feedback": "Rückmeldungen", "due": "fällig {time}", "due_any": "fällig an irgendeinem Tag",
        "open": "offen", "done": "erledigt", "superseded": "ersetzt", "or": "oder",
        "earlier_ones": "{count} frühere", "later_ones": "{count} spätere",
    },
)  # fmt: skip


def is_told(moment: date, title: str) -> bool:
    """Whether a title tells the day already, in either language."""
    return any(frames.day(moment) in title for frames in (ENGLISH, GERMAN))


def language_of(question: str) -> Language:
    """By the words that only one of them has; where there are as many of both, or none, by its letters and endings."""
    words = {word.lower() for word in _WORD.findall(question)}
    german, english = len(words & _GERMAN), len(words & _ENGLISH)
    if german != english:
        return "de" if german > english else "en"
    return "de" if _WAS_GERMAN.match(question) or any(set(word) & set("äöüß") for word in words) else "en"


def frames_of(language: Language) -> Frames:
    return GERMAN if language == "de" else ENGLISH


def frames_for(question: str) -> Frames:
    return frames_of(language_of(question))
