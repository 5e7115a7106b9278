"""Cues for defects, blockers, risks and concerns that somebody states as real."""

from mnemon.semantics.rules.cues.cue import cue
from mnemon.semantics.rules.word_lists import one_of
from mnemon.semantics.semantic_event import Category

_R = Category.QUALITY_RISK
_TROUBLE = one_of(
    """problem problems issue issues bug bugs defect defects fault faults crack cracks leak leaks outage outages
    incident incidents error errors packet_loss regression regressions mismatch shortage downtime vulnerability
    vulnerabilities blocker blockers bottleneck gap gaps delay delays failure failures deadlock"""
)
_NOT_A_THING = r"(?!\s*(?:page|rate|message|tracker|log|budget|code|handling|report|number|list|\#))"
_BAD = one_of(
    """broken wrong(?=_(?:since|for|again)) missing exhausted contaminated corrupt corrupted damaged flaky stuck
    blocked delayed overdue late behind_schedule unstable insecure unreliable degraded slow overloaded
    incompatible inconsistent understaffed short_of out_of_(?:memory|disk|stock) down(?=_(?:again|since|for))
    leaking failing crashing at_risk in_danger in_jeopardy not_(?:ready|working) vulnerable"""
)

QUALITY_RISK_CUES = (
    cue(
        "risk",
        _R,
        r"\b(?:(?:one|big|biggest|largest|greatest|main|major|serious|real|another|key|my|our"
        r"|there is (?:an?|some)|there's an?|there are|poses an?|is an?) (?:\w+ )?(?:risk|concern|worry"
        r"|threat|danger|gap)s?\b(?= (?:is|are|that|of|to|about|here|there|with|for|in)\b|\s*[:.,]|\s*$)"
        r"|\bthe (?:risk|worry|concern|danger) is\b|(?<!less\ )(?<!too\ )(?<!not\ )(?:worried"
        r"|concerned) (?:about|that)|(?:worr(?:ies|ying)|bothers|troubles) (?:me|us)|threatens? (?:the|our|to)"
        r"|jeopardi[sz]e[sd]?|single point of failure|showstopper|red flag)",
        strength=3,
    ),
    cue(
        "has_trouble",
        _R,
        r"\b(?:there (?:is|are|was|were)|there's|we (?:have|had|hit|got|found|see|are seeing|ran into"
        r"|keep (?:seeing|getting))|have found|I (?:see|found|hit|can see|am seeing)|found|discovered"
        r"|uncovered|revealed|shows?|caus(?:es|ed|ing)|due to|has|had|have|hitting"
        r"|reports?) (?:still )?(?:an? |the |some |several |many |two |three |another |serious |new "
        rf"|\d+ )*(?:\w+ )?{_TROUBLE}\b{_NOT_A_THING}",
    ),
    cue(
        "risk_label",
        _R,
        r"^\W*(?:risk|concern|issue|problem|blocker|bug|defect)\s*[:–—]\s+",
        strength=4,
        in_condition=True,
        when_denied=True,
        when_tentative=True,
        when_general=True,
    ),
    cue(
        "plain_fault",
        _R,
        r"(?<!of\ )\bthe (?:root )?cause (?:is|was) (?:an?|the|that)\b"
        r"|\b(?:exceeds?|exceeded) (?:the|its|our) (?:\w+ )?(?:limit|threshold"
        r"|budget|maximum|quota)\b"
        r"|\b(?:took|brought|takes|brings) down (?:the|our|all|half)\b|\bgot (?:the|our|my) [\w ]{2,30} wrong\b"
        r"|\bblocked (?:on|by)\b|\b(?:was|were|been) .{2,40} by (?:mistake|accident)\b",
        strength=3,
    ),
    cue(
        "trouble_is",
        _R,
        r"\b(?:the|one|another|our|my) (?:(?:main|big|bigger|biggest|real|other|compounding"
        r"|open) )?(?:problem|issue|trouble) (?:here |with \w+ )?(?:is|was|remains)\b(?! (?:real|more|what"
        r"|can|how|whether))",
    ),
    cue(
        "is_bad",
        _R,
        r"(?:\b(?:is|are|was|were|been|remains?|got|gets|keeps?|came|arrives?)|'s|'re) (?:still |now "
        r"|also "
        rf"|currently |again |being |too |completely |already )*{_BAD}\b(?! (?:if|to)\b| by (?!\w+ (?:hour"
        r"|day|week|month|year)))",
        about="before",
        when_denied=True,
    ),
    cue(
        "failed",
        _R,
        r"(?<!to\ )\b(?:still fails|(?:step|test|import|build|job|release|deployment|upload|run|check"
        r"|payment)s? (?:has |have )?failed|fails (?:again|every|on every)|crashed|crashes (?:again|on"
        r"|every|when|the)|broke down|failed (?:our|the|its|again|twice|last|this|on \w+day|yesterday"
        r"|today|during|overnight)|hangs|times out|timed out|(?:has|have|had) expired|expires (?:on|in|at"
        r"|before|next|tomorrow|\w+ (?:days|weeks|months))|corrupts|drops (?:long|the|our|requests|packets"
        r"|connections)|loses (?:data|the))\b",
        about="before",
    ),
    cue(
        "found_broken",
        _R,
        rf"\b{_TROUBLE} (?:was |were )?(?:found|detected|discovered|reported|spotted|seen)\b",
        strength=3,
        needs=("found", "detect", "discover", "report", "spot", "seen"),
    ),
    cue(
        "blocks",
        _R,
        r"\b(?:block(?:s|ed|ing)|stall(?:s|ed)|delay(?:s|ed)|hold(?:s|ing)? up|held up) (?:the|our|us"
        r"|everything|all)\b",
        about="before",
    ),
    cue(
        "misbehaves",
        _R,
        r"(?:\bkeeps? (?:losing|dropping|failing|crashing|timing out|breaking|going down)|\b(?:is"
        r"|are) throwing|\b(?:does(?:n't| not)|do(?:n't| not)) work\b(?! (?:on|for|in) (?:me|my|us|the))"
        r"|\bdoes(?:n't| not) (?:close|open|start|load|fit|respond|print|sync|connect|boot)\b"
        r"|\b(?:we|users|customers|they) (?:can't|cannot|do not|don't|can no longer) "
        r"(?:(?:see|find) any|log in|sign in|access)\b"
        r"|\b(?:isn't|aren't) (?:there\W*$|working|ready\b(?! to))|\b(?:may|might"
        r"|could) not (?:\w+ )?(?:carry|hold|be enough|scale|cope|fit|last|arrive)|\bcannot (?:give a"
        r"|handle|cope|deliver)|\btoo (?:large|slow|small|late|high|risky|tight) to\b|\bha(?:sn't|s not"
        r"|ven't|ve not) (?:yet )?(?:signed|confirmed|arrived|answered|replied|responded"
        r"|delivered|provided|paid|been (?:tested"
        r"|confirmed|signed|paid|delivered))|\bhaven't got an?|\bstill (?:refers|unresolved|no)\b"
        r"|\bonly (?:one|person) who\b|\bputs? .{3,40} (?:in danger|at risk))",
        about="before",
        when_denied=True,
        when_tentative=True,
    ),
    cue(
        "warned",
        _R,
        r"\b(?:raised (?:a |an |the )?(?:concern|objection)s?|pointed out that|warned (?:us )?(?:that"
        r"|about|of)|flagged (?:that|the|a|an|this|exactly))\b",
        strength=3,
        when_tentative=True,
    ),
    cue("bad_clipped", _R, rf"(?<=\w) {_BAD}(?: (?:again|since|for|on|in)\b.*)?\W*$", clipped=True, about="before"),
)
