"""How many passages a second a GPU could embed: the embedder's own weights in PyTorch, in half precision, in batches.

`python3 training/embed_rate.py DATA`, with the weights that `pack_weights.py` wrote to DATA. It is no part of Mnemon,
which embeds one passage at a time on processors; it says what a provider for GPUs would be worth.
"""

import sys
import time
from pathlib import Path

import torch
from adapted_minilm import AdaptedMiniLM, load_weights

RUNS = 20


@torch.no_grad()
def rate(model: AdaptedMiniLM, length: int, batch: int) -> float:
    ids = torch.randint(1_000, 20_000, (batch, length), device="cuda")
    seen = torch.ones_like(ids, dtype=torch.bool)
    with torch.autocast("cuda", torch.float16):
        for _ in range(5):
            model(ids, seen)
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(RUNS):
            model(ids, seen).mean(1)
        torch.cuda.synchronize()
    return RUNS * batch / (time.perf_counter() - began)


def main() -> int:
    weights = load_weights(Path(sys.argv[1]) / "minilm.npz", "cuda")
    model = AdaptedMiniLM(weights, rank=1, dropout=0.0).to("cuda").eval()
    for length in (64, 256):
        for batch in (32, 256, 1_024):
            print(f"{length} tokens, {batch} at a time: {rate(model, length, batch):,.0f} passages/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
