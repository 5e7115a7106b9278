"""The settings of all rooms as one object."""

from pydantic import BaseModel
from pydantic_settings import BaseSettings, SettingsConfigDict

from mnemon.settings.beyond import BeyondSettings
from mnemon.settings.database import DatabaseSettings
from mnemon.settings.documents import DocumentSettings
from mnemon.settings.log import LogSettings
from mnemon.settings.models import ModelSettings
from mnemon.settings.part import PREFIX
from mnemon.settings.reports import ReportSettings
from mnemon.settings.server import ServerSettings
from mnemon.settings.work import WorkSettings

PARTS: tuple[type[BaseModel], ...] = (
    DatabaseSettings,
    ServerSettings,
    LogSettings,
    DocumentSettings,
    ReportSettings,
    ModelSettings,
    WorkSettings,
    BeyondSettings,
)


class Settings(
    DatabaseSettings,
    ServerSettings,
    LogSettings,
    DocumentSettings,
    ReportSettings,
    ModelSettings,
    WorkSettings,
    BeyondSettings,
    BaseSettings,
):
    """What Mnemon reads from the environment, or from a `.env` file in the working directory."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )
