"""How well the product answers: files go in through the public door, questions through the operation.

`make bench-answers` measures the blind third and prints nothing but figures of it; `python bench/bench_answers.py tune`
also tells the kinds of question apart, and with MISSES=1 what went wrong. Vectors are kept between runs, so that
`ask_p95_ms`, over the few documents of the questions, is no figure of the embedder; `ask_p95_ms_100k` is, over 100,000
passages of meetings (4,000 with QUICK=1). Keys that begin with `locomo_` are of LoCoMo, where its data is. ONLY=blind
leaves both out.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))

from asked_large import ask_p95
from asked_library import GoldQuestion, Library, StoredDocument, is_quoted, load_questions, open_library
from locomo_answers import locomo_figures, token_f1
from talk_files import DATA

from mnemon.ask.inputs import Question
from mnemon.ask.operations import ask
from mnemon.ask.outputs import Answered
from mnemon.log.events import OPERATOR
from mnemon.operations import Caller
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
# A home that is kept is not filled anew: for whoever tries things out.
HOME = os.environ.get("MNEMON_BENCH_HOME")
# Of a quick run: questions of so many documents.
FEW_DOCUMENTS = 12


@dataclass(frozen=True)
class Outcome:
    """A question, and what became of it."""

    question: GoldQuestion
    answer: Answered
    right: bool
    # Gold is told as standing; it is told first; what was replaced is told as if it stood.
    stands: bool
    first: bool
    replaced: bool
    seconds: float


async def ask_all(library: Library, questions: Sequence[GoldQuestion]) -> list[Outcome]:
    caller = Caller(library.tenant, OPERATOR)
    return [await _ask(library, caller, one) for one in questions]


async def _ask(library: Library, caller: Caller, question: GoldQuestion) -> Outcome:
    began = time.perf_counter()
    answer = await ask(library.mnemon, caller, Question(question=question.text))
    seconds = time.perf_counter() - began
    document = library.documents[question.document]
    answerable = question.unanswerable is None
    right = answerable and is_quoted(question, document, _spans(answer.sentences))
    stands = answerable and is_quoted(question, document, _spans(_standing(answer)))
    first = answerable and is_quoted(question, document, _spans(answer.sentences[:1]))
    replaced = answerable and _tells_replaced(question, document, answer)
    return Outcome(question, answer, right, stands, first, replaced, seconds)


def _tells_replaced(question: GoldQuestion, document: StoredDocument, answer: Answered) -> bool:
    """Whether a sentence gives what was replaced as standing, without what stands ("15 June instead of 2 June")."""
    if not question.replaced:
        return False
    before = replace(question, quotes=[question.replaced], alternatives=())
    return any(
        is_quoted(before, document, _spans([one])) and not is_quoted(question, document, _spans([one]))
        for one in _standing(answer)
    )


def _standing(answer: Answered) -> list[object]:
    """What the answer gives as standing: not what it marks as replaced, denied or earlier."""
    return [one for one in answer.sentences if one.role in ("answer", "since")]


def _spans(sentences: Sequence[object]) -> list[tuple[UUID, int, int]]:
    return [(one.doc_version_id, one.start, one.end) for each in sentences for one in each.citations]  # type: ignore[attr-defined]


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    answerable = [one for one in outcomes if one.question.unanswerable is None]
    nowhere = [one for one in outcomes if one.question.unanswerable is not None]
    answered = [one for one in answerable if one.answer.outcome == "answered"]
    # One that is refused tells nobody what stands.
    standing = [one for one in answerable if one.question.standing]
    return {
        "answer_right": _share(one.right for one in answerable),
        "answer_f1": _mean([token_f1(one.answer.text, one.question.answer or "") for one in answerable]),
        "answer_words": _mean([len(one.answer.text.split()) for one in answered]),
        "wrong_answered": _share(one.answer.outcome == "answered" and not one.right for one in answerable),
        "wrongly_refused": _share(one.answer.outcome == "refused" for one in answerable),
        "unanswerable_refused": _share(one.answer.outcome == "refused" for one in nowhere),
        "standing_right": _share(one.stands for one in standing),
        "standing_first": _share(one.first for one in standing),
        "replaced_told": _share(one.replaced for one in standing),
        "ask_p95_ms": round(1000 * sorted(one.seconds for one in outcomes)[int(0.95 * len(outcomes))], 1),
    }


def _share(values: object) -> float:
    return _mean([float(one) for one in values])  # type: ignore[attr-defined]


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


@asynccontextmanager
async def _home(split: str) -> AsyncIterator[Path]:
    if HOME:
        yield Path(HOME) / split
        return
    with tempfile.TemporaryDirectory(prefix="mnemon-answers-") as home:
        yield Path(home)


def tell(part: str, measured: dict[str, float]) -> None:
    print(part)
    for name, value in measured.items():
        print(f"  {name:<28} {value:>10,.3f}")
    sys.stdout.flush()


async def _locomo(quick: bool) -> dict[str, float]:
    if not DATA.is_dir():
        print(f"There is no {DATA}: LoCoMo is left out.")
        return {}
    return await locomo_figures(quick)


async def _large(quick: bool) -> dict[str, float]:
    return {"ask_p95_ms_100k": await ask_p95(quick)}


# ONLY=blind leaves them out.
PARTS = {"LoCoMo": _locomo, "100,000 passages": _large} if os.environ.get("ONLY") != "blind" else {}


async def main(split: str) -> None:
    configure_logging("ERROR")
    questions = load_questions([split])
    if QUICK:
        some = set(
            sorted({one.document for one in questions})[
                :: max(1, len({one.document for one in questions}) // FEW_DOCUMENTS)
            ]
        )
        questions = [one for one in questions if one.document in some]
    async with _home(split) as home, open_library(home, questions) as library:
        outcomes = await ask_all(library, questions)
    measured = figures(outcomes)
    tell(f"{len(questions)} questions of the {split} part", measured)
    if split == "blind":
        for name in PARTS:
            more = await PARTS[name](QUICK)
            tell(name, more)
            measured |= more
        print(json.dumps({"bench": "answers", "results": measured}))
    else:
        kinds = sorted({one.question.kind for one in outcomes})
        for kind in kinds:
            own = [one for one in outcomes if one.question.kind == kind]
            print(kind, len(own), json.dumps(figures(own)))
        if os.environ.get("MISSES"):
            for one in outcomes:
                if (one.question.unanswerable and one.answer.outcome == "answered") or (
                    not one.question.unanswerable and not one.right
                ):
                    print(
                        "\n",
                        one.question.name,
                        one.question.kind,
                        one.question.unanswerable or "",
                        "standing" if one.question.standing else "",
                        "|",
                        one.question.text,
                        "\n   want:",
                        one.question.quotes,
                        "\n   got :",
                        round(one.answer.strength, 2),
                        one.answer.text or f"[{one.answer.refusal.code}]",
                    )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "blind"))
