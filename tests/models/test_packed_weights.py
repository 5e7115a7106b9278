"""The wheel of the weights is smaller than the published file, and gives the same graphs, byte for byte."""

import shutil
import zipfile
from pathlib import Path

import pytest

from mnemon.mail.consensus.learned import PACKAGE, stance_table
from mnemon.models.adapters import read_adapter
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.minilm.graph import hidden_graph, minilm_graph
from mnemon.models.weights import OWN_PACKAGE, PACKED, Weights, find_weights
from mnemon.models.weights_wheel import write_wheel


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    folder = tmp_path_factory.mktemp("weights")
    wheel = write_wheel(find_weights(), folder)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return Weights(folder / OWN_PACKAGE / "model")


def test_the_packed_file_is_two_thirds_and_the_same_model(unpacked: Weights) -> None:
    published = find_weights()
    assert unpacked.numbers.name == PACKED
    assert unpacked.numbers.stat().st_size < 0.66 * published.numbers.stat().st_size
    unpacked.check()
    assert minilm_graph(unpacked.tensors()) == minilm_graph(published.tensors())


def test_adapters_are_merged_into_the_same_numbers(unpacked: Weights) -> None:
    name, digest = next(iter(stance_table()["adapters"].items()))
    adapter = read_adapter(PACKAGE, name, digest)
    assert hidden_graph(adapter.merged(unpacked.tensors())) == hidden_graph(adapter.merged(find_weights().tensors()))


def test_the_same_wheel_is_made_of_packed_weights(unpacked: Weights, tmp_path: Path) -> None:
    assert write_wheel(unpacked, tmp_path).read_bytes() == write_wheel(find_weights(), tmp_path / "x").read_bytes()


# Data, the end, and what says in the list of files how the first one was pressed and whether it is encrypted.
@pytest.mark.parametrize("at", [100, -22, 20_000_000, "pressed", "encrypted"])
def test_a_damaged_file_is_refused(unpacked: Weights, tmp_path: Path, at: int | str) -> None:
    shutil.copy(unpacked.tokenizer, tmp_path)
    contents = bytearray(unpacked.numbers.read_bytes())
    if isinstance(at, str):
        at = zipfile.ZipFile(unpacked.numbers).start_dir + {"pressed": 10, "encrypted": 8}[at]
    contents[at] ^= 255
    (tmp_path / PACKED).write_bytes(contents)
    with pytest.raises(EmbedderUnavailable, match=r"model\.npz is not the published file"):
        Weights(tmp_path).check()
