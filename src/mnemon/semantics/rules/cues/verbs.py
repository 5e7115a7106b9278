"""Verbs that several cues share, by what they say about the world."""

from mnemon.semantics.rules.word_lists import one_of

# Work that is done when the verb stands in the past.
DONE = one_of(
    """added adjusted aligned analysed analyzed applied archived assembled audited backed_up booked bought built
    calibrated called cancelled canceled carried_out cleaned cleared closed commissioned compiled completed
    configured connected converted corrected created credited debugged decommissioned delivered deployed
    dismantled dispatched documented drafted drained enabled exported filed finalised finalized finished fixed
    forwarded handed_in handed_over hired implemented imported inspected installed integrated introduced
    investigated invoiced issued launched mailed copied collected revoked compared rehearsed deleted purged
    rotated measured merged migrated mitigated mounted notified
    opened_(?:an?|the)_(?:case|ticket|issue|bug|pull_request) gave_(?:an?|the)_(?:talk|demo|presentation)
    ordered organised organized paid patched performed posted prepared presented printed processed profiled
    published purchased pushed ran re-ran reran rebooted rebuilt re-exported recovered refactored registered
    released reloaded removed renewed repaired replaced reset resolved restarted restored retired retrained
    reverted reviewed rewired rewrote rewritten rolled_back rolled_out scanned scheduled sent set_up shipped
    signed solved submitted swapped switched_off switched_on tested tightened took_down trained transferred
    translated tuned turned_off turned_on unblocked updated upgraded uploaded validated verified walked wired
    wrapped_up wrote written"""
)
# These promise nothing: "I'll see", "we'll discuss it now". A lookahead after a verb says where it does.
_IDLE = one_of(
    """not never always probably maybe still be(?!_(?:sending|sharing|writing|preparing|there|in_touch|back)) see
    have(?!_(?:it|the|a)\\b) need know miss remember find(?!_out) agree admit say like want tear smell depend
    become take_place remain try start begin wait stop go_(?:on|back|to|over|first|ahead|through|with) move_on
    come get_(?:to|used) skip leave_it discuss talk think guess bet keep look_like make_sense end_up fill
    do_(?:that|it)_now just_(?:say|start|go) turn_out show_up give_(?:it|them|that)_an? vote continue proceed
    assume likely however now certainly repeat attempt love hate suffer lose feel mean happen
    work(?!_(?:on|with)\\b) own take_over handle lead report_to run_from the an? my our his her this that(?=_)
    (?-i:[A-Z])\\w* uh um"""
)
NO_PROMISE = rf"(?!\s*(?:{_IDLE}\b|n't))"
# A direction that a group sets itself: "we're going to hold the launch" decides, "we're going to call" promises.
DIRECTION = one_of(
    """abandon accept adopt ban cancel cease change choose continue_with cut delay discontinue drop extend freeze
    go_ahead_with go_with halt hold keep(?!_\\w+ing) limit merge move_to pause pick phase_out postpone raise
    reduce reject replace retain scrap split standardise standardize stay stick_to stick_with stop switch use
    withdraw"""
)
# What can be asked of somebody, as opposed to asked whether it is possible.
TASK = one_of(
    """add arrange ask attach book bring build buy_(?:an?|the|new)\\b call cancel check collect come confirm
    contact coordinate copy correct deliver double-check draft email finish fix follow_up forward
    get_(?:me|us|the) give_(?:me|him|her|them) have_a_look hand help inform include invite look_(?:at|into) mail
    make_(?:sure|a|the) order organise organize pass pay ping post prepare print provide pull remind remove
    reply report(?!_to) return review run schedule send set set_up share sign sort submit supply take(?!_an?\\b)
    talk_to update upload verify write clean compile create deploy document hand_over implement install
    investigate measure merge migrate move(?!_(?:on|forward|over|to)\\b) negotiate notify obtain phone publish
    purchase release renew repair replace resend reserve restart restore rewrite ring summari[sz]e test transfer
    translate"""
)
WANT = one_of(
    """want wants wanted ask(?=_for) asks_for asked_for would_like(?=_(?:a|an|the|more|to_(?:have|see))) request
    requests requested"""
)
