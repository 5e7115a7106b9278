"""`mnemon remember`, `recall` and `forget`: a thought kept, found and deleted, by the names that agents use."""

from typing import Any
from uuid import UUID

from mnemon.cli.binding.bind import bound_command, call
from mnemon.cli.context import run_async
from mnemon.cli.memory.objects import FILTERS, PLACE, SCOPE
from mnemon.cli.output import one_line, say
from mnemon.errors import InvalidRequest
from mnemon.memory.operations import objects
from mnemon.memory.operations.object_outputs import ObjectPage, ViewedObject
from mnemon.operations import Differs, read_input

# Of what is found by words, so many are looked through for the words themselves, and so many told.
LOOKED_AT, TOLD = 20, 5
LONGER = Differs("`mnemon memory create` takes the rest.")
A_THOUGHT = {
    **dict.fromkeys(
        (
            "facets",
            "parents",
            "links",
            "source",
            "emo_id",
            "mime_type",
            "rationale",
            "key",
            "world_id",
            "branch",
            "writers",
        ),
        LONGER,
    ),
    "tenant_id": Differs("--tenant names it."),
}
NARROWED = {name: FILTERS[name] for name in FILTERS if name not in PLACE}
FEW = {
    **dict.fromkeys(
        ("world_id", "branch", "as_of", "updated_since", "cursor"), Differs("`mnemon memory list` has it.")
    ),
    "query": Differs("Without words it is `mnemon memory list`.", default=..., takes=str),
    "limit": Differs("A person reads a screen at a time.", default=10),
}


def print_recalled(page: ObjectPage) -> None:
    for place, one in enumerate(page.objects, 1):
        score = "" if one.score is None else f"  score {one.score:.2f}"
        say(f"{place}. {one_line(one.content, 300)}")
        say(f"   {one.emo_id}{score}", "dim")
    if not page.objects:
        say("Nothing of that was remembered.")


def _is_id(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False


def meant(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """By its words too, where they stand in one thought alone; which of several, only a person can say."""
    words = str(values["emo_id"]).strip()
    if not words or _is_id(words):
        return values
    place = {name: values[name] for name in ("world_id", "branch") if values[name] is not None}
    asked = read_input(objects.find, {"query": words, "limit": LOOKED_AT, **place})
    page: ObjectPage = run_async(call(objects.find, tenant, asked))
    having = [one for one in page.objects if words.casefold() in one.content.casefold()]
    if len(having) > 1:
        told = "; ".join(f"{one.emo_id} “{one_line(one.content, 60)}”" for one in having[:TOLD])
        raise InvalidRequest(f"{words!r} stands in {len(having)} of them: {told}. Give the id of one.")
    return values | {"emo_id": str(having[0].emo_id)} if having else values


def which_one(values: dict[str, Any], tenant: str) -> str:
    """The words, since nobody knows a memory by its id."""
    place = {name: values[name] for name in ("emo_id", "world_id", "branch") if values[name] is not None}
    seen: ViewedObject = run_async(call(objects.get, tenant, read_input(objects.get, place)))
    return f"Forget “{one_line(seen.content, 300)}” ({values['emo_id']})?"


remember = bound_command(
    objects.create, lambda one: say(f"Remembered as {one.emo_id}."), words="content",
    short={**SCOPE, "tags": "--tag", "emo_type": "--type", "subject_id": "--subject"}, differences=A_THOUGHT,
    says="Keep a short text for later: a fact, a preference, a note.",
    example='mnemon remember "Refunds over 500 EUR need the CFO\'s approval" --tag finance',
)  # fmt: skip
recall = bound_command(
    objects.find, print_recalled, words="query", short=NARROWED, differences=FEW,
    written=lambda page: page["objects"], says="Find what was remembered, by words and by meaning, best first.",
    example="mnemon recall who approves refunds",
)  # fmt: skip
forget = bound_command(
    objects.delete, lambda one: say(f"Forgotten: {one.emo_id}. Its history stays in the log."), arguments=["emo_id"],
    short={**PLACE, "deletion_reason": "--why"}, question=which_one, prepare=meant,
    says="Delete what was remembered: no search and no list shows it any more.\n\n"
    "Name it by its id, or by words that stand in it alone; you are shown which it is.",
    example="mnemon forget \"spare key\"",
)  # fmt: skip
