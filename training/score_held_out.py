"""Scores rules and reader on documents that the reader had not seen: `train` and `tune`, each judged by another fold.

`python training/score_held_out.py` prints what `make bench-extract` prints of the blind third. Rules and weights were
made with these documents in sight, so that other documents do a little worse. With SHOW=1 it prints the misses.
"""

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from blind_third import figures_of, read_all  # noqa: E402
from extraction_gold import CORPUS, compare, load_documents  # noqa: E402
from fit_reader import Logits, load_logits  # noqa: E402

from mnemon.models.tokens import ModelTokenizer  # noqa: E402
from mnemon.models.weights import find_weights  # noqa: E402
from mnemon.semantics.extract.revision import Revision  # noqa: E402
from mnemon.semantics.learned.engine import LearnedExtractor  # noqa: E402
from mnemon.semantics.learned.proposals import JudgedSegment  # noqa: E402
from mnemon.semantics.learned.windows import windows_of  # noqa: E402
from mnemon.semantics.semantic_event import FACT_CONFIDENCE  # noqa: E402


def held_out_reader(logits: Logits) -> Any:
    """Stands where the reader stands, and says what the folds said."""
    tokenizer = ModelTokenizer(find_weights().tokenizer)

    def judge(revision: Revision) -> list[JudgedSegment]:
        own = logits[revision.revision_id.removeprefix("rev_")]
        windows = windows_of(revision.layout.units, revision.title, tokenizer)
        return [
            JudgedSegment(one, tuple(own[one.start, one.end]))
            for window in windows
            for one in window.segments
            if (one.start, one.end) in own
        ]

    return SimpleNamespace(judge=judge)


def main() -> int:
    logits = load_logits()
    documents = [each for each in load_documents(folder=CORPUS) if each.name in logits]
    found = read_all(LearnedExtractor(held_out_reader(logits)), documents)
    print(figures_of(documents, found))
    if os.environ.get("SHOW"):
        print("\n".join(compare(documents, found, FACT_CONFIDENCE).remarks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
