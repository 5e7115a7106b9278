"""What a model may answer. Whatever does not fit these shapes is refused before anyone reads it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mnemon.semantics.semantic_event import ActorRole, Category, SubjectType

Short = Annotated[str, Field(max_length=200)]


class SaidActor(BaseModel):
    ref: Annotated[str, Field(min_length=1, max_length=120)]
    role: ActorRole = "contributor"


class SaidSubject(BaseModel):
    ref: Annotated[str, Field(min_length=1, max_length=200)]
    type: SubjectType = "other"


class SaidEvent(BaseModel):
    """No offsets: they are ours to find."""

    category: Category
    quote: Annotated[str, Field(min_length=1, max_length=600)]
    narrative: Annotated[str, Field(min_length=1, max_length=600)]
    subject: SaidSubject
    actors: Annotated[list[SaidActor], Field(max_length=12)] = []
    event_time: Short | None = None
    due: Short | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.5


class SaidEvents(BaseModel):
    model_config = ConfigDict(title="events")
    events: Annotated[list[SaidEvent], Field(max_length=60)]


class SaidGroup(BaseModel):
    numbers: Annotated[list[int], Field(max_length=60)]


class SaidGroups(BaseModel):
    model_config = ConfigDict(title="groups")
    groups: Annotated[list[SaidGroup], Field(max_length=120)]
