"""Patterns say which files are wanted, in a time that no pattern can draw out."""

import random
import re
import time

import pytest

from mnemon.documents.sources.filters import KeyFilter, KeyPattern, KeyWalk

MEANT = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.md", ["a.md", "x/y/a.md", ".md"], ["a.mdx", "a.md/b"]),
        ("drafts/**", ["drafts/a", "drafts/x/y"], ["x/drafts/a", "drafts"]),
        ("**/drafts/**", ["drafts/a", "x/drafts/y/a"], ["drafts", "mydrafts/a"]),
        ("a/*/c", ["a/b/c", "a//c"], ["a/c", "a/b/b/c"]),
        ("202?-*/**/*.pdf", ["2026-Q3/x.pdf", "2026-/a/b/x.pdf"], ["2026/x.pdf", "20-26-Q3/x.pdf"]),
        ("a[1].txt", ["a[1].txt", "x/a[1].txt"], ["a1.txt"]),
        ("ü(?).txt", ["ü(é).txt"], ["ü().txt", "ü(/).txt"]),
    ],
)
def test_what_a_pattern_wants(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [one for one in (*fitting, *others) if KeyFilter([pattern]).wants(one)] == fitting
    assert not any(KeyFilter(exclude=[pattern]).wants(one) for one in fitting)


def test_a_pattern_means_what_its_regular_expression_means() -> None:
    chance = random.Random(19)
    for _ in range(5_000):
        pattern = "/" + "".join(chance.choices(["a", "b", "*", "**/", "?", "/"], k=chance.randint(1, 7)))
        if "***" in pattern:
            continue
        key = "/" + "".join(chance.choices("ab/\n", k=chance.randint(0, 8)))
        pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
        meant = re.compile("".join(MEANT.get(one, re.escape(one)) for one in pieces), re.DOTALL)
        assert KeyWalk(pattern).fits(key) == bool(meant.fullmatch(key)), (pattern, key)


def test_with_few_wildcards_and_with_many_a_pattern_means_the_same() -> None:
    chance = random.Random(23)
    fitting = 0
    for _ in range(20_000):
        pattern = "/" + "".join(chance.choices(["a", "b", "*", "**", "**/", "?", "/", "."], k=chance.randint(1, 6)))
        key = "/" + "".join(chance.choices("ab/.\n", k=chance.randint(0, 8)))
        fits = KeyWalk(pattern).fits(key)
        assert KeyPattern(pattern).fits(key) == fits, (pattern, key)
        fitting += fits
    assert fitting > 1_000, "there are pairs of both kinds"


@pytest.mark.parametrize(
    "pattern", ["*a" * 200 + "b", "**/a*" * 90 + "b", "**a" * 160 + "b", "/**a**b", "**/a*b", "*" * 90 + "b"]
)
def test_no_pattern_holds_up_a_worker(pattern: str) -> None:
    """Tried one way after the other, it would take longer than anybody waits."""
    began = time.process_time()
    assert not KeyFilter([pattern]).wants("a" * 1_000) and not KeyFilter([pattern]).wants("a/" * 500)
    assert time.process_time() - began < 5
