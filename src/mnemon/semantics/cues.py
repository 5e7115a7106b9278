"""The rules themselves, by category: change one here, then run `make bench-extract`."""

from mnemon.semantics.agents import GROUPS
from mnemon.semantics.cue import ANYONE, PEOPLE, Cue, cue
from mnemon.semantics.semantic_event import Category
from mnemon.semantics.verbs import DIRECTION, DONE, NO_PROMISE, WANT

_AUX = r"(?:\s+(?:have|has|had|also|already|just|both|now|then|finally|all|unanimously|formally|since|recently)|'ve|'s|'d)*"
_SPEAKERS = rf"(?:{'|'.join(sorted(set(GROUPS), key=len, reverse=True))}|people|everyone|audience|readers|parents|visitors|guests|he|she|they|reviewer\s+\d)"
_BE = r"(?:is|are|was|were|has\s+been|have\s+been|had\s+been|been|got|gets|'s)"
_ADVERB = r"(?:\s+(?:now|just|also|already|then|finally|successfully|formally|officially|all|fully|since|both|recently|unanimously))?"

_COMMITMENT = (
    cue("promise", Category.COMMITMENT, rf"\b(?:I|we)(?:'ll|\s+will|\s+shall)\b(?:\s+(?:also|then|gladly|personally|certainly))?{NO_PROMISE}\s+\w",
        strength=2, agents=PEOPLE, kind="promise"),
    cue("going_to", Category.COMMITMENT, rf"(?:'m|'re|\bam|\bis|\bare)\s+(?:going\s+to|about\s+to)\b{NO_PROMISE}\s+\w", strength=2,
        agents=PEOPLE, kind="promise"),
    cue("will", Category.COMMITMENT, rf"\b(?:will|'ll)\b(?:\s+(?:also|then))?{NO_PROMISE}\s+\w", strength=2,
        agents=PEOPLE, kind="promise"),
    cue("shall", Category.COMMITMENT, rf"\bshall\b{NO_PROMISE}\s+\w", strength=3, agents=PEOPLE, kind="assignment"),
    cue("undertakes", Category.COMMITMENT, r"\b(?:promise[sd]?|commit(?:s|ted)?\s+to|undertakes?\s+to|undertook\s+to|pledge[sd]?|guarantee[sd]?|vow(?:s|ed)?|volunteer(?:s|ed)?\s+to"
        r"|agree[sd]?\s+to\s+(?:send|write|deliver|provide|prepare|share|check|draft|call|do|finish|fix|pay|review)"
        r"|have\s+my\s+word|count\s+on\s+(?:me|us)|take\s+it\s+upon\s+(?:myself|ourselves)|my\s+action\s+item|on\s+it\s+now|is\s+on\s+me)\b", strength=3, kind="promise"),
    cue("can_do", Category.COMMITMENT, r"\bI\s+can\s+(?!see|hear|tell|imagine|understand|only|say|think|remember|confirm|feel|not)\w+.{3,80}\b(?:today|tonight|tomorrow|this\s+\w+|next\s+\w+"
        r"|by\s+\w+|on\s+\w+day)\b", strength=2, kind="promise"),
    cue("has_to", Category.COMMITMENT, r"\b(?:has|have)\s+to\s+(?:send|deliver|provide|prepare|submit|finish|complete|sign|write|hand\s+in|file|return)\b", strength=2,
        agents=frozenset({"self", "we", "person", "group"}), kind="assignment"),
    cue("assigned", Category.COMMITMENT, r"\b(?:is|are|was|were)\s+(?:to|tasked\s+with|asked\s+to|assigned\s+to|due\s+to|expected\s+to|scheduled\s+to|supposed\s+to)\s+(?!be\b)\w+",
        strength=2, agents=frozenset({"self", "person", "group"}), kind="assignment"),
    cue("name_to_do", Category.COMMITMENT, r"(?<=\w)\s+to\s+(?!be\b|date\b|the\b|a\b|us\b|me\b|you\b|say\b|see\b)[a-z][\w-]+\b", strength=2,
        agents=frozenset({"person"}), kind="assignment", clipped=True),
    cue("please", Category.COMMITMENT, r"\bplease\s+(?:also\s+)?(?!note|find|see|let\s+(?:me|us)\s+know|feel|be\b|do\s+not|don't|accept|excuse|remember|bear|contact|visit|click)\w+",
        strength=2, kind="request", in_question=True),
    cue("can_you", Category.COMMITMENT, r"\b(?:can|could|would|will)\s+(?:you|somebody|someone)\s+(?:please\s+|kindly\s+|possibly\s+|also\s+)?(?!be\b|see\b|imagine|believe|charge|help\s+it|say|think)\w+",
        strength=2, kind="request", in_question=True, when_tentative=True),
    cue("need_you_to", Category.COMMITMENT, r"\b(?:need|want|would\s+like|asking|ask|expect)\s+(?:you|him|her|them|[A-Z]\w+)\s+to\s+\w+", strength=2, kind="request"),
    cue("to_do_label", Category.COMMITMENT, r"^\W*(?:to-?do|action(?:\s+item)?|AI|task|follow-?up)\s*[:–—-]\s*", strength=3, kind="assignment"),
)  # fmt: skip

_DECISION = (
    cue("decision_label", Category.DECISION, r"^\W*(?:decision|decided|agreed|resolved|resolution|conclusion)\s*[:–—-]\s*", strength=5, in_condition=True),
    cue("decided", Category.DECISION, r"\b(?:decided|resolved\s+(?:to|that)|opted|elected\s+to|made\s+(?:the|a)\s+decision|made\s+up\s+our\s+mind|chose|have\s+chosen|has\s+chosen|settled\s+on"
        r"|landed\s+on|concluded\s+(?:to|that\s+we)|came\s+to\s+the\s+decision|ruled\s+(?:out|that)|picked)\b", strength=3),
    cue("agreed", Category.DECISION, r"\b(?:agreed|consensus\s+(?:is|was)|all\s+in\s+favou?r|unanimous(?:ly)?)\b(?!\s+to\s+(?:send|write|deliver|provide|prepare|share|check|draft|call|do|finish|fix|pay|review|take))",
        strength=3),
    cue("approved", Category.DECISION, r"\b(?:approved|authori[sz]ed|signed\s+off|green-?lit|gave\s+(?:the\s+)?(?:green\s+light|go-ahead|approval)|ratified|endorsed|adopted|vetoed|rejected|turned\s+down"
        r"|declined|accepted|voted|carried|defeated|passed\s+(?:the|a)\s+motion)\b", strength=3),
    cue("we_accept", Category.DECISION, r"\bwe\s+(?:accept|reject|approve|choose|decline|refuse|drop|keep|adopt|withdraw)\b", strength=3),
    cue("going_with", Category.DECISION, r"\b(?:going|go|went|gone|stick(?:ing)?|stay(?:ing)?)\s+(?:ahead\s+)?with\b(?!\s+(?:me|you|him|her|us|them|[A-Z]\w+\s+to\b))", strength=3,
        agents=frozenset({"we", "group", "thing", "person", "self"})),
    cue("direction", Category.DECISION, rf"(?:\bwe(?:'re|\s+are)\s+(?:not\s+)?going\s+to|\bwe(?:'ll|\s+will)|\bwe\s+(?:won't|will\s+not))\s+(?:now\s+|no\s+longer\s+)?{DIRECTION}\b", strength=3,
        when_denied=True),
    cue("happy_to_extend", Category.DECISION, r"\bwe(?:'re|\s+are)\s+(?:happy|willing|ready|prepared)\s+to\s+\w+", strength=2),
    cue("lets", Category.DECISION, rf"\blet's\s+{DIRECTION}\b(?!\s+(?:here|there|now)\b)", strength=3),
    cue("deal", Category.DECISION, r"\b(?:it's\s+a\s+deal|final\s+answer\s+is|the\s+decision\s+(?:is|was)\s+(?:to|that)|decision\s+made)\b", strength=3),
)  # fmt: skip

_STAKEHOLDER = (
    cue("takes_role", Category.STAKEHOLDER, r"\b(?:takes?\s+over|took\s+over|taking\s+over|took\s+on\s+the\s+role|takes?\s+on\s+the\s+role|take\s+the\s+role|takes?\s+care\s+of|(?:will\s+)?(?:own|handle|lead)s?\s+(?:that|this|the|it|all|everything)"
        r"|(?:is|are|'s|'m|'re|am|be)\s+(?:now\s+|also\s+|jointly\s+)?(?:responsible|accountable|in\s+charge)\b|(?:is|'s)\s+in\s+charge)\b", strength=3, agents=PEOPLE),
    cue("appoints", Category.STAKEHOLDER, r"\b(?:appoint(?:s|ed)?|nominat(?:es|ed)|named|designat(?:es|ed)|promoted\s+to|elected\s+(?:as|chair|to\s+the)|assigned\s+as|added\s+[A-Z]\w+(?:\s+[A-Z]\w+)?\s+as|hired\s+as|brought\s+in)\b", strength=4),
    cue("becomes", Category.STAKEHOLDER, r"\b(?:becomes?|became|will\s+be|is|are|'s|remains)\s+(?:now\s+)?(?:(?:the|our|your|its|their|my|a|an)\s+)?(?:new\s+|acting\s+|interim\s+|main\s+|single\s+|current\s+)?(?:[\w-]+\s+){0,2}?"
        r"(?:head|lead|leader|owner|sponsor|coordinator|co-ordinator|reviewer|contact|representative|treasurer|chair|secretary|manager|director|approver|maintainer|liaison|deputy|champion|point\s+of\s+contact"
        r"|contact\s+person|product\s+owner|scrum\s+master|member)\b(?!\s*(?:'s|s\b|has|have|will))", strength=3, agents=frozenset({"person", "self", "pronoun", "we"})),
    cue("joins_leaves", Category.STAKEHOLDER, r"\b(?:joins|joined|is\s+joining|will\s+join|leaves|left\s+(?:us|the\s+(?:company|team|project))|is\s+leaving|are\s+leaving|steps\s+down|stepped\s+down|is\s+stepping\s+down|resigns|resigned|retires|retired\s+(?:as|from)"
        r"|hands\s+over\s+to|replaces\s+[A-Z]\w+\s+as)\b", strength=3, agents=frozenset({"person", "self", "pronoun"})),
    cue("reports_to", Category.STAKEHOLDER, r"\breports?\s+(?:directly\s+)?to\s+[A-Z]\w+", strength=2, agents=frozenset({"person", "pronoun"})),
    cue("own_handle", Category.STAKEHOLDER, r"(?:'ll|\bwill)\s+(?:own|take\s+over|handle|lead)\b", strength=3, agents=PEOPLE),
    cue("handles", Category.STAKEHOLDER, r"\b(?:handles|owns|leads|manages|oversees|chairs|represents|runs)\s+(?:the|our|all|its|this)\b", strength=2, agents=frozenset({"person"})),
    cue("role_dash", Category.STAKEHOLDER, r"\s[-–—]\s(?:the\s+)?(?:head|lead|owner|sponsor|manager|director|coordinator|reviewer|contact|chair|secretary|treasurer)\b", strength=2,
        agents=frozenset({"person"}), clipped=True),
)  # fmt: skip

_CHANGE = (
    cue("from_to", Category.CHANGE, r"\b(?:chang(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|rais(?:e|es|ed)|lower(?:s|ed)?|rais(?:e|es|ed)|reduc(?:es|ed)|increas(?:es|ed)|went|goes|go|gone|drop(?:s|ped)?|cut|shift(?:s|ed)?|rose|fell|grew"
        r"|bumped|slipp?(?:s|ed)|switch(?:es|ed)?|renamed|convert(?:s|ed)?|extend(?:s|ed)|push(?:es|ed)(?:\s+(?:out|back))?|upgraded|downgraded|reschedul(?:es|ed)|migrat(?:es|ed))\b(?:\s+[\w$€£,.'\"“”-]+){0,6}?\s+from\s+.{1,60}?\s+to\s+",
        strength=5, about="before", agents=ANYONE),
    cue("changed", Category.CHANGE, r"\b(?:changed|renamed|rescheduled|postponed|brought\s+forward|pushed\s+(?:back|out)|moved\s+to|switched\s+to|updated\s+to|increased\s+(?:to|by)|raised\s+to|reduced\s+(?:to|by)|cut\s+(?:to|by)"
        r"|lowered\s+to|extended\s+(?:to|by|until)|shortened\s+to|narrowed|widened|pivoted|amended|modified|revised)\b", strength=3, about="before"),
    cue("replaces", Category.CHANGE, r"\b(?:replaces|supersedes|is\s+replaced\s+by|was\s+replaced\s+(?:by|with)|are\s+merged|were\s+merged|was\s+merged\s+(?:with|into)|is\s+merged\s+(?:with|into)|(?:was|were|been)\s+(?:dropped|removed|cut|added)\s+(?:from|to)"
        r"|no\s+longer\s+(?:part|in\s+scope|required|supported))\b", strength=3, about="before", when_denied=True),
    cue("now_instead", Category.CHANGE, r"\bnow\b.{1,50}\b(?:instead\s+of|rather\s+than|not)\b", strength=4, about="before"),
    cue("instead_of", Category.CHANGE, r"\binstead\s+of\b", strength=1, about="before"),
)  # fmt: skip

_RISK = (
    cue("risk_noun", Category.QUALITY_RISK, r"\b(?:risk|risks|danger|blocker|blockers|concern|concerned|concerns|worr(?:y|ies|ied|ying)|afraid|threat(?:en|ens|ened)?|vulnerab\w+|weakness(?:es)?|gap|bottleneck|showstopper|red\s+flag"
        r"|jeopard\w+|at\s+stake|single\s+point\s+of\s+failure)\b", strength=3),
    cue("problem_noun", Category.QUALITY_RISK, r"\b(?:problem|problems|issue|issues|bug|bugs|defect|defects|fault|faults|crack|cracks|leak|leaks|leaking|outage|outages|incident|error|errors|packet\s+loss|regression|mismatch|shortage|downtime|trouble"
        r"|[45]0\d(?:s|\s+errors)?|memory\s+leak|deadlock|timeouts?)\b(?!\s*(?:page|rate|message|tracker|log|budget|code))", strength=2),
    cue("broken", Category.QUALITY_RISK, r"\b(?:broken|broke|fails|failed|failing|crash(?:es|ed|ing)?|wrong|missing|exhausted|contaminated|corrupt(?:ed)?|damaged|flaky|stuck|blocked|blocking|delayed|overdue|late|behind\s+schedule|unstable|insecure|unreliable|outdated"
        r"|expire[sd]?|degraded|down\s+(?:again|since|for)|overloaded|overrun|rejected\s+by|incompatible|inconsistent|understaffed|short\s+of|out\s+of\s+(?:memory|disk|stock|date))\b", strength=2, about="before"),
    cue("misbehaves", Category.QUALITY_RISK, r"\b(?:keeps?\s+(?:losing|dropping|failing|crashing|timing\s+out|breaking)|drops\s+(?:long|the|our|requests|packets|connections)|(?:is|are)\s+throwing|loses\s+(?:data|the)|hangs|times\s+out|does(?:n't|\s+not)\s+work"
        r"|do(?:n't|\s+not)\s+work|not\s+working|isn't\s+(?:there|working|ready)|is\s+not\s+(?:there|ready|working)|(?:may|might|could)\s+not\s+(?:\w+\s+)?(?:carry|hold|be\s+enough|scale|cope|work|fit|last)|cannot\s+(?:give|handle|cope|deliver)"
        r"|too\s+(?:large|slow|small|late|high|risky|tight)\s+(?:to|for)|has(?:n't|\s+not)\s+(?:signed|confirmed|arrived|been\s+(?:tested|confirmed|signed))|haven't\s+got|still\s+(?:refers|open|unresolved)|only\s+one\s+who"
        r"|puts?\s+.{3,40}\s+(?:in\s+danger|at\s+risk))\b", strength=3, about="before", when_denied=True, when_tentative=True),
    cue("complains_of_delay", Category.QUALITY_RISK, r"\b(?:flagged|raised\s+(?:a\s+)?concerns?|pointed\s+out\s+that|warned)\b", strength=2, when_tentative=True),
)  # fmt: skip

_FEEDBACK = (
    cue("they_said", Category.FEEDBACK, rf"\b{_SPEAKERS}\b(?:\s+(?:of|in|from|at)\s+[\w\s]{{2,20}}?)?\s+(?:also\s+|all\s+|both\s+|have\s+|has\s+|had\s+)?(?:say|says|said|told|tell\s+us|report|reports|reported|complain|complains|complained|wrote|commented|mentioned|noted|feel|feels|felt|find|finds|found"
        rf"|like|likes|liked|love|loves|loved|hate|hates|hated|dislike\w*|praise[sd]?|criticis\w+|criticiz\w+|appreciate[sd]?|{WANT})\b(?!\s+(?:in\s+pillar|a\s+crack|to\s+(?:the|be)))", strength=3,
        when_denied=True, when_tentative=True, when_quoted=True),
    cue("felt", Category.FEEDBACK, r"\b(?:was|were|are|is)\s+(?:very\s+|quite\s+|pretty\s+|rather\s+|not\s+)?(?:un)?(?:happy|satisfied|pleased|impressed|disappointed|frustrated|confused|delighted|thrilled|annoyed|excited)\s+(?:about|with|by|that|at)\b",
        strength=3, agents=frozenset({"pronoun", "person", "group"}), when_denied=True),
    cue("complaints", Category.FEEDBACK, r"\b(?:got|received|had|have|collected|came\s+in|gathered)\b.{0,25}\b(?:complaints?|feedback|reviews?|praise|comments?|requests)\b|\b(?:feedback|reviews?|comments?)\s+(?:from|of|by|came|was|were)\b", strength=3),
    cue("person_likes", Category.FEEDBACK, r"\b(?:loves|likes|hates|dislikes|enjoys|enjoyed|loved|liked|hated|praised|criticis?z?ed|finds|complained)\b", strength=3, agents=frozenset({"person", "pronoun", "group"})),
    cue("i_find", Category.FEEDBACK, r"\b(?:I|we)\s+(?:find|found|like|love|hate|dislike)\s+(?:the|your|this|that|it)\b(?!\s+out)", strength=2, when_quoted=False),
    cue("verdict", Category.FEEDBACK, r"\b(?:is|are|looks|feels|seems|was)\s+(?:really\s+|very\s+|too\s+|so\s+|pretty\s+|a\s+bit\s+|rather\s+|quite\s+)?(?:useless|confusing|overwhelming|clumsy|ugly|annoying|clunky|unusable|hard\s+to\s+(?:follow|use|read|find|understand)|easy\s+to\s+use|intuitive|brilliant|awful|terrible)\b",
        strength=2, about="before"),
    cue("much_appreciated", Category.FEEDBACK, r"\b(?:much|greatly|widely)\s+(?:appreciated|liked|criticis?z?ed|praised)\b", strength=2, about="before"),
)  # fmt: skip

_COLLABORATION = (
    cue("met", Category.COLLABORATION, r"\b(?:met\s+(?:with|up|the|in|on|[A-Z])|meeting\s+with|talked\s+(?:to|with|it\s+over|about)|spoke\s+(?:to|with|about)|discussed|sat\s+down\s+with|caught\s+up\s+with|had\s+(?:a|an|our|the)\s+(?:\w+\s+){0,3}?(?:call|meeting|session|chat|workshop|lunch|review|discussion|sync|conversation)"
        r"|(?:call|session|workshop|sync|chat|interview|lunch)\s+with|synced|paired\s+(?:with|on|up)|pairing\s+(?:between|with)|brainstormed|joint\s+(?:session|review|workshop)|went\s+through\s+.{2,40}\s+with|worked\s+(?:together|with|alongside)|collaborated|teamed\s+up"
        r"|co-wrote|consulted(?:\s+with)?|held\s+(?:a|the|our)\s+(?:\w+\s+){0,2}?(?:meeting|workshop|session|review|call)|walked\s+\w+\s+through|visited|hosted|handed\s+over|hand(?:ed|ing)?\s+off|interviewed|presented\s+(?:it|this|them)?\s*to)\b",
        strength=2),
    cue("meeting_was", Category.COLLABORATION, r"\b(?:meeting|workshop|call|session|review)\s+(?:took\s+place|was\s+held|happened)\b", strength=3, about="before"),
)  # fmt: skip

_EXECUTION = (
    cue("done_active", Category.EXECUTION, rf"(?<=[\w'])(?:\s+(?:have|has|had|also|already|just|both|then|finally|successfully|now)|'ve|'s)*\s+{DONE}\b(?!\s+(?:by|to\s+be|off\s+by)\b)", strength=2, agents=PEOPLE),
    cue("done_passive", Category.EXECUTION, rf"\b{_BE}{_ADVERB}\s+{DONE}\b", strength=2, about="before"),
    cue("done_clipped", Category.EXECUTION, rf"^\W*(?:just\s+|also\s+|already\s+)?{DONE}\b(?!\s*[:])", strength=2, clipped=True),
    cue("done_trailing", Category.EXECUTION, rf"(?<=\w)\s+{DONE}(?:\s+and\s+{DONE})?(?:\s+(?:to|on|in|for)\s+[\w\s]{{2,30}})?\W*$", strength=1, about="before", clipped=True),
    cue("went_live", Category.EXECUTION, r"\b(?:went\s+live|gone\s+live|is\s+(?:now\s+)?live|are\s+(?:now\s+)?live|is\s+done|are\s+done|is\s+complete|are\s+complete|left\s+(?:our|the)\s+(?:plant|warehouse|factory|port)|in\s+place\s+since|took\s+effect)\b", strength=1, about="before"),
)  # fmt: skip

CUES: tuple[Cue, ...] = (
    *_DECISION,
    *_COMMITMENT,
    *_STAKEHOLDER,
    *_CHANGE,
    *_RISK,
    *_FEEDBACK,
    *_COLLABORATION,
    *_EXECUTION,
)
