"""`mnemon settings`: every setting, its value and its meaning."""

from typing import Any

from mnemon.cli.context import on_its_own, settings_for_command
from mnemon.cli.output import Json, show, table
from mnemon.models.redact import without_login
from mnemon.settings import DescribedSetting, described_settings


@on_its_own("Settings are read from the environment of this machine.")
def settings(
    as_json: Json = False,
) -> None:
    """Show every setting with its present value; secrets are never shown.

    Example: mnemon settings --json
    """
    present = settings_for_command()
    rows = [_row(setting, getattr(present, setting.field)) for setting in described_settings()]
    show(rows, as_json, lambda: table(["Setting", "Value", "Meaning"], [list(row.values())[:3] for row in rows], ""))


def _row(setting: DescribedSetting, value: Any) -> dict[str, Any]:
    shown = value if value is None or isinstance(value, bool | int) else without_login(str(value))
    return {
        "name": setting.names[0],
        "value": "set, not shown" if setting.secret and value is not None else shown,
        "meaning": setting.meaning,
        "accepts": setting.accepts,
        "default": setting.default,
        "other_names": list(setting.names[1:]),
    }
