"""The parts of a zipped file, unpacked within limits and parsed without following any reference out of it."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits

MOST_MEMBERS = 10_000
# Text compresses about tenfold, repetitive tables a hundredfold; a bomb far more.
MOST_RATIO = 500
SMALL = 4 << 20
RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Package:
    """A zip file whose members are read one by one, and never more than the limits allow."""

    def __init__(self, content: bytes, limits: Limits, what: str = "Word document") -> None:
        self._limits, self._what = limits, what
        self._read = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise ExtractionFailed(
                f"The file is a damaged {what}: {str(error).rstrip('.')}.", reason="damaged"
            ) from None
        self._names = {name.lstrip("/").lower(): name for name in self._zip.namelist()}
        if len(self._names) > MOST_MEMBERS:
            raise ExtractionFailed(
                f"The {what} has {len(self._names):,} parts, the limit is {MOST_MEMBERS:,}.",
                reason="too_large_unpacked",
            )

    def xml(self, name: str | None) -> etree._Element | None:
        """The root of a part, or nothing where there is no such part."""
        member = self._names.get((name or "").lstrip("/").lower())
        return None if member is None else _parsed(self._bytes(member), member, self._what)

    def content(self, name: str) -> bytes | None:
        """The bytes of a part, or nothing where there is no such part."""
        member = self._names.get(name.lstrip("/").lower())
        return None if member is None else self._bytes(member)

    @property
    def names(self) -> list[str]:
        """Of all parts that are files."""
        return [name for name in self._names.values() if not name.endswith("/")]

    def targets(self, part: str) -> dict[str, str]:
        """Names of the parts that a part refers to, by the id of the reference."""
        return {one.get("Id") or "": target for one, target in self._relations(part)}

    def related(self, part: str, kind: str) -> list[str]:
        """Names of the parts that a part refers to as its `styles`, `comments`, `header` …"""
        return [target for one, target in self._relations(part) if (one.get("Type") or "").rsplit("/", 1)[-1] == kind]

    def _relations(self, part: str) -> Iterator[tuple[etree._Element, str]]:
        folder, name = posixpath.split(part)
        root = self.xml(f"{folder}/_rels/{name}.rels")
        for one in () if root is None else root.iter(RELATIONSHIP):
            target = one.get("Target") or ""
            if target and one.get("TargetMode") != "External":
                path = target if target.startswith("/") else posixpath.join(folder, target)
                yield one, posixpath.normpath(path).lstrip("/")

    def _bytes(self, member: str) -> bytes:
        info = self._zip.getinfo(member)
        if info.flag_bits & 1:
            raise ExtractionFailed(f"The {self._what} is encrypted: save it without a password.", reason="encrypted")
        if info.file_size > SMALL and info.file_size > MOST_RATIO * max(info.compress_size, 1):
            raise ExtractionFailed(
                f"The {self._what} is a zip bomb: {member} unpacks to {info.file_size:,} bytes "
                f"from {info.compress_size:,}.",
                reason="zip_bomb",
            )
        self._limits.check_expanded(self._read + info.file_size)
        try:
            with self._zip.open(info) as file:
                content = file.read(self._limits.expanded_bytes - self._read + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise ExtractionFailed(
                f"{member} of the {self._what} is damaged: {str(error).rstrip('.')}.", reason="damaged"
            ) from None
        self._read += len(content)
        self._limits.check_expanded(self._read)
        return content


def _parsed(content: bytes, name: str, what: str) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ExtractionFailed(f"{name} of the {what} is damaged: {error.msg}.", reason="damaged") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise ExtractionFailed(
            f"{name} of the {what} declares entities, which no office program writes.", reason="hostile"
        )
    return root
