"""The Merkle tree over a partition's hashes, as in RFC 6962: one root for all events, a short path for each."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LEAF = b"\x00"
NODE = b"\x01"
# What the root of no events is.
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf(event_hash: bytes) -> bytes:
    return hashlib.sha256(LEAF + event_hash).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(NODE + left + right).digest()


@dataclass
class Frontier:
    """A tree that only grows: the roots of its complete subtrees, the largest first, as many as bits in its count."""

    count: int = 0
    roots: list[bytes] = field(default_factory=list)

    def add(self, event_hash: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf; returns the subtrees that it completes, as (level, place, hash)."""
        grown, level, place = leaf(event_hash), 0, self.count
        completed = [(0, place, grown)]
        while place & 1:
            grown = node(self.roots.pop(), grown)
            level, place = level + 1, place >> 1
            completed.append((level, place, grown))
        self.roots.append(grown)
        self.count += 1
        return completed

    def root(self) -> bytes:
        return fold(self.roots)

    def copy(self) -> "Frontier":
        return Frontier(self.count, list(self.roots))


def fold(roots: Sequence[bytes]) -> bytes:
    """The root of a tree whose complete subtrees are these."""
    if not roots:
        return EMPTY_ROOT
    root = roots[-1]
    for left in reversed(roots[:-1]):
        root = node(left, root)
    return root


def subtrees(start: int, end: int) -> Iterator[tuple[int, int]]:
    """The complete subtrees (level, place) that cover the leaves [start, end), where `start` begins a subtree."""
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        yield level, start >> level
        start += 1 << level


def path_ranges(place: int, count: int) -> Iterator[tuple[int, int]]:
    """The ranges of leaves whose roots lead from a leaf to the root of `count` leaves, the nearest first."""
    ranges: list[tuple[int, int]] = []
    start, end = 0, count
    while end - start > 1:
        half = 1 << ((end - start - 1).bit_length() - 1)
        if place < start + half:
            ranges.append((start + half, end))
            end = start + half
        else:
            ranges.append((start, start + half))
            start += half
    return reversed(ranges)


def root_from_path(event_hash: bytes, place: int, count: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a path leads to; None if the path does not have the length that the place calls for."""
    ranges = list(path_ranges(place, count))
    if len(ranges) != len(path) or not 0 <= place < count:
        return None
    reached = leaf(event_hash)
    for (start, _), sibling in zip(ranges, path, strict=True):
        reached = node(sibling, reached) if start < place else node(reached, sibling)
    return reached
