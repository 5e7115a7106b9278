"""Cues for defects, blockers, risks and concerns that somebody states as real."""

from mnemon.semantics.cues.cue import cue, one_of
from mnemon.semantics.semantic_event import Category

_R = Category.QUALITY_RISK
_TROUBLE = one_of(
    """problem problems issue issues bug bugs defect defects fault faults crack cracks leak leaks outage outages incident incidents error errors packet_loss
    regression regressions mismatch shortage downtime vulnerability vulnerabilities blocker blockers bottleneck gap gaps delay delays failure failures deadlock"""
)
_NOT_A_THING = r"(?!\s*(?:page|rate|message|tracker|log|budget|code|handling|report|number|list|\#))"
_BAD = one_of(
    """broken wrong(?=_(?:since|for|again)) missing exhausted contaminated corrupt corrupted damaged flaky stuck blocked delayed overdue late behind_schedule unstable insecure unreliable
    degraded overloaded incompatible inconsistent understaffed short_of out_of_(?:memory|disk|stock) down(?=_(?:again|since|for)) leaking failing crashing
    at_risk in_danger in_jeopardy not_(?:ready|working) vulnerable"""
)

QUALITY_RISK_CUES = (
    cue("risk", _R, r"\b(?:(?:one|big|biggest|main|major|serious|real|another|key|my|our|there\s+is\s+(?:an?|some)|there's\s+an?|there\s+are|poses\s+an?|is\s+an?)\s+(?:\w+\s+)?(?:risk|concern|worry|threat|danger|gap)s?\b(?=\s+(?:is|are|that|of|to|about|here|there|with|for|in)\b|\s*[:.,]|\s*$)|\bthe\s+(?:risk|worry|concern|danger)\s+is\b"
        r"|(?<!less )(?<!too )(?<!not )(?:worried|concerned)\s+(?:about|that)|worr(?:ies|ying)\s+(?:me|us)|threatens?\s+(?:the|our|to)|jeopardi[sz]e[sd]?|single\s+point\s+of\s+failure|showstopper|red\s+flag)", strength=3),
    cue("has_trouble", _R, rf"\b(?:there\s+(?:is|are|was|were)|there's|we\s+(?:have|had|hit|got|found|see|are\s+seeing|ran\s+into|keep\s+(?:seeing|getting))|have\s+found|I\s+(?:see|found|hit|can\s+see|am\s+seeing)|found|discovered|uncovered|revealed|shows?|caus(?:es|ed|ing)|due\s+to|has|had|have|hitting|reports?)"
        rf"\s+(?:still\s+)?(?:an?\s+|the\s+|some\s+|several\s+|many\s+|two\s+|three\s+|another\s+|serious\s+|new\s+|\d+\s+)*(?:\w+\s+)?{_TROUBLE}\b{_NOT_A_THING}"),
    cue("trouble_is", _R, r"\b(?:the|one|another|our|my)\s+(?:(?:main|big|bigger|biggest|real|other|compounding|open)\s+)?(?:problem|issue|trouble)\s+(?:here\s+|with\s+\w+\s+)?(?:is|was|remains)\b(?!\s+(?:real|more|what|can|how|whether))"),
    cue("is_bad", _R, rf"(?:\b(?:is|are|was|were|been|remains?|got|gets|keeps?|came|arrives?)|'s|'re)\s+(?:still\s+|now\s+|also\s+|currently\s+|again\s+|being\s+|too\s+|completely\s+|already\s+)*{_BAD}\b(?!\s+(?:if|to)\b|\s+by\s+(?!\w+\s+(?:hour|day|week|month|year)))", about="before", when_denied=True),
    cue("failed", _R, r"(?<!to )\b(?:failed(?!\s+to)|fails(?!\s+to)|crashed|crashes|broke|expired|expires|hangs|times\s+out|timed\s+out|corrupts|drops\s+(?:long|the|our|requests|packets|connections)|loses\s+(?:data|the))\b(?!\s+to\s+(?:see|understand))", about="before"),
    cue("found_broken", _R, rf"\b{_TROUBLE}\s+(?:was\s+|were\s+)?(?:found|detected|discovered|reported|spotted|seen)\b", strength=3),
    cue("blocks", _R, r"\b(?:block(?:s|ed|ing)|stall(?:s|ed)|delay(?:s|ed)|hold(?:s|ing)?\s+up|held\s+up)\s+(?:the|our|us|everything|all)\b", about="before"),
    cue("misbehaves", _R, r"(?:\bkeeps?\s+(?:losing|dropping|failing|crashing|timing\s+out|breaking|going\s+down)|\b(?:is|are)\s+throwing|\b(?:does(?:n't|\s+not)|do(?:n't|\s+not))\s+work\b(?!\s+(?:on|for|in)\s+(?:me|my|us|the))|\b(?:isn't|aren't)\s+(?:there\W*$|working|ready\b(?!\s+to))"
        r"|\b(?:may|might|could)\s+not\s+(?:\w+\s+)?(?:carry|hold|be\s+enough|scale|cope|fit|last|arrive)|\bcannot\s+(?:give\s+a|handle|cope|deliver)|\btoo\s+(?:large|slow|small|late|high|risky|tight)\s+to\b|\bha(?:sn't|s\s+not|ven't|ve\s+not)\s+(?:yet\s+)?(?:signed|confirmed|arrived|been\s+(?:tested|confirmed|signed|paid|delivered))"
        r"|\bhaven't\s+got\s+an?|\bstill\s+(?:refers|unresolved|no)\b|\bonly\s+(?:one|person)\s+who\b|\bputs?\s+.{3,40}\s+(?:in\s+danger|at\s+risk))", about="before", when_denied=True, when_tentative=True),
    cue("warned", _R, r"\b(?:raised\s+(?:a\s+|an\s+|the\s+)?(?:concern|objection)s?|pointed\s+out\s+that|warned\s+(?:us\s+)?(?:that|about|of)|flagged\s+(?:that|the|a|an|this|exactly))\b", strength=3, when_tentative=True),
    cue("bad_clipped", _R, rf"(?<=\w)\s+{_BAD}(?:\s+(?:again|since|for|on|in)\b.*)?\W*$", clipped=True, about="before"),
)  # fmt: skip
