"""`mnemon home share`, as an operator runs it."""

import json
import os
from pathlib import Path

import pytest

from mnemon.log.proof.signing import public_hex, signing_key
from mnemon.log.proof.signing_keys import SharedSigningKeys
from mnemon.settings import Settings
from mnemon.shared_home import SharedHome, home_of
from tests.object_store import ObjectStore, store, store_address

from .conftest import mnemon

__all__ = ["store", "store_address"]

SECRET = "b25lIHNlY3JldCBvZiBhbGwgdGhlc2UgZ2F0ZXdheXM="


@pytest.fixture
def environment(store: ObjectStore, tmp_path: Path) -> dict[str, str]:
    signing_key(tmp_path)
    return {**os.environ, "MNEMON_HOME": str(tmp_path), "COLUMNS": "200"}


def test_a_home_is_shared_by_a_command(environment: dict[str, str], store: ObjectStore, tmp_path: Path) -> None:
    done = mnemon(environment, "home", "share", "--json")
    assert done.returncode == 1 and "MNEMON_HOME_STORE" in json.loads(done.stderr)["error"]
    place = environment | {"MNEMON_HOME_STORE": store.place}
    done = mnemon(place, "home", "share", "--json")
    assert done.returncode == 1 and "MNEMON_HOME_STORE_SECRET" in json.loads(done.stderr)["error"]

    told = place | {"MNEMON_HOME_STORE_SECRET": SECRET}
    done = mnemon(told, "home", "share", "--json")
    assert json.loads(done.stdout) == {"keys": 1, "erasures": 0, "checkpoints": 0}, done.stderr
    assert "has the home now: 1 key" in mnemon(told, "home", "share").stdout
    shared = home_of(Settings(home=tmp_path / "new", home_store=store.place, home_store_secret=SECRET))  # type: ignore[arg-type]
    assert isinstance(shared, SharedHome)
    assert public_hex(SharedSigningKeys(shared).current()) == public_hex(signing_key(tmp_path))


def test_a_home_that_is_in_use_is_not_shared(environment: dict[str, str], store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "serving.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": os.getpid()}))
    told = environment | {"MNEMON_HOME_STORE": store.place, "MNEMON_HOME_STORE_SECRET": SECRET}
    done = mnemon(told, "home", "share", "--json")
    assert done.returncode == 1 and "stop it first" in json.loads(done.stderr)["error"]
