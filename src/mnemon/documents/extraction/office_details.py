"""What files of Microsoft's Office say about themselves: title, author, dates."""

from mnemon.documents.extraction.dates import moment
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.package import Package
from mnemon.documents.ingest.content import Details

CORE = {
    "title": "{http://purl.org/dc/elements/1.1/}title",
    "author": "{http://purl.org/dc/elements/1.1/}creator",
    "language": "{http://purl.org/dc/elements/1.1/}language",
    "subject": "{http://purl.org/dc/elements/1.1/}subject",
    "keywords": "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}keywords",
    "created": "{http://purl.org/dc/terms/}created",
    "modified": "{http://purl.org/dc/terms/}modified",
    "modified_by": "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}lastModifiedBy",
}


def core_details(package: Package) -> Details:
    root = package.xml(next(iter(package.related("", "core-properties")), "docProps/core.xml"))
    found = {name: one_line(root.findtext(tag)) for name, tag in CORE.items()} if root is not None else {}
    author = found.pop("author", None)
    return Details(
        title=found.pop("title", None),
        authors=[name for part in (author or "").split(";") if (name := part.strip())],
        written_at=moment(found.pop("created", None)),
        dated_by_file=True,
        language=found.pop("language", None),
        more={name: words for name, words in found.items() if words},
    )
