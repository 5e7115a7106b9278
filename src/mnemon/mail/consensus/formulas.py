"""Stances that are said in fixed words: what nearly always means the same, whoever says it."""

import re

from mnemon.mail.consensus.stances import Stance
from mnemon.mail.consensus.withdrawals import withdrawal_in

_HOW = (
    r"(?:also |fully |strongly |totally |completely |certainly |very much |wholeheartedly |still |would |do |"
    r"definitely |generally |largely )*"
)
OBJECT = re.compile(
    rf"\b(?:i|we) {_HOW}(?:object|disagree|oppose)\b|\b(?:i|we) (?:really |still )?(?:do not|don't|don’t|can't|"
    rf"can’t|cannot|"
    r"could not|won't|will not) (?:really |fully )?(?:agree|support|accept|endorse|like (?:this|that|the)|"
    r"live with|see "
    r"(?:the|any|a) (?:point|need|reason|benefit|value|advantage))|"
    r"\b(?:i|we) (?:do not|don't|don’t) (?:think|believe|feel) (?:that |it's |it is |this is |that's |we should |"
    r"it should |"
    r"this should |so\b|it makes|this makes|it would|this would|we need|we want)|\bi (?:don't|do not|don’t) think so\b|"
    r"\b(?:i'm|i’m|i am|we're|we are) (?:strongly |still |firmly |totally |very much )*(?:against|opposed|"
    r"not (?:convinced|"
    r"in favou?r|comfortable|happy|sure (?:that )?this is (?:right|a good)))|\bi (?:beg to|"
    r"respectfully) d(?:iffer|isagree)|"
    r"(?<!n.t )(?<!not )(?<!you )(?<!they )(?<!who )(?<!people )\bdisagreed?\b|"
    r"\bstrongly (?:against|opposed)|\b(?:bad|terrible|horrible|wrong) (?:idea|approach|direction)|"
    r"\bnot (?:a good idea|acceptable|the right|ready|true|correct|right\b)|\bNAK\b|\bNACK\b|\A\W*-1\b|"
    r"\bi (?:have|still have) (?:a )?(?:serious |strong |some |several |major |many )*(?:concerns?|objections?|"
    r"reservations?|"
    r"problems? with|issues? with)|\b(?:seems?|is|are|that's|this is) (?:simply |just |plain |completely |entirely )*"
    r"(?:wrong|incorrect|false|nonsense|pointless|silly|misguided|a mistake|backwards|unacceptable)\b|"
    r"\bi (?:strongly )?doubt\b|\bplease (?:don't|do not)\b|\bwe should(?:n't| not)\b|\A\W*(?:no|nope|"
    r"nein)\b(?=\s*[,.!;:–—-]|\s*\Z|\s+(?:it|"
    r"that|this|the|you|we|i|there|because|das|es)\b)|\bich bin (?:\S+ )?dagegen|\bnicht einverstanden|"
    r"\blehne \S+ ?\S* ab|"
    r"\bsehe ich anders|\bstimmt (?:so )?nicht|(?<!\d )(?<!mal )(?<!nichts )\bdagegen\b|"
    r"\bi (?:still )?(?:maintain|uphold|stand by|stick (?:to|with)) my (?:objections?|concerns?|-1|veto|no)\b|"
    r"\b(?:my|our) (?:\S+ )?(?:objections?|concerns?|comments?|issues?|points?) (?:is|are|was|were|has|have)(?: still)?"
    r"(?: not|n['’]t) (?:\w+ )?(?:been )?(?:addressed|resolved|met|settled|answered|dealt)|"
    r"\b(?:does|do|did)(?: not|n['’]t) (?:\w+ )?(?:address|resolve|answer|settle|meet) (?:all )?(?:of )?(?:my|our) "
    r"(?:\S+ )?(?:objections?|concerns?|points?)|"
    r"\b(?:my|our) (?:\S+ )?(?:objections?|concerns?) (?:is|are|remains?) (?:\w+ )?un(?:addressed|resolved|answered)|"
    r"\bbleibe bei mein\w+ (?:einwand|nein|-1)\b|\bich widerspreche\b(?! nicht)|\bnicht dafür\b|"
    r"\bziehe\b[^.!?,;]{0,40}\bnicht zurück\b|"
    r"\bstimme\b[^.!?,;]{0,40}\bnicht zu\b|\bunterstütze\b[^.!?,;]{0,40}\bnicht\b|"
    r"\b(?:ich habe|habe ich|es besteh\w+|es gibt)(?: (?!kein|nicht|nie)\w+){0,3} (?:bedenken|einw[aä]nde?)\b"
    r"(?! (?:mehr|gehabt))",
    re.IGNORECASE,
)
# An objection that is still there: unless none is, or somebody only supposes it.
STANDS = re.compile(
    r"\b(?:objections?|concerns?|veto|my -1|(?:my|our) points?) (?:still )?(?:stands?|remains?|holds?)\b"
    r"(?! (?:withdrawn|corrected|resolved))|\b(?:einw[aä]nde?|bedenken) (?:bleib\w*|besteh\w*)\b",
    re.IGNORECASE,
)
STANDS_NOT = re.compile(
    r"\b(?:no|none|any|without|if|unless|whether|once|when|until|wenn|falls|sofern|solange|kein\w*)\b", re.IGNORECASE
)
SUPPORT = re.compile(
    rf"\b(?:i|we) {_HOW}(?:support(?! for)|agree|concur|second|approve|endorse|like (?:this|that|it|your)|like the "
    r"(?:idea|proposal|text|approach))\b|"
    r"\A\W*(?:so |ok,? |okay,? |yes,? |yep,? |thanks[,.]? |\w+, )?(?:fully |totally |strongly |completely |"
    r"wholeheartedly )?agree(?:d)?\b|\b(?:i'm|i’m|i am|we're|we are) (?:\w+ )?(?:in favou?r|in (?:full |complete )?"
    r"agreement|supportive|(?:fine|happy|ok|okay|good) with|(?:all )?for (?:it|this|that|adopt|publi))|"
    r"(?:\A\W*|\b(?:this|that|it|which|text|change|proposal|version|draft|document|patch|-\d\d) (?:all |now )?)"
    r"(?:looks?|sounds?|seems?) (?:very |pretty |really |quite |all |perfectly )?(?:good|great|fine|right|reasonable|"
    r"ok|okay|sensible|fair|correct)\b|\blgtm\b|(?:\A\W*|\b(?:that|this|it|which) (?:all |certainly |really )?)"
    r"makes? (?:good |perfect |a lot of |total )?sense\b(?! to (?!me\b|us\b))|"
    r"\b(?:works|fine|ok|okay|good) (?:\w+ )?(?:for|with|by) (?:me|us)\b|"
    r"\bno (?:objections?|problem|issue) (?:from|here|at all|to (?:this|that|the|adopt|publ))|"
    r"\A\W*(?:i have )?no (?:objections?|concerns?)\b|"
    r"\b(?:i|we) (?:do not|don't|don’t|would not|wouldn't|won't) object\b|"
    r"\A\W*(?:that's |that is |this is |sounds like )?(?:a |an )?(?:very )?(?:good|great|excellent|valid|nice) "
    r"(?:point|catch|idea|suggestion|find)\b(?! to\b)|\bfair (?:enough|point)\b|\A\W*(?:acked|reviewed|tested)-by:|"
    r"\A\W*\+1(?!\d|\s*/)|\bplus one\b|"
    r"\b(?:is|are|you're|you’re|he's|she's) (?:absolutely |completely |quite |exactly |"
    r"indeed )?right\b(?! (?:now|after|before|away|in|at|here|there|\w+ to))|"
    r"\A\W*(?:yes|yep|yup|yeah|exactly|indeed|absolutely|definitely|certainly|correct|right|sure|true|precisely|ja|"
    r"genau)\b(?=\s*[,.!;:–—-]|\s*\Z|\s+(?:i|we|it|this|that|that's|the|you|there)\b)|"
    r"\A(?:ok[,.]? |thanks[,.]? |yes[,.]? )?(?:i |i've |we )?(?:fixed|done|will do|will fix|corrected|ack)\b|"
    r"\bich bin (?:\S+ )?dafür|\A\W*dafür\b|\bstimme (?:(?:dem|der|diesem|dieser|dir|ihm|ihr|euch) (?:\w+ )?)?zu\b|"
    r"\beinverstanden\b|\bsehe ich (?:genauso|auch so)|\bunterstütze (?:ich|den|die|das|diesen?)\b|"
    r"\bdas unterstütze\b|\bnichts (?:\w+ )?dagegen\b|\bkeine? (?:\w+ )?(?:einw[aä]nde?|bedenken)\b|"
    r"\bship it\b|\bready (?:for|to be) (?:publi|adopt|the iesg)",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"\b(?:if|provided|providing|as long as|so long as|once|assuming|subject to|on (?:the )?condition|conditional|"
    r"only when|unless|"
    r"with (?:the|this|that|one|these) (?:change|caveat|proviso|condition|contingency|fix)\w*|wenn|sofern|solange|"
    r"falls|unter der "
    r"bedingung|vorausgesetzt)\b",
    re.IGNORECASE,
)
DENIED = re.compile(r"\b(?:not|never|cannot|nicht|kein\w*)\b|n['’]t\b", re.IGNORECASE)
# Words of support that deny something themselves.
NO_OBJECTION = re.compile(r"object|concern|einw|bedenken", re.IGNORECASE)
# How far before words of support or of a withdrawal they may be denied.
NEAR = 25
# Whoever takes back what was for it is against it.
TAKEN_BACK = re.compile(
    r"\b(?:withdraw(?:ing)?|retract|take back|taking back|drop) my (?:\+1|support|approval|ack|yes|vote in favou?r)\b|"
    r"\b(?:ziehe|nehme) (?:mein|meine|meinen) (?:\+1|zustimmung|ja) zurück",
    re.IGNORECASE,
)
# "Do you agree?", "if the server agrees", "support for EdDSA": the words in another sense.
ASKS = re.compile(r"\?[\"'”)*_]*\s*\Z")
OTHER_SENSE = re.compile(
    r"\b(?:if|whether|when|unless|do|does|did|can|could|should|would) (?:i|we|you|they|people|everyone) (?:\w+ )?"
    r"(?:agree|support|like|object)",
    re.IGNORECASE,
)


def _stands(words: str) -> bool:
    found = STANDS.search(words)
    return found is not None and STANDS_NOT.search(words[max(found.start() - NEAR, 0) : found.start()]) is None


def formula_of(words: str) -> Stance | None:
    """The stance that a sentence states in fixed words; None where it states none in such words."""
    asks = ASKS.search(words) is not None
    if not asks and (back := TAKEN_BACK.search(words)):
        return "support" if DENIED.search(words[max(back.start() - NEAR, 0) : back.start()]) else "object"
    if not asks and (withdrawn := withdrawal_in(words)):
        return withdrawn
    if asks and not SUPPORT.match(words):
        return "question"
    if OBJECT.search(words) or _stands(words):
        return "object"
    found = SUPPORT.search(words)
    if found is None or OTHER_SENSE.search(words):
        return "question" if asks else None
    if DENIED.search(words[max(found.start() - 12, 0) : found.end()]) and not NO_OBJECTION.search(found[0]):
        return None
    return "support_conditional" if CONDITION.search(words[found.end() :]) or CONDITION.match(words) else "support"
