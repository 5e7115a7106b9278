"""The golden fixtures: what each history folds to, and the hashes that the recipe gives for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from mnemon.log.moments import read_moment
from mnemon.log.types.registry import CompiledType
from mnemon.memory.determinism import content_hash, object_hash
from mnemon.memory.events import OBJECT_TYPES
from mnemon.memory.fold import Change, OutOfOrder, as_json, fold, fold_all, from_json
from mnemon.memory.sharing.scope import OF_NOBODY

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures" / "emo").glob("*.json"))
SCHEMAS = {one.type: CompiledType(one) for one in OBJECT_TYPES}


def changes(fixture: dict[str, Any]) -> list[Change]:
    return [
        Change(one["operation"], one["data"], read_moment(one["recorded_at"]), one["actor_id"], one["sequence"])
        for one in fixture["changes"]
    ]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_golden_history_folds_to_its_state_and_hashes(path: Path) -> None:
    fixture = json.loads(path.read_text(encoding="utf-8"))
    state = fold_all(changes(fixture))
    assert state is not None
    # Histories of before objects had owners are everyone's.
    assert as_json(state) == fixture["state"] | OF_NOBODY.as_json()
    assert from_json(as_json(state)) == state
    assert content_hash(state.content) == fixture["content_hash"]
    assert object_hash(state) == fixture["determinism_hash"]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_events_of_a_golden_history_fit_their_types(path: Path) -> None:
    for one in json.loads(path.read_text(encoding="utf-8"))["changes"]:
        assert not list(SCHEMAS[f"emo.{one['operation']}"].violations(one["data"]))


def test_the_five_fixtures_are_there() -> None:
    assert [path.stem for path in FIXTURES] == ["emo_create", "emo_delete", "emo_deleted", "emo_lineage", "emo_update"]


def test_versions_follow_each_other_without_gap() -> None:
    create, update, *_ = changes(json.loads((FIXTURES[0].parent / "emo_update.json").read_text(encoding="utf-8")))
    state = fold(None, create)
    for wrong in (create, changes(json.loads((FIXTURES[0].parent / "emo_delete.json").read_text()))[2]):
        with pytest.raises(OutOfOrder):
            fold(state, wrong)
    with pytest.raises(OutOfOrder):
        fold(None, update)
