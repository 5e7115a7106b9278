"""Pictures of pages: a PDF as it looks, beside the text that was read from it."""

import asyncio
import base64
from typing import Protocol

from pydantic import Field

from mnemon.db.database import Database
from mnemon.documents.access import Reader, open_as
from mnemon.documents.errors import FileChanged, FileGone
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.isolated import within_limits
from mnemon.documents.extraction.pdf.picture import PageToDraw, draw_page
from mnemon.documents.inputs import VersionAsked
from mnemon.documents.intake.files import Files
from mnemon.documents.library import revision_of, which_revision
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.operations import Caller, Output, operation
from mnemon.settings import Settings

PDF = "application/pdf"


class Parts(Protocol):
    """What this operation needs of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def files(self) -> Files: ...

    @property
    def settings(self) -> Settings: ...


class PageOfVersion(VersionAsked):
    """A page of a version."""

    page: int = Field(ge=1, le=1_000_000, description="Which page, from 1.")


class PagePicture(Output):
    """A page as it looks."""

    png: bytes


@operation(
    "documents.picture", Action.VIEW_DOCUMENTS, read_only=True,
    errors=(NotFound, InvalidRequest, FileGone, FileChanged, ExtractionFailed),
    example={"doc_id": "01890a5d-ac96-774b-bcce-b302099a8057", "page": 1},
    absent={
        "mcp": "Agents read the text.", "command": "`mnemon documents download` gives the whole file.",
        "web": "The page of the document shows it over REST.",
    },
)  # fmt: skip
async def picture(mnemon: Parts, caller: Caller, asked: PageOfVersion) -> PagePicture:
    """The picture of a page of a PDF, as PNG.

    The file is a stranger's: it is drawn in a process of its own, under the limits that reading it has.
    """
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await open_as(tx, Reader.of(caller.actor), asked.doc_id)
        chosen = await revision_of(tx, asked.doc_id, which_revision(asked.version))
    if chosen.media_type != PDF:
        raise InvalidRequest(f"Only pages of a PDF have a picture; this is {chosen.media_type}.")
    if asked.page > (chosen.page_count or 0):
        raise NotFound(f"The document has {chosen.page_count} pages; there is no page {asked.page}.")
    file = await asyncio.to_thread(
        mnemon.files.intact_blob, caller.tenant_id, chosen.content_hash,
        f"The file of document {asked.doc_id} is missing.", doc_id=str(asked.doc_id),
    )  # fmt: skip
    drawn = await within_limits(draw_page, PageToDraw(path=file, page=asked.page), mnemon.settings)
    return PagePicture(png=base64.b64decode(drawn.png))
