"""Sealing: what is stored, what is read back, and what cannot be moved."""

import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from mnemon.db.database import Database
from mnemon.ids import new_ulid
from mnemon.log.append.prepare import draft as make_draft
from mnemon.log.errors import InvalidEvent, KeyUnavailable, SealBroken
from mnemon.log.events import Actor, Delegator, EntityReference, NewEvent
from mnemon.log.privacy.crypto_seal import REDACTED, SEALED, _opened, _sealed
from mnemon.log.privacy.personal import personal_values
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.subjects import DataKey, Keys
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.log.proof.chain import digest
from mnemon.log.types.event_type import EventType, PersonalField
from mnemon.log.types.registry import CompiledType

from .conftest import CLERK, joined, open_private

KEY = Keys({1: DataKey("p-1", 1, AESGCM(AESGCM.generate_key(256)))})
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


async def payload_of(database: Database, tenant: UUID, sequence: int = 1) -> str:
    async with database.transaction(tenant) as tx:
        row = await (
            await tx.execute("SELECT payload FROM mnemon.event_payloads WHERE sequence = %s", (sequence,))
        ).fetchone()
    assert row is not None
    return str(row["payload"])


async def test_personal_fields_are_ciphertext_in_the_database_and_plain_to_readers(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    [appended] = await privacy.log.append(tenant, [joined()])
    stored = await payload_of(database, tenant)
    for secret in ("Ada Lovelace", "c-1@example.org", "Ada Clerk", "192.0.2.7"):
        assert secret not in stored
    assert json.loads(stored)["data"] == {"customer_id": "c-1", "name": SEALED, "contact": {"email": SEALED}}
    event = await privacy.log.read_event(tenant, appended.id)
    assert event.data == {"customer_id": "c-1", "name": "Ada Lovelace", "contact": {"email": "c-1@example.org"}}
    assert event.as_json()["actor"]["name"] == "Ada Clerk"
    assert event.as_json()["actor"]["ip_address"] == "192.0.2.7"
    assert event.payload_text == stored
    assert digest(stored.encode()) == event.payload_digest


async def test_a_page_a_scan_and_another_process_read_the_same(
    privacy: Privacy, database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    await privacy.log.append(tenant, [joined(f"c-{n}", f"Person {n}") for n in range(5)])
    expected = [f"Person {n}" for n in range(5)]
    page = await privacy.log.read_page(tenant)
    assert [event.data["name"] for event in page.events] == expected
    other = open_private(database, ring, tmp_path)
    assert [event.data["name"] async for event in other.log.scan(tenant)] == expected
    await other.close()


async def test_the_subjects_of_an_event_are_kept_with_their_fields(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    data = {
        "customer_id": "c-1",
        "name": "Ada",
        "family": [{"person_id": "c-2", "name": "Annabella"}],
        "note": "met at fair",
    }
    event = joined(data=data, entities=[EntityReference("customer", "c-9", "referrer")])
    await privacy.log.append(tenant, [event])
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT subject_id, fields FROM mnemon.event_subjects ORDER BY 1")).fetchall()
    assert {row["subject_id"]: row["fields"] for row in rows} == {
        "c-1": ["/data/name"],
        "c-2": ["/data/family/0/name"],
        "c-9": ["/data/note"],
        "u-1": ["/actor/ip_address", "/actor/name"],
    }
    assert "Annabella" not in await payload_of(database, tenant)


@pytest.mark.parametrize(
    ("data", "entities", "complaint"),
    [
        ({"customer_id": "c-1", "family": [{"name": "X"}]}, [], "family[*].person_id, of which there is none"),
        ({"customer_id": "c-1", "note": "x"}, [], "role referrer, of which there is none"),
        (
            {"customer_id": "c-1", "note": "x"},
            [EntityReference("customer", "a", "referrer"), EntityReference("customer", "b", "referrer")],
            "of which there are several",
        ),
        ({"customer_id": "", "name": "Ada"}, [], "not an id of 1 to 200 characters"),
        ({"customer_id": "x" * 201, "name": "Ada"}, [], "not an id of 1 to 200 characters"),
    ],
)
async def test_a_personal_value_without_a_person_is_refused_before_anything_is_written(
    privacy: Privacy, tenant: UUID, data: dict[str, object], entities: list[EntityReference], complaint: str
) -> None:
    with pytest.raises(InvalidEvent) as refusal:
        await privacy.log.append(tenant, [joined(data=data, entities=entities)])
    assert complaint in refusal.value.message
    assert await privacy.log.list_partitions(tenant) == []
    assert await privacy.people(tenant, 10) == []


async def test_an_absent_or_null_personal_field_needs_nobody(privacy: Privacy, tenant: UUID) -> None:
    [appended] = await privacy.log.append(tenant, [joined(data={"customer_id": "c-1", "note": None})])
    assert (await privacy.log.read_event(tenant, appended.id)).data == {"customer_id": "c-1", "note": None}


async def test_a_delegators_name_is_theirs_and_a_systems_name_is_nobodys(privacy: Privacy, tenant: UUID) -> None:
    bot = Actor("agent", "bot-1", "Helper", Delegator("human", "u-7", "Grace"))
    machine = Actor("system", "cron", "Nightly")
    await privacy.log.append(tenant, [joined(data={"customer_id": "c"}, actor=actor) for actor in (bot, machine)])
    assert {one.subject_id for one in await privacy.people(tenant, 10)} == {"bot-1", "u-7"}
    [first, second] = (await privacy.log.read_page(tenant)).events
    assert first.payload["actor"] == {"name": "Helper", "on_behalf_of": {"name": "Grace"}}
    assert second.payload["actor"] == {"name": "Nightly"}


async def test_a_payload_that_looks_sealed_is_left_alone(privacy: Privacy, tenant: UUID) -> None:
    data = {"text": SEALED, "sealed": {"u-1": {"generation": 1, "fields": {"/data/text": "AAAA"}}}}
    [appended] = await privacy.log.append(tenant, [NewEvent(type="shop.order.noted", data=data)])
    assert (await privacy.log.read_event(tenant, appended.id)).data == data


async def test_the_same_value_is_never_the_same_ciphertext(privacy: Privacy, database: Database, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined(), joined()])
    first, second = [json.loads(await payload_of(database, tenant, n))["sealed"]["c-1"] for n in (1, 2)]
    assert set(first["fields"].values()).isdisjoint(second["fields"].values())


@given(value=JSON, beside=JSON)
def test_any_json_value_survives_sealing_and_opening(value: object, beside: object) -> None:
    declaration = EventType(
        type="t.x", data_schema={}, personal_fields=(PersonalField("v", "any", subject_path="who"),)
    )
    data = {"who": "p-1", "v": value, "beside": beside}
    made = make_draft(NewEvent(type="t.x", data=data), CompiledType(declaration))
    tenant = uuid4()
    sealed = _sealed(tenant, made, personal_values(made), None, {"p-1": KEY})
    assert _opened(tenant, made.id, json.loads(sealed.payload), {"p-1": KEY})["data"] == data
    assert (len(sealed.subjects) == 0) == (value is None)


def sealed_note(event_id: str, tenant: UUID) -> dict[str, object]:
    fields = tuple(PersonalField(path, "any", subject_path="who") for path in ("a", "b"))
    declaration = EventType(type="t.x", data_schema={}, personal_fields=fields)
    event = NewEvent(type="t.x", data={"who": "p-1", "a": "secret a", "b": "secret b"}, id=event_id)
    made = make_draft(event, CompiledType(declaration))
    text = _sealed(tenant, made, personal_values(made), None, {"p-1": KEY}).payload
    payload: dict[str, object] = json.loads(text)
    return payload


def test_ciphertext_moved_to_another_event_field_tenant_or_generation_does_not_open() -> None:
    tenant, event_id = uuid4(), new_ulid()
    keys = {"p-1": KEY}
    assert _opened(tenant, event_id, sealed_note(event_id, tenant), keys)["data"]["a"] == "secret a"
    with pytest.raises(SealBroken):
        _opened(tenant, new_ulid(), sealed_note(event_id, tenant), keys)
    with pytest.raises(SealBroken):
        _opened(uuid4(), event_id, sealed_note(event_id, tenant), keys)
    swapped = sealed_note(event_id, tenant)
    fields = swapped["sealed"]["p-1"]["fields"]  # type: ignore[index]
    fields["/data/a"], fields["/data/b"] = fields["/data/b"], fields["/data/a"]
    with pytest.raises(SealBroken) as broken:
        _opened(tenant, event_id, swapped, keys)
    assert broken.value.details == {"event_id": event_id, "field": "/data/a"}
    second = Keys({1: KEY.generations[1], 2: DataKey("p-1", 2, KEY.generations[1].cipher)})  # type: ignore[union-attr]
    raised = sealed_note(event_id, tenant)
    raised["sealed"]["p-1"]["generation"] = 2  # type: ignore[index]
    with pytest.raises(SealBroken):
        _opened(tenant, event_id, raised, {"p-1": second})


def test_a_field_within_a_sealed_field_belongs_to_its_own_person() -> None:
    declaration = EventType(
        type="t.x",
        data_schema={},
        personal_fields=(
            PersonalField("home", "any", subject_path="who"),
            PersonalField("home.guest", "any", subject_path="visitor"),
        ),
    )
    data = {"who": "p-1", "visitor": "p-2", "home": {"street": "Elm", "guest": "Bob"}}
    made = make_draft(NewEvent(type="t.x", data=data), CompiledType(declaration))
    tenant = uuid4()
    guest = Keys({1: DataKey("p-2", 1, AESGCM(AESGCM.generate_key(256)))})
    text = _sealed(tenant, made, personal_values(made), None, {"p-1": KEY, "p-2": guest}).payload
    gone = Keys({1: None})

    def read(owner: Keys, visitor: Keys) -> object:
        return _opened(tenant, made.id, json.loads(text), {"p-1": owner, "p-2": visitor})["data"]["home"]

    assert read(KEY, guest) == {"street": "Elm", "guest": "Bob"}
    assert read(KEY, gone) == {"street": "Elm", "guest": REDACTED}
    assert read(gone, guest) == REDACTED


async def test_reading_without_the_key_encryption_key_is_a_clear_error_and_appending_makes_no_new_one(
    privacy: Privacy, database: Database, tenant: UUID, tmp_path: Path
) -> None:
    await privacy.log.append(tenant, [joined()])
    lost = open_private(database, KeyRing(FileKeys(tmp_path)), tmp_path)
    with pytest.raises(KeyUnavailable, match="is not at hand"):
        await lost.log.read_page(tenant)
    with pytest.raises(KeyUnavailable):
        await lost.log.append(tenant, [joined("c-2")])
    assert list(tmp_path.rglob("*.key")) == []
    await lost.close()
    assert (await privacy.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"


async def test_an_upcaster_sees_the_word_for_an_erased_field(privacy: Privacy, tenant: UUID) -> None:
    fields = {"personal_fields": (PersonalField("name", "name", subject_path="id"),)}
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    await privacy.log.register_type(tenant, EventType(type="crm.lead.made", data_schema=schema, **fields), CLERK)  # type: ignore[arg-type]
    [appended] = await privacy.log.append(tenant, [NewEvent(type="crm.lead.made", data={"id": "p", "name": "Eve"})])
    from mnemon.log.types.event_type import DataMigration

    following = EventType(
        type="crm.lead.made",
        schema_version=2,
        data_schema={"type": "object"},
        personal_fields=(PersonalField("full_name", "name", subject_path="id"),),
        upcast=DataMigration({"name": "full_name"}, {"stage": "new"}),
    )
    await privacy.log.register_type(tenant, following, CLERK)
    assert (await privacy.log.read_event(tenant, appended.id)).data == {"stage": "new", "id": "p", "full_name": "Eve"}
    asked = await privacy.erasures.request(tenant, "p", reason="subject_request", requested_by="u-1")
    await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    assert (await privacy.log.read_event(tenant, appended.id)).data == {
        "stage": "new",
        "id": "p",
        "full_name": REDACTED,
    }
