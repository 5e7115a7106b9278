"""The digest by which the log attests an answer's words without keeping them."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemon.ask.proven import ProvenSentence


def new_salt() -> str:
    """Sealed with the asker's key: without it nobody can guess the words from their digest."""
    return secrets.token_hex(16)


def words_digest(salt: str, question: str, sentences: Sequence[dict[str, Any]]) -> str:
    """Over the question and each sentence's part, note and quotes; `verify/mnemon_verify.py` reckons the same."""
    told = [
        [
            one["role"], one["note"],
            [[each["doc_version_id"], each["start"], each["end"], each["quote"]] for each in one["citations"]],
        ]
        for one in sentences
    ]  # fmt: skip
    written = json.dumps([question, told], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{salt}\n{written}".encode()).hexdigest()


def attested_parts(sentences: Sequence["ProvenSentence"]) -> list[dict[str, Any]]:
    """Of an answer as it is given."""
    return [
        {
            "role": one.role,
            "note": one.note,
            "citations": [
                {"doc_version_id": str(each.doc_version_id), "start": each.start, "end": each.end, "quote": each.quote}
                for each in one.citations
            ],
        }
        for one in sentences
    ]
