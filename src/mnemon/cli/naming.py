"""How a person names a document to a command: by its title, its file or the beginning of its id."""

import re
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from pydantic import Field

from mnemon.cli.binding.bind import call
from mnemon.cli.context import run_async
from mnemon.operations import Differs

if TYPE_CHECKING:
    from mnemon.documents.library import Document

_UID = re.compile(r"uid_[A-Za-z0-9]{1,64}")
_DOCUMENT = Field(description="Only this document: its title, its file, or the beginning of its id.")
_NAMED = Field(description="Its title, its file, or its uid, uid_….")
# For a command that has `artifact_meant` prepare what it was given.
A_TITLE_WILL_DO = "A person knows the title."
OF_A_TITLE = {"artifact_uid": Differs(A_TITLE_WILL_DO, takes=Annotated[str, _NAMED])}
OF_A_DOCUMENT = {"doc_id": Differs(A_TITLE_WILL_DO, takes=Annotated[str | None, _DOCUMENT])}
ANY_TITLE = Differs(A_TITLE_WILL_DO, takes=Annotated[str | None, _NAMED], default=None)


def document_meant(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """Programs name it by the whole of its id; without a name none is meant."""
    if values["doc_id"] is None:
        return values
    name = str(values["doc_id"])
    try:
        UUID(name)
    except ValueError:
        return values | {"doc_id": str(_named(name, tenant).doc_id)}
    return values


def artifact_meant(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """Programs name it by its uid; without a name none is meant."""
    name = values["artifact_uid"]
    if name is None or _UID.fullmatch(name):
        return values
    from mnemon.documents.artifact_names import uid_of

    document = _named(name, tenant)
    return values | {"artifact_uid": uid_of(document.doc_id, document.source_uri)}


def _named(name: str, tenant: str) -> "Document":
    # Loads what a database needs, which whoever asks a server without a title does without.
    from mnemon.documents import operations
    from mnemon.documents.inputs import DocumentNamed

    found: Document = run_async(call(operations.named, tenant, DocumentNamed(name=name)))
    return found
