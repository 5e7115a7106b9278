"""The rules themselves, a module per category: change one there, then run `make bench-extract`."""

from mnemon.semantics.rules.cues.change import CHANGE_CUES
from mnemon.semantics.rules.cues.collaboration import COLLABORATION_CUES
from mnemon.semantics.rules.cues.commitment import COMMITMENT_CUES
from mnemon.semantics.rules.cues.cue import Cue
from mnemon.semantics.rules.cues.decision import DECISION_CUES
from mnemon.semantics.rules.cues.execution import EXECUTION_CUES
from mnemon.semantics.rules.cues.feedback import FEEDBACK_CUES
from mnemon.semantics.rules.cues.german import GERMAN_CUES
from mnemon.semantics.rules.cues.quality_risk import QUALITY_RISK_CUES
from mnemon.semantics.rules.cues.stakeholder import STAKEHOLDER_CUES

# Of two equally strong categories the earlier one wins.
CUES: tuple[Cue, ...] = (
    *DECISION_CUES,
    *COMMITMENT_CUES,
    *STAKEHOLDER_CUES,
    *CHANGE_CUES,
    *QUALITY_RISK_CUES,
    *FEEDBACK_CUES,
    *COLLABORATION_CUES,
    *EXECUTION_CUES,
    *GERMAN_CUES,
)
