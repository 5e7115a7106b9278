"""Cues for choices that were made, approvals and refusals."""

from mnemon.semantics.rules.cues.cue import PEOPLE, cue
from mnemon.semantics.rules.cues.verbs import DIRECTION, TASK
from mnemon.semantics.rules.word_lists import one_of
from mnemon.semantics.semantic_event import Category

_D = Category.DECISION
# "Exceptions are decided case by case" tells of a custom, not of a decision.
_NO_CUSTOM = r"(?<!\bbe\ )(?<!\bare\ )(?<!\bis\ )(?<!being\ )(?<!\bget\ )(?<!\bto\ )"
# "We won't make it" tells what will come, "we won't support it" what was decided.
_FORECAST = (
    r"(?:be|have|know|see|make (?:it|that)|get|need|find|hear|forget|happen|matter|work|last|fit|come|arrive"
    r"|believe|lie|regret|mind|bore|bother|disappoint|let you|miss|lose|fail|suffer|notice|understand|like|want"
    r"|manage|reach|finish|always|necessarily|only|even|ever|repeat|solve|receive)\b"
)
# "Is against it, but will not block it": whoever gives way decides nothing.
_YIELDS = r"(?:block|oppose|object|veto|insist|stand in|fight|stop (?:it|this|that|them|us|you)|resist|hinder)\b"
_APPROVED = (
    r"(?:approved|authori[sz]ed|signed off|green-?lit|ratified|endorsed|adopted|vetoed|rejected|declined"
    r"|accepted)"
)
# "We're dropping Redis", "dropping the second stair": told while it is done.
_TURNING = one_of(
    """dropping scrapping ditching cancelling canceling postponing shelving freezing abandoning reverting
    keeping(?!_an_eye) pulling_out moving(?=_(?:the|our|back|away|to|it)\\b) switching_(?:to|back|from|over)
    going_back_to hiring buying leaving_out replacing"""
)

DECISION_CUES = (
    cue(
        "decision_label",
        _D,
        r"^\W*(?:decision(?: #?\d+)?|decided|agreed|resolved|resolution|rejected|accepted|approved"
        r"|declined)\s*[:–—-]\s+",
        strength=5,
        in_condition=True,
        when_tentative=True,
        when_denied=True,
    ),
    cue(
        "decided",
        _D,
        rf"\b{_NO_CUSTOM}(?:decided|resolved (?:to|that)|opted|made (?:the|a) decision|made up our mind|chose"
        r"|chosen|settled on|landed on|concluded that we|ruled (?:out|that))\b",
        strength=3,
    ),
    cue("decided_loosely", _D, r"\b(?:we|they|have|has) (?:went with|gone with|decide that)\b", strength=3),
    cue(
        "it_is",
        _D,
        r"^\W*(?:so |ok,? |then )?(?:the )?(?!(?:yes|no|here|there|that|this|what|as|how|so|like|because|if|or|well"
        r"|now)\b)[\w-]+(?: [\w-]+)? it is(?: then)?\W*$",
        strength=3,
        clipped=True,
        about="cue",
    ),
    cue(
        "agree_to",
        _D,
        r"(?<!\bto\ )\bagree (?:to (?!differ|disagree)|that )",
        strength=3,
        agents=frozenset({"person", "name", "group", "we", "they"}),
        written=True,
    ),
    cue(
        "decision_ended",
        _D,
        r"\b(?:decision|resolution|approval) (?:to|on|about|of|for) .{2,80}? (?:is|was|has been) (?:hereby |now )?"
        r"(?:revoked|reversed|withdrawn|overturned|cancelled|canceled|rescinded|suspended|confirmed|upheld)\b",
        strength=4,
        about="cue",
    ),
    cue(
        "will_not",
        _D,
        r"(?:\b(?:won't|will not|(?:am|is|are) not going to)|(?:'m|'re|'s) not going to) "
        rf"(?:be (?!running into|having|getting|seeing)[a-z]+ing|(?!{_FORECAST}|{_YIELDS})[a-z]+)\b",
        agents=frozenset({"we", "person"}),
        when_denied=True,
        written=True,
    ),
    cue("decided_impersonal", _D, r"\bit(?: is|'s| was) (?:now )?(?:decided|agreed|settled)\b", strength=3),
    cue(
        "agreed",
        _D,
        rf"\b{_NO_CUSTOM}agreed\b(?!-?\s*upon| with\b)",
        strength=3,
        agents=frozenset({"we", "they", "group"}),
    ),
    cue(
        "one_agreed",
        _D,
        rf"\b{_NO_CUSTOM}agreed\b(?! to (?:{TASK}|take)\b|-?\s*upon| with\b)",
        strength=3,
        agents=PEOPLE,
    ),
    cue(
        "agreed_clipped",
        _D,
        r"^\W*(?:ok(?:ay)?,? |yes,? |fine,? )?agreed(?:,| to| that| on) \w+",
        strength=3,
        clipped=True,
    ),
    cue("resolved", _D, rf"\b{_NO_CUSTOM}resolved (?:that|to)\b", strength=4, when_tentative=True),
    cue(
        "we_drop",
        _D,
        r"^\W*(?:ok(?:ay)?,? |so,? |then |good[.,] )?we (?:drop|cancel|postpone|abandon|scrap|skip|switch to|go with"
        r"|stick (?:with|to)|stay with|hold off) (?:the|our|all|with|on|to|(?-i:[A-Z]))",
        strength=3,
        written=True,
    ),
    cue(
        "we_are_dropping",
        _D,
        rf"\b(?:we|they)(?:'re| are) (?:now |not |no longer |also )*{_TURNING}\b(?! (?:me|you|him|her|us|them)\b)",
        strength=3,
        when_denied=True,
    ),
    cue(
        "dropping",
        _D,
        rf"^\W*(?:ok(?:ay)?,? |so,? |then |right,? )?(?:{_TURNING}|going with|sticking with|staying with)\b"
        r"(?= [\w-]+)(?!.*\?)",
        strength=3,
        clipped=True,
    ),
    cue(
        "keep_after_all",
        _D,
        r"\bwe (?:keep|use|take|stay|ship|go|hold|run|leave|need|will) .{2,80}"
        r"\b(?:after all|from now on|until further notice|instead)\b",
        strength=3,
    ),
    cue(
        "is_off",
        _D,
        r"\b(?:is|are) (?:off|out|dead|called off|off the table|back (?:in|on)|on again|void)(?=\W*$|[,;.]| again\b)"
        r"|\bout goes\b",
        strength=3,
        clipped=True,
        about="before",
    ),
    cue("no_more", _D, r"^\W*no more (?!than\b|or\b|news\b|time\b)[\w-]+", strength=3, clipped=True, when_denied=True),
    cue(
        "consensus",
        _D,
        r"\b(?:consensus|agreement) (?:is (?:to|that)|was (?:to|that|reached)|reached)\b|\ball in favou?r of\b"
        r"|\bunanimously\b",
        strength=3,
    ),
    cue(
        "approved",
        _D,
        rf"\b{_NO_CUSTOM}(?:{_APPROVED}|gave (?:the )?(?:green light|go-ahead|approval)|voted (?:for|against|to"
        r"|\w+ to \w+)|turned down)\b",
        strength=3,
        agents=PEOPLE,
    ),
    cue("approved_by", _D, rf"\b{_APPROVED} by (?:the |our )?\w+", strength=3, about="before"),
    cue(
        "was_approved",
        _D,
        rf"\b(?:was|were|has been|have been) (?:\w+ly )?(?:{_APPROVED}|defeated|deferred|refused|granted|voted down"
        r"|turned down)\b"
        r"|\b(?:motion|proposal|resolution) (?:was )?(?:carried|passed|failed|defeated)\b",
        strength=3,
    ),
    cue("we_accept", _D, r"\bwe (?:accept|reject|approve|choose|decline|refuse)\b", strength=3),
    cue(
        "accepts",
        _D,
        r"\b(?:accepts|rejects|approves|declines|vetoes) (?:the|our|your|this|that|both)\b",
        strength=3,
        agents=PEOPLE,
    ),
    cue(
        "going_with",
        _D,
        r"\b(?:we(?:'re| are)|team is|board is|they're) (?:now )?(?:going|sticking"
        r"|staying) (?:ahead )?with\b(?! (?:me|you|him|her|us|them)\b)|\bwe(?:'ll| will) (?:go|stick"
        r"|stay) (?:ahead )?with\b",
        strength=3,
    ),
    cue(
        "direction",
        _D,
        r"(?:\bwe(?:'re| are) (?:not )?going to|\bwe(?:'ll| will)|\bwe (?:won't|will not"
        rf"|will no longer)) (?:now |not )?{DIRECTION}\b",
        strength=3,
        when_denied=True,
    ),
    cue(
        "willing",
        _D,
        r"\bwe(?:'re| are) (?:happy|willing|ready|prepared) to (?:extend|offer|pay|reduce|accept|give|grant"
        r"|waive|provide|cover|share|take on)\b",
    ),
    cue(
        "lets",
        _D,
        rf"\blet's (?:{DIRECTION}"
        r"|not (?!forget|worry|go there|get|kid|pretend"
        r"|rush|wait|jump|dwell|talk|start"
        r"|debate|discuss|focus|assume|overrate|overthink|argue|panic|blame|confuse|think|make"
        r"|go)[a-z]+)\b(?! (?:here|there|now|yet)\b)",
        strength=3,
        when_denied=True,
    ),
    cue(
        "decision_is",
        _D,
        r"\b(?:it's a deal|the (?:final )?decision (?:is|was) (?:to|that|not)|decision made)\b",
        strength=3,
    ),
)
