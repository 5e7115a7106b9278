"""Cues for who has which role, who comes and who goes."""

from mnemon.semantics.agents import AgentKind
from mnemon.semantics.cues.cue import PEOPLE, cue, one_of
from mnemon.semantics.semantic_event import Category

_S = Category.STAKEHOLDER
_ROLE = one_of(
    """head lead leader owner sponsor coordinator co-ordinator reviewer contact representative treasurer chair chairman chairwoman secretary manager director
    approver maintainer liaison deputy champion point_of_contact contact_person scrum_master member spokesperson administrator supervisor editor"""
)
_ONE: frozenset[AgentKind] = frozenset({"person", "name", "self", "pronoun", "we"})

STAKEHOLDER_CUES = (
    cue("takes_role", _S, r"\b(?:takes?\s+over|took\s+over|taking\s+over|(?:takes?|took)\s+(?:on\s+)?the\s+role|takes\s+care\s+of|(?:is|are|am|be)\s+(?:now\s+|also\s+|jointly\s+)?(?:responsible\s+for|accountable\s+for|in\s+charge\s+of)"
        r"|(?:handles|owns|leads|manages|oversees|chairs|represents)\s+(?:the|our|all|its|this|everything))\b", strength=3, agents=PEOPLE - {"group"}),
    cue("will_own", _S, r"(?:'ll|\bwill)\s+(?:now\s+)?(?:own|take\s+over|handle|lead|act\s+as|serve\s+as|be\s+responsible\s+for)\b", strength=3, agents=PEOPLE),
    cue("agrees_role", _S, r"\bagreed\s+to\s+(?:take|serve|act|chair|lead|be)\b", strength=4, agents=_ONE),
    cue("appoints", _S, r"\b(?:appoint(?:s|ed)|nominat(?:es|ed)|promoted\s+to|elected\s+(?:as|chair|to\s+the)|assigned\s+as|added\s+(?-i:[A-Z])\w+(?:\s+(?-i:[A-Z])\w+)?\s+as|hired\s+(?-i:[A-Z])\w+|designat(?:es|ed)\s+(?-i:[A-Z])\w+)\b", strength=4),
    cue("becomes", _S, rf"\b(?:(?:becomes?|became|will\s+be|remains)\s+(?:now\s+)?(?:(?:the|our|your|its|their|my|an?)\s+)?|(?:is|are)\s+(?:now\s+)?(?:the|our|your|its|their|my)\s+)(?:new\s+|acting\s+|interim\s+|main\s+|single\s+|current\s+)?(?:[\w-]+\s+){{0,2}}?{_ROLE}\b(?!\s*(?:'s|s\b|has|have|will))",
        strength=3, agents=_ONE),
    cue("joins_leaves", _S, r"\b(?:joins\b|joined\s+(?:us|the|our|as)|is\s+joining|will\s+join|leaves\s+(?:us|the\s+(?:company|team|project))|left\s+(?:us|the\s+(?:company|team|project))|(?:is|are)\s+leaving\s+(?:us|the\s+(?:company|team|project|board)|on\s+\d|at\s+the\s+end)|step(?:s|ped)\s+down"
        r"|is\s+stepping\s+down|resign(?:s|ed)\b|retire[sd]\s+(?:as|from)|replaces\s+(?-i:[A-Z])\w+\s+as)", strength=3, agents=frozenset({"person", "name", "self", "pronoun"})),
    cue("reports_to", _S, r"\breports?\s+(?:directly\s+)?to\s+(?:me|(?-i:[A-Z])\w+)", agents=frozenset({"person", "name", "pronoun"})),
    cue("role_dash", _S, rf"\s[-–—]\s(?:the\s+|our\s+)?{_ROLE}\b", agents=frozenset({"person"}), clipped=True),
)  # fmt: skip
