"""The names of artifacts: stable, and never shared by two sources."""

import hashlib

from mnemon.semantics.names import artifact_uid_of


def test_an_artifact_is_named_after_its_source() -> None:
    assert artifact_uid_of("slack", "C1") == "uid_" + hashlib.sha256(b"slack:C1").hexdigest()[:16]
    assert artifact_uid_of("slack", None) != artifact_uid_of("slack", None)


def test_two_sources_whose_names_run_together_are_two_artifacts() -> None:
    assert artifact_uid_of("a:b", "c") != artifact_uid_of("a", "b:c")
