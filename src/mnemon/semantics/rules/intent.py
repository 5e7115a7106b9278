"""How likely a sentence asks for or promises something: a small linear model over words, learned from mail."""

import json
import math
import re
from functools import cache
from importlib import resources
from itertools import pairwise

_LINK = re.compile(r"https?://\S+|www\.\S+|\$link|\S+\.(?:com|org|net)\b\S*")
_ADDRESS = re.compile(r"\S+@\S+")
_NUMBER = re.compile(r"\d+")
_TOKEN = re.compile(r"<\w+>|[a-z]+(?:'[a-z]+)?|0|[?!:$]")
_LONGEST = 6
# Precision and recall meet here, under cross-validation.
LIKELY = 0.45

# Shapes of promises and requests that single words do not show.
_SHAPES = {
    "asks_you": r"\b(?:can|could|would|will|do|did|are|have) you\b",
    "asks_please": r"\b(?:please|kindly|pls)\b",
    "asks_let_know": r"\blet (?:me|us) know\b",
    "promises": r"\b(?:i|we)(?:'ll| will| shall| am going to| are going to)\b",
    "wants": r"\b(?:i|we)(?:'d| would) (?:like|appreciate|need)\b|\b(?:i|we) need\b",
    "question": r"\?\W*$",
    "opens_verb_link": r"^(?:click|visit|join|buy|order|save|download|start|search|shop|sign up)\b",
    "deadline": r"\b(?:by|before|until) (?:mon|tues|wednes|thurs|fri|satur|sun|tomorrow|noon|the end|eod|next|\d)",
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _SHAPES.items()}


def features(sentence: str) -> set[str]:
    """Words, neighbouring words, shapes and length; numbers, links and addresses as one sign each."""
    text = sentence.lower().replace("’", "'")
    text = _NUMBER.sub("0", _LINK.sub(" <url> ", _ADDRESS.sub(" <mail> ", text)))
    tokens = _TOKEN.findall(text)
    framed = ["<s>", *tokens, "</s>"]
    found = {*tokens, *(f"{first} {second}" for first, second in pairwise(framed))}
    found.update(f"shape:{name}" for name, pattern in _COMPILED.items() if pattern.search(text))
    found.add(f"length:{min(_LONGEST, len(tokens) // 6)}")
    return found


def actionable(sentence: str) -> float:
    """The model's probability that somebody is to do something."""
    weights, bias = _weights()
    known = [weights[each] for each in features(sentence) if each in weights]
    score = bias + sum(known) / math.sqrt(max(1, len(known)))
    return 1 / (1 + math.exp(-score))


@cache
def _weights() -> tuple[dict[str, float], float]:
    table = json.loads(resources.files("mnemon.semantics.rules").joinpath("intent_weights.json").read_text())
    return table["weights"], table["bias"]
