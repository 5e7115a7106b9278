"""`mnemon open`: the source of a number in the last answer, with the words marked."""

from typing import Annotated, Any

import typer
from rich.text import Text

from mnemon.ask.citations import OpenedEvidence
from mnemon.ask.operations import evidence
from mnemon.cli.binding.bind import bound_command
from mnemon.cli.last_shown import shown_span
from mnemon.cli.output import console, say
from mnemon.operations import Differs

BY_NUMBER = {name: Differs("The number says it.") for name in ("doc_version_id", "start", "end")}
NUMBER: dict[str, Any] = {
    "number": Annotated[int, typer.Argument(help="The number of a citation, or of a passage that was found.", min=1)]
}


def _of_number(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    return values | shown_span(values.pop("number"))


def print_opened(found: OpenedEvidence) -> None:
    page = f", page {found.pages[0]}" if found.pages else ""
    old = "" if found.is_active else " (no longer served)"
    say(f"{found.title}, version {found.version_number}{old}{page}", "bold")
    say(found.source_uri, "dim")
    say("")
    # Where there is no colour, brackets show what was quoted.
    plain = not console.is_terminal
    quote = f"⟦{found.quote}⟧" if plain else found.quote
    cut = "… " if found.start > len(found.before) else ""
    console.print(Text.assemble(cut + found.before, (quote, "reverse"), found.after))


open_source = bound_command(
    evidence, print_opened, beside=NUMBER, prepare=_of_number, differences=BY_NUMBER,
    says="Show the source of a number in the last answer or search, with the words marked.", example="mnemon open 1",
)  # fmt: skip
