"""PostgreSQL arrays built as bytes: a column of values travels as one parameter, at a tenth of psycopg's own cost."""

import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import ClassVar, TypeVar

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from mnemon.log.moments import EPOCH_2000, EPOCH_DAY_2000, microseconds_since

Value = TypeVar("Value")

_LENGTH = struct.Struct("!i")
_NULL = _LENGTH.pack(-1)
_HEADER = struct.Struct("!iiiii")
_EMPTY = struct.Struct("!iii")
_INTEGER = struct.Struct("!ii")
_BIGINT = struct.Struct("!iq")
_INFINITY = _BIGINT.pack(8, 2**63 - 1)


class Array:
    """One array in PostgreSQL's binary format. Elements come with their lengths in front."""

    oid: ClassVar[int]
    element_oid: ClassVar[int]

    def __init__(self, elements: Iterable[bytes], count: int) -> None:
        header = _HEADER.pack(1, 1, self.element_oid, count, 1) if count else _EMPTY.pack(0, 0, self.element_oid)
        self.image = b"".join([header, *elements])


class ByteaArray(Array):
    oid, element_oid = 1001, 17

    def __init__(self, values: Sequence[bytes]) -> None:
        super().__init__(_with_lengths(values), len(values))


class TextArray(Array):
    oid, element_oid = 1009, 25

    def __init__(self, values: Sequence[str]) -> None:
        super().__init__(_with_lengths([value.encode() for value in values]), len(values))


class RepeatingTextArray(Array):
    """text[] of few different values."""

    oid, element_oid = 1009, 25

    def __init__(self, values: Sequence[str]) -> None:
        super().__init__(_each_once(_text, values), len(values))


class EncodedTextArray(ByteaArray):
    """text[] of what is in UTF-8 already."""

    oid, element_oid = 1009, 25


class SparseTextArray(Array):
    """text[] in which None stands for NULL."""

    oid, element_oid = 1009, 25

    def __init__(self, values: Sequence[str | None]) -> None:
        super().__init__([_NULL if value is None else _sized(value.encode()) for value in values], len(values))


class IntegerArray(Array):
    oid, element_oid = 1007, 23

    def __init__(self, values: Sequence[int]) -> None:
        pieces = [4] * (2 * len(values))
        pieces[1::2] = values
        super().__init__([struct.pack(f"!{len(pieces)}i", *pieces)], len(values))


class MomentArray(Array):
    """timestamptz[]; None stands for infinity."""

    oid, element_oid = 1185, 1184

    def __init__(self, values: Sequence[datetime | None]) -> None:
        super().__init__(_each_once(_moment, values), len(values))


class DateArray(Array):
    oid, element_oid = 1182, 1082

    def __init__(self, values: Sequence[date]) -> None:
        super().__init__(_each_once(_date, values), len(values))


def _with_lengths(values: Sequence[bytes]) -> list[bytes]:
    """Length, value, length, value … in loops that the interpreter runs by itself."""
    pieces = [b""] * (2 * len(values))
    pieces[::2] = map(_LENGTH.pack, map(len, values))
    pieces[1::2] = values
    return pieces


def _sized(value: bytes) -> bytes:
    return _LENGTH.pack(len(value)) + value


def _each_once(image: Callable[[Value], bytes], values: Sequence[Value]) -> list[bytes]:
    """The events of a request mostly share their time and type, so each is put into bytes once."""
    images = {value: image(value) for value in set(values)}
    return [images[value] for value in values]


def _text(value: str) -> bytes:
    return _sized(value.encode())


def _moment(value: datetime | None) -> bytes:
    return _INFINITY if value is None else _BIGINT.pack(8, microseconds_since(EPOCH_2000, value))


def _date(value: date) -> bytes:
    return _INTEGER.pack(4, value.toordinal() - EPOCH_DAY_2000)


def _dumper_of(kind: type[Array]) -> type[Dumper]:
    class ArrayDumper(Dumper):
        format = Format.BINARY
        oid = kind.oid

        def dump(self, obj: Array) -> bytes:
            return obj.image

    return ArrayDumper


for _kind in (
    ByteaArray, TextArray, RepeatingTextArray, EncodedTextArray, SparseTextArray, IntegerArray, MomentArray, DateArray,
):  # fmt: skip
    psycopg.adapters.register_dumper(_kind, _dumper_of(_kind))
