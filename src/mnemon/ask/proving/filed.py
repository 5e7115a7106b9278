"""What the file of an answer says; apart from its making, since a command that asks a server loads no database."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from mnemon.operations import Input, Output

FORMAT: Literal["mnemon/answer/1"] = "mnemon/answer/1"
FileForm = Literal["json", "html"]


class AnswerFileAsked(Input):
    """One answer."""

    query_id: UUID = Field(description="As the answer tells it.")
    form: FileForm = Field("json", description="`html` is a page to print, with the JSON inside.")


class FiledCitation(Output):
    """`quote` is the version's text between the two offsets, in code points."""

    doc_version_id: UUID
    start: int
    end: int
    quote: str


class FiledSentence(Output):
    """Its part in the answer, what is said of it, and the words that it is made of."""

    role: str
    note: str
    citations: list[FiledCitation]


class FiledRevision(Output):
    """A version that is quoted: its digests, and the proof that the log tells when it was read."""

    doc_version_id: UUID
    doc_id: UUID
    title: str
    version_number: int
    content_hash: str
    text_hash: str = Field(description="SHA-256 of its text, to hold a copy of the text against.")
    receipt: dict[str, Any]


class AnswerFile(Output):
    """An answer that proves itself: `mnemon_verify.py answer FILE` checks it offline."""

    format: Literal["mnemon/answer/1"] = FORMAT
    query_id: UUID
    question: str
    asked_at: datetime
    outcome: Literal["answered", "refused"]
    reason: str | None = Field(description="Why it was refused.")
    model: str | None = Field(description="The language model that wrote it; its words are not kept, the quotes are.")
    salt: str = Field(description="With it, question and quotes give the digest that the log attests.")
    sentences: list[FiledSentence]
    revisions: list[FiledRevision]
    receipt: dict[str, Any] = Field(description="Proof that the log has the question and this answer's places.")
