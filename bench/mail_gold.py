"""What others labelled in mail, and what Mnemon says of the same after an import: votes, LEDA, our own blind third.

LEDA has segments of messages, not messages: each message is put together again from its segments, with what a segment
answers quoted above it, and a finding counts for the segment that it stands in.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from mail_door import MailRoom, write_archive

from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.consensus.stances import SURE_ENOUGH
from mnemon.mail.message.people import name_key

THREADS = Path(__file__).parents[1] / "training" / "threads"
AGREES, DISAGREES = ("support", "support_conditional"), ("object",)
OUTCOMES = {"passed": "passed", "cancelled": "cancelled", "failed": "failed"}
# How sure the learned reader has to be: what is tried where one may choose. 1 leaves what fixed words and votes say.
MARKS = tuple(mark / 100 for mark in range(30, 102, 2))
# Every stance that is told of a sentence, however sure.
SAID = 0.01


@dataclass(frozen=True)
class JudgedUnit:
    """A segment or a message: of which part, what its labels say, and how sure Mnemon is of each stance in it.

    What fixed words or a vote say is sure; what the learned reader says is as sure as it says.
    """

    part: str
    agrees: bool
    disagrees: bool
    agreement: float
    disagreement: float


def f1(pairs: Iterable[tuple[bool, bool]]) -> float:
    """Of (labelled, found)."""
    both = [(gold, found) for gold, found in pairs if gold or found]
    right = sum(gold and found for gold, found in both)
    return 2 * right / (right + len(both)) if both else 0.0


def stance_f1(units: Sequence[JudgedUnit], mark: float = SURE_ENOUGH) -> tuple[float, float]:
    """Agreement and disagreement: of what Mnemon lets tip a scale, or of what it is so sure of."""
    agreement = f1((one.agrees, one.agreement >= mark) for one in units)
    return agreement, f1((one.disagrees, one.disagreement >= mark) for one in units)


@dataclass(frozen=True)
class CrossValidated:
    """F1 with the threshold of each part chosen on the other parts, and those thresholds by part."""

    agreement: float
    disagreement: float
    marks: dict[str, tuple[float, float]]


def cross_validated(units: Sequence[JudgedUnit]) -> CrossValidated:
    found: tuple[list[tuple[bool, bool]], list[tuple[bool, bool]]] = ([], [])
    marks: dict[str, tuple[float, float]] = {}
    for part in sorted({one.part for one in units}):
        others = [one for one in units if one.part != part] or units
        chosen = [max(MARKS, key=lambda mark: stance_f1(others, mark)[which]) for which in (0, 1)]
        marks[part] = chosen[0], chosen[1]
        for which, mark in enumerate(chosen):
            found[which].extend(
                (one.agrees, one.agreement >= mark) if which == 0 else (one.disagrees, one.disagreement >= mark)
                for one in units
                if one.part == part
            )
    return CrossValidated(f1(found[0]), f1(found[1]), marks)


def _sure(shown: ConsensusShown, message: str, stances: Sequence[str], start: int, end: int) -> float:
    said = [
        one.confidence if one.found_by == "learned" else 1.0
        for one in shown.statements
        if one.message_id == message and one.stance in stances and one.start < end and one.end > start
    ]
    return max(said, default=0.0)


# LEDA


def leda_messages(folder: Path, most_threads: int | None) -> dict[tuple[str, str], dict[str, list[dict[str, Any]]]]:
    """The segments of each message of each thread of each draft."""
    found: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    with gzip.open(folder / "leda" / "segments.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            thread = found.setdefault((row["draft_id"], row["thread_id"]), {})
            thread.setdefault(row["message_id"], []).append(row)
    if most_threads is None:
        return found
    # From the middle of each draft: the first threads are announcements.
    names = [name for draft in sorted({one[0] for one in found}) for name in _middle(found, draft, most_threads // 2)]
    return {name: found[name] for name in names}


def _middle(threads: dict[tuple[str, str], Any], draft: str, most: int) -> list[tuple[str, str]]:
    names = [one for one in threads if one[0] == draft]
    first = max(len(names) // 2 - most // 2, 0)
    return names[first : first + most]


async def leda_units(room: MailRoom, folder: Path, beside: Path, most_threads: int | None) -> list[JudgedUnit]:
    threads = leda_messages(folder, most_threads)
    mails, places = [], []
    for number, ((draft, thread), messages) in enumerate(threads.items()):
        segments = {row["segment_id"]: row for rows in messages.values() for row in rows}
        first: str | None = None
        for name, rows in messages.items():
            # The same message may stand in two threads.
            message_id = f"<{number}.{name.strip('<>')}>"
            text, ranges = _written(rows, segments)
            mail = _mail(message_id, f"member{len(mails)}@example.org", f"{draft} {thread}", text, rows[0]["date"])
            if first is not None:
                mail["References"] = first
            first = first or message_id
            mails.append(mail)
            places.append((draft, message_id, ranges))
    await room.put_in([write_archive(beside / "leda.mbox", mails)])
    units = []
    for draft, message_id, ranges in places:
        shown, text = await room.consensus(message_id), (await room.message(message_id)).body_raw
        at = 0
        for content, labels in ranges:
            start = text.find(content, at)
            at = start + len(content) if start >= 0 else at
            agreed = _sure(shown, message_id, AGREES, start, at) if start >= 0 else 0.0
            refused = _sure(shown, message_id, DISAGREES, start, at) if start >= 0 else 0.0
            units.append(JudgedUnit(draft, "Agreement" in labels, "Disagreement" in labels, agreed, refused))
    return units


def _written(rows: list[dict[str, Any]], segments: dict[str, Any]) -> tuple[str, list[tuple[str, list[str]]]]:
    text, ranges = "", []
    for row in rows:
        answered = segments.get(row["antecedent_segment_id"])
        if answered is not None and answered["message_id"] != row["message_id"]:
            text += "".join(f"> {line}\n" for line in answered["content"].strip().splitlines()) + "\n"
        content = "\n".join(line.rstrip() for line in row["content"].strip().splitlines())
        ranges.append((content, row["labels"].split(",")))
        text += content + "\n\n"
    return text, ranges


def _mail(message_id: str, sender: str, subject: str, text: str, date: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = "list@lists.example.org"
    mail["Subject"] = subject
    mail["Message-ID"] = message_id
    moment = datetime.fromisoformat(date) if date else datetime(2000, 1, 1, tzinfo=UTC)
    mail["Date"] = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    mail.set_content(text, cte="8bit")
    return mail


# Our own threads


def blind_threads(most: int | None) -> list[dict[str, Any]]:
    read = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(THREADS.glob("*.json"))]
    return [thread for thread in read if thread["split"] == "blind"][:most]


async def blind_units(room: MailRoom, beside: Path, most: int | None) -> list[JudgedUnit]:
    """A unit is a message: whether somebody agrees, or disagrees, anywhere in it. Nobody reads the misses."""
    threads = blind_threads(most)
    await room.put_in([write_archive(beside / "blind.mbox", list(_mails(threads)))])
    units = []
    for thread in threads:
        shown = await room.consensus(_id(thread["messages"][0]["id"]))
        for message in thread["messages"]:
            stances = {label["stance"] for label in message["labels"]}
            agreed, refused = (
                _sure(shown, _id(message["id"]), wanted, 0, len(message["body"]) + 2) for wanted in (AGREES, DISAGREES)
            )
            units.append(JudgedUnit("blind", not stances.isdisjoint(AGREES), not stances.isdisjoint(DISAGREES),
                                    agreed, refused))  # fmt: skip
    return units


def _mails(threads: list[dict[str, Any]]) -> Iterator[EmailMessage]:
    for thread in threads:
        for number, message in enumerate(thread["messages"]):
            subject = f"{'Re: ' if number else ''}{thread['subject']}"
            mail = _mail(_id(message["id"]), message["from"], subject, message["body"], message["date"])
            if message["reply_to"]:
                mail["In-Reply-To"] = _id(message["reply_to"])
            yield mail


def _id(name: str) -> str:
    return f"<{name}@blind.example.org>"


# Votes


async def vote_figures(room: MailRoom, folder: Path) -> dict[str, float | int]:
    """Of votes whose result states its voters: who is found. Of all: what they came to."""
    await room.put_in(sorted((folder / "maven-dev").glob("*.mbox")))
    stated = found = right = outcomes = dissent = 0
    votes = json.loads((folder / "maven-dev" / "votes.json").read_text(encoding="utf-8"))
    for vote in votes:
        shown = await room.consensus(vote["vote_message_id"])
        told = OUTCOMES.get(shown.conclusion.concluded, "none") if shown.conclusion else "none"
        outcomes += told == vote["outcome"]
        dissent += vote["outcome"] == "passed" and shown.consensus_type == "dissent"
        if vote["stated_plus_one"]:
            named = {_person(name) for name in vote["stated_plus_one"]}
            voted = {_person(one.name) for one in shown.votes if one.value == "+1" and not one.changed}
            stated, found, right = stated + len(named), found + len(voted), right + len(named & voted)
    return {
        "voter_recall": round(right / stated, 4) if stated else 0.0,
        "voter_precision": round(right / found, 4) if found else 0.0,
        "outcomes_right": round(outcomes / len(votes), 4),
        "passed_as_dissent": dissent,
    }


def _person(name: str) -> str:
    return name_key(name) or name.casefold()
