"""Cues in German: what names its category outright. The learned reader finds the rest."""

from mnemon.semantics.rules.cues.cue import Cue, cue
from mnemon.semantics.semantic_event import Category

_NOT_YET = r"(?<!noch\ nicht\ )(?<!nichts\ )(?<!nicht\ )(?<!zu\ )(?<!soll\ )"
_DAY = (
    r"(?:spätestens |zum |zur |zu |ende |anfang |mitte |heute|morgen|übermorgen|nächste|kommende|diese|feierabend"
    r"|ostern|weihnachten|\d|kw|mo\b|di\b|mi\b|do\b|fr\b|sa\b|so\b|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|januar"
    r"|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)"
)
# What lasts until a day, or was done by it, is no duty.
_LASTS = (
    r"(?!.*\b(?:gilt|galt|läuft|lief|dauert\w*|bleibt|bleiben|war|waren|hatte|hat|haben|wurden?|geöffnet|geschlossen"
    r"|verschoben|gesperrt|verlängert|abgesagt|krank|urlaub|kein\w*|nicht|falls|wenn|ob)\b)"
)
_TELLS = (
    r"(?:schicke|sende|melde|rufe|prüfe|mache|kläre|schreibe|liefere|bringe|besorge|reiche|gebe|buche|organisiere|bestelle"
    r"|hole|frage|bereite|erstelle|stelle|aktualisiere|informiere|leite|trage|richte|lade|drucke|übernehme|kümmere)"
)
_DONE = (
    r"(?:erledigt|fertig(?:gestellt)?|verschickt|abgeschickt|geliefert|ausgeliefert|bestellt|eingebaut|repariert"
    r"|installiert|abgeschlossen|gebucht|montiert|ersetzt|ausgetauscht|getauscht|unterschrieben|eingereicht|übergeben"
    r"|bezahlt|überwiesen|gemeldet|geprüft|veröffentlicht|ausgerollt|aktualisiert|umgezogen|abgegeben|verteilt)"
)

GERMAN_CUES: tuple[Cue, ...] = (
    cue(
        "de_decision_label",
        Category.DECISION,
        r"^\W*(?:beschluss(?: \d+)?|beschlossen|entscheidung|entschieden|vereinbart|festgelegt)\s*[:–—-]\s+",
        strength=5,
        in_condition=True,
        needs=("beschl", "entsch", "vereinb", "festgel"),
    ),
    cue(
        "de_decided",
        Category.DECISION,
        rf"\b{_NOT_YET}(?:beschlossen|beschloss|beschließt|beschliesst|entschieden|entschied|geeinigt|einigten sich"
        r"|einstimmig (?:angenommen|genehmigt)|genehmigt|abgelehnt|verabschiedet)\b(?! werden)",
        strength=3,
        needs=("beschl", "entsch", "einig", "genehm", "gelehnt", "verabsch", "einstimm"),
    ),
    cue(
        "de_until",
        Category.COMMITMENT,
        rf"^\W*(?:[\w. -]{{2,30}}:\s+)?{_LASTS}(?!bitte\b)"
        r"(?:(?-i:[A-ZÄÖÜ])[\w-]+|(?:ich|wir|herr|frau|die|der|das) [\w-]+)\b"
        rf"(?=.{{0,80}}\b(?:bis {_DAY}|(?:frist|deadline|abgabe|fällig)\w*\b[^.]{{0,20}}\d))",
        kind="assignment",
        needs=("bis ", "frist", "deadline", "abgabe", "fällig"),
    ),
    cue(
        "de_promise",
        Category.COMMITMENT,
        rf"\b(?:{_TELLS} (?:ich|dir|euch|ihnen|das|die|den|es|mich)|ich {_TELLS}|ich werde|wir werden)\b(?!.*\b(?:wenn"
        r"|falls|vielleicht)\b)",
        strength=3,
        kind="promise",
        needs=("ich", "wir", "dir", "euch", "ihnen"),
    ),
    cue(
        "de_cares",
        Category.COMMITMENT,
        r"\bkümmer(?:t|n) sich\b(?!.*\b(?:seit|bisher|niemand|keiner)\b)",
        strength=3,
        kind="assignment",
        needs=("kümmer",),
    ),
    cue(
        "de_asks",
        Category.COMMITMENT,
        r"^\W*(?:@?[\w.-]+,? )?(?:kannst du|könnt ihr|können sie|könntest du|könnten sie|könntet ihr|würdest du"
        r"|magst du)\b.{8,}|^\W*(?:@?[\w.-]+,? )?bitte (?!beachten|nicht|um\b)[\w-]+\b.{6,}",
        kind="request",
        in_question=True,
        needs=("bitte", "kann", "könn", "würd", "magst"),
    ),
    cue(
        "de_done",
        Category.EXECUTION,
        rf"\b(?:ist|sind|wurde|wurden|hat|haben|habe|hab)\b(?!.*\b(?:nicht|noch|wird|werden|soll\w*|muss|wenn|falls)\b)"
        rf".{{0,80}}\b{_DONE}\b",
        strength=3,
        about="before",
        needs=("ist", "sind", "wurd", "hat", "hab"),
    ),
    cue(
        "de_risk",
        Category.QUALITY_RISK,
        r"^\W*(?:risiko|gefahr|problem)\s*(?:\d+)?\s*[:–—-]\s+|\b(?:besteht (?:die|das) (?:gefahr|risiko)|es droht"
        r"|droht (?:ein|eine|der|die|das)|drohen)\b",
        strength=3,
        when_tentative=True,
        in_condition=True,
        needs=("risiko", "gefahr", "problem", "droh"),
    ),
)
