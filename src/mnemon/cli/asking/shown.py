"""How an answer is shown on a terminal: sentences with numbers, what each number opens, or the refusal."""

from uuid import UUID

from mnemon.ask.citations import Citation, MemoryCitation
from mnemon.ask.explained import WeighedExplanation
from mnemon.ask.frames import Frames
from mnemon.ask.outputs import Answered
from mnemon.cli.asking.last_shown import Place, remember_shown, span_of
from mnemon.cli.binding.bind import tenant_named
from mnemon.cli.context import server_named
from mnemon.cli.output import counted, one_line, say
from mnemon.client.servers import address_of
from mnemon.documents.intake.file_address import file_at
from mnemon.settings import load_settings


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
    say(answer.frames.say("to_open", command=f"mnemon open 1{tenant_named()}"), "dim")
    kept = f"mnemon{server_named()} receipt {answer.query_id} -o answer.html{tenant_named()}"
    say(answer.frames.say("to_keep", command=kept), "dim")
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
    page = frames.say("page", number=one.first_page) if one.first_page else ""
    # What the title says already is not said again.
    section = next((f"“{name}”" for name in one.headings[-1:] if name != one.title), "")
    where = "".join(f", {part}" for part in (version, page, section, one.speaker, said) if part)
    opens = opened_by(one.source_uri, one.doc_version_id, one.start, one.end)
    say(f"[{place}] {one.title}{where}: “{one_line(one.quote)}”", link=opens)
    if opens:
        say(f"    {as_written(opens)}", "dim", link=opens)


def as_written(link: str) -> str:
    """A file of this machine by its path."""
    return str(file_at(link) or link)


def opened_by(source_uri: str | None, revision: UUID, start: int, end: int) -> str | None:
    """At a server the page with the words marked; at home the file itself, where it is one."""
    if server := load_settings().server:
        return f"{address_of(server)}/evidence/{revision}/{start}-{end}"
    source = (source_uri or "").partition("#")[0]
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
