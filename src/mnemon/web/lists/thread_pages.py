"""The pages of threads: the list with what each came to, one thread with its messages, and single messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import InvalidRequest, NotFound
from mnemon.mail import operations
from mnemon.mail.bodies import MessageBody, read_bodies
from mnemon.mail.consensus.operations import ConsensusAsked
from mnemon.mail.consensus.operations import consensus as read_consensus
from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.message.ids import thread_key
from mnemon.mail.outputs import MailPage, ThreadNode, ThreadPage
from mnemon.mail.spans.labels import LabelledSpan
from mnemon.operations import Caller, Differs, read_input
from mnemon.reports.quoting import whole_sentences
from mnemon.web.forms import binds, form_of
from mnemon.web.lists.message_text import STANCES, ShownPart, StanceMark, anchor_of, marks_of, parts_of
from mnemon.web.pictures.bars import bars_of
from mnemon.web.rendering import as_page, render, templates, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 40
MESSAGES_ON_A_PAGE = 50
DEEPEST_SHOWN = 6
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}
LABELS = {
    "consensus": {"agreement": "agreement", "dissent": "dissent", "mixed": "mixed", "none": "nothing settled"},
}
# What a thread came to: a sign that is told apart without colour, and the words.
OUTCOMES = {
    "agreement": ("●", "agreement"), "dissent": ("✕", "dissent"), "mixed": ("◐", "mixed"),
    "none": ("○", "nothing settled"), None: ("…", "not read yet"),
}  # fmt: skip


@dataclass(frozen=True)
class ShownMessage:
    """A message on the page of its thread; one that was purged has no parts."""

    node: ThreadNode
    depth: int
    marks: Sequence[StanceMark]
    parts: Sequence[ShownPart] | None


@router.get("/lists")
@as_page
@binds(operations.threads, ONE_PAGE)
async def threads_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.threads.action)
    form = form_of(operations.threads, request.query_params, differences=ONE_PAGE, labels=LABELS)
    found, problem = ThreadPage(items=[]), None
    try:
        found = await operations.threads(mnemon, Caller.of(visitor.principal), form.asked(limit=ON_A_PAGE))
    except InvalidRequest as refusal:
        problem = refusal
    return render(
        "lists.html", status_code=problem.status if problem else 200, here="lists", visitor=visitor, form=form,
        found=found, problem=problem,
    )  # fmt: skip


@router.get("/lists/threads/{thread}")
@as_page
@binds(operations.thread, also=[read_consensus])
async def thread_page(request: Request, mnemon: MnemonPart, thread: str, page: int = 1) -> Response:
    visitor = await visit(request, operations.thread.action)
    caller = Caller.of(visitor.principal)
    one = await operations.thread(mnemon, caller, read_input(operations.thread, {"thread": thread}))
    consensus = await _consensus(mnemon, caller, one.thread_key)
    pages = max(1, -(-len(one.messages) // MESSAGES_ON_A_PAGE))
    at = (min(max(page, 1), pages) - 1) * MESSAGES_ON_A_PAGE
    nodes = one.messages[at : at + MESSAGES_ON_A_PAGE]
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        bodies = await read_bodies(tx, [node.message_key for node in nodes])
    shown = _messages(nodes, bodies, consensus)
    return render(
        "thread.html", here="lists", visitor=visitor, thread=one, consensus=consensus, messages=shown,
        page=at // MESSAGES_ON_A_PAGE + 1, pages=pages, tally=bars_of(consensus.tally) if consensus else None,
        sides=_sides(consensus), reasons=_reasons(bodies, consensus),
        names={node.message_id: node for node in one.messages},
        on_page={message.node.message_key for message in shown}, on_a_page=MESSAGES_ON_A_PAGE,
    )  # fmt: skip


@router.get("/lists/messages")
@as_page
@binds(operations.messages, ONE_PAGE)
async def messages_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.messages.action)
    form = form_of(operations.messages, request.query_params, differences=ONE_PAGE)
    found, problem = MailPage(items=[]), None
    try:
        found = await operations.messages(mnemon, Caller.of(visitor.principal), form.asked(limit=ON_A_PAGE))
    except (InvalidRequest, NotFound) as refusal:
        problem = refusal
    return render(
        "messages.html", status_code=problem.status if problem else 200, here="lists", visitor=visitor, form=form,
        found=found, problem=problem,
    )  # fmt: skip


@router.get("/lists/messages/{message}")
@as_page
@binds(operations.message)
async def message_page(request: Request, mnemon: MnemonPart, message: str) -> Response:
    visitor = await visit(request, operations.message.action)
    caller = Caller.of(visitor.principal)
    one = await operations.message(mnemon, caller, read_input(operations.message, {"message": message}))
    consensus = await _consensus(mnemon, caller, one.thread_id) if one.thread_id else None
    marks = marks_of(consensus).get(one.message_key, [])
    spans = [LabelledSpan(span.label, span.start, span.end, span.depth) for span in one.spans]  # type: ignore[arg-type]
    return render(
        "message.html", here="lists", visitor=visitor, one=one, marks=marks, parts=parts_of(one.body_raw, spans, marks),
        thread=thread_key(one.thread_id) if one.thread_id else None,
    )  # fmt: skip


async def _consensus(mnemon: Mnemon, caller: Caller, thread: str) -> ConsensusShown | None:
    """None where a worker has not read it yet."""
    try:
        return await read_consensus(mnemon, caller, ConsensusAsked(thread=thread))
    except NotFound:
        return None


def _messages(
    nodes: Sequence[ThreadNode], bodies: Mapping[str, MessageBody], consensus: ConsensusShown | None
) -> list[ShownMessage]:
    marks = marks_of(consensus)
    shown = []
    for node in nodes:
        own, body = marks.get(node.message_key, []), bodies.get(node.message_key)
        parts = parts_of(body.text, body.spans, own) if body else None
        shown.append(ShownMessage(node, min(node.depth, DEEPEST_SHOWN), own, parts))
    return shown


def _reasons(bodies: Mapping[str, MessageBody], consensus: ConsensusShown | None) -> dict[str, tuple[str, str]]:
    """What stands before and after the words of an objection in its paragraph, by where it is marked."""
    around = {}
    for one in consensus.objections if consensus else ():
        body = bodies.get(one.message_key)
        if body:
            first, last = whole_sentences(body.text, body.spans, one.start, one.end)
            before, after = body.text[first : one.start].split(), body.text[one.end : last].split()
            around[anchor_of(one)] = (" ".join([*before, ""]), " ".join(["", *after]) if after else "")
    return around


def _sides(consensus: ConsensusShown | None) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Who said what: by person, in the order in which they first spoke, each stance with where it stands."""
    said: dict[str, list[tuple[str, str, str]]] = {}
    for one in consensus.statements if consensus else ():
        if one.stance != "neutral":
            line = (one.stance, anchor_of(one), one.message_key)
            own = said.setdefault(one.name or one.email, [])
            if not own or own[-1][0] != one.stance:
                own.append(line)
    return list(said.items())


templates.globals |= {"stance_words": STANCES, "outcomes": OUTCOMES}
templates.filters["anchor"] = anchor_of
