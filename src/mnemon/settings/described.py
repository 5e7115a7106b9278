"""Every setting as a reader sees it, for `mnemon settings`, the error messages and the documentation."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo

from mnemon.settings.database import default_home
from mnemon.settings.part import PREFIX
from mnemon.settings.whole import PARTS, Settings


@dataclass(frozen=True)
class DescribedSetting:
    """One setting as a reader sees it."""

    field: str
    names: tuple[str, ...]
    accepts: str
    default: str
    meaning: str
    secret: bool


def described_settings() -> Iterator[DescribedSetting]:
    """All settings, part by part."""
    for field in (field for part in PARTS for field in part.model_fields):
        info = Settings.model_fields[field]
        alias = info.validation_alias
        names = alias.choices if isinstance(alias, AliasChoices) else [PREFIX + field.upper()]
        yield DescribedSetting(
            field=field,
            names=tuple(str(name) for name in names),
            accepts=_accepts(info),
            default=_default(info),
            meaning=info.description or "",
            secret=SecretStr in (info.annotation, *get_args(info.annotation)),
        )


def _accepts(info: FieldInfo) -> str:
    kinds = [kind for kind in (get_args(info.annotation) or (info.annotation,)) if kind is not type(None)]
    kinds = [get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds]
    if get_origin(info.annotation) is Literal:
        return " or ".join(str(kind) for kind in kinds)
    if int in kinds:
        least = next(limit.ge for limit in info.metadata if hasattr(limit, "ge"))
        most = next(limit.le for limit in info.metadata if hasattr(limit, "le"))
        return f"a whole number from {least} to {most}"
    if bool in kinds:
        return "true or false"
    if info is Settings.model_fields["public_url"]:
        return "an address like https://mnemon.example.org"
    if info is Settings.model_fields["cors_origins"]:
        return "origins like https://app.example.org"
    return "a folder" if Path in kinds else "text"


def _default(info: FieldInfo) -> str:
    if info.default_factory is default_home:
        return "a folder of the user's own; /var/lib/mnemon for root"
    if info.default in (None, ()):
        return "unset"
    return str(info.default).lower() if isinstance(info.default, bool) else str(info.default)
