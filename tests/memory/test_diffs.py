"""Diffs lead from the old text to the new one and back; merges keep what both sides did."""

import time

from hypothesis import given
from hypothesis import strategies as st

from mnemon.memory.diffs import Diff, diff_texts, merge_texts

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n", "ü\u2028x\n"]), max_size=12).map("".join)
ENDS = st.sampled_from(["", "end", "\x0b"])


def apply_diff(text: str, diff: Diff) -> str:
    return _patched(text, diff, "removed", "added", grows=False)


def revert_diff(text: str, diff: Diff) -> str:
    return _patched(text, diff, "added", "removed", grows=True)


def _patched(text: str, diff: Diff, taken: str, put: str, *, grows: bool) -> str:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    made: list[str] = []
    position = shift = 0
    for hunk in diff["hunks"]:
        start = hunk["line"] + (shift if grows else 0)
        stop = start + len(hunk[taken])
        assert lines[start:stop] == hunk[taken]
        made += lines[position:start] + hunk[put]
        position = stop
        shift += len(hunk[taken]) - len(hunk[put])
    return "".join(made + lines[position:])


@given(old=TEXTS, new=TEXTS, first=ENDS, last=ENDS)
def test_a_diff_is_good_in_both_directions(old: str, new: str, first: str, last: str) -> None:
    old, new = old + first, new + last
    diff = diff_texts(old, new)
    assert apply_diff(old, diff) == new
    assert revert_diff(new, diff) == old
    assert (not diff["hunks"]) == (old == new)


@given(base=TEXTS, side=TEXTS)
def test_a_side_that_did_nothing_gives_way(base: str, side: str) -> None:
    assert merge_texts(base, base, side) == side
    assert merge_texts(base, side, base) == side
    assert merge_texts(base, side, side) == side


@given(head=TEXTS, tail=TEXTS)
def test_changes_at_both_ends_are_both_kept(head: str, tail: str) -> None:
    middle = "1\n2\n3\n"
    assert (
        merge_texts(f"x\n{middle}y\n", f"{head}X\n{middle}y\n", f"x\n{middle}Y\n{tail}")
        == f"{head}X\n{middle}Y\n{tail}"
    )


def test_changes_of_the_same_line_clash() -> None:
    assert merge_texts("a\nb\nc\n", "a\nB\nc\n", "a\nß\nc\n") is None
    assert merge_texts("a\n", "a\nb\n", "a\nc\n") is None
    assert merge_texts("a\nb\n", "", "a\nb\nc\n") is None


def test_a_large_change_takes_no_time() -> None:
    old = "".join(f"{n}\n" for n in range(30_000))
    new = "".join(f"{n * 7}\n" for n in range(30_000))
    assert apply_diff(old, diff_texts(old, new)) == new


def test_lines_that_repeat_take_no_time_either() -> None:
    old = "q\n" + "a\nb\nb\n" * 1_300 + "r\n"
    new = "s\n" + "a\na\nb\n" * 1_300 + "t\n"
    started = time.process_time()
    diff = diff_texts(old, new)
    assert time.process_time() - started < 5
    assert apply_diff(old, diff) == new
    assert revert_diff(new, diff) == old


def test_a_line_that_both_sides_have_once_stays_out_of_a_diff_too_large_to_search() -> None:
    filling = "a\nb\nb\n" * 1_300
    old, new = f"x\n{filling}anchor\n{filling}y\n", f"X\nb\n{filling}anchor\na\n{filling}Y\n"
    touched = [line for hunk in diff_texts(old, new)["hunks"] for line in hunk["removed"] + hunk["added"]]
    assert "anchor\n" not in touched
