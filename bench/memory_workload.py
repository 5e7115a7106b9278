"""Sentences to remember and questions to recall them by, the same for everyone and every run."""

import random

PEOPLE = ("Ada", "Ben", "Chidi", "Dora", "Emil", "Fatima", "Goro", "Hana", "Ivo", "Jun")
DEEDS = ("approved", "postponed", "reviewed", "cancelled", "ordered", "repaired", "measured", "sold", "wrote", "lost")
THINGS = (
    "the hosting contract", "a batch of sensors", "the quarterly budget", "the evacuation plan", "the recipe for bread",
    "the ferry timetable", "a grant proposal", "the garden fence", "the tax return", "the choir rehearsal",
    "the data retention policy", "an old barometer", "the translation of the novel", "the blood test", "the tram line",
)  # fmt: skip
PLACES = ("Lisbon", "Frankfurt", "the archive", "the harbour", "room 12", "the hospital", "Osaka", "the board meeting")
REASONS = ("costs rose", "the law changed", "a part was missing", "it rained", "everyone agreed", "nobody had asked")


def sentences(amount: int, seed: int = 7) -> list[str]:
    """Distinct, since each carries its number."""
    pick = random.Random(seed)
    return [
        f"{pick.choice(PEOPLE)} {pick.choice(DEEDS)} {pick.choice(THINGS)} in {pick.choice(PLACES)} "
        f"because {pick.choice(REASONS)}, as noted in entry {number}."
        for number in range(amount)
    ]


def questions(amount: int) -> list[str]:
    pick = random.Random(11)
    return [f"Who {pick.choice(DEEDS)} {pick.choice(THINGS)} in {pick.choice(PLACES)}?" for _ in range(amount)]
