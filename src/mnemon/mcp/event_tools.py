"""Tools on semantic events: what was decided, promised, done and changed, with the words that prove it."""

from typing import Annotated

from pydantic import Field

from mnemon.mcp import semantic_events
from mnemon.mcp.bind import tool
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.mcp.semantic_events import WholeEventShown
from mnemon.operations import Differs, read_input
from mnemon.semantics import operations
from mnemon.semantics.corrections import operations as corrections

PageLimit = Annotated[int, Field(ge=1, le=100)]
TOO_MUCH = "A long text says more than an agent should read at once."
A_PAGE = {"limit": Differs(TOO_MUCH, default=100, takes=PageLimit)}


def add(door: AgentDoor) -> None:
    tool(door, "event_search", operations.search, title="Search events", core=True, present=semantic_events.found)
    tool(door, "event_get", operations.get, title="One event", present=semantic_events.whole)
    tool(
        door, "event_list_for_revision", operations.of_revision, title="Events of a revision",
        present=semantic_events.of_revision, differences=A_PAGE,
    )  # fmt: skip
    tool(door, "job_status", operations.extraction_status, title="State of an extraction")
    tool(door, "event_reextract", operations.reextract, title="Read events anew")
    _add_corrections(door)


def _add_corrections(door: AgentDoor) -> None:
    for name, one, title in (
        ("event_mark", corrections.mark, "Confirm, finish or dismiss an event"),
        ("event_edit", corrections.edit, "Correct an event"),
        ("event_merge", corrections.merge, "Merge events"),
        ("event_split", corrections.split, "Split an event"),
        ("event_link", corrections.link, "Link two events"),
        ("event_unlink", corrections.unlink, "Unlink two events"),
        ("event_undo", corrections.undo, "Take a correction back"),
    ):
        tool(door, name, one, title=title, present=semantic_events.whole)


async def whole_event(caller: AgentCaller, event_id: str) -> WholeEventShown:
    asked = read_input(operations.get, {"event_id": event_id})
    return semantic_events.whole(await operations.get(caller.mnemon, caller, asked))
