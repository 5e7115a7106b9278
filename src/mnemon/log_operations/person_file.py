"""All that is held about a person, as one file: they may ask for it themselves, or an administrator for them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from mnemon.documents.access import Reader, read_as
from mnemon.documents.events import document_of
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action, user_of
from mnemon.identity.tokens import AccessToken, list_tokens
from mnemon.identity.users import User, user_by_id
from mnemon.log.events import Event
from mnemon.log.read.merged import ALL_LEGAL_ENTITIES
from mnemon.log.read.streams import Stream
from mnemon.log_operations.belongings import OwnDocument, OwnMemory, OwnMessage, belongings_of
from mnemon.log_operations.erasures import SubjectId
from mnemon.log_operations.fields import NO_TOOLS, Parts, person_of
from mnemon.log_operations.shown import shown_data
from mnemon.operations import Caller, Input, Output, operation
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.outputs import EventOut
from mnemon.semantics.search.collect import collect

PAGE = 1000
GivenName = Annotated[str, Field(min_length=2, max_length=200)]


class PersonFileAsked(Input):
    """Whose file."""

    subject_id: SubjectId | None = Field(None, description="The person's id in the log; unset: your own.")
    names: list[GivenName] = Field(
        default_factory=list,
        max_length=20,
        description="Names they are written by, to find what was read about them in documents, and addresses that they "
        "write mail from; those of their account are looked for anyway.",
    )


class HeldValue(Output):
    """A value that an event of the log holds about them."""

    legal_entity: str
    sequence: str
    event_id: str
    type: str
    recorded_at: datetime
    field: str = Field(description="Where in the event's payload, as a JSON pointer.")
    value: Any


class Act(Output):
    """Something that they, or an agent with a token of theirs, did."""

    legal_entity: str
    sequence: str
    event_id: str
    type: str
    recorded_at: datetime
    actor_id: str


class PersonFile(Output):
    """All that is held about a person, as far as whoever asks may read it."""

    subject_id: str
    made_at: datetime
    account: User | None = Field(description="Their account, if they have one.")
    tokens: list[AccessToken] = Field(description="Their access tokens; the secrets are kept nowhere.")
    values: list[HeldValue] = Field(description="What the log says of them: memory and questions too.")
    acts: list[Act] = Field(description="Every event that they caused.")
    statements: list[EventOut] = Field(description="Semantic events that name them, with the words that prove each.")
    documents: list[OwnDocument] = Field(description="Documents that they brought, the newest first.")
    memory: list[OwnMemory] = Field(description="Memory objects that are theirs, whomever they are about.")
    messages: list[OwnMessage] = Field(description="Messages from their addresses, or under their names.")
    complete: bool = Field(description="False if there is more of something than one file holds.")


@operation(
    "privacy.file", Action.VIEW_OWN_ACCOUNT, read_only=True, errors=(NotFound,),
    example={"subject_id": "customer-17", "names": ["Eve Adams"]}, absent=NO_TOOLS,
)  # fmt: skip
async def person_file(mnemon: Parts, caller: Caller, asked: PersonFileAsked) -> PersonFile:
    """All that is held about a person, as one file.

    Everyone may have their own; another's is for administrators. What was erased is not in it, nor documents and
    memory objects that whoever asks may not read: whoever runs `mnemon privacy file` at the machine has those too.
    Of a private document that is theirs it says that it is there, for an administrator may purge it.
    """
    subject = _whose(caller, asked.subject_id)
    account, tokens = await _account(mnemon, caller.tenant_id, subject)
    subjects = _under_every_name(caller, subject)
    actors = [*subjects, *(f"token:{one.token_id}" for one in tokens)]
    addresses = [account.email] if account else []
    acts = [act for actor in actors for act in await _acts(mnemon, caller.tenant_id, actor)]
    values = [
        HeldValue(
            legal_entity=one.legal_entity, sequence=str(one.sequence), event_id=one.event_id, type=one.event_type,
            recorded_at=one.recorded_at, field=one.field, value=one.value,
        )
        for name in subjects
        async for one in shown_data(mnemon, caller, name)
    ]  # fmt: skip
    addresses += [one for one in asked.names if "@" in one]
    names = list(dict.fromkeys([*asked.names, *([account.name] if account else [])]))
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        theirs = await belongings_of(tx, actors, addresses, names, everything=caller.principal is None)
    statements, complete = await _statements(mnemon, caller, names)
    is_held = account or acts or values or statements or theirs.documents or theirs.memory or theirs.messages
    if not is_held and not await _was_known(mnemon, caller.tenant_id, subject):
        raise NotFound(_not_held(subject, asked.names), subject_id=subject)
    return PersonFile(
        subject_id=subject, made_at=datetime.now(UTC), account=account, tokens=tokens, values=values,
        acts=sorted(acts, key=lambda act: act.recorded_at), statements=statements, documents=theirs.documents,
        memory=theirs.memory, messages=theirs.messages, complete=complete and theirs.complete,
    )  # fmt: skip


def _not_held(subject: str, names: Sequence[str]) -> str:
    if not names:
        return f"Nothing is held about {subject!r}: see `mnemon privacy subjects`, or give a name they are written by."
    return f"Nothing is held about {subject!r}, nor about who is written as {' or '.join(map(repr, names))}."


def _whose(caller: Caller, subject: str | None) -> str:
    own = person_of(caller) if caller.principal is not None else None
    if subject is None and own is None:
        raise InvalidRequest("Say whose file: whoever runs the command has no account.")
    if subject is not None and document_of(subject) is not None:
        raise InvalidRequest(f"{subject} is a document's key and no person: read the document.", subject_id=subject)
    if subject is not None and subject != own:
        caller.authorise(Action.MANAGE_PRIVACY)
    return subject or own or ""


def _under_every_name(caller: Caller, subject: str) -> list[str]:
    """Whoever sits at a home keeps as its person, and the log names the command or the program: both are theirs."""
    own = Reader.of(caller.actor).names
    return list(own) if own and subject == own[0] else [subject]


async def _account(mnemon: Parts, tenant: UUID, subject: str) -> tuple[User | None, list[AccessToken]]:
    user_id = user_of(subject)
    if user_id is None:
        return None, []
    async with mnemon.database.transaction(tenant) as tx:
        try:
            return await user_by_id(tx, user_id), await list_tokens(tx, user_id)
        except NotFound:
            return None, []


async def _acts(mnemon: Parts, tenant: UUID, actor: str) -> list[Act]:
    acts: list[Act] = []
    cursor = None
    while True:
        page = await mnemon.log.read_page(
            tenant, Stream.of_actor(actor), legal_entity=ALL_LEGAL_ENTITIES, cursor=cursor, limit=PAGE, tolerant=True
        )
        acts += map(_act, page.events)
        cursor = page.next_cursor
        if cursor is None or not page.has_more:
            return acts


def _act(event: Event) -> Act:
    return Act(
        legal_entity=event.legal_entity, sequence=str(event.sequence), event_id=event.id, type=event.type,
        recorded_at=event.recorded_at, actor_id=event.actor_id,
    )  # fmt: skip


async def _was_known(mnemon: Parts, tenant: UUID, subject: str) -> bool:
    """Someone who was erased has a file too: it is empty."""
    return bool(await mnemon.privacy.affected(tenant, subject))


async def _statements(mnemon: Parts, caller: Caller, names: Sequence[str]) -> tuple[list[EventOut], bool]:
    """By name, since a document knows no ids; revisions that are served no more are held too."""
    found: dict[str, EventOut] = {}
    complete = True
    for name in names:
        wanted = EventFilters(actor=name, all_revisions=True)
        one = await collect(mnemon.database, caller.tenant_id, Reader.of(caller.actor), wanted)
        complete = complete and one.complete
        found.update((event["event_id"], EventOut.model_validate(event)) for event in one.events)
    return list(found.values()), complete
