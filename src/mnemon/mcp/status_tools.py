"""Tools that say how Mnemon is: its parts, and the model that makes vectors."""

from pydantic import BaseModel, Field

from mnemon import __version__
from mnemon.identity.roles import Action
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.models.embedder import EmbeddingHealth
from mnemon.models.embedder import embedding_health as ask_embedder


class PartShown(BaseModel):
    ok: bool
    detail: str


class Status(BaseModel):
    """Whether each part can do its work."""

    version: str
    ok: bool = Field(description="Whether every part that is needed to answer works.")
    parts: dict[str, PartShown]


def add(door: AgentDoor) -> None:
    @door.tool(Action.QUERY, title="Status of Mnemon", core=True, read_only=True)
    async def status(caller: AgentCaller) -> Status:
        """Say whether Mnemon works: database, workers, embedding model. Call it when another tool fails."""
        states = await caller.mnemon.readiness()
        parts = {name: PartShown(ok=state.ok, detail=state.detail) for name, state in states.items()}
        needed = all(state.ok for state in states.values() if state.needed)
        return Status(version=__version__, ok=needed, parts=parts)

    @door.tool(Action.QUERY, title="Health of the embedding model", read_only=True)
    async def embedding_health(caller: AgentCaller) -> EmbeddingHealth:
        """Say which model makes vectors, and whether it answers; if not, how to mend it."""
        return await ask_embedder(caller.mnemon.embedder)
