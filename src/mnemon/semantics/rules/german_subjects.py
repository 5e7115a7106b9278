"""Names what a German clause is about: its first noun phrase that is neither who acts nor when."""

import re
from collections.abc import Iterator

from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS
from mnemon.semantics.learned.gloss import english
from mnemon.semantics.rules.people import People
from mnemon.semantics.rules.word_lists import words

_UPPER = "A-ZÄÖÜ"
_LABEL = re.compile(r"\W*[^\W\d_][\w./ -]{1,40}?:\s+")
# "Die neue Website", "das Angebot der Firma Hartwig", "Lieferant Kröger für das Holz".
_PHRASE = re.compile(
    rf"(?<![\w-])(?P<phrase>(?:(?<=(?:der|die|das|den|dem|des|ein|ine|nen|nem|ner|ser|mit|für|bei|von) )"
    rf"(?:[a-zäöüß-]{{3,}}(?:e|en|er|es|em)\s+){{1,2}})?[{_UPPER}][\w&/-]+(?:\s+[{_UPPER}\d][\w.-]*){{0,2}}"
    rf"(?:\s+(?:de[rs]|für\s+(?:d(?:ie|as|en)\s+)?|von)\s*[{_UPPER}][\w-]+)?)"
)
_ADJECTIVE = re.compile(rf"^(?:[a-zäöüß-]+\s+)*(?=[{_UPPER}])")
_TITLE = re.compile(r"(?:Frau|Herrn?|Dr\.?|Prof\.?)\b")
_TIMES = words(
    """uhr tag tage tagen woche wochen monat monate jahr jahre jahres ende anfang mitte montag dienstag mittwoch
    donnerstag freitag samstag sonnabend sonntag januar februar märz april mai juni juli august september oktober
    november dezember frühjahr frühling sommer herbst winter kw quartal morgen abend mittag nachmittag vormittag
    stunde stunden minuten wochenende ostern weihnachten pfingsten"""
) | {word.lower() for word in (*MONTHS, *WEEKDAYS)}
_OPENING = words(
    """der die das den dem des ein eine wir ich er sie es ihr du man im am zum zur beim vom bei mit nach für auf aus ab
    bis als alle beide jede jeder kein keine heute morgen gestern bitte dann da dort hier und aber oder wenn falls weil
    dass nun jetzt statt beschlossen entschieden vereinbart erledigt offen geplant außerdem zudem danach damit deshalb
    war waren hab habe hat hatte haben ist sind wird werden diesmal vorher nachher gib gebt schick schickt mach macht
    ja nein ok okay noch nur auch wegen seit unter über vor nächste nächster letzte diese dieser dieses was wer wie
    wo"""
)
_MOST_WORDS = 8


def german_subject(clause: str, people: People, fallback: str) -> str:
    """The heading where the clause names nothing; at last its first words."""
    label = _LABEL.match(clause)
    said = clause[label.end() :] if label else clause
    for phrase in _phrases(said, people):
        return phrase
    return fallback or " ".join(clause.split()[:_MOST_WORDS])


def _phrases(said: str, people: People) -> Iterator[str]:
    acts = True
    for match in _PHRASE.finditer(said):
        phrase = " ".join(match["phrase"].split()).rstrip(".,;:")
        head = _ADJECTIVE.sub("", phrase)
        first, opens = head.split()[0], not said[: match.start("phrase")].strip(" -–—•*(\"'")
        if opens and first.lower() in _OPENING:
            head = head.partition(" ")[2]
            if not head or not head[:1].isupper():
                continue
            phrase = head
        if first.lower() in _TIMES or _TITLE.match(first) or people.is_told(first) or people.is_told(head):
            continue
        if opens and said.startswith(",", match.end()) and english(first) is None:
            continue
        if opens and acts and _acts(said[match.end() :], first):
            acts = False
            continue
        yield phrase


def _acts(rest: str, name: str) -> bool:
    """ "Wiebke bestellt die Filter": a word that no list knows, with its verb right after it."""
    return (
        english(name) is None and re.match(r"\s+(?:[a-zäöüß]+(?:t|e|en)|wird|will|soll|muss|kann)\b", rest) is not None
    )
