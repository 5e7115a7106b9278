"""`mnemon open`: the source of a number in the last answer, with the words marked."""

from typing import Annotated, Any

import typer
from rich.text import Text

from mnemon.ask.citations import OpenedEvidence
from mnemon.ask.operations import evidence
from mnemon.cli.asking.last_shown import shown_place
from mnemon.cli.binding.bind import Alternative, bound_command
from mnemon.cli.memory.views import print_object
from mnemon.cli.output import console, say
from mnemon.memory.operations import objects
from mnemon.operations import Differs

BY_NUMBER = {name: Differs("The number says it.") for name in ("doc_version_id", "start", "end")}
AS_IT_IS = {name: Differs("The number says it.") for name in objects.get.input.model_fields}
NUMBER: dict[str, Any] = {
    "number": Annotated[int, typer.Argument(help="The number of a citation, or of a passage that was found.", min=1)]
}


def _was_remembered(values: dict[str, Any]) -> bool:
    return "emo_id" in shown_place(values["number"])


def _of_number(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    return values | shown_place(values.pop("number"))


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


remembered = Alternative(
    operation=objects.get, human=print_object, when=_was_remembered, prepare=_of_number, differences=AS_IT_IS,
    written=lambda one: {**one, **one.pop("view_data")},
)  # fmt: skip
open_source = bound_command(
    evidence, print_opened, beside=NUMBER, prepare=_of_number, differences=BY_NUMBER, alternatives=[remembered],
    says="Show the source of a number in the last answer or search, with the words marked.\n\n"
    "It looks where that answer came from: at home, or at the server that was asked.",
    example="mnemon open 1",
)  # fmt: skip
