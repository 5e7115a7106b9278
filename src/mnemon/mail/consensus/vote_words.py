"""What votes look like. Every pattern is tried on one line or sentence and takes linear time."""

import re

# A value: a sign and 0 or 1, perhaps with a fraction. What looks like arithmetic, a version or an offset is none.
VALUE = re.compile(
    r"(?<![\w+\-−–.:/=<>$€£#@^~%])(?P<sign>[+\-−–＋]) ?(?P<number>[01](?:[.,]\d{1,2})?|1000?0?)(?![\w%°/]|[.,:]\d|"
    r"[+-]\d)"
)
BARE_ZERO = re.compile(r"\A[*_ ]*0[*_]*(?=\Z|\s*\Z|\s*[-–—,.:(;])(?!\s*[-–:.,]\s*\d)")
AT_ZERO = re.compile(r"\b(?:i'm|i’m|i am|ich bin)(?: now| jetzt)?(?: at| bei| a)? ?[+]?0\b(?!\.\d)", re.IGNORECASE)
WHOSE = re.compile(r"\b(?:non[ -]?)?binding\s*\Z", re.IGNORECASE)
MARKUP = "*_`\"'“”‘’ \t\n>|"

# What may stand between the beginning of a sentence and the value that it casts.
LEADS_IN = re.compile(
    r"(?:\A|[.!?:;,)\]}…—–-]|\b(?:i am|i'm|i’m|im|i vote|we vote|vote|votes|voting|my|my own|mine|me|my vote is|adding|"
    r"add my|here is|here's|here’s|make it|make that|to|so|hence|therefore|thus|still|strong|big|huge|solid|weak|mild|"
    r"tentative|definite|clear|enthusiastic|at|also|then|ein|mein|meine|bin|"
    r"stimme|von mir|daher|also|somit))\s*\Z",
    re.IGNORECASE,
)
# "that is a -1 from me", but not "translate this to a +1" nor "we still need a +1".
NAMED = re.compile(
    r"\b(?:this is|that's|that’s|that is|it's|it’s|it is|here's|here is|consider (?:this|it)|take (?:this|it) as|"
    r"count (?:this|me|it)(?: as| down for)?|from me)\s+(?:a|my|another|as a)\s*\Z",
    re.IGNORECASE,
)
# "We have three +1", "if there is no -1", "at least one +1": values that are spoken of.
SPOKEN_OF = re.compile(
    r"\b(?:no|any|one|two|three|four|five|six|seven|eight|nine|ten|\d+|more|another|last|missing|his|her|their|your|"
    r"the|these|those|every|each|all|only|few|several|some|get|got|has|have|had|was|were|as|for|of|with|by|or|than|"
    r"keine|kein|drei|zwei|eine|sein|ihr|dein)\s*\Z",
    re.IGNORECASE,
)
COUNTS_ON = re.compile(
    r"\s*(?:days?|hours?|hrs?|h|minutes?|mins?|weeks?|months?|years?|lines?|bytes?|bits?|px|points?|'s|’s|s|votes?|"
    r"PMC votes?|binding votes?|or [+-]\d|and [+-]\d|UTC|GMT|CET|offset|would be)\b",
    re.IGNORECASE,
)
SOMEBODYS = re.compile(r"\b(?:his|her|their|your|\w+'s|\w+’s)\s*\Z", re.IGNORECASE)
CONDITIONAL = re.compile(
    r"\b(?:would|i'd|i’d|could|might|may|wäre|würde)\b[^.!?]{0,40}\Z|\bif (?:i|we|you|it|there)\b[^.!?,:]{0,80}\Z",
    re.IGNORECASE,
)
# "I take back my +1", "scratch my -0", "My -1 is gone".
TAKEN_BACK = re.compile(
    r"\b(?:retract|withdraw|take back|taking back|scratch|drop|dropping|cancel|remove|revoke|rescind|lift|"
    r"nehme|ziehe)\b[^.!?,;]{0,30}\Z",
    re.IGNORECASE,
)
IS_GONE = re.compile(
    r"\s*(?:is|was|has been)?\s*(?:gone|withdrawn|retracted|dropped|void|moot|no longer|ist weg|zurück)\b",
    re.IGNORECASE,
)
FROM_VALUE = re.compile(r"\s*(?:to|->|→|=>|zu|auf)\s*(?:a\s+)?(?=[+\-−–＋])", re.IGNORECASE)
TO_SOMETHING = re.compile(r"\s*(?:to|for|on|für|zu)\s+\S", re.IGNORECASE)

NOT_BINDING = re.compile(r"\b(?:non|not|un)[ -]?binding\b|\(\s*nb\s*\)|\bnicht bindend\b", re.IGNORECASE)
BINDING = re.compile(r"\bbinding\b|\(\s*b\s*\)|\A[\s(]*b\b|\bPMC\b|\bbindend\b", re.IGNORECASE)
# How far from the value the word is looked for.
NEAR = 60

FILLED = re.compile(r"\[\s*[xX*✓✔✗]\s*\]|\(\s*[xX]\s*\)|<[-=]{1,5}|←")
BOXED = re.compile(r"\[ ?(?P<value>[-+−][01]) ?\]")
BALLOT_YES = re.compile(r"\b(?:yes|ja|approve|accept|in favou?r|dafür|oui)\b", re.IGNORECASE)
BALLOT_NO = re.compile(r"\b(?:no|nein|disapprove|reject|against|dagegen|non)\b", re.IGNORECASE)
BALLOT_ABSTAIN = re.compile(r"\b(?:abstain|abstention|enthaltung|no opinion|don't care)\b", re.IGNORECASE)

SAYS_YES = re.compile(
    r"\A[*_\s]*(?:so|also|then|dann)?[:,]?\s*(?:(?:i vote |ich stimme |my vote: ?)?(?:yes|ja|yep|aye|dafür|"
    r"in favou?r|approve|oui)"
    r"(?: too| as well| from me| von mir| please| bitte)?)[*_]*\s*(?:[.!,;:(–—-]|\Z)",
    re.IGNORECASE,
)
SAYS_NO = re.compile(
    r"\A[*_\s]*(?:so|also|then|dann)?[:,]?\s*(?:(?:i vote |ich stimme |my vote: ?)?(?:no|nein|nay|dagegen|against|"
    r"opposed|non)"
    r"(?: too| as well| from me| von mir)?)[*_]*\s*(?:[.!,;:(–—-]|\Z)",
    re.IGNORECASE,
)
SAYS_ABSTAIN = re.compile(r"\A[*_\s]*(?:i )?(?:abstain|abstention|enthaltung|ich enthalte mich)\b", re.IGNORECASE)
STIMMT = re.compile(r"\bstimme\b[^.!?]{0,20}\b(?:(?P<yes>ja|dafür|zu)|nein|dagegen)\b", re.IGNORECASE)
# Approval without a value, taken for a vote where one was asked for, and marked as that.
IMPLICIT_YES = re.compile(
    r"\b(?:works? (?:well |fine |great |perfectly |ok |good |nicely )?(?:for|with) (?:me|us)\b|(?:looks|"
    r"all) good to me|"
    r"lgtm\b|ship it\b|i approve\b|i'm in favou?r\b|i am in favou?r\b|you have my (?:vote|approval|support)|"
    r"i (?:fully |strongly )?support (?:the|this) release)",
    re.IGNORECASE,
)
NOT_IMPLICIT = re.compile(r"\b(?:not|n't|n’t|but not|except|unless|however|until|once|if|would)\b|\?", re.IGNORECASE)
# A line of a result: "+1 (binding): Anna, Ben", "+1: 4".
TALLY_LINE = re.compile(
    r"^[ \t*•-]*(?:(?P<count>\d{1,3})\s*(?:x\s*)?)?(?P<value>[+\-−–][01])s?\s*(?:votes?)?\s*"
    r"(?:[(\[](?P<kind>[^)\]\n]{1,40})[)\]])?\s*(?:votes?)?\s*[:=-]\s*(?P<names>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
