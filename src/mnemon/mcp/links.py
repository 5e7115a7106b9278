"""Addresses of what results speak about, so that a client can open the exact words: `mnemon://…`."""

from collections.abc import Sequence

from mcp_types import ContentBlock, ResourceLink
from pydantic import BaseModel

# The span stands in the fragment: the rest names the revision, which never changes.
REVISION = "mnemon://artifact/{artifact}/rev/{revision}"
SPAN = REVISION + "{#span}"
EVENT = "mnemon://event/{event_id}"
MEMORY = "mnemon://memory/{memory_id}"
# A page of results may link to more places than anyone opens.
MOST_LINKS = 20


def artifact_uri(artifact: object, revision: object, start: int | None = None, end: int | None = None) -> str:
    """A revision, or the span of it that is quoted."""
    whole = f"mnemon://artifact/{artifact}/rev/{revision}"
    return whole if start is None or end is None else f"{whole}#{start}-{end}"


def event_uri(event_id: str) -> str:
    return f"mnemon://event/{event_id}"


def memory_uri(memory_id: object) -> str:
    return f"mnemon://memory/{memory_id}"


class Linked(BaseModel):
    """An answer that points at what it rests on."""

    def places(self) -> Sequence[ResourceLink]:
        return ()

    def brief(self) -> str | None:
        """The same in few words, for the short list of tools; None where there is no shorter form."""
        return None

    def link_blocks(self) -> list[ContentBlock]:
        """Each place once, in the order of the answer."""
        first = {link.uri: link for link in reversed(self.places())}
        ordered = dict.fromkeys(link.uri for link in self.places())
        return [first[uri] for uri in list(ordered)[:MOST_LINKS]]


def link(uri: str, name: str, description: str | None = None, mime_type: str = "text/plain") -> ResourceLink:
    return ResourceLink(uri=uri, name=name, description=description, mime_type=mime_type)
