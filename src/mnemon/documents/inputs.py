"""What can be asked of documents as such: names, pages and parts."""

from typing import Annotated

from pydantic import Field

ArtifactUid = Annotated[str, Field(pattern=r"^uid_[A-Za-z0-9]{1,64}$")]
RevisionId = Annotated[str, Field(pattern=r"^rev_[A-Za-z0-9]{1,64}$")]
