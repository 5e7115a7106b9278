"""`mnemon search` and `mnemon ask`: passages and answers on a terminal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mnemon.ask import operations
from mnemon.ask.hits import PassageHit
from mnemon.ask.outputs import PassagesFound
from mnemon.ask.proving.filed import AnswerFileAsked
from mnemon.ask.proving.printable import as_page
from mnemon.cli.asking.dialogue import hold_dialogue
from mnemon.cli.asking.last_shown import remember_shown, span_of
from mnemon.cli.asking.shown import as_written, opened_by, print_answer
from mnemon.cli.binding.bind import Values, bound_command, call
from mnemon.cli.context import run_async
from mnemon.cli.naming import OF_A_DOCUMENT, document_meant
from mnemon.cli.output import new_file, one_line, say, show
from mnemon.cli.verifier import verifier
from mnemon.operations import Differs

SHORT = {
    "doc_id": "--document", "doc_version_id": "--version", "artifact_uid": "--artifact", "media_type": "--type",
    "from_date": "--from", "to_date": "--to",
}  # fmt: skip
WHOLE = OF_A_DOCUMENT | {"stream": Differs("A terminal shows the answer when it is there.")}


def _print_found(found: PassagesFound) -> None:
    for place, hit in enumerate(found.items, 1):
        page = f", page {hit.first_page}" if hit.first_page else ""
        # A document is often called as its first heading: once is enough.
        path = dict.fromkeys([hit.title, *hit.headings])
        say(f"{place}. {' > '.join(path)}{page}", "bold")
        say(f"   {one_line(hit.snippet.text)}")
        for one in hit.replaced:
            day = f" on {one.on:%d %b %Y}" if one.on else ""
            say(f"   replaced{day}: “{one_line(one.quote)}” by “{one_line(one.by)}”")
        opens = opened_by(hit.source_uri, hit.doc_version_id, hit.snippet.start, hit.snippet.end)
        where = f"{as_written(opens)}  " if opens else ""
        say(f"   {where}score {hit.score:.2f}", "dim", link=opens)
        if hit.explanation:
            say(f"   {_parts(hit)}", "dim")
    remember_shown(span_of(hit.doc_version_id, hit.snippet.start, hit.snippet.end) for hit in found.items)
    if not found.items:
        say("Nothing found.")
    if found.lexical_only:
        say(f"Searched by words only. {found.lexical_only}", "dim")


def _parts(hit: PassageHit) -> str:
    assert hit.explanation is not None
    return "  ".join(f"{name} {part.value:.2f} ({part.adds:+.2f})" for name, part in hit.explanation.parts.items())


def _keep_answer(tenant: str, asked: AnswerFileAsked, wants_json: bool, left: Values) -> None:
    """In a file, as a page where its name ends so; or on the terminal."""
    output: Path | None = left["output"]
    as_html = asked.form == "html" or (output is not None and output.suffix in (".html", ".htm"))
    made = run_async(call(operations.answer_file, tenant, asked.model_copy(update={"form": "json"})))
    content = as_page(made) if as_html else made.model_dump_json(indent=2) + "\n"
    if output is None:
        sys.stdout.write(content)
        return
    with new_file(output) as stream:
        stream.write(content.encode())
    said = f"Wrote {output}. Check it offline: python3 {verifier()} answer {output}"
    show({"file": str(output), "query_id": str(made.query_id)}, wants_json, lambda: say(said))


search = bound_command(
    operations.search,
    _print_found,
    words="query",
    short=SHORT,
    prepare=document_meant,
    differences=OF_A_DOCUMENT,
    example="mnemon search who approved the budget",
)
ask = bound_command(
    operations.ask, print_answer, words="question", short=SHORT, differences=WHOLE, without_words=hold_dialogue,
    prepare=document_meant,
    says="Answer a question from the documents, with the quotes that prove each sentence; or refuse and say why.\n\n"
    "Without words a dialogue opens: each line is a question, and a follow-up leans on what was asked before.",
    example="mnemon ask when does the contract end",
)  # fmt: skip
receipt = bound_command(
    operations.answer_file, lambda made: None, arguments=["query_id"], perform=_keep_answer, in_pieces=False,
    beside={
        "output": Annotated[
            Path | None, typer.Option("--output", "-o", help="The new file; a name that ends in .html gives a page.")
        ]
    },
    example="mnemon receipt 01890a5d-ac96-774b-bcce-b302099a8057 --output answer.html",
)  # fmt: skip
