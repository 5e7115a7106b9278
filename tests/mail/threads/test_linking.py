"""Threads are the same in whatever order their messages come."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.message.reading import read_archived
from mnemon.mail.threads.linking import LinkedThread, ThreadMember, threads_of
from mnemon.mail.threads.results import votes_of_results
from mnemon.mail.threads.subjects import parse_subject
from tests.mail.eval_data import FOLDER, needs_mail

START = datetime(2023, 1, 1, tzinfo=UTC)


def mail(name: str, *references: str, subject: str = "Plan", day: int = 0, reply_to: str | None = None) -> ThreadMember:
    ids = [f"<{one}>" for one in references]
    return ThreadMember(name, f"<{name}>", reply_to and f"<{reply_to}>", ids, subject, START + timedelta(days=day))


def shown(threads: list[LinkedThread]) -> set[tuple[str, tuple[str, ...]]]:
    return {(one.root, tuple(member.key for member in one.members)) for one in threads}


def test_a_missing_parent_is_a_ghost_until_it_comes() -> None:
    first, second = mail("b", "a", day=1), mail("c", "a", day=2)
    [thread] = threads_of([second, first])
    assert (thread.root, thread.ghosts) == ("<a>", ("<a>",))
    assert thread.parents == {"<b>": "<a>", "<c>": "<a>"}
    [whole] = threads_of([second, first, mail("a")])
    assert (whole.root, whole.ghosts) == ("<a>", ())


def test_a_late_message_merges_two_threads() -> None:
    one, two = mail("b", "a", day=1), mail("d", "c", day=2)
    assert len(threads_of([one, two])) == 2
    [thread] = threads_of([one, two, mail("c", "a", "b", day=1)])
    assert (thread.root, thread.parents["<d>"], thread.parents["<c>"]) == ("<a>", "<c>", "<b>")


def test_an_answer_without_headers_joins_by_subject() -> None:
    first, answer = mail("a"), mail("b", subject="Re: [list] plan", day=3)
    [thread] = threads_of([answer, first])
    assert thread.joined == ("<b>",)
    assert thread.parents == {"<b>": "<a>"}
    assert len(threads_of([first, mail("b", subject="Plan", day=3)])) == 2, "the same subject anew is another thread"
    assert len(threads_of([first, mail("b", subject="Re: plan", day=300)])) == 2, "so is an answer after a year"
    # A nearer message of that subject comes late: the answer was to that one.
    parted = threads_of([first, answer, mail("z", subject="Plan", day=2)])
    assert shown(parted) == {("<a>", ("a",)), ("<z>", ("z", "b"))}


def test_messages_that_refer_to_each_other_in_a_circle_are_a_thread_with_a_root() -> None:
    [thread] = threads_of([mail("a", "b"), mail("b", "a", day=1)])
    assert len(thread.parents) == 1


def test_results_know_their_vote_with_and_without_headers() -> None:
    call = mail("v", subject="[VOTE] Release Foo 1.0")
    other = mail("w", subject="[VOTE] Release Bar 1.0")
    bare = mail("r", subject="[RESULT] [VOTE] Release Foo 1.0", day=3)
    replied = mail("s", "w", subject="[CANCELED] [VOTE] Release Bar", day=3)
    assert votes_of_results([bare, replied, other, call]) == {"<r>": "<v>", "<s>": "<w>"}
    assert len(threads_of([call, bare])) == 1


def test_subjects() -> None:
    parsed = parse_subject("Re: AW: [quic] Re[2]: [VOTE]  Über ALLES (was: other)")
    assert (parsed.base, parsed.is_reply, parsed.is_vote, parsed.is_result) == ("über alles", True, True, False)


@needs_mail
@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    ["[RESULT] [VOTE] Release 2.0", "[VOTE][RESULT]: Release 2.0", "RESULT: [VOTE] Release 2.0",
     "Result of [VOTE] Release 2.0", "[RESULT] (was: [VOTE] Release 2.0)", "[CANCEL] [VOTE] Release 2.0",
     "[ERGEBNIS] [ABSTIMMUNG] Release 2.0", "Vote result: Release 2.0"],
)  # fmt: skip
def test_subjects_of_results(subject: str) -> None:
    parsed = parse_subject(subject)
    assert (parsed.base, parsed.is_result, parsed.is_reply) == ("release 2.0", True, False)


def test_results_of_a_measurement_are_none_of_a_vote() -> None:
    assert not parse_subject("Results: the new cache").is_result


def test_the_threads_of_a_real_list() -> None:
    with ArchiveStream(FOLDER / "ksummit.mboxrd.gz") as stream:
        found = [read_archived(one) for one in split_archive(stream) if isinstance(one, ArchivedMessage)]
    members = [
        ThreadMember(one.key, one.message_id, one.in_reply_to, one.references, one.subject, one.date) for one in found
    ]
    assert len(threads_of(members, by_subject=False)) == 144
    ordered = shown(threads_of(members))
    random.Random(3).shuffle(members)
    assert shown(threads_of(members)) == ordered
