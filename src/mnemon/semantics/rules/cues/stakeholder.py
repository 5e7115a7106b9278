"""Cues for who has which role, who comes and who goes."""

from mnemon.semantics.rules.agents import AgentKind
from mnemon.semantics.rules.cues.cue import ACTING, cue
from mnemon.semantics.rules.word_lists import one_of
from mnemon.semantics.semantic_event import Category

_S = Category.STAKEHOLDER
_ROLE = one_of(
    """head lead leader owner sponsor coordinator co-ordinator reviewer contact representative treasurer chair
    chairman chairwoman secretary manager director approver maintainer liaison deputy champion point_of_contact
    contact_person scrum_master member spokesperson administrator supervisor editor"""
)
_ONE: frozenset[AgentKind] = frozenset({"person", "name", "opener", "self", "pronoun", "we"})

STAKEHOLDER_CUES = (
    cue(
        "takes_role",
        _S,
        r"\b(?:takes? over|took over|(?:is |are |am )?taking over"
        r"|(?:takes?|took) (?:on )?the role|takes care of|(?:is|are|am"
        r"|be) (?:now |also |jointly )?(?:responsible for|accountable for|in charge of)"
        r"|(?:handles|owns|leads|manages|oversees|chairs|represents) (?:the|our|all|its|this|everything))\b",
        strength=3,
        agents=ACTING - {"group"},
    ),
    cue(
        "will_own",
        _S,
        r"(?:'ll|\bwill) (?:now )?(?:own|take over|handle|lead|act as|serve as|be responsible for)\b",
        strength=3,
        agents=ACTING,
    ),
    cue(
        "stands_in",
        _S,
        r"\b(?:covers|(?:is|are) covering|fills in|steps in|stands in|(?:will|'ll) (?:cover|fill in|step in"
        r"|stand in))\b(?: [\w-]+){0,3} for\b",
        strength=3,
        agents=ACTING,
    ),
    cue(
        "is_new",
        _S,
        r"\b(?:is|becomes) (?:now )?(?:the |our |your )?new (?!to\b|here\b|for\b)[a-z][\w-]+",
        strength=3,
        agents=frozenset({"person"}),
    ),
    cue(
        "passes_to",
        _S,
        r"\b(?:tasks?|duties|responsibilit(?:y|ies)|role|post|chair|accounts?) "
        r"(?:goe?s?|pass(?:es)?|moves?) to (?-i:[A-Z])\w+",
        strength=3,
        about="before",
    ),
    cue("agrees_role", _S, r"\bagreed to (?:take|serve|act|chair|lead|be)\b", strength=4, agents=_ONE),
    cue(
        "appoints",
        _S,
        r"\b(?:appoint(?:s|ed)|nominat(?:es|ed)|promoted to|elected (?:as|chair|to the)|assigned as"
        r"|designat(?:es|ed) (?-i:[A-Z])\w+)\b",
        strength=4,
    ),
    cue(
        "appoints",
        _S,
        r"\b(?:added|hired) (?P<who>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2}) as\b|\bhired (?-i:[A-Z])\w+",
        strength=4,
    ),
    cue(
        "becomes",
        _S,
        r"\b(?:(?:becomes?|became|will be|remains) (?:now )?(?:(?:the|our|your|its|their|my|an?) )?|(?:is"
        r"|are) (?:now )?(?:the|our|your|its|their|my) )(?:new |acting |interim |main |single "
        rf"|current )?(?:[\w-]+ ){{0,2}}?{_ROLE}\b(?!\s*(?:'s|s\b|has|have|will))",
        strength=3,
        agents=_ONE,
    ),
    cue(
        "joins_leaves",
        _S,
        r"\b(?:joins\b|joined (?:us|the|our|as)|is joining|will join|leaves (?:us|the (?:company|team"
        r"|project))|left (?:us|the (?:company|team|project))|(?:is|are) leaving (?:us|the (?:company|team"
        r"|project|board)|on \d|at the end)|step(?:s|ped) down"
        r"|is stepping down|resign(?:s|ed)\b|retire[sd] (?:as|from)|replaces (?-i:[A-Z])[\w.]+(?: (?-i:[A-Z])\w+)* as)",
        strength=3,
        agents=frozenset({"person", "name", "opener", "self", "pronoun"}),
    ),
    cue(
        "reports_to",
        _S,
        r"\breports? (?:directly )?to (?:me|(?-i:[A-Z])\w+)",
        agents=frozenset({"person", "name", "opener", "pronoun"}),
    ),
    cue("role_dash", _S, rf"\s[-–—]\s(?:the |our )?{_ROLE}\b", agents=frozenset({"person"}), clipped=True),
)
