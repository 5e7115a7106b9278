"""Cues for what users, customers, reviewers and colleagues say about the work."""

from mnemon.semantics.agents import GROUPS, AgentKind
from mnemon.semantics.cues.cue import cue, one_of
from mnemon.semantics.cues.verbs import WANT
from mnemon.semantics.semantic_event import Category

_F = Category.FEEDBACK
_GROUP = one_of(" ".join(set(GROUPS)))
_AUDIENCE = one_of(
    """users? customers? clients? testers? reviewers? residents? neighbou?rs nurses drivers? resellers? (?:most|many|several|other)_people everyone audience readers
    parents patients visitors guests participants members students tenants attendees respondents subscribers engineers officer teams? auditors? (?:R|r)eviewer_\\d employees
    operators technicians teachers partners council"""
)
_WHERE = r"(?:\s+(?:of|in|from|at|on)\s+[\w\s]{2,20}?)?"
_HAVE = r"\s+(?:(?:also|all|both|have|has|had|often|repeatedly|just)\s+)*"
_OTHERS: frozenset[AgentKind] = frozenset({"pronoun", "they", "person", "name", "group"})
_VERDICT = one_of(
    """useless unacceptable disappointing confusing overwhelming clumsy ugly annoying clunky unusable hard_to_(?:follow|use|read|find|understand) easy_to_use intuitive
    brilliant awful terrible slow too_\\w+ great excellent helpful fantastic"""
)

FEEDBACK_CUES = (
    cue("they_report", _F, rf"\b(?:they|he|she)\s+(?:complained|told\s+us|commented)\b|\b(?:{_GROUP}|{_AUDIENCE}){_WHERE}{_HAVE}(?:told\s+(?:us|me|(?-i:[A-Z])\w+)\s+(?:that|they|the|it|about)|complain(?:s|ed)?|wrote\s+to\s+say|commented|criticis\w+|criticiz\w+|praise[sd]?)\b|\b{_AUDIENCE}{_WHERE}{_HAVE}(?:said|reported)\b(?!\s+(?:yes|no|ok)\b)", strength=3,
        agents=frozenset({"thing", "pronoun", "they", "person", "name", "group", "we"}), when_denied=True, when_tentative=True, when_quoted=True),
    cue("audience_thinks", _F, rf"\b(?<!some )(?:{_AUDIENCE}){_WHERE}{_HAVE}(?:say|says|feel|feels|felt|find|finds|found|like|likes|liked|love|loves|loved|hate|hates|hated|dislike\w*|appreciate[sd]?|report|{WANT})\b", strength=3,
        when_denied=True, when_tentative=True, when_quoted=True),
    cue("they_want", _F, rf"^\W*(?:they|he|she)\s+(?:also\s+)?(?:would\s+like\s+(?:an?|the|more)|finds?\s+(?:the|our|it)\b.{{0,40}}\b{_VERDICT}|(?:loves?|hates?|likes?|wants?)\s+(?:the|our|more|two|three|a)\b)", when_tentative=True),
    cue("felt", _F, r"(?:\b(?:was|were|are|is)|'s|'re)\s+(?:very\s+|quite\s+|pretty\s+|rather\s+|not\s+|really\s+)?(?:un)?(?:happy|satisfied|pleased|impressed|disappointed|frustrated|confused|delighted|thrilled|annoyed)\s+(?:about|with|by|that|at)\b", strength=3, agents=_OTHERS, when_denied=True),
    cue("complaints", _F, r"\b(?:got|received|collected|gathered|had|reviewed)\s+(?:\w+\s+){0,3}?(?:complaints?|feedback|praise)\b|\b(?:feedback|comments?)\s+(?:came\s+in|was\s+(?:positive|negative|mixed|good))|\b(?:complaints?|feedback)\s+from\s+(?:the\s+|our\s+)?\w+\s+(?:was|were|is|are|about)", strength=3),
    cue("person_likes", _F, r"\b(?:loves|likes|hates|dislikes|loved|liked|hated|praised|criticis?z?ed|complained)\s+(?:the|our|your|this|about|how|that)\b", strength=3, agents=frozenset({"person", "name", "group"})),
    cue("i_find", _F, rf"\b(?:I|we)\s+(?:find|found)\s+(?:the|your|this|that|it)\b.{{0,40}}\b{_VERDICT}\b|\bI\s+(?:really\s+)?(?:like|love|hate|dislike)\s+(?:the|your|this)\s+\w{{3,}}"),
    cue("verdict", _F, rf"\b(?:your|the\s+new|the)\s+(?:\w+\s+){{1,3}}(?:is|are|looks|feels|seems)\s+(?:really\s+|very\s+|so\s+|pretty\s+|a\s+bit\s+|rather\s+|quite\s+)?{_VERDICT}\b", about="cue"),
    cue("appreciated", _F, r"\b(?:much|greatly|widely)\s+(?:appreciated|liked|criticis?z?ed|praised)\b(?!\s*[.!]?$)", about="before"),
)  # fmt: skip
