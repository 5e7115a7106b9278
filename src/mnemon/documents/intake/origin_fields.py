"""What a sender may say of what they send, as every door takes it."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from mnemon.documents.intake.files import Received
from mnemon.documents.intake.origin import (
    LONGEST_NAME,
    LONGEST_URI,
    MOST_PEOPLE,
    MOST_TAGS,
    RETENTIONS,
    SCOPES,
    SENSITIVITIES,
    TYPES,
    UPLOAD,
    Origin,
)
from mnemon.inputs import FirstMoment, LastMoment, Maybe
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
Tags = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(lambda value: None if value is None else _listed(value)),
    Field(json_schema_extra={"maxItems": MOST_TAGS}),
]
Uri = Annotated[str, Field(json_schema_extra={"maxLength": LONGEST_URI})]
# Not read from JSON: the door has it on disk already.
FileOnDisk = Annotated[Received | None, WithJsonSchema({"type": "string", "format": "binary"})]
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
        None,
        description="Who may read it: me alone, custom or team with the readers, or org, everyone here. Default: org.",
    )
    readers: People = Field((), description="Who else may read it, with custom or team: e-mail addresses, or user:….")
    retention_policy: Retention | None = Field(None, description="How long it is kept. Default: forever.")
    retain_until: Maybe[LastMoment] = Field(None, description="With retention_policy custom: when it is purged.")


class UploadFields(OriginFields):
    """A file, and what may be said of it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    file: FileOnDisk = Field(None, description="The file itself.")
    tags: Tags = Field(None, description="Words to find it by.")
    source_uri: Uri | None = Field(
        None,
        description="Where it comes from, like file:///policies/travel.pdf: another content from there is a new "
        "revision of the same document. Default: the content itself.",
    )
    new_version_of: Maybe[UUID] = Field(
        None, description="The document that this file is a new version of, wherever that came from."
    )
    document_type: TextType | None = Field(None, description="What kind it is. Default: email for a mail, else doc.")
    written_at: Maybe[FirstMoment] = Field(
        None, description="When it was written, a day or a moment. Default: as the file says."
    )

    def origin(self) -> Origin:
        said = {name: getattr(self, name) for name in UploadFields.model_fields if name != "file"}
        return Origin(**said, source_type=(self.source_uri or f"{UPLOAD}://").partition("://")[0])
