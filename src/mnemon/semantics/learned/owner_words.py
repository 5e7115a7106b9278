"""Words that tell who a clause is about, and what stands right before and behind a name, English and German."""

import re

from mnemon.semantics.semantic_event import CommitmentKind

_SELF = re.compile(
    r"\b(?:I|I['’](?:ll|m|ve|d)|ich|let me|lemme|from me|by me|von mir|bei mir|durch mich)\b"
    r"|(?:\A\W*|[,;(–—-]\s*)(?:me|myself)\s*(?:[,:;)]|\s[–—-]|\.?\Z)",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:we|wir)\b", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|you['’](?:ll|re)|your|du|ihr|dir|dich|Sie|euch|Ihnen|deine?\w*|Ihre?\w*)\b")
# "You'll have their comments by Wednesday", "Sie bekommen von uns": who speaks owes it.
_GIVES_YOU = re.compile(
    r"\byou(?:'ll|’ll| will)? (?:have|get|receive|hear)\b|\b(?:Sie|ihr|du) (?:bekomm|erh[aä]lt|krieg|hör)\w*"
    r"|\b(?:bekomm|erh[aä]lt|krieg|hör)\w* (?:Sie|ihr|du)\b(?!.*(?:\?|\bhin\b))",
    re.IGNORECASE,
)
# "I asked her to send it", "ich habe zugesagt, dass Bashir redet".
_TELLS = re.compile(
    r"\b(?:I|we|ich|wir)\b.{0,20}\b(?:asked|told|promised|zugesagt|gebeten|versprochen)\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"\W*(?:\w+[\s,]+){0,4}?(?:he|she|er|sie|him|her|ihm|they)(?:['’]\w+)?\b")
_PASSIVE = re.compile(
    r"\b(?:be|is|are|been|gets?)\s+(?:\w+ly\s+)?\w+(?:ed|en|wn)\b|\b(?:wird|werden|worden)\b|\b(?:ist|sind)\b.*\bzu\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|nicht|statt|instead of|anstelle von)\s*\Z", re.IGNORECASE)
_ARTICLE = r"(?:the\s+|de[rmn]\s+)?"
_CALLS = "hi|hey|hello|ok|okay|dear|und|and|also|hallo|liebe[r]?|moin|yes|ja|no|thanks|danke"
_ASKS = r"ask\w*|tell|told|remind\w*|get|got|want\w*|need\w*|bitte\w?|gebeten"
_ADVERBS = r"(?:(?:sich|nun|jetzt|doch|noch|es|das)\s+)*"
_INDEFINITE = (
    r"an?|any|some|this|these|no|every|my|his|her|its|ein(?:e[nmrs]?)?|kein\w*|diese[nmrs]?|jede[nmrs]?|mein\w*|sein\w*"
    r"|zum|zur|am|im|ins|beim|vom|den|dem|des"
)
_DOES = r"(?:[a-zäöüß]{2,}t|wird|soll|muss|will|kann|darf)"
_MUST = (
    "will|shall|must|is to|are to|has to|have to|needs? to|is going|to|wird|soll|sollen|muss|müssen|hat|haben"
    "|agree[sd]?|undertakes?|promised|offered|volunteered"
)
_UNDERGOES = (
    r"\s+(?:(?:will|shall|must|is|are|has|have)\s+)?(?:to\s+)?be\s+\w+(?:ed|en|wn|lt|de)\b"
    r"|\s+(?:wird|werden|muss|ist|sind)\b[^,;]*\b(?:ge\w+|be\w+|ver\w+|er\w+)(?:t|en)\b(?: werden)?[\s.]*\Z"
)
_PLEASE = "can|could|would|will|please|pls|kindly|bitte|kannst|können|könntest|magst|du|you|Sie"
_WHEN = r"by|until|till|before|this|next|today|tomorrow|on|bis|am|ab|heute|morgen|noch|\d"
# The first that fits counts.
_BEFORE = tuple(
    (sign, re.compile(pattern + r"\Z", re.IGNORECASE if loose else 0))
    for sign, pattern, loose in (
        ("at", "@", False),
        ("but", r"\b(?:sondern|but|so|dass|that|then|dann)\s+", True),
        ("by", rf"\b(?:by|von|durch|via)\s+{_ARTICLE}", True),
        ("for", r"\b(?:for|für|of|(?<=\w )de[rs])\s+", True),
        ("to", rf"\b(?:to|an|ans|zu|zum|zur|bei|beim|at|from|about|über)\s+{_ARTICLE}", True),
        ("with", rf"\b(?:with|mit)\s+{_ARTICLE}", True),
        ("asked", rf"\b(?:{_ASKS})\s+(?:the\s+)?", True),
        ("owner", r"\b(?:owner|who|lead|wer|verantwortlich|zuständig|responsible|assigned to)\W*", True),
        ("and", r"(?:\b(?:and|und|or|oder)|[&/+])\s*", True),
        ("first", r"\A\W*(?:\d+[.)]?\s*)?", False),
        ("greeted", rf"(?:\A|[.!?]\s+)\W*(?:{_CALLS})[\s,]+", True),
        ("sentence", r"[.!?;]\s+", False),
        ("colon", r":\s*", False),
        ("comma", r",\s*", False),
        ("bar", r"[|\t]\s*", False),
        ("paren", r"[(\[]\s*", False),
        ("dash", r"(?:[-=]>|→|[-–—])\s*", False),
        ("verb", rf"\b{_DOES}\s+{_ADVERBS}", False),
        ("indefinite", rf"\b(?:{_INDEFINITE})\s+(?:[a-zäöüß]+\s+)?", True),
        ("article", r"\b(?:the|our|their|your|each|both|der|die|das|unsere?|Ihre?)\s+", True),
    )
)
_AFTER = tuple(
    (sign, re.compile(pattern, re.IGNORECASE if loose else 0))
    for sign, pattern, loose in (
        ("genitive", r"['’]s(?! (?:going|on|doing|putting|taking|getting|sending|bringing)\b)", False),
        ("undergoes", _UNDERGOES, False),
        ("modal", rf"(?:['’]ll|['’]s (?:going|on)|,?\s+(?:\([^)]*\)\s+)?(?:{_MUST}))\b", True),
        ("can", rf",?\s+(?:{_PLEASE})\b", False),
        ("colon", r"\s*\**:", False),
        ("and", r"\s*(?:\b(?:and|und)\b|[&/+])", False),
        ("comma", r"\s*,", False),
        ("dash", r"\s*(?:->|→|[-–—]\s)", False),
        ("bar", r"\s*[|\t]", False),
        ("close", r"\s*[)\]]", False),
        ("open", r"\s*[(\[]", False),
        ("end", r"\s*[.!?;]*\s*\Z|[.!?;]\s", False),
        ("when", rf"\s+(?:{_WHEN})\b", True),
        ("verb", r"\s+(?:(?:also|then|now|still|just|nun|noch)\s+)?(?:does|is|[a-z]{2,}(?<!s)s|takes?"
                 r"|[a-zäöüß]{2,}(?:t|en|e))\b", False),
        ("past", r"\s+[a-z]+ed\b", False),
    )
)  # fmt: skip


def form_of(clause: str, kind: CommitmentKind) -> str:
    """Who the clause says that it is about."""
    if _GIVES_YOU.search(clause):
        return "i"
    if kind == "request":
        return "asks"
    tried = (("tells", _TELLS), ("i", _SELF), ("we", _WE), ("you", _YOU))
    if found := next((form for form, pattern in tried if pattern.search(clause)), None):
        return found
    if _PRONOUN.match(clause):
        return "pronoun"
    if _PASSIVE.search(clause):
        return "passive"
    return "bare" if clause.lstrip(" -–—•*")[:1].islower() else "other"


def before_sign(words: str) -> str:
    """What stands right before a name."""
    return next((sign for sign, pattern in _BEFORE if pattern.search(words)), "word")


def after_sign(said: str, end: int) -> str:
    """What stands right behind a name that ends there."""
    return next((sign for sign, pattern in _AFTER if pattern.match(said, end)), "word")


def is_denied(words: str) -> bool:
    """ "Not Tom, but Ada": whoever is named behind these words is not the one."""
    return _DENIED.search(words) is not None
