"""Questions and their vectors: checked, embedded by the model whose vectors the tenant has, or by words alone."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.models.active import ModelInUse, active_model
from mnemon.models.embedder import Embedder, Vectors
from mnemon.search.kinds import Kind
from mnemon.search.terms import Opened, open_question

LONGEST_QUESTION = 2_000

EmbedderOf = Callable[[str], Embedder | None]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Asked:
    """A question and its vector, or why meaning takes no part in the search."""

    question: str
    model: ModelInUse | None
    vector: Vectors | None
    lexical_only: str | None = None
    # Whether meaning was asked for at all.
    by_meaning: bool = True

    async def open(self, tx: Connection, kind: Kind) -> Opened:
        """Its words; refused if the tenant's vectors have become another model's meanwhile."""
        opened = await open_question(tx, kind, self.question)
        if self.by_meaning and opened.model != self.model:
            raise ModelChanged
        return opened


class ModelChanged(Exception):
    """The tenant's vectors are of another model than the question's: it is to be embedded once more."""


class Questions:
    """Embeds questions for whoever asks. Which model each tenant has is remembered, and every search checks it."""

    def __init__(self, database: Database, embedder_of: EmbedderOf) -> None:
        self.database = database
        self.embedder_of = embedder_of
        self._models: dict[tuple[UUID, Kind], ModelInUse] = {}

    async def ask(
        self, tenant: UUID, kind: Kind, question: str, search: Callable[[Asked], Awaitable[Result]], *,
        by_meaning: bool = True,
    ) -> Result:  # fmt: skip
        """Search with the question's vector, once more if the model has changed."""
        if not by_meaning:
            return await search(Asked(checked_question(question), None, None, "Only words were asked for.", False))
        while True:
            asked = await self.prepare(tenant, kind, question)
            try:
                return await search(asked)
            except ModelChanged:
                self._models.pop((tenant, kind), None)

    async def prepare(self, tenant: UUID, kind: Kind, question: str) -> Asked:
        """Embed the question by the model in use; outside the search's transaction, since a model may be slow."""
        question = checked_question(question)
        model = self._models.get((tenant, kind))
        if model is None:
            async with self.database.transaction(tenant) as tx:
                model = await active_model(tx, kind.vectors)
            if model is not None:
                self._models[tenant, kind] = model
        vector, missing = await self._embed(question, model)
        return Asked(question, model, vector, missing)

    async def _embed(self, question: str, model: ModelInUse | None) -> tuple[Vectors | None, str | None]:
        """The question's vector, or why there is none. A search never fails for want of a model."""
        if model is None:
            return None, "No vectors are stored: nothing was embedded yet, or there is no embedding model."
        embedder = self.embedder_of(model.model_id)
        if embedder is None:
            return None, f"The stored vectors are of {model.model_id}, which the settings do not offer."
        try:
            vector = (await embedder.embed([question], purpose="query"))[0]
        except MnemonError as failure:
            return None, failure.message
        if len(vector) == model.dimension:
            return vector, None
        return None, f"{model.model_id} now gives {len(vector)} numbers, and the stored vectors have {model.dimension}."


def checked_question(question: str) -> str:
    """A question that can be searched for, or the reason why not."""
    plain = " ".join(question.replace("\0", " ").split())
    if not plain:
        raise InvalidRequest("The question is empty: write what to look for.")
    if len(plain) > LONGEST_QUESTION:
        raise InvalidRequest(f"The question has {len(plain)} characters: at most {LONGEST_QUESTION} are searched for.")
    return plain
