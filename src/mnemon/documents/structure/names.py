"""How the name of a person is written."""

UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĪĮİŁŃŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽ"
# One capital and small letters: "MySQL" and "NATO" are nobody's name; "McKay", "O'Neill" and "Mei-Ling" are.
CAPITALISED = rf"(?:(?:Mc|Mac|De|O['’])?[{UPPER}][^\W\d_A-Z]+(?:[-’'][{UPPER}]?[^\W\d_A-Z]+)?)"
TITLE = r"(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herrn?|Captain|Capt|Sister|Fr|Hr)\.?"
PARTICLE = r"(?:de|da|van|von|der|bin|al)"
NAME = rf"(?:{TITLE} )?(?:[A-Z]\. )?{CAPITALISED}(?: (?:{PARTICLE} )?{CAPITALISED}){{0,2}}"
