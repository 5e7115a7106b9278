"""Two texts beside each other: the words that differ are marked, not the whole line."""

from mnemon.documents.extraction.kinds import KINDS
from mnemon.web.side_by_side import side_by_side
from mnemon.web.upload_page import SAID


def test_only_the_words_that_differ_are_marked() -> None:
    [pair] = side_by_side("Bookings are kept for 24 months.", "Bookings are kept for 12 months.")
    assert pair.before == "Bookings are kept for <del>24</del> months."
    assert pair.after == "Bookings are kept for <ins>12</ins> months."


def test_words_that_differ_are_marked_in_one_piece() -> None:
    [pair] = side_by_side("We decided to use MySQL today.", "We decided to sell the boat today.")
    assert pair.before == "We decided to <del>use MySQL</del> today."
    assert pair.after == "We decided to <ins>sell the boat</ins> today."


def test_lines_that_differ_in_spaces_alone_are_marked_whole() -> None:
    [pair] = side_by_side("It is big.", "It  is big.")
    assert pair.after == "<ins>It  is big.</ins>"


def test_where_very_much_changed_lines_are_marked_whole() -> None:
    """To hold every word of a long text against every other would keep the page, and the server, for seconds."""
    lines = range(600)
    before = "\n".join(f"{at} {'is kept for some months ' * 8}" for at in lines)
    pairs = side_by_side(before, before.replace("kept", "held"))
    assert len(pairs) == len(lines)
    assert pairs[0].before == f"<del>{pairs[0].left}</del>".replace(" </del>", "</del> ")


def test_what_is_said_quite_differently_is_marked_whole_and_is_no_markup() -> None:
    [pair] = side_by_side("<b>Frankfurt</b>", "nothing here is alike at all")
    assert pair.before == "<del>&lt;b&gt;Frankfurt&lt;/b&gt;</del>"


def test_every_kind_of_file_is_named_on_the_page_of_uploads() -> None:
    assert sorted(kind for kinds in SAID.values() for kind in kinds) == sorted(KINDS)
