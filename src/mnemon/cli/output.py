"""How commands speak: tables and sentences on a terminal, one JSON document with --json."""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated, Any
from urllib.parse import quote

import orjson
import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table

from mnemon.errors import InvalidRequest, MnemonError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON document per line instead of text.")]
TenantOption = Annotated[str, typer.Option("--tenant", help="The tenant's short name.", metavar="NAME")]
EveryTenant = Annotated[
    str | None, typer.Option("--tenant", help="Only this tenant's; all tenants' unless given.", metavar="NAME")
]

console = Console(highlight=False, soft_wrap=True)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

UNBOUNDED = 1_000_000


def show(result: Any, as_json: bool, human: Callable[[], None]) -> None:
    """Print the result for a program, or call `human` to print it for a person."""
    if as_json:
        sys.stdout.write(orjson.dumps(result, default=_plain, option=orjson.OPT_INDENT_2).decode() + "\n")
        sys.stdout.flush()
    else:
        human()


def say(text: str, style: str | None = None, link: str | None = None) -> None:
    """A plain sentence: names and addresses in it are shown as they are, never read as markup.

    A terminal that knows links opens `link` from it; others show nothing of that.
    """
    how = Style.parse(style or "") + Style(link=quote(link, safe=":/?#[]@!$&'()*+,;=%-._~")) if link else style
    console.print(text, style=how, markup=False, emoji=False)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """A table, or a sentence where there is nothing to show. Nothing is cut: what is too wide goes on below."""
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        grid.add_column(heading, overflow="fold")
    for row in rows:
        grid.add_row(*(escape(_text(cell)) for cell in row))
    if not console.is_terminal:
        grid.width = Measurement.get(console, console.options.update(max_width=UNBOUNDED), grid).maximum
    console.print(grid if grid.row_count else empty)


def agree(question: str) -> None:
    """Ask, beside what the command prints, and stop unless the answer is yes."""
    complaints.print(f"{question} [y/N]: ", end="", markup=False, emoji=False)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise typer.Abort


def screen_width() -> int:
    """A person's screen has one; a file or a program gets each row on one line, as long as it is."""
    return console.width if console.is_terminal else UNBOUNDED


def one_line(text: str, most: int | None = None) -> str:
    """For a quote in running text: white space collapsed, and cut between two words where it is too long."""
    line = " ".join(text.split())
    if most is None or len(line) <= most:
        return line
    return line[:most].rpartition(" ")[0].rstrip(" ,;:") + " …"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def fail(failure: MnemonError, as_json: bool) -> None:
    """The error in the one shape for a program, and as a sentence for a person, on standard error."""
    if as_json:
        sys.stderr.write(orjson.dumps(failure.as_json(), default=_plain).decode() + "\n")
    else:
        complaints.print(f"[bold red]Error:[/] {escape(failure.message)}")


def _text(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, datetime):
        return cell.astimezone().strftime("%Y-%m-%d %H:%M")
    return str(cell)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)


def new_file(file: Path) -> IO[bytes]:
    """What is there already is never written over: it may be the older proof."""
    try:
        return file.open("xb")
    except FileExistsError:
        raise InvalidRequest(f"{file} exists already: choose another name.", file=str(file)) from None
    except OSError as failure:
        raise InvalidRequest(f"{file} cannot be written: {failure.strerror}.", file=str(file)) from None
