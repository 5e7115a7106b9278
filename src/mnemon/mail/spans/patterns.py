"""What lines of mail look like. Each pattern is tried on one line, or on few short ones, and takes linear time."""

import re

# Whether one of the patterns below may match, asked of each line that is not quoted: most lines are none of all this.
OLD_MAIL_LINES = re.compile(
    r"^[ \t]*(?:[-_=*]{2,30}[ \t]*[^\W\d_]|\*?(?:From|Von|De|Da|Van|Från|Fra|Отправитель|发件人) ?:|Forwarded |"
    r"Begin forw|Weitergel|Message transf|Start of forw)",
    re.MULTILINE | re.IGNORECASE,
)
OPENING_LINES = re.compile(r"^[ \t]*(?:On|At|Am|Le|El|Op|Il|Em|Den|W dniu|Dne|20\d\d-\d\d)\b", re.MULTILINE)
CODE_LINES = re.compile(
    r"^(?:diff |Index: |--- |=== mod|[ \t]{0,3}(?:```|~~~)| [^|\n]{1,200} \| | \d{1,6} files? ch)", re.MULTILINE
)
BALLOT_LINES = re.compile(r"^[ \t]*(?:[-*] )?(?:\[|\(\s?[xX]?\s?\)|[-+]?[01]\s*\[)", re.MULTILINE)
ENDING_LINES = re.compile(
    r"^[ \t]*(?:[-_=*—~]|Hash: SHA|Sent from|Von meinem|Get Outlook|Envoyé de|To unsub|You (?:received|are rec)|"
    r"This (?:mess|e-?mail)|CONFID|DISCLAIM|(?:with |many |best |kind |kindest |warm |warmest )*(?:regards|wishes|"
    r"greetings|thanks)\b|cheers|sincerely|yours|best\b|thank|thx|br\b|rgds|ciao|mit |freund|beste|viele|liebe|mfg|"
    r"cordial|bien à|saludos|groeten)",
    re.MULTILINE | re.IGNORECASE,
)
# The words that the patterns above begin with: what begins otherwise with letters need not be tried on them.
_WORDS = (
    "from", "von", "de", "da", "van", "fra", "forwarded", "begin", "weitergel", "message", "start", "on", "at",
    "am", "le", "el", "op", "il", "em", "den", "w", "dne", "diff", "index", "hash", "sent", "get", "envoyé", "to",
    "you", "this", "confid", "disclaim", "with", "many", "best", "kind", "warm", "regards", "wishes", "greetings",
    "thanks", "cheers", "sincerely", "yours", "thx", "br", "rgds", "ciao", "mit", "freund", "viele", "liebe", "mfg",
    "cordial", "bien", "saludos", "groeten",
)  # fmt: skip
_LONG = frozenset(word[:3] for word in _WORDS if len(word) > 2)
_SHORT = frozenset(word for word in _WORDS if len(word) < 3)
# Longer lines are prose: no pattern below is tried on them.
LONGEST_LINE = 400
MOST_TRIED = 20_000

QUOTED = re.compile(r"[ \t]{0,3}(?P<marks>(?:>[ \t]{0,2}){1,60})")

# "On Monday, Anna <anna@example.org> wrote:" or "Am Montag schrieb Anna:", in the languages mail programs speak most.
WROTE = re.compile(
    r"\b(?:wrote|writes|said|says|schrieb|schreibt|écrit|escribió|schreef|ha scritto|escreveu|skrev|napisał|kirjoitti|"
    r"написал|пишет)\b|写道|さんは書きました"
)
OPENING = re.compile(OPENING_LINES.pattern)
DIGIT = re.compile(r"\d")
COLONS = (":", "：")
# "19.07.2026 Anna <anna@example.org>:", "* Anna:", "Quoting Anna:", "At 10:00 AM Anna wrote".
OTHER_ATTRIBUTION = re.compile(
    r"\s*(?:\d[\d.:/, -]{4,40}.{0,100}<\S{1,100}@\S{1,100}>|\* [A-Z].{1,60}|Quoting .{2,100})\s*:\s*\Z"
)
IN_ARTICLE = re.compile(r"\s*(?:In article|In message) <?\S{1,200}>?,?.{0,120}\Z")

ORIGINAL = re.compile(
    r"\s*[-_=*]{2,30}\s*(?:Original|Ursprüngliche|Message d'origine|Mensaje original|Oorspronkelijk|Messaggio|Reply)"
    r".{0,40}?[-_=*]{0,30}\s*\Z",
    re.IGNORECASE,
)
FORWARDED = re.compile(
    r"\s*(?:[-_=*]{2,30}\s*)?(?:Forwarded message|Forwarded by|Begin forwarded message|Weitergeleitete Nachricht|"
    r"Message transféré|Start of forwarded message)\b.{0,80}\Z",
    re.IGNORECASE,
)
HEADER_FROM = re.compile(r"\s*\*?(?:From|Von|De|Da|Van|Från|Fra|Отправитель|发件人)\s?:\*?\s+\S.{0,300}\Z")
HEADER_NEXT = re.compile(
    r"\s*\*?(?:Sent|Date|To|Subject|Cc|Reply-To|Gesendet|An|Betreff|Datum|Envoyé|À|Objet|Enviado|Para|Asunto|Verzonden|"
    r"Aan|Onderwerp|Skickat|Till|Ämne)\s?:\*?\s"
)

DASHES = re.compile(r"--[ \t]?\Z|—[ \t]?\Z")
TILDE_NAME = re.compile(r"~ ?[A-ZÀ-Þ][^.!?]{1,60}\Z")
SENT_FROM = re.compile(r"\s*(?:Sent from my|Von meinem .{2,30} gesendet|Get Outlook for|Envoyé de mon)\b.{0,60}\Z")
PGP_BEGIN = re.compile(r"-----BEGIN PGP (?:SIGNATURE|PUBLIC KEY BLOCK)-----\s*\Z")
PGP_END = re.compile(r"-----END PGP (?:SIGNATURE|PUBLIC KEY BLOCK)-----\s*\Z")
PGP_MESSAGE = re.compile(r"-----BEGIN PGP SIGNED MESSAGE-----\s*\Z|Hash: SHA\d{1,3}\s*\Z")
SIGN_OFF = re.compile(
    r"\s*(?:(?:with |many |best |kind |kindest |warm |warmest )*(?:regards|wishes|greetings)|cheers|sincerely|"
    r"yours(?: truly| sincerely| faithfully)?|best|thanks|many thanks|thank you|thx|br|rgds|ciao|"
    r"(?:mit )?(?:freundlichen|besten|viele|liebe) grüßen?|mfg|cordialement|bien à vous|saludos|groeten)\s*,\s*\Z",
    re.IGNORECASE,
)

# The same without a comma: sure only where lines of a visiting card follow.
CLOSING = re.compile(SIGN_OFF.pattern.replace(r"\s*,\s*\Z", r"\s*[,.!]?\s*\Z"), re.IGNORECASE)
CARD = re.compile(
    r"\b(?:tel|phone|mobile|mob|cell|fax|office|toll[ -]free|skype)\b ?[.:+]|\+\d[\d ().-]{6,20}|www\.|https?://|"
    r"\S@\S|\s\|\s",
    re.IGNORECASE,
)

RULE = re.compile(r"\s*(?:[_=*-]{8,200}|--[ \t]?|[_-]{3,})\s*\Z")
LIST_INFO = re.compile(
    r"mailing[ -]?list|unsubscri|listinfo|mailman|subscribe[rd]? (?:to|from)|list archive|groups\.google|"
    r"additional commands|@lists?\.|Liste de diffusion|Mailingliste",
    re.IGNORECASE,
)
BARE_FOOTER = re.compile(
    r"\s*(?:To unsubscribe(?: from| send|,)|You received this message because you|"
    r"You are receiving this (?:mail|message|because)|CONFIDENTIALITY NOTICE|DISCLAIMER|"
    r"This (?:message|e-?mail) (?:and any attachments? )?(?:is|are|may be|contains) "
    r"(?:confidential|intended|privileged))",
    re.IGNORECASE,
)

DIFF_BEGIN = re.compile(r"(?:diff --git |diff -[a-zA-Z]|Index: \S|--- \S{1,300}|=== modified file )")
DIFF_LINE = re.compile(
    r"(?:[ +\\-]|@@ |diff |index |new file|deleted file|old mode|new mode|rename |similarity |copy |Index: |={10,}|\Z)"
)
DIFF_STAT = re.compile(r" \S.{0,200}? \| +(?:\d{1,7} [+-]{0,100}|Bin\b.{0,60})\s*\Z|\s\d{1,6} files? changed\b")
FENCE = re.compile(r"\s{0,3}(?:```|~~~)")

BALLOT = re.compile(
    r"\s*(?:[-*] )?(?:\[ ?[xX+*_ ]? ?\]\s*[-+]?\s?[01]\b|\(\s?\)\s*[-+]?[01]\b|[-+]?[01]\s*\[ ?[xX_ ]? ?\]|"
    r"\[ ?[-+][01] ?\]\s|[\[(] ?[xX_ ]? ?[\])] "
    r"(?:approve|yes|no|abstain|disapprove|accept|reject|ja|nein|enthaltung|dafür|dagegen)\b)",
    re.IGNORECASE,
)

_tried: dict[str, bool] = {}


def may_begin(opening: str) -> bool:
    """Whether a line whose first three letters are these may be one of the lines above; the same ones come often."""
    known = _tried.get(opening)
    if known is None:
        low = opening.lower()
        short = low[:2].strip()
        known = (
            not ("a" <= low[:1] <= "z" and low.isascii())
            or low in _LONG
            or (short in _SHORT and not low[len(short) :].isalpha())
        )
        if len(_tried) < MOST_TRIED:
            _tried[opening] = known
    return known
