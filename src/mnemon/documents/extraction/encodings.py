"""Guesses the encoding of text that is not UTF-8, from a few words on.

Each candidate is judged by how many of the characters that it makes of the bytes beyond ASCII are common in the texts
it was made for: the frequent letters of an alphabet, the first half of a table of ideographs.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

SAMPLE_BYTES = 16 << 10
WESTERN_LETTERS = frozenset("äöüßÄÖÜéèêëÉÈàâáãåæçÀÁÂÅÆÇîïíìñóòôõøØÓúùûýœ")
CENTRAL_LETTERS = frozenset("áéíóúýčďěňřšťůžąćęłńśźżőűäöüôľĺŕăâîșțşţđÁÉÍÓÚČŘŠŽŁŚŻŹÖÜ")
TYPOGRAPHY = frozenset("“”‘’‚„–—…•€§°»«¿¡©®™·£")
# Letters that stand together in no western language, but do if central European text is read as western.
MISREAD = re.compile(r"(?=.*ø)(?=.*[ìèù])|(?=.*è)(?=.*[šž])|(?=.*[õû])(?=.*[öü])(?!.*[ãçêàè])", re.DOTALL)
LONG_RUN = re.compile(r"[^\x00-\x7f]{5,}")


@dataclass(frozen=True, slots=True)
class EncodingCandidate:
    encoding: str
    judge: Callable[[str], float]


def _share_of(letters: str) -> Callable[[str], float]:
    """How many of the characters beyond ASCII are among these."""
    common = frozenset(letters)

    def judge(text: str) -> float:
        wide = [one for one in text if one > "\x7f"]
        return sum(one in common for one in wide) / len(wide) if wide else 0.0

    return judge


def _latin(letters: frozenset[str]) -> Callable[[str], float]:
    """Letters within words, signs at their edges, and never many beyond ASCII in a row."""

    def judge(text: str) -> float:
        wide, good = 0, 0.0
        for before, one, after in zip(" " + text, text, text[1:] + " ", strict=False):
            if one > "\x7f":
                wide += 1
                if one in letters:
                    good += 1
                elif one in TYPOGRAPHY and (one == "’" or not (before.isalpha() and after.isalpha())):
                    good += 0.9
        in_long_runs = sum(len(run) for run in LONG_RUN.findall(text))
        return max(good - 1.5 * in_long_runs, 0) / wide if wide else 0.0

    return judge


def _ideographs(encoding: str, *common: tuple[int, int, float]) -> Callable[[str], float]:
    """Worth of characters by the first byte of their code: tables put the frequent ones into their first half."""

    def worth(one: str) -> float:
        code = one.encode(encoding)
        if len(code) != 2:
            return 0.0
        return next((value for first, last, value in common if first <= code[0] <= last), 0.0)

    def judge(text: str) -> float:
        wide = [one for one in text if one > "\x7f"]
        return sum(worth(one) for one in wide) / len(wide) if wide else 0.0

    return judge


# In the order in which they are believed when two are equally good.
CANDIDATES = (
    EncodingCandidate("cp1252", _latin(WESTERN_LETTERS)),
    EncodingCandidate("cp1250", _latin(CENTRAL_LETTERS)),
    EncodingCandidate("cp1251", _share_of("оеаинтсрвлкмдпуяызьбгчйхжюшОПРНВСДК")),
    EncodingCandidate("koi8_r", _share_of("оеаинтсрвлкмдпуяызьбгчйхжюшОПРНВСДК")),
    EncodingCandidate("cp866", _share_of("оеаинтсрвлкмдпуяызьбгчйхжюшОПРНВСДК")),
    EncodingCandidate("cp1253", _share_of("αοιετσνηυρπκμλωάόίέήύώςδγχθφ")),
    EncodingCandidate("cp1255", _share_of("ויהלאמתרבנשדעחקפכגטצסזםןץףך")),
    EncodingCandidate("cp1256", _share_of("الينومرتبةعدسفحكقهجشصطخءأإىؤئآ،")),
    EncodingCandidate("cp932", _ideographs("cp932", (0x81, 0x83, 1.0), (0x88, 0x97, 0.95))),
    EncodingCandidate("euc_jp", _ideographs("euc_jp", (0xA4, 0xA5, 1.3), (0xA1, 0xA1, 1.0), (0xB0, 0xCF, 0.8))),
    EncodingCandidate("euc_kr", _ideographs("euc_kr", (0xB0, 0xC8, 1.0), (0xA1, 0xA3, 0.5))),
    EncodingCandidate("gb18030", _ideographs("gb18030", (0xB0, 0xD7, 0.93), (0xA1, 0xA3, 0.93))),
    EncodingCandidate("big5", _ideographs("big5", (0xA4, 0xC6, 0.97), (0xA1, 0xA1, 0.97))),
    EncodingCandidate("cp874", _share_of("านรอกเงมยลวดทสตะปบคหแจพชขใไโผถิีุู่้ัำ็์")),
)
PLAUSIBLE = 0.5


def guessed_encoding(content: bytes) -> str:
    sample = content[:SAMPLE_BYTES]
    best, found = PLAUSIBLE, "cp1252"
    for candidate in CANDIDATES:
        text = _decoded(sample, candidate.encoding)
        if text is not None and (score := candidate.judge(text)) > best:
            best, found = score, candidate.encoding
    if found == "cp1252" and MISREAD.match(sample.decode("cp1252", "replace")):
        return "cp1250"
    return found


def _decoded(sample: bytes, encoding: str) -> str | None:
    """The sample, whose last character may be cut in two; nothing where it holds bytes that the encoding lacks."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None
