"""Help that shows each option by one name: two of them side by side are cut off on a narrow screen."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperCommand


class OneNameEach(TyperCommand):
    """An option is shown by the name that people know, the last one, or by the one that turns it off where it is on.
    Every name works, shown or not."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with _shown_by_one_name(self.params):
            super().format_help(ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`forget [OPTIONS] EMO_ID`: braces around what must be given look like a blank nobody filled in."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


@contextmanager
def _shown_by_one_name(options: list[Any]) -> Iterator[None]:
    whole = [dict(vars(one)) for one in options]
    for one in options:
        if one.default is True and one.secondary_opts:
            one.opts, one.secondary_opts, one.show_default = one.secondary_opts, [], False
            # What turns something off says so: "Whether to add the quotes" does not fit `--no-include-evidence`.
            one.help = re.sub(r"^Whether to ", "Do not ", one.help or "")
        long = [name for name in one.opts if name.startswith("--")]
        one.opts = [name for name in one.opts if name not in long[:-1]]
    try:
        yield
    finally:
        for one, before in zip(options, whole, strict=True):
            vars(one).update(before)
