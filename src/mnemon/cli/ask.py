"""`mnemon search` and `mnemon ask`: passages and answers on a terminal."""

from mnemon.ask import operations
from mnemon.ask.explained import WeighedExplanation
from mnemon.ask.hits import PassageHit
from mnemon.ask.outputs import Answered, PassagesFound
from mnemon.cli.bind import bound_command
from mnemon.cli.last_shown import remember_shown
from mnemon.cli.output import counted, one_line, say
from mnemon.operations import Differs

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
    number = 0
    for sentence in answer.sentences:
        marks = "".join(f"[{number + place}]" for place in range(1, len(sentence.citations) + 1))
        number += len(sentence.citations)
        say(f"{one_line(sentence.told)} {marks}")
        for memory in sentence.remembered:
            say(f"  memory {memory.emo_id}, version {memory.emo_version}: “{one_line(memory.quote)}”", "dim")
    say("")
    for place, one in enumerate(answer.citations, 1):
        where = "".join(
            (f", page {one.first_page}" if one.first_page else "", f", {one.speaker}" if one.speaker else "")
        )
        say(f"[{place}] {one.title}, version {one.version_number}{where}: “{one_line(one.quote)}”")
        say(f"    {one.link}", "dim")
    if answer.understood:
        say(f"Read from the question: {', '.join(answer.understood.values())}. As words: --as-words", "dim")
    say("The source of a number, with the words marked: mnemon open 1", "dim")
    remember_shown((one.doc_version_id, one.start, one.end) for one in answer.citations)
    if answer.lexical_only:
        say(f"Searched by words only. {answer.lexical_only}", "dim")


def _print_refusal(answer: Answered) -> None:
    refusal = answer.refusal
    assert refusal is not None
    say(f"No answer. {refusal.message}", "bold")
    searched = refusal.searched
    unknown = f"; no passage has {', '.join(searched.unknown_words)}" if searched.unknown_words else ""
    say(f"Searched {counted(searched.chunks, 'passage')}{unknown}.")
    for miss in refusal.near_misses:
        say(f"  {'near' if miss.relevant else 'not near enough'}: {miss.title}: “{one_line(miss.snippet)}”")


def _print_found(found: PassagesFound) -> None:
    for place, hit in enumerate(found.items, 1):
        page = f", page {hit.first_page}" if hit.first_page else ""
        say(f"{place}. {' > '.join([hit.title, *hit.headings])}{page}", "bold")
        say(f"   {one_line(hit.snippet.text)}")
        for one in hit.replaced:
            day = f" on {one.on:%d %b %Y}" if one.on else ""
            say(f"   replaced{day}: “{one_line(one.quote)}” by “{one_line(one.by)}”")
        say(f"   /v1/evidence/{hit.doc_version_id}/{hit.snippet.start}-{hit.snippet.end}  score {hit.score:.2f}", "dim")
        if hit.explanation:
            say(f"   {_parts(hit)}", "dim")
    remember_shown((hit.doc_version_id, hit.snippet.start, hit.snippet.end) for hit in found.items)
    if not found.items:
        say("Nothing found.")
    if found.lexical_only:
        say(f"Searched by words only. {found.lexical_only}", "dim")


def _parts(hit: PassageHit) -> str:
    assert hit.explanation is not None
    return "  ".join(f"{name} {part.value:.2f} ({part.adds:+.2f})" for name, part in hit.explanation.parts.items())


search = bound_command(
    operations.search, _print_found, words="query", short=SHORT, example="mnemon search who approved the budget"
)
ask = bound_command(
    operations.ask, print_answer, words="question", short=SHORT, differences=WHOLE,
    example="mnemon ask when does the contract end",
)  # fmt: skip
