"""Words that say that something was turned round, was done, or follows from something; English and German."""

import re

from mnemon.semantics.rules.word_lists import CANCELS, STATT

REVERSES = re.compile(
    r"\b(?:instead|after all|no longer|not any ?more|anymore|back to|back on|again|dropp?(?:ed|ing|s)?|scrap\w*"
    r"|"
    + CANCELS
    + r"|call(?:ed)? off|is off|are off|revers\w*|overturn\w*|revok\w*|rescind\w*|withdraw\w*|void|moved?"
    r"|moving|postpone\w*|push(?:ed|es|ing)?(?= (?:\w+ ){0,4}(?:back|out|to|until|till|into)\b)|shift(?:ed|ing)"
    r"|(?:(?<=\bto )|(?<=\bwe )|(?<=\bwill )|(?<='ll ))shift"
    r"|replac\w*|rather than|not going|stays?|keep(?:ing)?|down from"
    r"|up from|changed?|now|doesn'?t need|wieder|doch|stattdessen|" + STATT + r"|nicht mehr"
    r"|sondern|aufgehoben|zurück\w*|abgesagt"
    r"|fällt aus|entfällt|verschoben|rutscht|verlegt|gestrichen|vom tisch|gestorben|kassiert|nun|jetzt|bisher|bleibt"
    r"|neu\w*|anders|widerrufen|storniert|ersetzt|is out|are out|goes|is back|are back|delet\w*|substitut\w*"
    r"|lift(?:s|ed)?|clear(?:s|ed)|stay(?:s|ed|ing)|suspend\w*|annul\w*|forget|leave it|vertagt|verschiebt"
    r"|ausgesetzt|behalten|freigegeben|frei|lassen|kein\w*|raus|heraus|außer kraft|(?:ge)?kipp\w*|verzicht\w*)\b",
    re.IGNORECASE,
)
# Words that turn something round by themselves; others of the above may only tell how it stands.
SAYS_CHANGE = re.compile(
    r"\b(?:instead|after all|no longer|not any ?more|anymore|back to|dropp?(?:ed|ing|s)?|scrap\w*|" + CANCELS + "|"
    r"call(?:ed)? off|is off|are off|revers\w*|overturn\w*|revok\w*|rescind\w*|withdraw\w*|moved|moving"
    r"|postpone\w*|pushed|shifted|replac\w*|rather than|not going|down from|up from|changed|doesn'?t need"
    r"|doch|stattdessen|" + STATT + r"|nicht mehr"
    r"|sondern|aufgehoben|zurückgezogen|zurückgenommen|abgesagt|fällt aus|entfällt|verschoben|verschiebt|rutscht"
    r"|verlegt|gestrichen|vom tisch|widerrufen|storniert|ersetzt|vertagt|substitut\w*|forget|suspend\w*|annul\w*)\b",
    re.IGNORECASE,
)
DONE = re.compile(
    r"\b(?:done|finished|ready|sent|is in|are in|is up|is out|went out|on the|booked|ordered|signed|delivered"
    r"|complete\w*|fixed|wrote|called|rang|spoke|met|merged|deployed|installed|cleaned|paid|here|erledigt|fertig"
    r"|bestellt|geschickt|verschickt|raus|heraus|hängt|ist da|sind da|liegt|liegen|lagen|gemacht|gebucht"
    r"|unterschrieben|angerufen|gesprochen|abgegeben|verteilt|eingebaut|repariert|ist ab|gemerged)\b",
    re.IGNORECASE,
)
# What follows from something says so, or waits for it.
FOLLOWS = re.compile(
    r"\b(?:so|then|therefore|thus|hence|because|since|until|once|after|before|when|as soon as|depend\w*|wait\w*"
    r"|block\w*|needs?|first|instead|fix\w*|again|accordingly|result|dann|daher|deshalb|deswegen|dafür|damit|daraufhin"
    r"|also|weil|bis|sobald|nachdem|wegen|erst|wenn|hängt|wartet|wieder|nun|jetzt)\b",
    re.IGNORECASE,
)
