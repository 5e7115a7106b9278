"""Cues for what users, customers, reviewers and colleagues say about the work."""

from mnemon.semantics.rules.agents import GROUPS, AgentKind
from mnemon.semantics.rules.cues.cue import cue
from mnemon.semantics.rules.cues.verbs import WANT
from mnemon.semantics.rules.word_lists import one_of
from mnemon.semantics.semantic_event import Category

_F = Category.FEEDBACK
_GROUP = one_of(" ".join(set(GROUPS)))
_AUDIENCE = one_of(
    """users? customers? clients? testers? reviewers? residents? neighbou?rs nurses drivers? resellers?
    (?:most|many|several|other)_people everyone audience readers parents patients visitors guests participants
    members students tenants attendees respondents subscribers engineers officer teams? auditors?
    (?:R|r)eviewer_\\d employees operators technicians teachers partners council"""
)
_WHERE = r"(?: (?:of|in|from|at|on) [\w\s]{2,20}?)?"
_HAVE = r" (?:(?:also|all|both|have|has|had|often|repeatedly|just) )*"
_OTHERS: frozenset[AgentKind] = frozenset({"pronoun", "they", "person", "name", "group"})
_VERDICT = one_of(
    """useless unacceptable disappointing confusing overwhelming clumsy ugly annoying clunky unusable
    hard_to_(?:follow|use|read|find|understand) easy_to_use intuitive brilliant awful terrible slow too_\\w+
    great excellent helpful fantastic"""
)

FEEDBACK_CUES = (
    cue(
        "they_report",
        _F,
        rf"\b(?:they|he|she) (?:complained|told us|commented)\b"
        r"|\b(?:the|our|two|three|several|some|many|most|all|\d+)(?: of (?:the|our|them))? (?:\w+ )?\w{2,}s "
        r"(?:have |had |all )?(?:complained|moaned|grumbled) (?:that|about|of)\b"
        rf"|\b(?:{_AUDIENCE}) keep (?:telling us|saying|asking|complaining)\b|\b(?:{_GROUP}"
        rf"|{_AUDIENCE}){_WHERE}{_HAVE}(?:told (?:us|me|(?-i:[A-Z])\w+) (?:that|they|the|it|about)|complain(?:s"
        r"|ed)?|(?:wrote|written) to (?:say|complain|object)|commented|criticis\w+|criticiz\w+|praise[sd]?)\b"
        rf"|\b{_AUDIENCE}{_WHERE}{_HAVE}(?:said|reported)\b(?! (?:yes|no|ok)\b)",
        strength=3,
        agents=frozenset({"thing", "pronoun", "they", "person", "name", "group", "we"}),
        when_denied=True,
        when_tentative=True,
        when_quoted=True,
        needs=(
            "compl",
            "told",
            "comment",
            "moaned",
            "grumbled",
            "keep",
            "wrote",
            "written",
            "critici",
            "praise",
            "said",
            "report",
        ),
    ),
    cue(
        "audience_thinks",
        _F,
        rf"\b(?<!some\ )(?:{_AUDIENCE}){_WHERE}{_HAVE}(?:say|says|feel|feels|felt|find|finds|found|like|likes"
        rf"|liked|love|loves|loved|hate|hates|hated|dislike\w*|appreciate[sd]?|report|{WANT})\b",
        strength=3,
        needs=(
            "say",
            "feel",
            "felt",
            "find",
            "found",
            "like",
            "love",
            "hate",
            "appreciate",
            "report",
            "want",
            "ask",
            "request",
        ),
        when_denied=True,
        when_tentative=True,
        when_quoted=True,
    ),
    cue(
        "several_say",
        _F,
        r"\b(?:both|several|many|most|two|three|four|some) \w+s (?:said|told us|complained|reported|asked for|want)\b"
        r"|\btheir \w+ (?:said|told us|complained)\b",
        strength=3,
        when_denied=True,
    ),
    cue("wants_a", _F, r"\bwants? (?:an?|more|the same)\b", agents=frozenset({"name", "person", "group"})),
    cue(
        "they_want",
        _F,
        r"^\W*(?:they|he|she) (?:also )?(?:would like (?:an?|the|more)|f(?:inds?|ound) (?:the|our"
        rf"|it)\b.{{0,40}}\b{_VERDICT}|(?:loves?|hates?|likes?|wants?) (?:the|our|more|two|three|a)\b)",
        when_tentative=True,
    ),
    cue(
        "felt",
        _F,
        r"(?:\b(?:was|were|are|is)|'s|'re) (?:very |quite |pretty |rather |not |really )?(?:un)?(?:happy"
        r"|satisfied|pleased|impressed|disappointed|frustrated|confused|delighted|thrilled|annoyed) (?:about"
        r"|with|by|that|at)\b",
        strength=3,
        agents=_OTHERS | {"thing"},
        when_denied=True,
    ),
    cue(
        "complaints",
        _F,
        r"\b(?:got|received|collected|gathered|had|reviewed) (?:\w+ ){0,3}?(?:complaints?|feedback|praise)\b"
        r"|\b(?:feedback|comments?) (?:came in|was (?:positive|negative|mixed|good))|\b(?:complaints?"
        r"|feedback) from (?:the |our )?\w+ (?:was|were|is|are|about)",
        strength=3,
    ),
    cue(
        "person_likes",
        _F,
        r"\b(?:loves|likes|hates|dislikes|love|loved|liked|hated|praised|criticis?z?ed|complained) (?:the|our|your"
        r"|this|about|how|that)\b",
        strength=3,
        agents=frozenset({"person", "name", "group"}),
    ),
    cue(
        "finds",
        _F,
        rf"\b(?:finds?|feels?|found|felt) (?:that )?(?:the|our|your|it|this|them)\b.{{0,50}}?"
        rf"\b(?:far |much |very )?{_VERDICT}\b",
        strength=3,
        agents=frozenset({"person", "name", "group", "pronoun", "they"}),
        when_denied=True,
    ),
    cue(
        "i_find",
        _F,
        rf"\b(?:I|we) (?:find|found) (?:the|your|this|that|it)\b.{{0,40}}\b{_VERDICT}\b|\bI (?:really )?(?:like"
        rf"|love|hate|dislike) (?:the|your|this) \w{{3,}}",
    ),
    cue(
        "verdict",
        _F,
        rf"\b(?:your|the new|the) (?:\w+ ){{1,3}}(?:is|are|looks|feels|seems|has become|have become) "
        rf"(?:really |very |so |pretty "
        rf"|a bit |rather |quite )?{_VERDICT}\b",
        about="cue",
    ),
    cue(
        "appreciated",
        _F,
        r"\b(?:much|greatly|widely) (?:appreciated|liked|criticis?z?ed|praised)\b(?!\s*[.!]?$)",
        about="before",
    ),
)
