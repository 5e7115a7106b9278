"""The names of artifacts: stable, and never shared by two sources."""

import hashlib

from mnemon.documents.artifact_names import uid_of_source


def test_an_artifact_is_named_after_its_source() -> None:
    assert uid_of_source("slack", "C1") == "uid_" + hashlib.sha256(b"slack:C1").hexdigest()[:16]
    assert uid_of_source("slack", None) != uid_of_source("slack", None)


def test_two_sources_whose_names_run_together_are_two_artifacts() -> None:
    assert uid_of_source("a:b", "c") != uid_of_source("a", "b:c")
