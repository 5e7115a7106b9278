"""The composition root: puts settings, database and capabilities together for a door to use."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

# Declares its event type, which must be known before the log is opened; the rest of ask loads on first use.
from mnemon.ask import query_log as _query_log  # noqa: F401
from mnemon.db.backup import Extent
from mnemon.db.database import Database, connect, open_database
from mnemon.db.migrate import migrate
from mnemon.db.suitability import check_used_role
from mnemon.documents.events import document_of, subject_of
from mnemon.documents.intake.choose_files import files_for
from mnemon.documents.intake.files import Files
from mnemon.documents.lens import DOCUMENTS
from mnemon.documents.purge import OnPurge, Purged, purge
from mnemon.documents.sources.known_objects import forget_names
from mnemon.identity.bootstrap import FirstStart, first_start
from mnemon.identity.forgotten import also_known_as, close_accounts
from mnemon.identity.secrets import kept_key
from mnemon.identity.sessions import Sessions
from mnemon.log.events import SYSTEM, Actor
from mnemon.log.privacy.first_keys import made_in_turn
from mnemon.log.privacy.privacy import Privacy, open_privacy
from mnemon.log.project.entity_states import EntityStates
from mnemon.log.project.projector import Projector
from mnemon.log.project.snapshots import SNAPSHOT_TABLES
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.witness_places import witness_at
from mnemon.log.proof.witnesses import Witnesses
from mnemon.log.store import EventLog
from mnemon.mail.consensus.lens import MAIL_CONSENSUS
from mnemon.mail.lens import MAIL
from mnemon.mail.storing.attachments import attached_documents
from mnemon.mail.storing.purging import blank_copies
from mnemon.mail.storing.purging import on_purge as let_go_of_copies
from mnemon.memory import backups as memory_backups
from mnemon.memory import lens as memory_lens
from mnemon.memory.gateway import Memory
from mnemon.readiness import (
    Check,
    PartState,
    ask_every,
    check_database,
    check_disk,
    check_integrity,
    check_keys,
    check_migrations,
    check_queue,
)
from mnemon.reports.failures import RECORD_STAGE_FAILURE as _RECORD_STAGE_FAILURE  # noqa: F401  a kind of jobs
from mnemon.reports.lens import MAIL_SUMMARIES
from mnemon.schedules import schedules_of
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.search.event_vectors import drop_strays
from mnemon.semantics.search.event_vectors import on_purge as drop_event_vectors
from mnemon.serving import served_address
from mnemon.settings import Settings
from mnemon.shared_home import home_of
from mnemon.verification.jobs import verification_schedules
from mnemon.work.kinds import use_default_attempts
from mnemon.work.schedule import Schedule

if TYPE_CHECKING:
    from mnemon.ask.answer import Asking
    from mnemon.ask.recall import Remembered
    from mnemon.ask.search import Searcher
    from mnemon.documents.access import Reader
    from mnemon.models.calls import DatabaseRecorder
    from mnemon.models.embedder import Embedder
    from mnemon.models.language import LanguageModel
    from mnemon.models.missing_vectors import MissingVectors
    from mnemon.models.vector_moves import VectorMoves

EMBEDDER_STATE_LIVES = 60.0
# A backup goes without what a replay gives again and what would tell of people whose keys are destroyed.
BACKED_UP = Extent(
    left_out=(*memory_backups.LEFT_OUT, *SNAPSHOT_TABLES),
    afterwards=memory_backups.AFTERWARDS,
    in_part=memory_backups.IN_PART,
)


@dataclass
class Mnemon:
    """One running Mnemon. Doors hold it and call the capabilities with its parts."""

    settings: Settings
    database: Database
    privacy: Privacy
    sessions: Sessions
    first_start: FirstStart | None = None
    erasures_repeated: int = 0
    checks: dict[str, Check] = field(default_factory=dict)
    # Who keeps words of documents outside the documents' own tables, and is asked to let go of them.
    on_purge: list[OnPurge] = field(default_factory=lambda: [drop_event_vectors, let_go_of_copies, forget_names])
    _embedder_state: tuple[float, PartState] | None = None
    _other_embedders: "dict[str, Embedder | None]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Inline lenses must be known before the first event is appended.
        _ = self.projector

    @property
    def log(self) -> EventLog:
        """The log, with personal fields sealed."""
        return self.privacy.log

    @cached_property
    def projector(self) -> Projector:
        """The lenses of this program."""
        projector = Projector(self.log)
        projector.add(DOCUMENTS)
        projector.add(SEMANTICS)
        projector.add(MAIL)
        projector.add(MAIL_CONSENSUS)
        projector.add(MAIL_SUMMARIES)
        projector.add(memory_lens.LENS)
        return projector

    @cached_property
    def files(self) -> Files:
        """Uploads and blobs."""
        return files_for(self.settings)

    @cached_property
    def memory(self) -> Memory:
        """Memory objects, their branches and graphs."""
        return Memory(self.log, self.projector, lambda: self.embedder)

    @cached_property
    def entity_states(self) -> EntityStates:
        """Entities as of now, folded from their events."""
        return EntityStates.of(self.log, self.settings)

    def tie_lenses_to_privacy(self) -> None:
        """Whoever keeps something derived from payloads is told of erasures and redactions, and asked before an
        archiving."""
        for keeper in (self.projector, self.entity_states):
            self.privacy.erasures.on_erased.append(keeper.on_erased)
            self.privacy.redactions.on_redacted.append(keeper.on_redacted)
            self.privacy.archive.coverage.append(keeper.coverage)
        # After the lens, which says what texts there still are.
        self.privacy.erasures.on_erased.append(self.memory.vectors.on_erased)
        self.privacy.erasures.on_erased.append(self._purge_erased)
        self.privacy.erasures.also_known_as = also_known_as

    async def purge_document(self, tenant: UUID, actor: Actor, doc_id: UUID) -> Purged:
        """Destroy a document's content for good, wherever words of it are kept."""
        listed = self.privacy.erasures.put_on_list
        purged = await purge(self.log, self.files, tenant, actor, doc_id, self.on_purge, listed)
        self.privacy.keys.forget(tenant, [subject_of(doc_id)])
        await blank_copies(self.database, self.files, tenant, doc_id)
        async with self.database.transaction(tenant) as tx:
            attached = await attached_documents(tx, doc_id)
        for one in attached:
            await self.purge_document(tenant, actor, one)
        return purged

    async def _purge_erased(
        self, tenant: UUID, subjects: Sequence[str], affected: Sequence[object] = ()
    ) -> Sequence[str]:
        """Who has the key of a document destroyed wants the document gone, and with a person goes their account."""
        async with self.database.transaction(tenant) as tx:
            await drop_strays(tx)
        for doc_id in filter(None, map(document_of, subjects)):
            await self.purge_document(tenant, SYSTEM, doc_id)
        await close_accounts(self.log, tenant, subjects)
        return ()

    @property
    def url(self) -> str:
        """Where people reach this server."""
        if self.settings.public_url:
            return self.settings.public_url.rstrip("/")
        if running := served_address(self.settings.home):
            return running
        return self.settings.listening_url

    def login_url(self, link_secret: str) -> str:
        """The secret stands after `#`, so that no server log or Referer header ever sees it."""
        return f"{self.url}/login#{link_secret}"

    @property
    def schedules(self) -> Sequence[Schedule]:
        """What comes again by the clock, by these settings."""
        return schedules_of(self.settings)

    @cached_property
    def integrity(self) -> Integrity:
        """Its keys and checkpoints are in the home, outside the database that they speak about."""
        told = self.settings.log_signing_key
        return Integrity(self.database, self.log.reader, home_of(self.settings), self.log, told)

    @cached_property
    def witnesses(self) -> Witnesses:
        """Places outside that checkpoints are sent to."""
        given = self.settings.log_witnesses
        named = [one.strip() for one in given.get_secret_value().split(",")] if given else []
        places = [witness_at(one, home_of(self.settings)) for one in named if one]
        return Witnesses(self.integrity, self.log.reader, places)

    @cached_property
    def embedder(self) -> "Embedder":
        """Made on first use, since most commands need no model."""
        from mnemon.models.choose import open_embedder

        return open_embedder(self.settings)

    @cached_property
    def vector_moves(self) -> "VectorMoves":
        """For the job that brings vectors to the embedder's model."""
        from mnemon.models.vector_moves import VectorMoves

        return VectorMoves(self.database, self.embedder)

    def missing_vectors(self, part: int = 0, of: int = 1) -> "MissingVectors":
        """For the jobs that give vectors to texts without one: to all, or to a part of them."""
        from mnemon.models.missing_vectors import MissingVectors, Part

        return MissingVectors(self.database, self.embedder, Part(part, of))

    @cached_property
    def model_calls(self) -> "DatabaseRecorder":
        """The records of calls to the language model."""
        from mnemon.models.calls import DatabaseRecorder

        return DatabaseRecorder(self.database)

    @cached_property
    def language_model(self) -> "LanguageModel":
        """Every call is recorded in this database."""
        from mnemon.models.choose import open_language_model

        return open_language_model(self.settings, self.model_calls)

    @cached_property
    def searcher(self) -> "Searcher":
        """Searches with the embedder whose vectors a tenant has, while the settings offer it."""
        from mnemon.ask.learned.cross_encoder import open_cross_encoder, open_statement_reader
        from mnemon.ask.reranker import open_reranker
        from mnemon.ask.search import Searcher
        from mnemon.search.ranking import Ranking

        return Searcher(
            self.database, self._embedder_of, Ranking.of(self.settings), open_reranker(self.settings),
            open_cross_encoder(self.settings), open_statement_reader(self.settings),
        )  # fmt: skip

    @cached_property
    def asking(self) -> "Asking":
        """Answers questions, and records them."""
        from mnemon.ask.answer import Asking

        return Asking(self.searcher, self.log, self.language_model, self._recall)

    async def _recall(self, tenant: UUID, question: str, limit: int, reader: "Reader") -> "Sequence[Remembered]":
        """Memory for the answers: the trunk of the tenant's own world."""
        from mnemon.ask.recall import Remembered

        found = await self.memory.search.search(tenant, self.memory.place(tenant), question, limit=limit, reader=reader)
        return [
            Remembered(
                hit.object.emo_id, hit.object.emo_version, hit.object.emo_type, hit.object.place.branch,
                hit.object.content, hit.object.updated_at, hit.score,
            )
            for hit in found.hits
        ]  # fmt: skip

    def _embedder_of(self, model_id: str) -> "Embedder | None":
        from mnemon.models.choose import open_embedder_of

        if self.embedder.model_id == model_id:
            return self.embedder
        if model_id not in self._other_embedders:
            self._other_embedders[model_id] = open_embedder_of(self.settings, model_id)
        return self._other_embedders[model_id]

    async def check_embedder(self) -> PartState:
        """Whether texts become vectors; asked of the model itself, but not at every question."""
        from mnemon.models.embedder import embedding_health

        if self._embedder_state is None or time.monotonic() - self._embedder_state[0] > EMBEDDER_STATE_LIVES:
            health = await embedding_health(self.embedder)
            detail = health.model_id if health.available else f"{health.error} {health.remedy or ''}".strip()
            self._embedder_state = time.monotonic(), PartState(health.available, detail, needed=False)
        return self._embedder_state[1]

    async def close_models(self) -> None:
        if "asking" in vars(self):
            await self.asking.close()
        for name in {"embedder", "language_model", "searcher"} & vars(self).keys():
            await vars(self)[name].close()
        for embedder in self._other_embedders.values():
            if embedder is not None:
                await embedder.close()

    async def readiness(self) -> dict[str, PartState]:
        """Ask every part at once, each within its time."""
        return await ask_every(self.checks)


@asynccontextmanager
async def open_mnemon(settings: Settings) -> AsyncIterator[Mnemon]:
    """Start what is needed, bring the schema up to date, and close everything at the end."""
    use_default_attempts(settings.job_attempts)
    async with open_database(settings) as database:
        async with database.owner() as owner:
            await migrate(owner)
        async with await connect(database.server, database.server.app_conninfo) as application:
            await check_used_role(application)
        async with open_privacy(settings, database) as privacy:
            made = await first_start(privacy.log)
            mnemon = Mnemon(settings, database, privacy, await _sessions(settings, database), made)
            mnemon.tie_lenses_to_privacy()
            # Before anything is served: this may be a database that was restored to an earlier time.
            mnemon.erasures_repeated = await privacy.repeat_erasures()
            mnemon.checks["database"] = lambda: check_database(database)
            mnemon.checks["migrations"] = lambda: check_migrations(database)
            mnemon.checks["keys"] = lambda: check_keys(privacy)
            # Nobody else may have made it: keys and database can be elsewhere. What is wrong with it, the check says.
            with suppress(OSError):
                settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            mnemon.checks["disk"] = lambda: check_disk(settings.home, settings.least_free_disk_mb)
            mnemon.checks["integrity"] = lambda: check_integrity(database, verification_schedules(settings))
            mnemon.checks["queue"] = lambda: check_queue(database)
            mnemon.checks["embedder"] = mnemon.check_embedder
            try:
                yield mnemon
            finally:
                await mnemon.close_models()


async def _sessions(settings: Settings, database: Database) -> Sessions:
    given, home = settings.jwt_secret, home_of(settings)
    kept = None if given else await made_in_turn(database, home, lambda: kept_key(home, "session.key"))
    key = given.get_secret_value() if given else str(kept)
    return Sessions(database, key, timedelta(hours=settings.jwt_expiry_hours))
