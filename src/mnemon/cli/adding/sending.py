"""`mnemon add` at a server: files are sent there, and its workers read them."""

from collections.abc import Sequence

from rich.progress import Progress

from mnemon.cli.adding.added import Added, Interrupted, added_as, count_versions
from mnemon.client.remote import RemoteCalls
from mnemon.documents.inputs import RunAsked
from mnemon.documents.intake.file_address import file_address
from mnemon.documents.intake.folders import FoundFile
from mnemon.documents.intake.origin_fields import UploadFields
from mnemon.documents.intake.upload import FileTaken
from mnemon.documents.operations import get_run
from mnemon.documents.states import RunStatus
from mnemon.errors import MnemonError


async def send_files(
    server: RemoteCalls, found: Sequence[FoundFile], asked: UploadFields, by_path: bool, waits: bool,
    interrupted: Interrupted, progress: Progress,
) -> list[Added]:  # fmt: skip
    """To a server; its workers read them."""
    fields = asked.model_dump(mode="json", exclude_unset=True, exclude={"file"})
    added = []
    task = progress.add_task("Sending", total=len(found))
    for one in found:
        if interrupted.wanted:
            break
        if one.reason is not None:
            added.append(Added(one.path, "refused" if one.named else "left_out", one.name, reason=one.reason))
            continue
        said = fields | {"source_uri": file_address(one.path, server.url)} if by_path else fields
        try:
            taken = FileTaken.model_validate(await server.upload(one.path, said), extra="ignore")
        except MnemonError as refusal:
            added.append(Added(one.path, "refused", one.name, error_code=refusal.code, reason=refusal.message))
        else:
            added.append(added_as(one, taken))
        progress.advance(task)
    if waits:
        await _until_read(server, added, interrupted, progress)
        await count_versions(server.call, added)
    return added


async def _until_read(
    server: RemoteCalls, added: Sequence[Added], interrupted: Interrupted, progress: Progress
) -> None:
    waiting = {one.run_id: one for one in added if one.run_id is not None}
    task = progress.add_task("Reading", total=len(waiting))
    while waiting and not interrupted.wanted:
        for run_id in list(waiting):
            run = await server.call(get_run, RunAsked(run_id=run_id))
            if run.status in (RunStatus.SUCCEEDED, RunStatus.FAILED):
                one = waiting.pop(run_id)
                one.status, one.error_code, one.reason = run.status.value, run.error_code, run.error
                progress.advance(task)
        if waiting:
            await interrupted.pause()
