"""Which vote a result is of, told by headers or by subject."""

from collections.abc import Iterable

from mnemon.mail.threads.linking import SUBJECT_WINDOW, ThreadMember
from mnemon.mail.threads.subjects import parse_subject


def votes_of_results(members: Iterable[ThreadMember]) -> dict[str, str]:
    """The message id of each result, and that of the message that called the vote."""
    ordered = sorted(members, key=lambda one: one.order)
    parsed = {one.key: parse_subject(one.subject) for one in ordered}
    calls = [one for one in ordered if parsed[one.key].is_vote and not parsed[one.key].is_result
             and not parsed[one.key].is_reply]  # fmt: skip
    by_id = {one.message_id: one for one in calls}
    by_subject: dict[tuple[str, str], list[ThreadMember]] = {}
    for one in calls:
        by_subject.setdefault((one.list_name, parsed[one.key].base), []).append(one)
    found: dict[str, str] = {}
    for one in ordered:
        subject = parsed[one.key]
        if not subject.is_result or subject.is_reply:
            continue
        named = next((by_id[ref] for ref in reversed((*one.references, one.in_reply_to or "")) if ref in by_id), None)
        named = named or _latest_before(one, by_subject.get((one.list_name, subject.base), ()))
        if named is not None:
            found[one.message_id] = named.message_id
    return found


def _latest_before(result: ThreadMember, calls: Iterable[ThreadMember]) -> ThreadMember | None:
    near = [
        one
        for one in calls
        if one.date and result.date and one.date <= result.date <= one.date + SUBJECT_WINDOW and one.key != result.key
    ]
    return near[-1] if near else None
