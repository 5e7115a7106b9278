"""`mnemon log verify`: recompute the chain, show how far it is, and say what was changed."""

from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from mnemon.app import Mnemon
from mnemon.cli.binding.bind import command
from mnemon.cli.context import run_async, tenant_of
from mnemon.cli.output import complaints, counted, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.log.errors import NothingToAttest
from mnemon.log.proof.chain import DIGEST_LENGTH
from mnemon.log.proof.verify import ChainReport
from mnemon.log.proof.walk import ChainPosition
from mnemon.log.read.query import read_sequence
from mnemon.log_operations import integrity
from mnemon.log_operations.integrity import VerificationWanted
from mnemon.operations import Differs

ALL_PARTITIONS = {"legal_entity": Differs("Whoever sits at the machine means all, unless one is named.", default=None)}
RESUME: dict[str, Any] = {
    "resume": Annotated[
        str | None, typer.Option(help="Go on where an interrupted run stopped.", metavar="SEQUENCE:HASH")
    ]
}
SAYS = "Recompute the chain and compare it with the checkpoints; exit with 1 if anything was changed."


def _verify(tenant: str, asked: VerificationWanted, wants_json: bool, left: dict[str, Any]) -> None:
    named = asked.legal_entity if "legal_entity" in asked.model_fields_set else None
    start = _read_resume(left["resume"], named)
    reports = _Reports()
    try:
        run_async(reports.gather(tenant, named, since_checkpoint=asked.since_checkpoint, resume=start))
    except KeyboardInterrupt:
        reports.say_where_to_go_on()
        raise
    intact = all(report.intact for report in reports.done.values())
    result = {
        "intact": intact,
        "partitions": [{"legal_entity": name} | report.as_json() for name, report in reports.done.items()],
    }
    show(result, wants_json, lambda: _describe(reports.done))
    if not intact:
        raise typer.Exit(1)


def bind(app: typer.Typer) -> None:
    command(
        app, "verify", integrity.verify, lambda report: None, differences=ALL_PARTITIONS, beside=RESUME,
        perform=_verify, in_pieces=False, says=SAYS, example="mnemon log verify --since-checkpoint",
    )  # fmt: skip


async def partitions_of(mnemon: Mnemon, tenant_id: UUID, legal_entity: str | None) -> list[str]:
    """The one that was asked for, or all that have events."""
    if legal_entity is not None:
        return [legal_entity]
    return [one.legal_entity for one in await mnemon.log.list_partitions(tenant_id) if one.sequence]


async def _must_exist(mnemon: Mnemon, tenant_id: UUID, legal_entity: str | None) -> list[str]:
    """The one that was asked for, or all that anything says there are, be they still there or not."""
    return [legal_entity] if legal_entity is not None else await mnemon.integrity.legal_entities(tenant_id)


@dataclass
class _Reports:
    """The partitions that are checked, and where the present one is."""

    done: dict[str, ChainReport] = field(default_factory=dict)
    under_way: tuple[str, ChainReport] | None = None

    async def gather(
        self, tenant: str, legal_entity: str | None, *, since_checkpoint: bool, resume: ChainPosition | None
    ) -> None:
        bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=complaints, transient=True, disable=not complaints.is_terminal,
        )  # fmt: skip
        async with tenant_of(tenant) as (mnemon, tenant_id):
            with bar:
                for name in await _must_exist(mnemon, tenant_id, legal_entity):
                    task = bar.add_task(escape(name), total=None)

                    def progress(report: ChainReport, name: str = name, task: TaskID = task) -> None:
                        self.under_way = name, report
                        bar.update(task, completed=report.position.sequence, total=report.total)

                    try:
                        self.done[name] = await mnemon.integrity.verify(
                            tenant_id, name, since_checkpoint=since_checkpoint, resume=resume, progress=progress
                        )
                    except NothingToAttest:
                        if legal_entity is not None or since_checkpoint:
                            raise
                    self.under_way = None

    def say_where_to_go_on(self) -> None:
        if self.under_way is not None:
            name, report = self.under_way
            position = f"{report.position.sequence}:{report.position.hash.hex()}"
            complaints.print(f"Stopped. Go on with: --legal-entity {name} --resume {position}", markup=False)


def _read_resume(given: str | None, legal_entity: str | None) -> ChainPosition | None:
    if given is None:
        return None
    sequence, _, digest = given.partition(":")
    try:
        position = ChainPosition(read_sequence(sequence), bytes.fromhex(digest))
    except ValueError:
        position = ChainPosition(0, b"")
    if legal_entity is None or len(position.hash) != DIGEST_LENGTH:
        raise InvalidRequest("Give --resume as the interrupted run printed it, together with its --legal-entity.")
    return position


def _unsealed(report: ChainReport) -> str:
    if not report.unsealed:
        return ""
    return f"; the last {report.unsealed:,} {'is' if report.unsealed == 1 else 'are'} not sealed yet"


def _describe(reports: dict[str, ChainReport]) -> None:
    for name, report in reports.items():
        if report.intact:
            events = counted(report.checked, "event")
            say(f"{name} is intact: {events}, up to {report.position.sequence:,}{_unsealed(report)}.", "green")
        else:
            say(f"{name} was changed in {counted(len(report.faults), 'place')}:", "bold red")
            table(["Sequence", "Kind", "What"], [(one.sequence, one.kind, one.message) for one in report.faults], "")
    if not reports:
        say("There are no events to verify.")
