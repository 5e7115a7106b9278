"""`mnemon db`: what state the database is in; migrate, back up, restore."""

import shutil
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemon.cli.bucket_backups import SCHEME, backup_from, backup_to, place_of
from mnemon.cli.context import on_its_own, opened, run_async, settings_at_home
from mnemon.cli.output import Json, counted, say, show, table
from mnemon.db.backup import backup, holds_tenants, restore
from mnemon.db.backup_file import Manifest
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import open_database
from mnemon.db.migrate import SchemaState, migrate, schema_state
from mnemon.documents.intake.files import Files
from mnemon.errors import BackupFailed
from mnemon.log.privacy.erasure_list import ErasureList
from mnemon.log.privacy.repeated_erasures import note_before_restore
from mnemon.log.proof.checkpoint_files import ASIDE, FOLDER, RESTORED, CheckpointFiles
from mnemon.log.proof.restored import GoingOn, RestoredPartition
from mnemon.settings import Settings
from mnemon.shared_home import SharedHome, home_of
from mnemon.verification.unknown_tenants import unknown_tenants

app = typer.Typer(help="The database: state, migrations, backup, restore.", no_args_is_help=True)

FACTS = """
SELECT current_setting('server_version') AS server_version,
       pg_size_pretty(pg_database_size(current_database())) AS size,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version
"""


@app.command()
@on_its_own("Migrations and backups are of the whole database.")
def status(as_json: Json = False) -> None:
    """Show where the database is, how large it is, and whether its schema is current."""

    async def work() -> dict[str, Any]:
        settings = settings_at_home()
        async with open_database(settings) as database, database.owner() as owner:
            state = await schema_state(owner)
            facts = await (await owner.execute(FACTS)).fetchone()
        place = "external" if settings.database_url else f"embedded in {settings.home}"
        return {"place": place, **(facts or {}), **asdict(state), "current": state.current}

    found = run_async(work())

    def human() -> None:
        labels = {"server_version": "PostgreSQL", "vector_version": "pgvector", "applied": "migrations"}
        apart = ("latest", "outdated", "current")
        shown = {labels.get(key, key): value for key, value in found.items() if key not in apart}
        shown["migrations"] = f"{found['applied']} of {found['latest']}" + (
            "" if found["current"] else ": run mnemon db migrate"
        )
        table(["", ""], list(shown.items()), "")

    show(found, as_json, human)


@app.command("migrate")
@on_its_own("Only the owner of the database changes its tables.")
def migrate_(as_json: Json = False) -> None:
    """Bring the schema up to date. `mnemon serve` does this by itself."""

    async def work() -> SchemaState:
        async with open_database(settings_at_home()) as database, database.owner() as owner:
            return await migrate(owner)

    state = run_async(work())
    show(state, as_json, lambda: say(f"The schema is at step {state.applied} of {state.latest}."))


@app.command("backup")
@on_its_own("A backup has all tenants and their keys.")
def backup_(
    file: Annotated[
        str | None,
        typer.Argument(
            help="New file, s3://bucket/name.backup, or a name in MNEMON_BACKUP_STORE; by default mnemon-DATE.backup, "
            "there or here."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the whole database and the files of its documents to one file, while they are in use.

    The file is encrypted and signed with keys in the folder `keys` of the home. They are not in it: keep a copy of them
    apart, since without them it cannot be read. Memory objects are in it as events, and are made anew by a restore.

    Example: mnemon db backup /backups/monday.backup
    """
    settings = settings_at_home()
    place = place_of(file or f"mnemon-{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.backup", settings.backup_store)

    async def work(target: Path) -> Manifest:
        from mnemon.app import BACKED_UP

        async with open_database(settings) as database:
            keys, folders = BackupKeys(home_of(settings)), Files.of(settings).folders | checkpoint_folder(settings)
            return await backup(database.server, target, keys, folders, BACKED_UP)

    with backup_to(place) as target:
        manifest = run_async(work(target))
        size = target.stat().st_size
    written = place if place.startswith(SCHEME) else target
    show(
        _result(written, manifest),
        as_json,
        lambda: say(f"Wrote {written} ({size:,} bytes, {len(manifest.tables)} tables, {manifest.files} files)."),
    )


@app.command("restore")
@on_its_own("A backup has all tenants and their keys.")
def restore_(
    file: Annotated[
        str,
        typer.Argument(
            help="A file that `mnemon db backup` wrote, s3://bucket/name.backup, or a name in MNEMON_BACKUP_STORE."
        ),
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Give up what the database holds now.")] = False,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Take a backup that is plain, or not signed by this home, on trust.")
    ] = False,
    without_erasure_list: Annotated[
        bool, typer.Option("--without-erasure-list", help="Nobody was erased since the backup, or may come back.")
    ] = False,
    reopen_moved: Annotated[
        bool, typer.Option("--reopen-moved", help="Open here again tenants that have moved elsewhere since the backup.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Put a backup's rows and files back: all of them, compared one by one, or nothing.

    A backup that was changed, cut short or not signed with the key in this home is refused. Whoever was erased since it
    was made is erased again at once, by the list in the folder `keys`; memory is then made anew from the log.

    Example: mnemon db restore /backups/monday.backup --replace
    """
    settings = settings_at_home()
    file = place_of(file, settings.backup_store)
    with backup_from(file) as target:
        asked = _put_back(
            settings, target,
            replace=replace, unsigned=unsigned, without_erasure_list=without_erasure_list, reopen=reopen_moved,
        )  # fmt: skip
        manifest, repeated, partitions, newer = run_async(asked)
    again = f" {counted(repeated, 'erasure')} since then done again." if repeated else ""

    def human() -> None:
        say(
            f"Restored {len(manifest.tables)} tables and {manifest.files} files as of {manifest.taken_at}; "
            f"every row and every byte matches.{again}"
        )
        for one in partitions:
            say(_resumed(one))
        for folder in newer:
            say(f"The backup has no tenant {folder.name}, of which there are checkpoints. {_put_away(folder)}")

    found = {
        "erasures_repeated": repeated,
        "partitions": [_partition(one) for one in partitions],
        "newer_tenants": [{"tenant": one.name, "remedy": _put_away(one)} for one in newer],
    }
    show(_result(file if file.startswith(SCHEME) else target, manifest) | found, as_json, human)


async def _put_back(
    settings: Settings, target: Path, *, replace: bool, unsigned: bool, without_erasure_list: bool, reopen: bool
) -> tuple[Manifest, int, list[RestoredPartition], list[Path]]:  # fmt: skip
    """What was restored, who was erased once more, how each log goes on, and the folders of tenants that it lacks."""
    if not target.exists():
        raise BackupFailed(f"There is no file {target}.", file=str(target))
    listed = ErasureList(home_of(settings))
    async with open_database(settings) as database:
        keys, folders = BackupKeys(home_of(settings)), Files.of(settings).folders
        beside = settings.home / RESTORED
        async with database.owner() as owner:
            await note_before_restore(owner, listed)
            replaced = await holds_tenants(owner)
        if not listed.exists() and not without_erasure_list:
            raise BackupFailed(
                f"There is no {listed.where}, which says who was erased since the backup: put back the copy of "
                "`keys` that was kept apart. If nobody was, give --without-erasure-list."
            )
        # What another restore left there is not of this one.
        shutil.rmtree(beside, ignore_errors=True)
        folders |= {FOLDER: beside}
        manifest = await restore(
            database.server, target, keys, folders, replace=replace, unsigned=unsigned, reopen=reopen
        )
    async with opened() as mnemon:
        await mnemon.projector.renew()
        packed = CheckpointFiles(settings.home, RESTORED)
        gone = await unknown_tenants(mnemon)
        partitions = await GoingOn(mnemon.database, mnemon.integrity, packed, replaced=replaced).done()
        newer = [] if gone.is_shared else [settings.home / FOLDER / str(one) for one in gone.tenants]
        return manifest, mnemon.erasures_repeated, partitions, newer


def _result(file: Path | str, manifest: Manifest) -> dict[str, Any]:
    return {"file": str(file), **asdict(manifest)}


def checkpoint_folder(settings: Settings) -> dict[str, Path]:
    """Beside the files of documents: without what was signed, a log in another home could not be held against it."""
    home = home_of(settings)
    return {} if isinstance(home, SharedHome) else {FOLDER: home / FOLDER}


def _partition(one: RestoredPartition) -> dict[str, Any]:
    more = {"tenant": str(one.tenant), "beyond": one.beyond, "signed": one.signed, "told": _resumed(one)}
    return {**asdict(one), **more}


def _resumed(one: RestoredPartition) -> str:
    where = f"The log {one.legal_entity} of tenant {one.slug}"
    if one.refused:
        return f"{where} is restored, not signed: {one.refused}"
    if one.signed:
        return f"{where} goes on from event {one.sequence} and is signed."
    if one.put_off:
        return (
            f"{where} fits what this home has signed, up to event {one.sequence}. `mnemon serve` signs what comes; a "
            "rehearsal, while the other log is in use, needs a home of its own."
        )
    lie = (
        f"{counted(one.beyond, 'signed event')} {'lies' if one.beyond == 1 else 'lie'} beyond its event {one.sequence}"
    )
    told = lie if one.beyond else f"what was signed up to event {one.attested} is another log"
    remedy = f"mnemon log adopt-restore --tenant {one.slug}"
    return f"{where} is restored, not signed: {told}; if the other log is gone for good, `{remedy}`."


def _put_away(folder: Path) -> str:
    return f"If it is gone for good, `mv {folder} {folder.with_name(f'{ASIDE}-{folder.name}')}`."
