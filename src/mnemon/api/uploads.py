"""Uploads over HTTP: a multipart form is read as it comes, each file straight to disk, never held in memory."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from mnemon.documents.errors import BadUpload, NoFile, UnfitField, UploadNotStored, UploadStalled, UploadTooLarge
from mnemon.documents.intake.files import Files, Incoming, Received

LARGEST_FIELD = 65_536
MOST_FIELDS = 200
# Blocks of this size go to the thread that hashes and writes them.
BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was read past, and why nothing of it is kept."""

    filename: str
    reason: UploadTooLarge


@dataclass
class UploadForm:
    """A form that was read to its end: files on disk in the order they came, fields in memory."""

    files: list[Received | Refused] = field(default_factory=list)
    fields: dict[str, list[str]] = field(default_factory=dict)

    def every(self, name: str) -> list[str] | None:
        """The words of all fields of this name; None where there is none."""
        given = [value for value in self.fields.get(name, ()) if value]
        words = [word.strip() for value in given for word in value.split(",") if word.strip()]
        return words if given else None

    def one(self, name: str) -> str | None:
        given = [value for value in self.fields.get(name, ()) if value]
        if len(given) > 1:
            raise UnfitField(f"The field {name} was given {len(given)} times: give it once.", field=name)
        return given[0] if given else None


@dataclass(frozen=True, slots=True)
class _Part:
    """What the headers of a part say."""

    name: str
    filename: str | None


class _Parts:
    """What the push parser reports, in order: a part that begins, bytes of it, its end."""

    def __init__(self, boundary: bytes) -> None:
        self.happened: list[_Part | bytes | None] = []
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self.ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": lambda data, start, end: self.happened.append(data[start:end]),
                "on_part_end": lambda: self.happened.append(None),
                "on_end": self._on_end,
            },
        )

    def feed(self, data: bytes) -> list[_Part | bytes | None]:
        try:
            self._parser.write(data)
        except MultipartParseError as failure:
            raise BadUpload(f"The form is not well-formed multipart: {failure}.") from None
        seen, self.happened = self.happened, []
        return seen

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _on_headers_finished(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if kind != b"form-data" or b"name" not in options:
            raise BadUpload("A part of the form has no Content-Disposition with a name.")
        filename = options.get(b"filename")
        self.happened.append(_Part(_text(options[b"name"]), _name(filename) if filename is not None else None))

    def _on_end(self) -> None:
        self.ended = True


class FormReader:
    """Reads one request. A file that is too large is refused alone; on any other failure nothing stays on disk."""

    def __init__(self, files: Files, tenant: UUID, *, most_files: int, idle_seconds: float) -> None:
        self._files = files
        self._tenant = tenant
        self._most_files = most_files
        self._idle = idle_seconds
        self._form = UploadForm()
        self._incoming: Incoming | None = None
        self._block = bytearray()
        self._part: _Part | None = None
        self._has_end = False

    async def read(self, request: Request) -> UploadForm:
        try:
            return await self._read(request)
        except BaseException as failure:
            await asyncio.shield(asyncio.to_thread(self.discard))
            if isinstance(failure, ClientDisconnect):
                raise BadUpload("The upload ended before it was complete.") from None
            if isinstance(failure, OSError):
                raise UploadNotStored(f"The upload could not be stored: {failure.strerror}. Try again.") from failure
            raise

    async def _read(self, request: Request) -> UploadForm:
        parts = _Parts(_boundary(request.headers))
        self._has_end = "content-length" in request.headers
        async for data in self._pieces(request):
            for one in parts.feed(data):
                await self._take(one)
        if not parts.ended:
            raise BadUpload("The form ends in the middle: its last boundary is missing.")
        if not self._form.files:
            raise NoFile("The form has no file: send it in the field `file`.")
        return self._form

    async def _pieces(self, request: Request) -> AsyncIterator[bytes]:
        stream = aiter(request.stream())
        while True:
            try:
                async with asyncio.timeout(self._idle):
                    piece = await anext(stream, None)
            except TimeoutError:
                raise UploadStalled(
                    f"Nothing came for {self._idle:g} s: send the file again.", idle_seconds=self._idle
                ) from None
            if piece is None:
                return
            yield piece

    async def _take(self, one: "_Part | bytes | None") -> None:
        if isinstance(one, _Part):
            await self._begin(one)
        elif one is None:
            await self._end()
        elif self._incoming is not None:
            self._block += one
            if len(self._block) >= BLOCK:
                await self._write(self._incoming)
        elif self._part is not None and self._part.filename is None:
            self._block += one
            if len(self._block) > LARGEST_FIELD:
                raise UnfitField("A field of the form is too long.", most_bytes=LARGEST_FIELD)

    async def _begin(self, part: _Part) -> None:
        self._part = part
        if part.filename is None:
            if sum(map(len, self._form.fields.values())) >= MOST_FIELDS:
                raise UnfitField(f"The form has more than {MOST_FIELDS} fields.")
            return
        if part.name not in ("file", "files"):
            raise UnfitField(f"A file came in the field {part.name!r}: send it in `file`.", field=part.name)
        if len(self._form.files) >= self._most_files:
            raise UnfitField(f"At most {self._most_files} files in one upload: send the others in another.")
        self._incoming = await asyncio.to_thread(self._files.receive, self._tenant, part.filename)

    async def _end(self) -> None:
        assert self._part is not None
        if self._part.filename is None:
            self._form.fields.setdefault(self._part.name, []).append(_text(self._taken()))
        elif self._incoming is not None and await self._write(self._incoming):
            self._form.files.append(await asyncio.to_thread(self._incoming.complete))
            self._incoming = None

    async def _write(self, incoming: Incoming) -> bool:
        """Whether it still fits. The rest of a file that does not is read past, for the sake of the files after it;
        but only where the length was announced, and so was found bearable: other senders might never end."""
        try:
            await asyncio.to_thread(incoming.write, self._taken())
        except UploadTooLarge as refusal:
            if not self._has_end:
                raise
            await asyncio.to_thread(incoming.abandon)
            self._incoming = None
            self._form.files.append(Refused(incoming.filename, refusal))
            return False
        return True

    def _taken(self) -> bytes:
        block = bytes(self._block)
        self._block.clear()
        return block

    def discard(self) -> None:
        """Remove what was stored so far."""
        if self._incoming is not None:
            self._incoming.abandon()
        for one in self._form.files:
            if isinstance(one, Received):
                self._files.discard_upload(self._tenant, one.run_id)


def _boundary(headers: Mapping[str, str]) -> bytes:
    kind, options = parse_options_header(headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise BadUpload("Send the file as multipart/form-data, as `curl -F file=@policy.pdf` does.")
    if len(options[b"boundary"]) > 200:
        raise BadUpload("The boundary of the form is too long.")
    return options[b"boundary"]


def _name(data: bytes) -> str:
    """Browsers write a quote and line ends in a name as HTML's standard says, and leave everything else as it is."""
    return _text(data).replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadUpload("Names and fields of the form are UTF-8 text.") from None
