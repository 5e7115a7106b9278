"""What a sender may say of what they send, as every door takes it."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from mnemon.documents.intake.origin import LONGEST_NAME, MOST_PEOPLE, RETENTIONS, SCOPES, SENSITIVITIES, TYPES
from mnemon.inputs import LastMoment, Maybe
from mnemon.operations import Input


def _listed(value: Any) -> Any:
    """A form has one line of text for a list: commas separate."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return () if value is None else value


# What is shown here is checked where an origin is read (`checked_origin`), which says what may stand in a field.
Line = Annotated[str, Field(json_schema_extra={"maxLength": LONGEST_NAME})]
TextType = Annotated[str, Field(json_schema_extra={"enum": [*TYPES]})]
Sensitivity = Annotated[str, Field(json_schema_extra={"enum": [*SENSITIVITIES]})]
Scope = Annotated[str, Field(json_schema_extra={"enum": [*SCOPES]})]
Retention = Annotated[str, Field(json_schema_extra={"enum": [*RETENTIONS]})]
Listed = Annotated[tuple[str, ...], BeforeValidator(_listed)]
People = Annotated[Listed, Field(json_schema_extra={"maxItems": MOST_PEOPLE})]


class OriginFields(Input):
    """Where something comes from, who may read it and how long it is kept."""

    title: Line | None = Field(None, description="What it is called. Default: as its file or its text says.")
    author: Line | None = Field(None, description="Who wrote it. Default: as it says itself.")
    participants: People = Field((), description="Who took part.")
    source_system: Line | None = Field(None, description="The system that it comes from.")
    source_id: Line | None = Field(None, description="Its id there.")
    source_url: Line | None = Field(None, description="Where it can be opened.")
    sensitivity: Sensitivity | None = Field(None, description="How careful one has to be with it. Default: normal.")
    visibility_scope: Scope | None = Field(
        None, description="Who may read it: you alone, you and the readers, or everyone. Default: org, everyone here."
    )
    readers: People = Field((), description="Who else may read it, with custom or team: e-mail addresses, or user:….")
    retention_policy: Retention | None = Field(None, description="How long it is kept. Default: forever.")
    retain_until: Maybe[LastMoment] = Field(None, description="With retention_policy custom: when it is purged.")
