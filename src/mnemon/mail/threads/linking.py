"""Threads of a set of messages, by who refers to whom and, where headers are missing, by subject.

As Jamie Zawinski has it, messages that are only referred to take part as ghosts; unlike there, the order in which
messages come plays no role: a thread is what is connected, and each choice is made by date.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from mnemon.mail.threads.subjects import parse_subject

# An answer without headers is one to a message of the same subject that is no older.
SUBJECT_WINDOW = timedelta(days=120)
LAST = datetime.max.replace(tzinfo=UTC)
SHORTEST_SUBJECT = 4


@dataclass(frozen=True, slots=True)
class ThreadMember:
    """What threading needs of a message."""

    key: str
    message_id: str
    in_reply_to: str | None
    references: Sequence[str]
    subject: str
    date: datetime | None
    # Subjects are compared within a list.
    list_name: str = ""

    @property
    def order(self) -> tuple[datetime, str]:
        return self.date or LAST, self.key

    @property
    def ancestors(self) -> tuple[str, ...]:
        """The line of messages before it, the one it answers last."""
        if self.references:
            return tuple(self.references)
        return (self.in_reply_to,) if self.in_reply_to else ()


@dataclass(frozen=True, slots=True)
class LinkedThread:
    """A thread: its root, which may be a ghost, its messages by date, and whom each of them answers."""

    root: str
    members: tuple[ThreadMember, ...]
    # By message id; a message that answers none is not in it. Ghosts answer too, where somebody tells whom.
    parents: dict[str, str] = field(hash=False)
    ghosts: tuple[str, ...] = ()
    # Messages that are here by their subject alone.
    joined: tuple[str, ...] = ()


class _Groups:
    """What is connected, as it becomes known."""

    def __init__(self) -> None:
        self.above: dict[str, str] = {}

    def of(self, one: str) -> str:
        top = one
        while (above := self.above.setdefault(top, top)) != top:
            top = above
        while self.above[one] != top:
            self.above[one], one = top, self.above[one]
        return top

    def join(self, one: str, *others: str) -> None:
        top = self.of(one)
        for other in others:
            # Most of what a message refers to was joined by the one before it, whose top stays.
            if self.above.get(other) != top and (before := self.of(other)) != top:
                self.above[top] = before
                top = before


def threads_of(members: Iterable[ThreadMember], by_subject: bool = True) -> list[LinkedThread]:
    """Sorted by the date of their first message."""
    ordered = sorted(members, key=lambda one: one.order)
    groups = _Groups()
    for one in ordered:
        groups.join(one.message_id, *one.references, *([one.in_reply_to] if one.in_reply_to else ()))
    joined = _join_by_subject(ordered, groups) if by_subject else {}
    parted: dict[str, list[ThreadMember]] = defaultdict(list)
    for one in ordered:
        parted[groups.of(one.message_id)].append(one)
    return [_linked(group, joined) for group in parted.values()]


def _join_by_subject(ordered: Sequence[ThreadMember], groups: _Groups) -> dict[str, str]:
    """An answer, or a result, without headers goes to the latest message before it that has the same subject."""
    latest: dict[tuple[str, str], ThreadMember] = {}
    joined: dict[str, str] = {}
    for one in ordered:
        subject = parse_subject(one.subject)
        place = (one.list_name, subject.base)
        before = latest.get(place)
        if len(subject.base) < SHORTEST_SUBJECT:
            continue
        headless = not one.references and not one.in_reply_to
        if headless and before is not None and (subject.is_reply or subject.is_result) and _is_near(before, one):
            joined[one.message_id] = before.message_id
            groups.join(one.message_id, before.message_id)
        latest[place] = one
    return joined


def _is_near(before: ThreadMember, one: ThreadMember) -> bool:
    return before.date is not None and one.date is not None and one.date - before.date <= SUBJECT_WINDOW


class _Tree:
    """Who answers whom. `tops` shortens the way up, so that a thread of any depth is placed in linear time."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.tops: dict[str, str] = {}

    def top(self, one: str) -> str:
        top = one
        while top in self.tops:
            top = self.tops[top]
        while one != top:
            self.tops[one], one = top, self.tops[one]
        return top

    def place(self, below: str, above: str) -> None:
        """Unless it answers somebody already, or that would make a circle."""
        if below not in self.parents and self.top(above) != below:
            self.parents[below] = self.tops[below] = above


def _linked(group: Sequence[ThreadMember], joined: dict[str, str]) -> LinkedThread:
    tree = _Tree()
    real = {one.message_id for one in group}
    for one in group:
        line = (*one.ancestors, one.message_id)
        if len(line) == 1 and one.message_id in joined:
            line = (joined[one.message_id], one.message_id)
        # A message speaks for itself; of others, only for those that are not here to do so.
        for above, below in reversed(list(pairwise(line))):
            if below == one.message_id or below not in real:
                tree.place(below, above)
    top = tree.top(group[0].message_id)
    ghosts = ({*tree.parents, *tree.parents.values()} | {top}) - real
    here = tuple(one.message_id for one in group if one.message_id in joined)
    return LinkedThread(top, tuple(group), tree.parents, tuple(sorted(ghosts)), here)
