"""Verbs that the cues share, by what they say about the world."""

from mnemon.semantics.cue import one_of

# Work that is done when the verb stands in the past.
DONE = one_of(
    """added addressed adjusted aligned analysed analyzed answered applied archived assembled assessed assigned audited backed_up booked bought built
    calibrated called cancelled canceled carried_out checked cleaned cleared closed collected commissioned committed compiled completed configured connected
    copied corrected created credited cut debugged decommissioned delivered deployed designed developed disabled dismantled dispatched documented
    drafted drained drove edited enabled ended executed exported extended filed filled finalised finalized finished fixed flew forwarded got_rid_of
    handed_in handed_out hired implemented imported improved informed inspected installed integrated introduced investigated invoiced issued
    launched laid left_our left_the loaded made_the mailed measured merged migrated mitigated mounted moved_into notified opened ordered organised organized packed paid patched performed
    placed planted posted prepared presented printed processed produced profiled published pulled purchased pushed put_in ran re-ran reran rebooted rebuilt
    re-exported recorded recovered refactored registered released reloaded removed renewed repaired replaced reported reset resolved restarted restored
    retired retrained reverted rewired rewrote rewritten rolled_back rolled_out scanned scheduled sent served set_up shipped signed solved started submitted
    swapped switched_off switched_on tested tightened took_down trained transferred translated tuned turned_off turned_on unblocked updated upgraded uploaded
    validated verified walked wired wrapped_up wrote written""".replace("wrote_to_say", "")
)
# What somebody who promises is going to do: "I'll see" and "I'll be happy" promise nothing.
NO_PROMISE = (
    r"(?!\s*(?:not\b|n't|never\b|be\b(?!\s+(?:sending|sharing|writing|preparing|there|in\s+touch|back))|see\b|have\b(?!\s+(?:it|the|a)\b)|need\b|know\b"
    r"|always\b|probably\b|miss\b|remember\b|find\b|agree\b|admit\b|say\b|like\b|want\b|report\s+to\b|tear\b|smell\b|depend\b|become\b|take\s+place\b|still\b|become\b|remain\b"
    r"|own\b|take\s+over\b|handle\b|lead\b|go\s+with\b))"
)
# A direction that a group sets for itself: "we're going to hold the launch" decides, "we're going to call them" promises.
DIRECTION = one_of(
    """abandon accept adopt allow ban cancel cease change choose continue_with cut delay discontinue drop end extend freeze go_ahead go_for go_with halt hold
    keep leave limit merge move_ahead move_to not pause pick phase_out postpone proceed raise reduce reject replace retain scrap skip split standardise
    standardize start_with stay stick_to stick_with stop support switch use wait withdraw""".replace("\n", " ")
)
# Any verb that an action item may begin with; a first word outside this list may still be one.
WANT = one_of("want wants wanted ask asks asked need needs would_like request requests requested wish wishes expect expects prefer prefers")
