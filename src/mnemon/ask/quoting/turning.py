"""Words by which a statement turns from what was said before: it moves, alters, calls off, takes over, denies or
doubts it."""

import re

from mnemon.semantics.rules.word_lists import CANCELS, STATT

_I = re.IGNORECASE
# Words by which something is set anew. What merely happens "now" or "again" is not enough.
MOVES = re.compile(
    r"\b(?:instead|mov(?:e|es|ed|ing)|postpon\w+|push(?:ed|ing|es)? (?:\w+ ){0,3}(?:back|out|to|until)|reschedul\w+|"
    r"shift(?:ed|ing)|(?:(?<=\bto )|(?<=\bwe )|(?<=\bwill )|(?<='ll ))shift|slip(?:s|ped)?|extend(?:s|ed)|"
    r"put(?:s|ting)? (?:\w+ ){0,3}(?:off|back|forward) (?:to|until|till|by|from)|"
    r"brought forward|bring \w+ forward|chang(?:e|es|ed) (?:of plan|to|the|from)|"
    r"new (?:time|date|day|hour|deadline|budget|price)|correction|no longer|rather than|"
    r"verschob\w+|verschieb\w+|(?:vor)?verleg\w+|verlängert\w*|vorgezogen|stattdessen|anstatt|" + STATT + r"|"
    r"neuer (?:termin|preis)|neue (?:uhrzeit|"
    r"frist)|korrektur|geändert|nicht mehr|doch (?:erst|schon|nicht))\b",
    _I,
)
# What alters a figure says to which: "lowered it to 28 EUR", "auf 28 Euro gesenkt", "the new code is 8352".
NEW_ONE = re.compile(r"\bthe new (?:\w+ ){1,2}(?:is|are)\b|\b(?:der|die|das) neue \w+ (?:ist|lautet)\b", _I)
_FIGURE = r"(?:to|by|auf|um) (?:only |nur )?(?:[€$£]|EUR |USD |GBP |CHF )?\d"
_ALTERED = r"(?:ge)?senk(?:t|en|te|ten)|erhöh(?:t|en|te|ten)|(?:reduzier|ermäßig)(?:t|en|te|ten)"
ALTERS = re.compile(
    r"\b(?:lower(?:s|ed)?|lift(?:s|ed)?|reduc(?:e|es|ed)|rais(?:e|es|ed)|increas(?:e|es|ed)|drop(?:s|ped)?|cuts?|"
    rf"{_ALTERED}) (?:[^\s.!?]+ ){{0,6}}?{_FIGURE}|{_FIGURE}[^.!?]{{0,80}} (?:{_ALTERED})\b",
    _I,
)
# What follows from the sentence before it.
THEREFORE = re.compile(
    r"\W*(?:so(?! far\b| that\b| long\b| much\b| many\b)|therefore|thus|hence|consequently|that(?: is|['’]s) why"
    r"|for (?:that|this) reason|as a result|deshalb|deswegen|daher|darum|folglich|somit|aus diesem grund)\b",
    _I,
)
# What is called off, and who stands in for another.
CALLS_OFF = re.compile(
    r"\b(?:"
    + CANCELS
    + r"|revers(?:e[sd]?|al)|overturn\w*|withdrawn?|withdrew|superseded|scrap\w*|off the table|called off|"
    r"drop(?:ped|s)?|pull(?:s|ed)? out|sold out|withdraws?|"
    r"no longer|not any ?more|lifted|revoked?|turned (?:it |him |her |them )?down|"
    r"aufgehoben|zurückgenommen|gestrichen|abgesagt|vom tisch|entfällt|hinfällig|nicht mehr|doch nicht|verworfen|"
    r"storniert\w*|gekippt)\b",
    _I,
)
TAKES_OVER = re.compile(
    r"\b(?:takes? (?:it |that |this )?over|took over|taking over|hand(?:s|ed)? (?:it |that )?(?:over|back) to|instead|"
    r"in place of|st(?:ands?|eps?) in|swap\w*|übernimmt|übernehme|übernahm|" + STATT + r"|anstelle|springt ein|"
    r"vertritt|getauscht)\b",
    _I,
)
# Verbs of turning that name nothing: they stand beside a thing without telling which.
TURNS = re.compile(
    r"\b(?:takes? (?:\w+ )?over|took over|call\w* off|"
    + CANCELS
    + r"|drop\w*|lower\w*|reduc\w+|rais\w+|increas\w+|mov\w+|"
    r"postpon\w+|instead|gesenkt|erhöht|verschoben|verlegt)\b",
    _I,
)
# What says that something has changed, or stays as it was changed.
UPDATE = re.compile(
    r"\b(?:now|instead|no longer|not any ?more|moved|postponed|changed?|changes|revised|updated?|correction|"
    r"corrected|replac\w+|new|from now on|as of|rather than|withdrawn|cancelled|canceled|reversed?|overturned|"
    r"scrapped|stays?|keep|keeps|kept|"
    r"nun|jetzt|" + STATT + r"|stattdessen|nicht mehr|"
    r"verschoben|verlegt|geändert|änderung|korrektur|korrigiert|ersetzt|"
    r"neu\w*|ab sofort|aufgehoben|zurückgenommen|gestrichen|doch|bleibt|bleiben)\b",
    _I,
)
# A question for what holds now, and the words of a statement by which something else holds than before.
ASKS_NOW = re.compile(
    r"\b(?:now|still|currently|today|any ?more|any longer|these days|by now|new|again|latest|current|after|since|"
    r"jetzt|nun|noch|inzwischen|mittlerweile|weiterhin|aktuell\w*|derzeit|heute|neue[nrms]?|wieder|bleib\w*|dabei|nach|"
    r"seit)\b",
    _I,
)
CHANGES = re.compile(
    r"\b(?:slip\w*|push\w* (?:back|out)|moved? (?:to|from)|from .{1,30} to|instead|replac\w*|no longer|not any ?more|"
    r"dropp?ed|is out|gone|"
    + CANCELS
    + r"|scrapp?ed|withdrawn|revis\w*|chang\w*|raised|lowered|reduced|extended|postponed|"
    r"back to|again|handed (?:back|over)|takes? over|took over|new|now|"
    r"rutsch\w*|verschob\w*|verleg\w*|stattdessen|" + STATT + r"|"
    r"anstelle|ersetzt|nicht mehr|vom tisch|gestorben|gestrichen|streichen|"
    r"abgesagt|aufgehoben|geändert|ändert|erhöht|gesenkt|verlängert|doch|wieder|übernimmt|künftig|ab sofort|bisher|"
    r"vorher|neu\w*|jetzt|nun|entfällt)\b",
    _I,
)
# A question for what was settled: what "we use" is what was decided last.
ASKS_SETTLED = re.compile(
    r"\b(?:do|are|shall|will) we (?:still |now |currently )?(?:use|using|take|keep|keeping|go with|going with|"
    r"work with|choose|pick)\b|\b(?:nutzen|benutzen|verwenden|nehmen|behalten) wir\b",
    _I,
)
# Over or at the head of what was put to a text later, to set something anew in it.
AMENDS = re.compile(
    r"\b(?:chang(?:es?|ed) (?:of|on|since|as of|from|after|to)|updated?|supplement\w*|addend\w+|added (?:on )?\d|"
    r"amend\w+|correct(?:ed|ion|ions)|corrigend\w+|errat(?:um|a)|outcome|side letter|postscript|p\.? ?s\b|remark|"
    r"notes? (?:added|by hand|of)|as (?:last )?changed|later note|"
    r"nachtr[aä]g\w*|änderung\w*|geändert\w*|berichtig\w+|korrektur\w*|ergänz\w+|neufassung|aktualisier\w+)\b",
    _I,
)
# As it was planned first, or only thought of.
ONCE = re.compile(
    r"\b(?:originally|initially|at first|planned|was supposed|were supposed|used to|previously|formerly|proposal|"
    r"proposed?|suggest\w*|idea|maybe|perhaps|might|could|would|rumou?r|allegedly|"
    r"ursprünglich|anfangs|zuerst|geplant|sollte|sollten|früher|bisher|vorschlag|vorgeschlagen|schlägt vor|idee|"
    r"vielleicht|könnte|würde|gerücht|angeblich)\b",
    _I,
)
# That it is not so at all.
DENIAL = re.compile(
    r"\b(?:(?:is|was|are|were) (?:not|simply not|plainly not) (?:true|right|correct|so|the case)|isn['’]t true|"
    r"not true|untrue|den(?:y|ied|ies)|no truth|false|wrong|"
    r"(?:stimmt|trifft|gilt) (?:so )?nicht|nicht wahr|dementier\w+|falsch|unzutreffend|kein wahres wort|"
    r"richtigstellung)\b",
    _I,
)
# A denial that says itself what it denies, what is named behind it and nothing before: "it is not true that the lift is
# broken".
DENIES_THAT = re.compile(
    r"\b(?:true|right|correct|so|the case|untrue|false|wrong|truth|stimmt|wahr|falsch|unzutreffend)\b[^.!?]{0,20}"
    r"\b(?:that|dass)\s+\w",
    _I,
)
# One that points back to what was said before.
DENIES_IT = re.compile(
    r"\b(?:that|this|it|which|none of (?:this|that|it))\b[^.!?]{0,30}?(?:\bnot (?:true|right|correct|so|the case)"
    r"|\buntrue|\bfalse|\bwrong|n['’]t true|\bno truth)\b|\bden(?:y|ied|ies) (?:it|this|that)\b|"
    r"\b(?:das|dies|es)\b[^.!?]{0,30}?(?:stimmt|trifft|gilt|nicht wahr|falsch|unzutreffend)|^\W*stimmt (?:so )?nicht|"
    r"\bnicht wahr\b|\bdementier\w+|\bkein wahres wort\b|^\W*(?:wrong|untrue|not true|falsch|richtigstellung)\b",
    _I,
)
NAMES_RUMOUR = re.compile(
    r"\b(?:rumou?rs?|claims?|reports?|story|stories)\b.{0,20}\b(?:that|of|about)\b|\b(?:gerüchte?|behauptung\w*|meldung\w*)"
    r"\b.{0,20}\b(?:dass|über|von)\b",
    _I,
)
# What was asked, or only thought of, moves nothing.
DOUBT = re.compile(
    r"\?\W*$|\b(?:could|might|maybe|perhaps|what if|should we|vielleicht|könnte\w*|eventuell|falls)\b", _I
)
