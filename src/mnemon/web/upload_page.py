"""The page to upload on: its script sends files one by one and follows them; without script a plain form does."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from mnemon.api.access import MnemonPart, address_of
from mnemon.api.ingest import read_upload, take_one_of_many
from mnemon.api.uploads import UploadForm
from mnemon.documents import operations
from mnemon.documents.extraction.kinds import EXTENSIONS, PICTURES
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.intake.origin_fields import UploadFields
from mnemon.documents.intake.upload import upload
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.identity.roles import Action
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds
from mnemon.web.rendering import FORM_FIELD, as_page, has_worker, problem_page, refuse_token, render, visit

router = APIRouter(include_in_schema=False)
FEW_FIELDS = Differs("The page asks little; REST and the command take the rest.")
ASKED_THERE = ("file", "tags", "visibility_scope", "retention_policy", "new_version_of")
# As people call them; a test sees that no kind is left out.
SAID = {
    "PDF": ("pdf",), "Word": ("docx",), "Excel": ("xlsx",), "PowerPoint": ("pptx",),
    "OpenDocument": ("odt", "ods", "odp"), "RTF": ("rtf",), "EPUB": ("epub",), "HTML": ("html",), "Markdown": ("md",),
    "plain text": ("txt",), "mail": ("eml",), "CSV": ("csv",), "JSON and chat exports": ("json",),
    "subtitles": ("srt", "vtt"), "scans and pictures": PICTURES, "ZIP": ("zip",),
}  # fmt: skip
ON_A_FORM = {name: FEW_FIELDS for name in UploadFields.model_fields if name not in ASKED_THERE}


@router.get("/upload")
@as_page
@binds(upload, ON_A_FORM)
async def upload_page(request: Request, mnemon: MnemonPart) -> Response:
    """With `new_version_of` in its address it takes one file, for that document."""
    visitor = await visit(request, upload.action)
    document = None
    if replaced := request.query_params.get("new_version_of"):
        asked = read_input(operations.get, {"doc_id": replaced})
        document = await operations.get(mnemon, Caller.of(visitor.principal), asked)
    return render(
        "upload.html", here="upload", visitor=visitor, extensions=EXTENSIONS, kinds=SAID, largest=mnemon.files.largest,
        document=document,
    )  # fmt: skip


@router.post("/upload")
@as_page
@binds(upload, ON_A_FORM)
async def take_upload(request: Request, mnemon: MnemonPart) -> Response:
    """What a browser without script sends, read as it comes: nobody holds such a form in memory."""
    visitor = await visit(request, upload.action, reads_form=False)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        refuse_token(request, "")
        raise InvalidRequest("No file was sent: choose one.")

    def check(form: UploadForm) -> None:
        refuse_token(request, "".join(form.fields.pop(FORM_FIELD, ())))

    caller = Caller.of(visitor.principal, address_of(request))
    try:
        form, asked = await read_upload(request, mnemon, caller, check)
    except MnemonError as refusal:
        answer = problem_page(visitor, refusal.message, refusal.status)
        # The rest of the body is not read: what follows on this connection would be taken for a request.
        answer.headers["Connection"] = "close"
        return answer
    told = [await take_one_of_many(mnemon, caller, one, asked) for one in form.files]
    if refused := [f"{one.filename}: {one.reason}" for one in told if one.error_code]:
        raise InvalidRequest(" ".join(refused))
    return RedirectResponse("/runs", 303)


@router.get("/upload/worker")
@as_page
async def worker_state(request: Request, mnemon: MnemonPart) -> Response:
    """For the script of the upload page: whether what waits will be read."""
    await visit(request, Action.VIEW_RUNS)
    return JSONResponse({"alive": await has_worker(mnemon, INGEST)})
