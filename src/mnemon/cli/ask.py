"""`mnemon search` and `mnemon ask`: passages and answers on a terminal."""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from mnemon.ask import operations
from mnemon.ask.citations import Citation, MemoryCitation
from mnemon.ask.explained import WeighedExplanation
from mnemon.ask.frames import Frames
from mnemon.ask.hits import PassageHit
from mnemon.ask.outputs import Answered, PassagesFound
from mnemon.ask.proving.filed import AnswerFileAsked
from mnemon.ask.proving.printable import as_page
from mnemon.cli.binding.bind import Values, asked_of, bound_command, call, calling
from mnemon.cli.context import run_async
from mnemon.cli.last_shown import Place, remember_shown, span_of
from mnemon.cli.output import console, counted, new_file, one_line, say, show
from mnemon.cli.verifier import verifier
from mnemon.client.servers import address_of
from mnemon.errors import MnemonError
from mnemon.operations import Differs, as_json
from mnemon.settings import load_settings

SHORT = {
    "doc_id": "--document", "doc_version_id": "--version", "artifact_uid": "--artifact", "media_type": "--type",
    "from_date": "--from", "to_date": "--to",
}  # fmt: skip
WHOLE = {"stream": Differs("A terminal shows the answer when it is there.")}


def print_answer(answer: Answered) -> None:
    """Sentences with numbers, and below them what each number opens; or the refusal. And why, if that was asked."""
    if answer.refusal:
        _print_refusal(answer)
    else:
        _print_sentences(answer)
    if answer.explanation:
        _print_explanation(answer.explanation)


def _print_explanation(why: WeighedExplanation) -> None:
    say(
        f"Taken as a question for {why.kind} about {', '.join(why.words) or 'nothing'}. Chance of the best of "
        f"{counted(why.weighed, 'statement')}: {why.chance:.2f}; told from {why.enough:.2f} on."
    )
    for one in why.best:
        say(f"  {one.score:.2f} {one.title}: “{one_line(one.text)}”")
        say(f"       {'  '.join(f'{name} {value:+.2f}' for name, value in one.adds.items())}", "dim")


def _print_sentences(answer: Answered) -> None:
    cited: list[Citation | MemoryCitation] = []
    for sentence in answer.sentences:
        own: list[Citation | MemoryCitation] = [*sentence.citations, *sentence.remembered]
        marks = "".join(f"[{len(cited) + place}]" for place in range(1, len(own) + 1))
        cited += own
        say(f"{one_line(sentence.told)} {marks}".rstrip())
    say("")
    for place, one in enumerate(cited, 1):
        _print_source(place, one, answer.frames)
    _print_understood(answer)
    if answer.citations:
        first = cited.index(answer.citations[0]) + 1
        say(answer.frames.say("to_open", command=f"mnemon open {first}"), "dim")
    say(answer.frames.say("to_keep", command=f"mnemon receipt {answer.query_id} -o answer.html"), "dim")
    remember_shown(map(_place_of, cited))
    if answer.lexical_only:
        say(answer.frames.say("words_only", why=answer.lexical_only), "dim")


def _print_source(place: int, one: Citation | MemoryCitation, frames: Frames) -> None:
    if isinstance(one, MemoryCitation):
        version = frames.say("version", number=one.emo_version)
        say(f"[{place}] {frames.say('memory')} {one.emo_id}, {version}: “{one_line(one.quote)}”")
        return
    said = frames.day(one.said_on) if one.said_on else ""
    version = frames.say("version", number=one.version_number)
    parts = (version, frames.say("page", number=one.first_page) if one.first_page else "", one.speaker, said)
    where = "".join(f", {part}" for part in parts if part)
    opens = _opens(one)
    say(f"[{place}] {one.title}{where}: “{one_line(one.quote)}”", link=opens)
    say(f"    {one.link}", "dim", link=opens)


def _opens(one: Citation) -> str | None:
    """At a server the page with the words marked; at home the file itself, where it is one."""
    if server := load_settings().server:
        return f"{address_of(server)}/evidence/{one.doc_version_id}/{one.start}-{one.end}"
    source = (one.source_uri or "").partition("#")[0]
    return source if source.startswith(("file://", "https://", "http://")) else None


def _place_of(one: Citation | MemoryCitation) -> Place:
    if isinstance(one, MemoryCitation):
        return {"emo_id": str(one.emo_id)}
    return span_of(one.doc_version_id, one.start, one.end)


def _print_understood(answer: Answered) -> None:
    limits = [told for name, told in answer.understood.items() if name != "asked_as"]
    if limits:
        read = answer.frames.say("read_as", limits=", ".join(limits))
        say(f"{read}. {answer.frames.say('as_words')}: --as-words", "dim")
    if "asked_as" in answer.understood:
        say(answer.frames.say("asked_as", question=answer.understood["asked_as"]), "dim")


def _print_refusal(answer: Answered) -> None:
    refusal, frames = answer.refusal, answer.frames
    assert refusal is not None
    say(answer.told, "bold")
    _print_understood(answer)
    searched = refusal.searched
    unknown = frames.say("none_has", words=", ".join(searched.unknown_words)) if searched.unknown_words else ""
    say(frames.say("searched", passages=frames.counted("passages", searched.chunks), unknown=unknown))
    for miss in refusal.near_misses:
        day = f", {frames.day(miss.day)}" if miss.day else ""
        say(f"  {frames.say('near' if miss.relevant else 'not_near')}{day}: {miss.title}: “{one_line(miss.snippet)}”")


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
        say(f"   /v1/evidence/{hit.doc_version_id}/{hit.snippet.start}-{hit.snippet.end}  score {hit.score:.2f}", "dim")
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


def hold_dialogue(tenant: str, given: Values, wants_json: bool) -> None:
    """Question by question, until there is none."""
    if not wants_json:
        say(
            "Ask, one question on a line; “and who was against it?” leans on the one before. End: an empty line.", "dim"
        )
    run_async(_hold_dialogue(tenant, given, wants_json))


async def _hold_dialogue(tenant: str, given: Values, wants_json: bool) -> None:
    conversation = given.get("conversation_id") or f"terminal-{uuid4().hex[:12]}"
    async with calling(tenant) as answered:
        while line := (await asyncio.to_thread(_next_line)).strip():
            try:
                asked = asked_of(operations.ask, given | {"question": line, "conversation_id": conversation})
                answer = await answered(operations.ask, asked)
            except MnemonError as refusal:
                say(refusal.message, "bold")
                continue
            show(as_json(answer), wants_json, partial(print_answer, answer))


def _next_line() -> str:
    if sys.stdin.isatty():
        console.print("? ", style="bold", end="")
    return sys.stdin.readline()


search = bound_command(
    operations.search, _print_found, words="query", short=SHORT, example="mnemon search who approved the budget"
)
ask = bound_command(
    operations.ask, print_answer, words="question", short=SHORT, differences=WHOLE, without_words=hold_dialogue,
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
