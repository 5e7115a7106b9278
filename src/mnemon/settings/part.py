"""How one setting is declared: its default, its meaning and its names."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field
from pydantic_settings import NoDecode

PREFIX = "MNEMON_"


def setting(default: Any, meaning: str, name: str | None = None, *other_names: str, **limits: Any) -> Any:
    """A field read from MNEMON_<NAME>; a `name` given here adds the names that other specifications use."""
    if name:
        limits["validation_alias"] = AliasChoices(PREFIX + name, *(other_names or (name,)))
    if callable(default):
        return Field(default_factory=default, description=meaning, **limits)
    return Field(default, description=meaning, **limits)


def split_list(value: Any) -> Any:
    """What was written with commas, as a tuple."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def absolute_folder(value: Path) -> Path:
    return value.expanduser().absolute()


# As types, not as validators of each part: of two methods with one name the whole would keep one.
TextList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split_list)]
Folder = Annotated[Path, AfterValidator(absolute_folder)]
