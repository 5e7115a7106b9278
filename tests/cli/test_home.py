"""`mnemon home share`, as an operator runs it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mnemon.log.proof.signing import public_hex, signing_key
from mnemon.log.proof.signing_keys import SharedSigningKeys
from mnemon.settings import Settings
from mnemon.shared_home import SharedHome, home_of
from tests.object_store import ObjectStore, store, store_address

from .conftest import mnemon

__all__ = ["store", "store_address"]

OTHER = "YW5vdGhlciBzZWNyZXQgb2YgdGhlc2UgZ2F0ZXdheXM="
SECRET = "b25lIHNlY3JldCBvZiBhbGwgdGhlc2UgZ2F0ZXdheXM="


@pytest.fixture
def environment(store: ObjectStore, tmp_path: Path) -> dict[str, str]:
    signing_key(tmp_path)
    return {**os.environ, "MNEMON_HOME": str(tmp_path), "COLUMNS": "200"}


def error_of(done: Any) -> str:
    """The last line: the store of the test is in this process, and logs before it."""
    return str(json.loads(done.stderr.splitlines()[-1])["error"])


def test_a_home_is_shared_by_a_command(environment: dict[str, str], store: ObjectStore, tmp_path: Path) -> None:
    done = mnemon(environment, "home", "share", "--json")
    assert done.returncode == 1 and "MNEMON_HOME_STORE" in error_of(done)
    place = environment | {"MNEMON_HOME_STORE": store.place}
    done = mnemon(place, "home", "share", "--json")
    assert done.returncode == 1 and "MNEMON_HOME_STORE_SECRET" in error_of(done)

    told, key = place | {"MNEMON_HOME_STORE_SECRET": SECRET}, public_hex(signing_key(tmp_path))
    done = mnemon(told, "home", "share", "--json")
    assert json.loads(done.stdout) == {"keys": 1, "erasures": 0, "checkpoints": 0}, done.stderr
    assert "has no keys to share" in error_of(mnemon(told, "home", "share", "--json"))
    shared = home_of(Settings(home=tmp_path / "new", home_store=store.place, home_store_secret=SECRET))  # type: ignore[arg-type]
    assert isinstance(shared, SharedHome)
    assert public_hex(SharedSigningKeys(shared).current()) == key


def test_the_secret_is_changed_by_a_command(environment: dict[str, str], store: ObjectStore, tmp_path: Path) -> None:
    client = store.client()
    client.put_bucket_versioning(Bucket=store.bucket, VersioningConfiguration={"Status": "Enabled"})
    told = environment | {"MNEMON_HOME_STORE": store.place, "MNEMON_HOME_STORE_SECRET": SECRET}
    key = public_hex(signing_key(tmp_path))
    assert "has the home now: 1 key" in mnemon(told, "home", "share").stdout
    changed = told | {"MNEMON_HOME_STORE_SECRET": OTHER}
    done = mnemon(changed, "home", "reseal", "--json")
    assert "MNEMON_HOME_STORE_SECRET is another" in error_of(done)
    both = changed | {"MNEMON_HOME_STORE_SECRET_PREVIOUS": SECRET}
    assert json.loads(mnemon(both, "home", "reseal", "--json").stdout) == {"resealed": 1}
    assert json.loads(mnemon(changed, "home", "reseal", "--json").stdout) == {"resealed": 0}
    [kept] = client.list_object_versions(Bucket=store.bucket)["Versions"]
    assert kept["Key"] == "here/keys/checkpoint-0001.key", "nothing is left that the old secret opens"
    shared = home_of(Settings(home=tmp_path, home_store=store.place, home_store_secret=OTHER))  # type: ignore[arg-type]
    assert isinstance(shared, SharedHome)
    assert public_hex(SharedSigningKeys(shared).current()) == key


def test_a_home_that_is_in_use_is_not_shared(environment: dict[str, str], store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "serving.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": os.getpid()}))
    told = environment | {"MNEMON_HOME_STORE": store.place, "MNEMON_HOME_STORE_SECRET": SECRET}
    done = mnemon(told, "home", "share", "--json")
    assert done.returncode == 1 and "stop it first" in error_of(done)
