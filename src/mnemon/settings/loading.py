"""Read the settings, or say in one sentence each what is wrong."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError

from mnemon.errors import BadSettings
from mnemon.settings.described import described_settings
from mnemon.settings.part import PREFIX
from mnemon.settings.whole import Settings

# Read by the benchmarks and the test suite, not by the program.
NOT_SETTINGS = frozenset({"MNEMON_EVAL_DATA"})
# Credentials for `mnemon mcp` and for who approves an erasure: read from the environment alone, so that one in a file
# must not seem to hold.
ONLY_IN_ENVIRONMENT = frozenset({"MNEMON_TOKEN", "MNEMON_APPROVER_TOKEN"})


def load_settings(**overrides: Any) -> Settings:
    """Read the environment, or stop with one sentence per wrong variable."""
    _refuse_unknown_names()
    try:
        return Settings(**overrides)
    except ValidationError as failure:
        raise BadSettings(" ".join(_sentence(error) for error in failure.errors())) from None


def _refuse_unknown_names() -> None:
    known = {name for setting in described_settings() for name in setting.names}
    given = os.environ.keys() - ONLY_IN_ENVIRONMENT
    for name in (*sorted(given), *_names_in_env_file()):
        if name.startswith(PREFIX) and name not in known | NOT_SETTINGS:
            close = difflib.get_close_matches(name, known, 1, cutoff=0.8)
            hint = f"did you mean {close[0]}?" if close else "`mnemon settings` lists them all."
            raise BadSettings(f"{name} is not a setting: {hint}", variable=name)


def _names_in_env_file() -> Iterator[str]:
    file = Path(str(Settings.model_config["env_file"]))
    try:
        yield from (name.upper() for name in dotenv_values(file)) if file.is_file() else ()
    except UnicodeDecodeError:
        raise BadSettings(f"{file.absolute()} is not UTF-8 text.") from None


def _sentence(error: Any) -> str:
    """Name the variable, the value (never a secret) and what would be accepted."""
    if not error["loc"]:
        return str(error["ctx"]["error"]) + "."
    where = str(error["loc"][0])
    setting = next(one for one in described_settings() if where in (one.field, *one.names))
    name = next((one for one in setting.names if one in os.environ), setting.names[0])
    given = "the value given" if setting.secret else repr(error["input"])
    return f"{name} does not accept {given}: give {setting.accepts}."
