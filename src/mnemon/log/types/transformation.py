"""A declared transformation: new data as a template, filled from the old."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemon.log.types.paths import EACH, steps_of, values_at

PATH = "$."
# A text that begins with a dollar sign and is no path is written with two.
ESCAPED = "$$"


def transformed(data: Any, template: Any) -> Any:
    """The template with values in the place of paths. A path with `[*]` gives the list of all that it leads to; a name
    whose path leads nowhere is left out."""
    if isinstance(template, str):
        return _value(data, template)
    if isinstance(template, Mapping):
        made = {name: transformed(data, part) for name, part in template.items()}
        return {name: value for name, value in made.items() if value is not MISSING}
    if isinstance(template, list | tuple):
        return [value for part in template if (value := transformed(data, part)) is not MISSING]
    return template


def paths_in(template: Any) -> Iterator[str]:
    if isinstance(template, str) and template.startswith(PATH):
        yield template
    elif isinstance(template, Mapping | list | tuple):
        for part in template.values() if isinstance(template, Mapping) else template:
            yield from paths_in(part)


MISSING = object()


def _value(data: Any, text: str) -> Any:
    if text.startswith(ESCAPED):
        return text[1:]
    if not text.startswith(PATH):
        return text
    found = list(values_at(data, text))
    return found if EACH in steps_of(text) else found[0] if found else MISSING
