"""Stances that are said in fixed words: what nearly always means the same, whoever says it."""

import re

from mnemon.mail.consensus.stances import Stance

_HOW = (
    r"(?:also |fully |strongly |totally |completely |certainly |very much |wholeheartedly |still |would |do |"
    r"definitely |generally |largely )*"
)
WITHDRAW = re.compile(
    r"\bwithdraw(?:ing)? (?:my|the|our|that|this)\b|\b(?:retract|take back|taking back|scratch|drop|dropping|lift) "
    r"(?:my|our|the) (?:\S+ )?(?:objections?|concerns?|comments?|vote|[-+][01]|discuss|veto|nak|point)|"
    r"\bclear(?:ed|ing)? my discuss|\b(?:objections?|concerns?|comments?|issues?|worr(?:y|ies)) (?:is|are|was|"
    r"were|has been|"
    r"have been) (?:now )?(?:addressed|resolved|withdrawn|met|settled|answered|dealt)|"
    r"\b(?:addresses|resolves|answers|settles|covers|meets|addressed|resolved|answered) (?:all (?:of )?)?(?:my|our) "
    r"(?:\S+ )?(?:concerns?|objections?|comments?|issues?|questions?|points?|worry)|"
    r"\bno (?:further|more|longer (?:any|an|have)?)\s*(?:objections?|concerns?)|\b(?:i|we) no longer (?:object|"
    r"oppose|insist)|"
    r"\b(?:objection|concern|-1|veto) (?:is |stands )?withdrawn|\bi stand corrected|"
    r"\b(?:nehme|ziehe) (?:meinen?|den|die) \S+ zurück|\bnichts mehr dagegen|\bkeine? einw\w+ mehr",
    re.IGNORECASE,
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
    r"\bsehe ich anders|\bstimmt (?:so )?nicht|(?<!\d )(?<!mal )\bdagegen\b|"
    r"\b(?:objections?|concerns?|veto|my -1|(?:my|our) points?) (?:still )?(?:stands?|remains?|holds?)\b"
    r"(?! (?:withdrawn|corrected|resolved))|"
    r"\bi (?:still )?(?:maintain|uphold|stand by|stick (?:to|with)) my (?:objections?|concerns?|-1|veto|no)\b|"
    r"\b(?:einw[aä]nde?|bedenken) (?:bleib\w*|besteh\w*)\b|\bbleibe bei mein\w+ (?:einwand|nein|-1)\b",
    re.IGNORECASE,
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
    r"\A\W*(?:i have )?no objections?\b|"
    r"\A\W*(?:that's |that is |this is |sounds like )?(?:a |an )?(?:very )?(?:good|great|excellent|valid|nice) "
    r"(?:point|catch|idea|suggestion|find)\b(?! to\b)|\bfair (?:enough|point)\b|\A\W*(?:acked|reviewed|tested)-by:|"
    r"\A\W*\+1(?!\d|\s*/)|\bplus one\b|"
    r"\b(?:is|are|you're|you’re|he's|she's) (?:absolutely |completely |quite |exactly |"
    r"indeed )?right\b(?! (?:now|after|before|away|in|at|here|there|\w+ to))|"
    r"\A\W*(?:yes|yep|yup|yeah|exactly|indeed|absolutely|definitely|certainly|correct|right|sure|true|precisely|ja|"
    r"genau)\b(?=\s*[,.!;:–—-]|\s*\Z|\s+(?:i|we|it|this|that|that's|the|you|there)\b)|"
    r"\A(?:ok[,.]? |thanks[,.]? |yes[,.]? )?(?:i |i've |we )?(?:fixed|done|will do|will fix|corrected|ack)\b|"
    r"\bich bin dafür|\bstimme (?:dem |dir |ihm |ihr |euch )?zu\b|\beinverstanden\b|\bsehe ich (?:genauso|auch so)|"
    r"\bkein(?:e)? einw[aä]nde?\b|\bship it\b|\bready (?:for|to be) (?:publi|adopt|the iesg)",
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


def formula_of(words: str) -> Stance | None:
    """The stance that a sentence states in fixed words; None where it states none in such words."""
    if TAKEN_BACK.search(words):
        return "object"
    if WITHDRAW.search(words):
        return "withdraw"
    asks = ASKS.search(words) is not None
    if asks and not SUPPORT.match(words):
        return "question"
    if OBJECT.search(words):
        return "object"
    found = SUPPORT.search(words)
    if found is None or OTHER_SENSE.search(words):
        return "question" if asks else None
    if DENIED.search(words[max(found.start() - 12, 0) : found.end()]) and "objection" not in found[0].lower():
        return None
    return "support_conditional" if CONDITION.search(words[found.end() :]) or CONDITION.match(words) else "support"
