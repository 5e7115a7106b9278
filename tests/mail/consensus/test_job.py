"""Consensus on the log: read by a job after an import, recorded, replayed without a reader."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.errors import NotFound
from mnemon.mail.consensus import job as consensus_job
from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.consensus.shown import show_consensus
from mnemon.work.worker import Worker
from tests.mail.conftest import Imported, message, write_mbox
from tests.work.conftest import Eventually

CALL = "Please vote.\n\n[ ] +1 release\n[ ] -1 do not release, because\n"
Shown = Callable[[str], Awaitable[ConsensusShown]]


@pytest.fixture
def vote(tmp_path: Path) -> Path:
    mails = [
        message(1, CALL, subject="[VOTE] Release 2.0", sender="Rosa Berg <rosa@example.org>"),
        message(2, "+1 (binding)\n", subject="[VOTE] Release 2.0", to=1, sender="Ana Lund <ana@example.org>"),
        message(3, "-1, no licence file\n", subject="[VOTE] Release 2.0", to=1, sender="Ben Ode <ben@example.org>"),
        message(4, "> -1, no licence file\n\nFixed in the branch.\n", subject="[VOTE] Release 2.0", to=3,
                sender="Rosa Berg <rosa@example.org>"),
    ]  # fmt: skip
    return write_mbox(tmp_path / "vote.mbox", mails)


@pytest.fixture
def shown(mnemon: Mnemon, tenant: UUID, eventually: Eventually) -> Shown:
    """The consensus once it was read as the thread is now."""

    async def read(thread: str) -> ConsensusShown:
        async def current() -> ConsensusShown | None:
            try:
                async with mnemon.database.transaction(tenant) as tx:
                    found = await show_consensus(tx, thread)
            except NotFound:
                return None
            return found if found.is_current else None

        found: ConsensusShown = await eventually(current)
        return found

    return read


async def test_an_import_is_followed_by_a_reading_of_its_threads(
    mail_worker: Worker, imported: Imported, shown: Shown, vote: Path
) -> None:
    await imported(vote)
    found = await shown("<1@example.org>")
    assert (found.consensus_type, found.tally, found.read_by) == ("mixed", {"-1": 1, "+1": 1}, "formulas-2")
    assert [(one.name, one.value, one.binding) for one in found.votes] == [
        ("Ana Lund", "+1", True),
        ("Ben Ode", "-1", None),
    ]
    assert [(one.quote, one.state) for one in found.objections] == [("-1, no licence file", "met")]
    assert found.objections[0].answered_in == ["<4@example.org>"]


async def test_a_result_that_comes_later_and_answers_another_mail_has_its_vote_read_again(
    mail_worker: Worker, imported: Imported, shown: Shown, vote: Path, tmp_path: Path
) -> None:
    await imported(vote)
    assert (await shown("<1@example.org>")).conclusion is None
    rosa = "Rosa Berg <rosa@example.org>"
    result = message(
        9, "The vote has not passed.\n", subject="[RESULT] Release 2.0", sender=rosa, In_Reply_To="<77@example.org>"
    )
    await imported(write_mbox(tmp_path / "result.mbox", [result]))
    # The result's thread is made anew without the vote's.
    await imported(write_mbox(tmp_path / "later.mbox", [message(10, "A pity.\n", subject="Next time", to=9)]))
    found = await shown("<1@example.org>")
    assert found.conclusion is not None
    assert found.conclusion.message_id == "<9@example.org>"
    assert (found.consensus_type, found.conclusion.concluded) == ("dissent", "failed")


async def test_a_later_message_of_the_thread_has_it_read_again(
    mail_worker: Worker, imported: Imported, shown: Shown, vote: Path, tmp_path: Path
) -> None:
    await imported(vote)
    await shown("<1@example.org>")
    later = message(
        5, "I retract the -1, make it +1.\n", subject="[VOTE] Release 2.0", to=4, sender="Ben Ode <ben@example.org>"
    )
    await imported(write_mbox(tmp_path / "later.mbox", [later]))
    found = await shown("<1@example.org>")
    assert (found.consensus_type, found.tally) == ("agreement", {"+1": 2})
    assert [one.changed for one in found.votes] == [False, True, False]


async def test_replay_gives_the_same_rows_and_asks_no_reader(
    mail_worker: Worker, imported: Imported, shown: Shown, vote: Path, mnemon: Mnemon, tenant: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    await imported(vote)
    before = await shown("<1@example.org>")

    def refuse(*_: object) -> None:
        raise AssertionError("a replay must not read anything")

    monkeypatch.setattr(consensus_job, "stance_reader", refuse)
    monkeypatch.setattr(consensus_job, "judge_discussion", refuse)
    await mnemon.projector.rebuild(tenant, "mail_consensus")
    assert await shown("<1@example.org>") == before


async def test_a_thread_that_was_not_read_yet_says_so(mnemon: Mnemon, tenant: UUID) -> None:
    async with mnemon.database.transaction(tenant) as tx:
        with pytest.raises(NotFound, match="no thread"):
            await show_consensus(tx, "<x@example.org>")
