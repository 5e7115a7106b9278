"""The script of a restore: one transaction that loads a backup's rows, compares every table, and drops the old ones."""

import hashlib
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from psycopg import sql

from mnemon.db.backup_file import BLOCK, DUMP, ROWS, Manifest, member_of
from mnemon.db.programs import environment_for, program
from mnemon.errors import BackupFailed

# Independent of the rows' order, so that it need not sort them.
FINGERPRINT = (
    "SELECT count(*)::text || ':' || coalesce(sum(hashtextextended(t::text, 0)), 0)::text AS mark FROM {} AS t"
)
# Rows are compared as text, whose form depends on these.
TEXT_FORM = "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'"
SET_ASIDE = b"""
DO $$ BEGIN
    IF to_regnamespace('mnemon') IS NOT NULL THEN ALTER SCHEMA mnemon RENAME TO mnemon_replaced; END IF;
END $$;
"""
# Functions that set pgvector's parameters can be made only where its library has been loaded.
LOAD_VECTOR = b"DO $$ BEGIN PERFORM '[1]'::vector; END $$;\n"
# A tenant that is elsewhere by what is replaced (also one on its way back) would be open in two databases, and who was
# forgotten there be known here. By the rows, since a backup takes its time: whoever leaves meanwhile is still in it. In
# the backup they may have left too, and be half cleared away.
REFUSE_SECOND_HOME = b"""
DO $$ DECLARE
    left_too text := 'false';
    names    text;
BEGIN
    IF to_regclass('mnemon_replaced.tenant_moves') IS NULL THEN
        RETURN;
    END IF;
    IF to_regclass('mnemon.tenant_moves') IS NOT NULL THEN
        left_too := $q$ EXISTS (SELECT FROM mnemon.tenant_moves b WHERE b.tenant_id = m.tenant_id
                                   AND (b.state = 'moved' OR (b.state, b.changed_at) = (m.state, m.changed_at))) $q$;
    END IF;
    EXECUTE $q$ SELECT string_agg(m.slug || ' to ' || m.url, ', ' ORDER BY m.slug)
                  FROM mnemon_replaced.tenant_moves m JOIN mnemon.tenants t USING (tenant_id)
                 WHERE (m.state IN ('opening', 'moved') OR m.state = 'arriving' AND m.url <> '') AND NOT $q$ || left_too
       INTO names;
    IF names IS NOT NULL THEN
        RAISE EXCEPTION '%', format(
            'since this backup was made tenants have moved to other databases (%s), and would be open here too: '
            'restore a later backup, or give --reopen-moved if what is there is gone for good', names);
    END IF;
END $$;
"""
# And one that was elsewhere when the backup was made, and has come back since, would be in no database at all.
REFUSE_TO_LOSE = b"""
DO $$ DECLARE
    names text;
BEGIN
    IF to_regclass('mnemon.tenant_moves') IS NULL OR to_regclass('mnemon_replaced.tenant_moves') IS NULL THEN
        RETURN;
    END IF;
    SELECT string_agg(b.slug, ', ' ORDER BY b.slug) INTO names
      FROM mnemon.tenant_moves b JOIN mnemon_replaced.tenants t USING (tenant_id)
     WHERE b.state IN ('moved', 'arriving') AND NOT EXISTS (
           SELECT FROM mnemon_replaced.tenant_moves m
            WHERE m.tenant_id = b.tenant_id AND m.state IN ('opening', 'moved', 'arriving'));
    IF names IS NOT NULL THEN
        RAISE EXCEPTION '%', format(
            'tenants that were in another database when this backup was made have come back since (%s), and would be '
            'in none: restore a later backup', names);
    END IF;
END $$;
"""
DROP_REPLACED = b"DROP SCHEMA IF EXISTS mnemon_replaced CASCADE;\n"
# Rows before indexes, which are quicker to make of all of them.
BEFORE_INDEXES = ("--section=pre-data", "--section=data")
INDEXES = ("--section=post-data",)


class RestoreScript:
    """Feeds one psql. Whatever fails before its end undoes everything."""

    def __init__(
        self, conninfo: str, major: int, manifest: Manifest, archive: tarfile.TarFile, *, reopen: bool
    ) -> None:
        self._conninfo = conninfo
        self._major = major
        self._manifest = manifest
        self._archive = archive
        self._reopen = reopen

    def run(self) -> None:
        command: list[str | Path] = [
            program("psql", self._major), "--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1",
        ]  # fmt: skip
        # What it complains of goes to a file: a full pipe that nobody reads would stop it.
        with (
            tempfile.TemporaryFile() as refused,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=refused,
                env=environment_for(self._conninfo),
            ) as loader,
        ):  # fmt: skip
            assert loader.stdin
            try:
                self._write(loader.stdin)
                loader.stdin.close()
            except BrokenPipeError:
                pass
            except BaseException:
                loader.kill()
                raise
            if loader.wait():
                raise BackupFailed(f"The restore failed and was undone: {_complaint(refused)}")

    def _write(self, script: IO[bytes]) -> None:
        script.write(SET_ASIDE + LOAD_VECTOR)
        if self._dump(BEFORE_INDEXES, script) != self._manifest.dump_sha256:
            raise BackupFailed("The backup is damaged: its contents do not match its manifest.")
        for table, digest in self._manifest.in_part.items():
            self._rows(table, digest, script)
        self._dump(INDEXES, script)
        script.write(comparison(self._manifest).encode())
        script.write(REFUSE_TO_LOSE)
        if not self._reopen:
            script.write(REFUSE_SECOND_HOME)
        script.write("".join(f"{one};\n" for one in self._manifest.afterwards).encode() + DROP_REPLACED)

    def _dump(self, sections: Sequence[str], script: IO[bytes]) -> str:
        """These sections of the dump as SQL; returns the digest of all of it."""
        command: list[str | Path] = [program("pg_restore", self._major), "--no-owner", "--file=-", *sections]
        with (
            member_of(self._archive, DUMP) as source,
            tempfile.TemporaryFile() as unreadable,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=unreadable) as reader,
        ):
            assert reader.stdin and reader.stdout
            feeding = _Feeding(source, reader.stdin)
            feeding.start()
            try:
                while block := reader.stdout.read(BLOCK):
                    script.write(block)
            except BrokenPipeError:
                reader.kill()
                raise
            finally:
                reader.stdout.close()
                feeding.join()
            if feeding.failure is not None:
                raise feeding.failure
            if reader.wait():
                raise BackupFailed(f"The backup cannot be read: {_complaint(unreadable)}")
            return feeding.seen.hexdigest()

    def _rows(self, table: str, digest: str, script: IO[bytes]) -> None:
        script.write(sql.SQL("COPY {} FROM STDIN;\n").format(sql.Identifier("mnemon", table)).as_bytes())
        seen = hashlib.sha256()
        with member_of(self._archive, ROWS + table) as source:
            while block := source.read(BLOCK):
                seen.update(block)
                script.write(block)
        if seen.hexdigest() != digest:
            raise BackupFailed("The backup is damaged: its contents do not match its manifest.")
        script.write(b"\\.\n")


class _Feeding(threading.Thread):
    """Gives a program its input while another thread takes what it says; a program may stop reading before the end."""

    def __init__(self, source: IO[bytes], target: IO[bytes]) -> None:
        super().__init__(name="restore-feeding", daemon=True)
        self._source = source
        self._target = target
        self.seen = hashlib.sha256()
        self.failure: Exception | None = None

    def run(self) -> None:
        wanted = True
        try:
            while block := self._source.read(BLOCK):
                self.seen.update(block)
                if wanted:
                    wanted = self._give(block)
        except Exception as failure:
            self.failure = failure
        finally:
            self._close()

    def _give(self, block: bytes) -> bool:
        try:
            self._target.write(block)
        except BrokenPipeError:
            return False
        return True

    def _close(self) -> None:
        with suppress(BrokenPipeError):
            self._target.close()


def comparison(manifest: Manifest) -> str:
    """SQL that fails, and so undoes the restore, unless every table has the rows it had."""
    checks = []
    for name, mark in manifest.tables.items():
        query = sql.SQL(FINGERPRINT).format(sql.Identifier("mnemon", name)).as_string()
        message = sql.Literal(f"the rows of {name} differ from the backup's manifest").as_string()
        checks.append(
            f"IF ({query}) <> {sql.Literal(mark).as_string()} THEN RAISE EXCEPTION USING MESSAGE = {message}; END IF;"
        )
    return f"{TEXT_FORM}; DO $check$ BEGIN\n" + "\n".join(checks) + "\nEND $check$;\n"


def _complaint(output: IO[bytes]) -> str:
    output.seek(0)
    said = output.read().decode(errors="replace")
    return next((line for line in said.splitlines() if "ERROR" in line), said.strip()[-500:])
