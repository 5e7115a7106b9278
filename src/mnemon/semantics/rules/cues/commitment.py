"""Cues for promises, assigned tasks, duties and requests."""

from mnemon.semantics.rules.cues.cue import ACTING, PEOPLE, cue
from mnemon.semantics.rules.cues.verbs import NO_PROMISE, TASK
from mnemon.semantics.semantic_event import Category

_C = Category.COMMITMENT
_ALSO = r"(?: (?:also|then|gladly|personally|certainly|definitely|of course))?"
_SOON = (
    r"\b(?:today|tonight|tomorrow|(?:this|next) (?:week|month|morning|afternoon|evening|quarter|year"
    r"|\w+day)|(?:by|on|before|until|till) (?:the )?(?:\w+day|end|tomorrow|noon|\d\w*|next \w+"
    r"|EO\w)|within \w+ (?:day|week|month)s?)\b"
)
_POLITE = (
    r"(?!note|find|see|let (?:me|us) know|feel|be\b|do not|don't|accept|excuse|remember|bear|contact|visit"
    r"|click|press|refer|keep (?:in mind|this)|follow the link|next\b|do both|understand|stop\b|add us"
    r"|log in|use the|join us)"
)

COMMITMENT_CUES = (
    cue(
        "promise",
        _C,
        rf"\b(?:I|we)(?:'ll| will| shall)\b{_ALSO}{NO_PROMISE} [\w-]+",
        agents=PEOPLE,
        kind="promise",
        written=True,
    ),
    cue(
        "promise_task",
        _C,
        rf"\b(?:I|we)(?:'ll| will| shall)\b{_ALSO} (?:{TASK}|let (?:you|them|him|her|the \w+) know)\b",
        agents=PEOPLE,
        kind="promise",
    ),
    cue(
        "promise_dated",
        _C,
        rf"\b(?:I|we)(?:'ll| will| shall)\b{_ALSO}{NO_PROMISE} [\w-]+(?=.{{3,80}}{_SOON})",
        agents=PEOPLE,
        kind="promise",
    ),
    cue(
        "going_to",
        _C,
        rf"(?:'m|'re|\bam|\bis|\bare) going to\b{NO_PROMISE} [\w-]+",
        agents=frozenset({"self", "we", "person"}),
        kind="promise",
        written=True,
    ),
    cue("going_to_task", _C, rf"(?:'m|'re|\bam|\bis|\bare) going to {TASK}\b", agents=PEOPLE, kind="promise"),
    cue("will", _C, rf"\b(?:will|'ll)\b{_ALSO}{NO_PROMISE} [\w-]+", agents=frozenset({"person"}), kind="promise"),
    cue(
        "will_task",
        _C,
        rf"\b(?:will|'ll)\b{_ALSO} {TASK}\b",
        agents=frozenset({"pronoun", "name", "opener", "group"}),
        kind="promise",
    ),
    cue(
        "will_by",
        _C,
        r"\b(?:will|'ll) (?!not|never|be\b)[\w-]+(?=.{0,60} by (?:the end|\d|\w+day|tomorrow|next))",
        agents=PEOPLE,
        kind="promise",
    ),
    # Who is known by nothing but a capital letter does something to something: "Traffic will drop by Monday" does not.
    cue(
        "will_do_by",
        _C,
        r"\b(?:will|'ll) (?!not|never|be\b)[\w-]+ (?:the|an?|our|all|my|his|her|their|its|new|\d+|two|three)\b"
        r"(?=.{0,60} by (?:the end|\d|\w+day|tomorrow|next))",
        agents=frozenset({"opener"}),
        kind="promise",
    ),
    cue("shall", _C, rf"\bshall\b{NO_PROMISE} [\w-]+", strength=3, agents=ACTING, kind="assignment"),
    cue(
        "undertakes",
        _C,
        r"\b(?:promise[sd]? (?!to be)|undertakes? to|undertook to|pledge[sd]? to|commit(?:s|ted)? (?:myself"
        r"|ourselves|to (?:deliver|do|finish|send|provid|complet|pay)\w*)"
        r"|vow(?:s|ed)? to|volunteer(?:s|ed)? to|offered to)\b",
        strength=3,
        agents=ACTING,
        kind="promise",
    ),
    cue(
        "agrees_to_do",
        _C,
        rf"\bagreed to {TASK}\b",
        strength=4,
        agents=frozenset({"person", "name", "opener", "self", "pronoun"}),
        kind="promise",
    ),
    cue(
        "my_word",
        _C,
        r"\b(?:have|has|got) my word\b|\bcount on (?:me|us)\b|\bmy action item\b|\b(?:leave"
        r"|consider) it (?:to me|done)\b",
        strength=3,
        kind="promise",
    ),
    cue(
        "can_do",
        _C,
        rf"\bI can (?:{TASK}|have (?:it|them|that|this) (?:ready|done|finished))\b.{{0,80}}{_SOON}"
        rf"|\bI can (?!see|hear|tell|imagine|understand|only|say|think|remember"
        rf"|feel|not)\w+ (?:the|an?)\b.{{3,60}}{_SOON}",
        kind="promise",
    ),
    cue(
        "does_by",
        _C,
        r"\b(?!is\b|was\b|has\b|does\b|says\b|knows\b|needs\b|wants\b|thinks\b|starts\b|ends\b|closes\b|leaves\b"
        r"|joins\b|steps\b|takes over\b|becomes\b|remains\b)[a-z]{3,}s(?=\s.{3,90}\b(?:(?:by|until|till|before) "
        r"(?:the )?(?:\w+day\b|end\b|tomorrow|\d|next \w+|EO\w)|(?:deadline|due)\b[^.]{0,20}\d))",
        agents=frozenset({"person"}),
        kind="assignment",
        needs=("by", "until", "till", "before", "deadline", "due"),
    ),
    cue(
        "must_by",
        _C,
        rf"\bmust (?!not\b|have\b|be\b)[\w-]+(?=.{{0,80}}{_SOON})"
        r"|^\W*(?:by|until|before) [\w ]{3,20}? (?P<who>(?:every|each|all|the) [\w ]{3,30}?) must (?!not\b|be\b)[\w-]+",
        agents=frozenset({"self", "we", "person", "group"}),
        kind="assignment",
    ),
    cue(
        "has_to",
        _C,
        r"\b(?:has|have) to (?:send|deliver|provide|prepare|submit|finish|sign|hand in|file|return)\b",
        agents=frozenset({"self", "person", "group"}),
        kind="assignment",
    ),
    cue(
        "assigned",
        _C,
        r"\b(?:is|are|was|were) (?:to|tasked with|asked to|assigned to|due to|expected to|scheduled to"
        rf"|supposed to) {TASK}\b",
        agents=frozenset({"self", "person", "group"}),
        kind="assignment",
    ),
    cue(
        "name_to_do",
        _C,
        r"^\W*(?P<who>(?:(?-i:[A-Z@])[\w.'-]*,? (?:(?:and|&) )?){1,6})(?<=\s)to (?!be\b|date\b|the\b|a\b|us\b"
        r"|me\b|you\b|say\b|see\b)[a-z][\w-]+\b",
        agents=frozenset({"person"}),
        kind="assignment",
        clipped=True,
    ),
    cue(
        "role_to_do",
        _C,
        r"^\W*(?P<who>the (?:[\w-]+ )?[\w-]+) to (?!be\b|date\b|which\b|whom\b)[a-z]{3,} (?:the|an?|all|our|with|to)\b",
        agents=frozenset({"group"}),
        kind="assignment",
    ),
    cue(
        "please",
        _C,
        r"(?:^\W*|^\W*(?:also|so|and|then|now|ok(?:ay)?|thus),? |(?-i:[A-Z])[\w.]+, |^\W*@[\w.]+(?: (?-i:[A-Z])\w+)?,? "
        rf"|\b(?:could|can|would|will) you )(?:please|pls|plz) (?:also |kindly )?{_POLITE}[a-z]\w+ (?=\S)",
        kind="request",
        in_question=True,
    ),
    # Who is asked to confirm something is asked, whatever may be or may not be.
    cue(
        "please_confirm",
        _C,
        r"^\W*(?:(?-i:[A-Z])[\w.]+, )?(?:please|pls|plz|kindly) (?:also )?(?:confirm|check|verify|make sure|ensure"
        rf"|tell us|let (?:me|us) know)\b(?=.{{0,80}}{_SOON})",
        strength=3,
        kind="request",
        in_question=True,
        in_condition=True,
        when_tentative=True,
        when_denied=True,
    ),
    cue(
        "can_you",
        _C,
        r"(?:^|[,;:.] |\b(?:and|also|so|but|then) |^\W*@?(?-i:[A-ZÀ-Ž])[\w-]+ )(?:can|could|would|will) (?:you|somebody"
        rf"|someone)(?: (?:please|kindly|possibly|also|perhaps))* {TASK}\b",
        kind="request",
        in_question=True,
        when_tentative=True,
    ),
    cue(
        "need_you_to",
        _C,
        rf"\b(?:need|want|expect|ask|asking) (?:you|him|her|them) to {TASK}\b",
        kind="request",
    ),
    cue(
        "like_you_to",
        _C,
        rf"(?:'d| would) like (?:you|him|her|them) to {TASK}\b",
        kind="request",
        when_tentative=True,
    ),
    cue(
        "to_do_label",
        _C,
        r"^\W*(?:to-?do|action(?: item)?|AI|task|follow-?up)\s*[:–—-]\s*",
        strength=3,
        kind="assignment",
        in_condition=True,
    ),
)
