"""`mnemon search` and `mnemon ask`: passages and answers on a terminal."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from mnemon.ask.answer import Answer
from mnemon.ask.filters import Filters
from mnemon.ask.hits import Hit
from mnemon.ask.search import Found
from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, counted, one_line, say, show
from mnemon.documents.access import Reader
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.read.query import end_of, start_of

Words = Annotated[list[str], typer.Argument(help="The words, as you would say them.")]
Document = Annotated[UUID | None, typer.Option("--document", help="Only this document.")]
Revision = Annotated[UUID | None, typer.Option("--version", help="Only this version, also an old one.")]
Source = Annotated[str | None, typer.Option("--source", help="A kind of source, or the beginning of its address.")]
Kind = Annotated[str | None, typer.Option("--type", help="A media type, such as pdf.")]
Tag = Annotated[str | None, typer.Option("--tag", help="Only documents with this tag.")]
Person = Annotated[str | None, typer.Option("--person", help="Wrote it, took part in it or speaks in it.")]
From = Annotated[str | None, typer.Option("--from", help="Written on or after this day.")]
To = Annotated[str | None, typer.Option("--to", help="Written on or before this day.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="The versions that were active on this day.")]


def search(
    words: Words,
    tenant: TenantOption = DEFAULT_SLUG,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many passages.")] = 10,
    offset: Annotated[int, typer.Option(min=0, max=900, help="How many to pass over.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show each part of each score.")] = False,
    document: Document = None,
    version: Revision = None,
    source: Source = None,
    kind: Kind = None,
    tag: Tag = None,
    person: Person = None,
    written_from: From = None,
    written_to: To = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Find passages by words and meaning: mnemon search who approved the budget"""
    filters = _filters(document, version, source, kind, tag, person, written_from, written_to, as_of)

    async def find() -> Found:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.searcher.search(
                tenant_id,
                " ".join(words),
                filters,
                limit=limit,
                offset=offset,
                explain=explain,
                reader=Reader.of(OPERATOR),
            )

    found = run_async(find())
    show(found.as_json(), as_json, lambda: _print_found(found))


def ask(
    words: Words,
    tenant: TenantOption = DEFAULT_SLUG,
    document: Document = None,
    version: Revision = None,
    source: Source = None,
    kind: Kind = None,
    tag: Tag = None,
    person: Person = None,
    written_from: From = None,
    written_to: To = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Answer a question with citations, or refuse: mnemon ask when does the contract end"""
    filters = _filters(document, version, source, kind, tag, person, written_from, written_to, as_of)

    async def answered() -> Answer:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.asking.ask(tenant_id, OPERATOR, " ".join(words), filters)

    answer = run_async(answered())
    show(answer.as_json(), as_json, lambda: print_answer(answer))


def print_answer(answer: Answer) -> None:
    """Sentences with numbers, and below them what each number opens; or the refusal."""
    if answer.refusal:
        _print_refusal(answer)
        return
    number = 0
    for sentence in answer.sentences:
        marks = "".join(f"[{number + place}]" for place in range(1, len(sentence.citations) + 1))
        number += len(sentence.citations)
        say(f"{one_line(sentence.text)} {marks}")
    say("")
    for place, one in enumerate(answer.citations, 1):
        where = "".join(
            (f", page {one.first_page}" if one.first_page else "", f", {one.speaker}" if one.speaker else "")
        )
        say(f"[{place}] {one.title}, version {one.version_number}{where}: “{one_line(one.quote)}”")
        say(f"    {one.link}", "dim")
    if answer.lexical_only:
        say(f"Searched by words only. {answer.lexical_only}", "dim")


def _print_refusal(answer: Answer) -> None:
    refusal = answer.refusal
    assert refusal is not None
    say(f"No answer. {refusal.message}", "bold")
    searched = refusal.searched
    unknown = f"; no passage has {', '.join(searched.unknown_words)}" if searched.unknown_words else ""
    say(f"Searched {counted(searched.chunks, 'passage')}{unknown}.")
    for miss in refusal.near_misses:
        say(f"  near: {miss.title}: “{one_line(miss.snippet)}”")


def _print_found(found: Found) -> None:
    for place, hit in enumerate(found.hits, 1):
        page = f", page {hit.first_page}" if hit.first_page else ""
        say(f"{place}. {' > '.join([hit.title, *hit.headings])}{page}", "bold")
        say(f"   {one_line(hit.snippet.text)}")
        say(f"   /v1/evidence/{hit.doc_version_id}/{hit.snippet.start}-{hit.snippet.end}  score {hit.score:.2f}", "dim")
        if hit.explanation:
            say(f"   {_parts(hit)}", "dim")
    if not found.hits:
        say("Nothing found.")
    if found.lexical_only:
        say(f"Searched by words only. {found.lexical_only}", "dim")


def _parts(hit: Hit) -> str:
    assert hit.explanation is not None
    return "  ".join(f"{name} {part.value:.2f} ({part.adds:+.2f})" for name, part in hit.explanation.parts.items())


def _filters(
    document: UUID | None, version: UUID | None, source: str | None, kind: str | None, tag: str | None,
    person: str | None, written_from: str | None, written_to: str | None, as_of: str | None,
) -> Filters:  # fmt: skip
    def day(text: str | None, read: Any) -> datetime | None:
        moment: datetime | None = read(text) if text else None
        return moment

    return Filters(
        document=document, revision=version, source=source, media_type=kind, tag=tag, person=person,
        written_from=day(written_from, start_of), written_to=day(written_to, end_of), as_of=day(as_of, end_of),
    )  # fmt: skip
