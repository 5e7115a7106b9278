"""The first page, before anything is asked."""

from uuid import UUID, uuid5

from mnemon.documents.library import Document
from mnemon.web.asking.glance import of_each_thread, of_several

SPACE = UUID(int=7)


def document(number: int, title: str, document_type: str = "email") -> Document:
    return Document.model_construct(doc_id=uuid5(SPACE, str(number)), title=title, document_type=document_type)


def test_one_document_does_not_fill_what_was_lately_decided() -> None:
    found = [{"artifact_uid": uid, "event_id": f"{uid}{number}"} for uid in ("rules", "minutes") for number in range(4)]
    shown = [one["event_id"] for one in of_several(found)]
    assert shown[:4] == ["rules0", "rules1", "minutes0", "minutes1"]
    assert len(shown) == 8


def test_documents_of_one_title_are_each_shown() -> None:
    found = [document(number, title, "doc") for number, title in enumerate(["Minutes", "README", "Minutes", "README"])]
    assert of_each_thread(found, {}) == found


def test_a_thread_of_a_list_is_shown_once_and_another_of_its_subject_too() -> None:
    found = [document(number, title) for number, title in enumerate(["Re: Plan", "Plan", "Plan"])]
    threads = {found[0].doc_id: "a", found[1].doc_id: "a", found[2].doc_id: "b"}
    assert of_each_thread(found, threads) == [found[0], found[2]]


def test_mail_of_no_list_goes_with_its_answers_and_no_document_does() -> None:
    titles = ["AW: Re: Plan", "Minutes", "plan", "Minutes"]
    mails = [document(number, title) for number, title in enumerate(titles)]
    file = document(9, "Plan", "doc")
    assert of_each_thread([*mails, file], {}) == [mails[0], mails[1], mails[3], file]
