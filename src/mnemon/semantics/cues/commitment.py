"""Cues for promises, assigned tasks, duties and requests."""

from mnemon.semantics.cues.cue import PEOPLE, cue
from mnemon.semantics.cues.verbs import NO_PROMISE, TASK
from mnemon.semantics.semantic_event import Category

_C = Category.COMMITMENT
_ALSO = r"(?:\s+(?:also|then|gladly|personally|certainly|definitely|of\s+course))?"
_SOON = r"\b(?:today|tonight|tomorrow|(?:this|next)\s+(?:week|month|morning|afternoon|evening|quarter|year|\w+day)|(?:by|on|before)\s+(?:\w+day|the\s+end|tomorrow|noon|\d|next\s+\w+|EO\w)|within\s+\w+\s+(?:day|week|month)s?)\b"
_POLITE = r"(?!note|find|see|let\s+(?:me|us)\s+know|feel|be\b|do\s+not|don't|accept|excuse|remember|bear|contact|visit|click|press|refer|keep\s+(?:in\s+mind|this)|follow\s+the\s+link|next\b|do\s+both|understand|stop\b|add\s+us|log\s+in|use\s+the|join\s+us)"

COMMITMENT_CUES = (
    cue("promise", _C, rf"\b(?:I|we)(?:'ll|\s+will|\s+shall)\b{_ALSO}{NO_PROMISE}\s+[\w-]+", agents=PEOPLE, kind="promise", written=True),
    cue("promise_task", _C, rf"\b(?:I|we)(?:'ll|\s+will|\s+shall)\b{_ALSO}\s+(?:{TASK}|let\s+(?:you|them|him|her|the\s+\w+)\s+know)\b", agents=PEOPLE, kind="promise"),
    cue("promise_dated", _C, rf"\b(?:I|we)(?:'ll|\s+will|\s+shall)\b{_ALSO}{NO_PROMISE}\s+[\w-]+(?=.{{3,80}}{_SOON})", agents=PEOPLE, kind="promise"),
    cue("going_to", _C, rf"(?:'m|'re|\bam|\bis|\bare)\s+going\s+to\b{NO_PROMISE}\s+[\w-]+", agents=frozenset({"self", "we", "person"}), kind="promise", written=True),
    cue("going_to_task", _C, rf"(?:'m|'re|\bam|\bis|\bare)\s+going\s+to\s+{TASK}\b", agents=PEOPLE, kind="promise"),
    cue("will", _C, rf"\b(?:will|'ll)\b{_ALSO}{NO_PROMISE}\s+[\w-]+", agents=frozenset({"person"}), kind="promise"),
    cue("will_task", _C, rf"\b(?:will|'ll)\b{_ALSO}\s+{TASK}\b", agents=frozenset({"pronoun", "name", "group"}), kind="promise"),
    cue("shall", _C, rf"\bshall\b{NO_PROMISE}\s+[\w-]+", strength=3, agents=PEOPLE, kind="assignment"),
    cue("undertakes", _C, r"\b(?:promise[sd]?\s+(?!to\s+be)|undertakes?\s+to|undertook\s+to|pledge[sd]?\s+to|commit(?:s|ted)?\s+(?:myself|ourselves|to\s+(?:deliver|do|finish|send|provid|complet|pay)\w*)"
        r"|vow(?:s|ed)?\s+to|volunteer(?:s|ed)?\s+to|offered\s+to)\b", strength=3, agents=PEOPLE, kind="promise"),
    cue("agrees_to_do", _C, rf"\bagreed\s+to\s+{TASK}\b", strength=4, agents=frozenset({"person", "name", "self", "pronoun"}), kind="promise"),
    cue("my_word", _C, r"\b(?:have|has|got)\s+my\s+word\b|\bcount\s+on\s+(?:me|us)\b|\bmy\s+action\s+item\b|\b(?:leave|consider)\s+it\s+(?:to\s+me|done)\b", strength=3, kind="promise"),
    cue("can_do", _C, rf"\bI\s+can\s+{TASK}\b.{{3,80}}{_SOON}|\bI\s+can\s+(?!see|hear|tell|imagine|understand|only|say|think|remember|feel|not)\w+\s+the\b.{{3,60}}{_SOON}", kind="promise"),
    cue("has_to", _C, r"\b(?:has|have)\s+to\s+(?:send|deliver|provide|prepare|submit|finish|sign|hand\s+in|file|return)\b",
        agents=frozenset({"self", "person", "group"}), kind="assignment"),
    cue("assigned", _C, rf"\b(?:is|are|was|were)\s+(?:to|tasked\s+with|asked\s+to|assigned\s+to|due\s+to|expected\s+to|scheduled\s+to|supposed\s+to)\s+{TASK}\b",
        agents=frozenset({"self", "person", "group"}), kind="assignment"),
    cue("name_to_do", _C, r"^\W*(?P<who>(?:(?-i:[A-Z@])[\w.'-]*,?\s+(?:(?:and|&)\s+)?){1,6})(?<=\s)to\s+(?!be\b|date\b|the\b|a\b|us\b|me\b|you\b|say\b|see\b)[a-z][\w-]+\b", agents=frozenset({"person"}), kind="assignment", clipped=True),
    cue("please", _C, rf"(?:^\W*|^\W*(?:also|so|and|then|now|ok(?:ay)?|thus),?\s+|(?-i:[A-Z])[\w.]+,\s+|^\W*@[\w.]+,?\s+|\b(?:could|can|would|will)\s+you\s+)please\s+(?:also\s+|kindly\s+)?{_POLITE}[a-z]\w+", kind="request", in_question=True),
    cue("can_you", _C, rf"(?:^|[,;:.]\s+|\b(?:and|also|so|but|then)\s+)(?:can|could|would|will)\s+(?:you|somebody|someone)(?:\s+(?:please|kindly|possibly|also|perhaps))*\s+{TASK}\b",
        kind="request", in_question=True, when_tentative=True),
    cue("need_you_to", _C, rf"\b(?:need|want|would\s+like|expect|ask|asking)\s+(?:you|him|her|them)\s+to\s+{TASK}\b", kind="request"),
    cue("to_do_label", _C, r"^\W*(?:to-?do|action(?:\s+item)?|AI|task|follow-?up)\s*[:–—-]\s*", strength=3, kind="assignment"),
)  # fmt: skip
