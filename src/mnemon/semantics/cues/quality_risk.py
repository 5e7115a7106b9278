"""Cues for defects, blockers, risks and concerns that somebody states as real."""

from mnemon.semantics.cues.cue import cue
from mnemon.semantics.semantic_event import Category
from mnemon.semantics.word_lists import one_of

_R = Category.QUALITY_RISK
_TROUBLE = one_of(
    """problem problems issue issues bug bugs defect defects fault faults crack cracks leak leaks outage outages
    incident incidents error errors packet_loss regression regressions mismatch shortage downtime vulnerability
    vulnerabilities blocker blockers bottleneck gap gaps delay delays failure failures deadlock"""
)
_NOT_A_THING = r"(?!\s*(?:page|rate|message|tracker|log|budget|code|handling|report|number|list|\#))"
_BAD = one_of(
    """broken wrong(?=_(?:since|for|again)) missing exhausted contaminated corrupt corrupted damaged flaky stuck
    blocked delayed overdue late behind_schedule unstable insecure unreliable degraded overloaded incompatible
    inconsistent understaffed short_of out_of_(?:memory|disk|stock) down(?=_(?:again|since|for)) leaking failing
    crashing at_risk in_danger in_jeopardy not_(?:ready|working) vulnerable"""
)

QUALITY_RISK_CUES = (
    cue(
        "risk",
        _R,
        r"\b(?:(?:one|big|biggest|main|major|serious|real|another|key|my|our|there is (?:an?|some)|there's an?"
        r"|there are|poses an?|is an?) (?:\w+ )?(?:risk|concern|worry|threat|danger|gap)s?\b(?= (?:is|are|that"
        r"|of|to|about|here|there|with|for|in)\b|\s*[:.,]|\s*$)|\bthe (?:risk|worry|concern|danger) is\b"
        r"|(?<!less\ )(?<!too\ )(?<!not\ )(?:worried|concerned) (?:about|that)|worr(?:ies|ying) (?:me|us)"
        r"|threatens? (?:the|our|to)|jeopardi[sz]e[sd]?|single point of failure|showstopper|red flag)",
        strength=3,
    ),
    cue(
        "has_trouble",
        _R,
        r"\b(?:there (?:is|are|was|were)|there's|we (?:have|had|hit|got|found|see|are seeing|ran into"
        r"|keep (?:seeing|getting))|have found|I (?:see|found|hit|can see|am seeing)|found|discovered"
        r"|uncovered|revealed|shows?|caus(?:es|ed|ing)|due to|has|had|have|hitting|reports?)"
        r" (?:still )?(?:an? |the |some |several |many |two |three |another |serious |new "
        rf"|\d+ )*(?:\w+ )?{_TROUBLE}\b{_NOT_A_THING}",
    ),
    cue(
        "trouble_is",
        _R,
        r"\b(?:the|one|another|our|my) (?:(?:main|big|bigger|biggest|real|other|compounding|open) )?(?:problem"
        r"|issue|trouble) (?:here |with \w+ )?(?:is|was|remains)\b(?! (?:real|more|what|can|how|whether))",
    ),
    cue(
        "is_bad",
        _R,
        r"(?:\b(?:is|are|was|were|been|remains?|got|gets|keeps?|came|arrives?)|'s|'re) (?:still |now |also "
        rf"|currently |again |being |too |completely |already )*{_BAD}\b(?! (?:if|to)\b| by (?!\w+ (?:hour|day"
        r"|week|month|year)))",
        about="before",
        when_denied=True,
    ),
    cue(
        "failed",
        _R,
        r"(?<!to\ )\b(?:still fails|fails (?:again|every|on every)|crashed|crashes (?:again|on|every|when|the)"
        r"|broke down|failed (?:our|the|its|again|twice|last|this|on \w+day|yesterday|today|during|overnight)|hangs|times out"
        r"|timed out|(?:has|have|had) expired|expires (?:on|in|at|before|next|tomorrow|\w+ (?:days|weeks|months))"
        r"|corrupts|drops (?:long|the|our|requests|packets|connections)|loses (?:data|the))\b",
        about="before",
    ),
    cue(
        "found_broken",
        _R,
        rf"\b{_TROUBLE} (?:was |were )?(?:found|detected|discovered|reported|spotted|seen)\b",
        strength=3,
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
        r"|\b(?:isn't|aren't) (?:there\W*$|working|ready\b(?! to))"
        r"|\b(?:may|might|could) not (?:\w+ )?(?:carry|hold|be enough|scale|cope|fit|last|arrive)"
        r"|\bcannot (?:give a|handle|cope|deliver)|\btoo (?:large|slow|small|late|high|risky|tight) to\b"
        r"|\bha(?:sn't|s not|ven't|ve not) (?:yet )?(?:signed|confirmed|arrived|been (?:tested|confirmed"
        r"|signed|paid|delivered))"
        r"|\bhaven't got an?|\bstill (?:refers|unresolved|no)\b|\bonly (?:one|person) who\b"
        r"|\bputs? .{3,40} (?:in danger|at risk))",
        about="before",
        when_denied=True,
        when_tentative=True,
    ),
    cue(
        "warned",
        _R,
        r"\b(?:raised (?:a |an |the )?(?:concern|objection)s?|pointed out that|warned (?:us )?(?:that|about"
        r"|of)|flagged (?:that|the|a|an|this|exactly))\b",
        strength=3,
        when_tentative=True,
    ),
    cue("bad_clipped", _R, rf"(?<=\w) {_BAD}(?: (?:again|since|for|on|in)\b.*)?\W*$", clipped=True, about="before"),
)
