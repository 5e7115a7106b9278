"""The inputs that tools share, each with its bounds."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

Query = Annotated[str, Field(min_length=1, max_length=2000, description="Plain words, as a person would say them.")]
Limit = Annotated[int, Field(ge=1, le=100, description="Most results on this page.")]
Cursor = Annotated[
    str | None, Field(max_length=2000, description="`next_cursor` of the page before; leave out for the first.")
]
Moment = Annotated[
    str | None, Field(max_length=40, description="A day or a moment, as 2026-03-01 or 2026-03-01T09:30Z.")
]
ArtifactType = Literal["email", "doc", "chat", "transcript", "note"]
# Null where there are none, as many models write it.
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=50)] | None
Name = Annotated[str | None, Field(min_length=1, max_length=200)]
Key = Annotated[
    str | None,
    Field(min_length=1, max_length=150, description="Your own name for this call: a repeat changes nothing."),
]
MemoryId = Annotated[UUID, Field(description="`memory_id` of a memory.")]
Confirm = Annotated[
    bool,
    Field(description="True when the person has agreed. Without it they are asked, or the call is refused."),
]
# Longer texts are documents.
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
