"""Every setting in one place: its name, type, default and meaning, in a part for each group of rooms."""

from mnemon.settings.described import DescribedSetting, described_settings
from mnemon.settings.loading import load_settings
from mnemon.settings.server import is_loopback
from mnemon.settings.whole import Settings

__all__ = ["DescribedSetting", "Settings", "described_settings", "is_loopback", "load_settings"]
