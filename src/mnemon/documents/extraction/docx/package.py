"""The parts of a Word file, unpacked within limits and parsed without following any reference out of it."""

import io
import posixpath
import zipfile
import zlib

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

    def __init__(self, content: bytes, limits: Limits) -> None:
        self._limits = limits
        self._read = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise ExtractionFailed(
                f"The file is a damaged Word document: {str(error).rstrip('.')}.", reason="damaged"
            ) from None
        self._names = {name.lstrip("/").lower(): name for name in self._zip.namelist()}
        if len(self._names) > MOST_MEMBERS:
            raise ExtractionFailed(
                f"The Word document has {len(self._names):,} parts, the limit is {MOST_MEMBERS:,}.",
                reason="too_large_unpacked",
            )

    def xml(self, name: str | None) -> etree._Element | None:
        """The root of a part, or nothing where there is no such part."""
        member = self._names.get((name or "").lstrip("/").lower())
        return None if member is None else _parsed(self._bytes(member), member)

    def related(self, part: str, kind: str) -> list[str]:
        """Names of the parts that a part refers to as its `styles`, `comments`, `header` …"""
        folder, name = posixpath.split(part)
        root = self.xml(f"{folder}/_rels/{name}.rels")
        if root is None:
            return []
        return [
            posixpath.normpath(target if target.startswith("/") else posixpath.join(folder, target)).lstrip("/")
            for one in root.iter(RELATIONSHIP)
            if (one.get("Type") or "").rsplit("/", 1)[-1] == kind
            and one.get("TargetMode") != "External"
            and (target := one.get("Target") or "")
        ]

    def _bytes(self, member: str) -> bytes:
        info = self._zip.getinfo(member)
        if info.flag_bits & 1:
            raise ExtractionFailed("The Word document is encrypted: save it without a password.", reason="encrypted")
        if info.file_size > SMALL and info.file_size > MOST_RATIO * max(info.compress_size, 1):
            raise ExtractionFailed(
                f"The Word document is a zip bomb: {member} unpacks to {info.file_size:,} bytes "
                f"from {info.compress_size:,}.",
                reason="zip_bomb",
            )
        self._limits.check_expanded(self._read + info.file_size)
        try:
            with self._zip.open(info) as file:
                content = file.read(self._limits.expanded_bytes - self._read + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise ExtractionFailed(
                f"{member} of the Word document is damaged: {str(error).rstrip('.')}.", reason="damaged"
            ) from None
        self._read += len(content)
        self._limits.check_expanded(self._read)
        return content


def _parsed(content: bytes, name: str) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ExtractionFailed(f"{name} of the Word document is damaged: {error.msg}.", reason="damaged") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise ExtractionFailed(
            f"{name} of the Word document declares entities, which no Word program writes.", reason="hostile"
        )
    return root
