"""Documents and their runs over REST: list, read and download; take out of service, destroy, retry."""

from typing import Annotated

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from pydantic import Field

from mnemon.api.bind import route
from mnemon.documents import operations, pictures
from mnemon.documents.outputs import RawFile
from mnemon.operations import Differs

router = APIRouter(tags=["documents"])
# The file is a stranger's: whatever it is, no browser runs it in our name.
DOWNLOAD_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}
SHORT_PAGES = {"limit": Differs("Others wait while a server writes a page.", takes=Annotated[int, Field(ge=1, le=200)])}


def _file(found: RawFile) -> FileResponse:
    return FileResponse(found.path, media_type=found.media_type, filename=found.filename, headers=DOWNLOAD_HEADERS)


def _png(drawn: pictures.PagePicture) -> Response:
    """A version never changes, so a browser may keep its pages for a while."""
    return Response(
        drawn.png, media_type="image/png", headers=DOWNLOAD_HEADERS | {"Cache-Control": "private, max-age=600"}
    )


route(router, "GET", "/documents", operations.list_documents, differences=SHORT_PAGES)
route(router, "GET", "/documents/named", operations.named)
route(router, "GET", "/documents/{doc_id}", operations.get)
route(router, "GET", "/documents/{doc_id}/versions", operations.versions)
route(router, "GET", "/documents/{doc_id}/text", operations.text)
route(router, "GET", "/documents/{doc_id}/structure", operations.structure)
route(router, "GET", "/documents/{doc_id}/chunks", operations.chunks, differences=SHORT_PAGES)
route(router, "GET", "/documents/{doc_id}/download", operations.download, present=_file)
route(
    router, "GET", "/documents/{doc_id}/pages/{page}/picture", pictures.picture, present=_png,
    answers={200: {"content": {"image/png": {}}}},
)  # fmt: skip
route(router, "POST", "/documents/{doc_id}/deactivate", operations.deactivate)
route(router, "POST", "/documents/{doc_id}/reactivate", operations.reactivate, in_either=True)
route(router, "POST", "/documents/{doc_id}/rebuild", operations.rebuild, status=202)
route(router, "POST", "/documents/{doc_id}/purge", operations.purge)
route(router, "GET", "/ingestion-runs", operations.list_runs, differences=SHORT_PAGES)
route(router, "GET", "/ingestion-runs/{run_id}", operations.get_run)
route(router, "POST", "/ingestion-runs/{run_id}/retry", operations.retry_run)
