"""People are merged across addresses and spellings where there is little doubt, and only there."""

from mnemon.mail.message.message import MailAddress
from mnemon.mail.message.people import merge_people, name_key


def test_one_person_with_two_addresses_and_two_spellings() -> None:
    seen = [
        MailAddress("Hervé Boutemy", "herve@apache.example"),
        MailAddress("BOUTEMY, Herve", "hboutemy@free.example"),
        MailAddress("", "hboutemy@free.example"),
        MailAddress("Stefano Duo", "stefanoduo=40google.example@dmarc.ietf.example"),
        MailAddress("", "stefanoduo@google.example"),
    ]
    merged = merge_people(seen)
    assert {merged[one] for one in seen[:3]} == {"hboutemy@free.example"} | {merged[seen[0]]}
    assert merged[seen[0]] == merged[seen[1]] == merged[seen[2]]
    assert merged[seen[3]] == merged[seen[4]] == "stefanoduo@google.example"


def test_first_names_roles_and_robots_tie_nothing_together() -> None:
    assert [name_key(one) for one in ("Anna", "The IESG", "GitBox Bot", "dev list")] == [None] * 4
    seen = [MailAddress("Anna", "anna@a.example"), MailAddress("Anna", "anna@b.example")]
    assert len(set(merge_people(seen).values())) == 2
