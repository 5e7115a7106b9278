"""The inputs that tools share, each with its bounds."""

from typing import Annotated, Literal

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
Confirm = Annotated[
    bool,
    Field(description="True when the person has agreed. Without it they are asked, or the call is refused."),
]
