"""How well the product answers LoCoMo's questions, each conversation added as a chat; keys begin with `locomo_`.

An answer is right where it quotes half of a gold turn or more. Nothing is trained or chosen on this.
"""

import re
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from public_door import TEXTS, TalkFile, put_in, running_mnemon
from talk_files import DATA, lines, locomo

from mnemon.app import Mnemon
from mnemon.ask.answer import Answer
from mnemon.log.events import Actor

BENCH = Actor("system", "bench")
UNANSWERABLE = 5
# Conversations and questions of a quick run.
FEW, SOME = 2, 4
_ARTICLES = re.compile(r"\b(?:a|an|the|der|die|das|ein|eine)\b")


async def locomo_figures(quick: bool) -> dict[str, float]:
    groups, queries = locomo()
    groups = dict(list(groups.items())[:FEW]) if quick else groups
    asked = [one for one in queries if one.group in groups][:: SOME if quick else 1]
    gold = {one["id"]: str(one.get("answer") or "") for one in lines("locomo/queries.jsonl.gz", DATA)}
    rows: list[tuple[bool, bool, bool, float, int]] = []
    async with running_mnemon() as mnemon:
        tenants = await put_in(mnemon, groups)
        for query in asked:
            answer = await mnemon.asking.ask(tenants[query.group], BENCH, query.text)
            text = await _text(mnemon, tenants[query.group])
            right = _quotes(answer, text, groups[query.group], query.gold)
            words = len(answer.text.split())
            rows.append(
                (
                    query.category == UNANSWERABLE,
                    answer.refusal is not None,
                    right,
                    token_f1(answer.text, gold[query.name]),
                    words,
                )
            )
    nowhere, refused, right, f1, words = (np.array(column) for column in zip(*rows, strict=True))
    said = ~nowhere
    found = {
        "locomo_answer_right": (right & said)[said].mean(),
        "locomo_answer_f1": f1[said].mean(),
        "locomo_answer_words": words[said & ~refused].mean(),
        "locomo_wrong_answered": (~refused & ~right)[said].mean(),
        "locomo_wrongly_refused": refused[said].mean(),
        "locomo_unanswerable_refused": refused[nowhere].mean(),
    }
    return {"locomo_questions": len(rows)} | {name: round(float(value), 4) for name, value in found.items()}


async def _text(mnemon: Mnemon, tenant: UUID) -> dict[UUID, str]:
    async with mnemon.database.transaction(tenant) as tx:
        return {row["doc_version_id"]: row["text"] for row in await (await tx.execute(TEXTS)).fetchall()}


def _quotes(answer: Answer, texts: dict[UUID, str], files: Sequence[TalkFile], gold: frozenset[str]) -> bool:
    spans = {file.text: [one for one in file.spans if one.name in gold] for file in files}
    for cited in answer.citations:
        for one in spans.get(texts[cited.doc_version_id], ()):
            shared = min(one.end, cited.end) - max(one.start, cited.start)
            # A sentence within a long turn is a quote of it too.
            if shared * 2 >= min(one.end - one.start, cited.end - cited.start):
                return True
    return False


def token_f1(given: str, gold: str) -> float:
    """As LoCoMo counts it: words in common, without articles and marks."""
    mine, wanted = (_ARTICLES.sub(" ", text.lower()) for text in (given, gold))
    first, second = (Counter(re.findall(r"\w+", text)) for text in (mine, wanted))
    common = sum((first & second).values())
    if not common:
        return 0.0
    precision, recall = common / sum(first.values()), common / sum(second.values())
    return 2 * precision * recall / (precision + recall)
