"""PostgreSQL arrays built as bytes: a column of values travels as one parameter, at a tenth of psycopg's own cost."""

import struct
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import ClassVar

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from mnemon.log.moments import EPOCH_2000, EPOCH_DAY_2000, microseconds_since

_LENGTH = struct.Struct("!i")
_NULL = _LENGTH.pack(-1)
_INTEGER = struct.Struct("!ii")
_BIGINT = struct.Struct("!iq")
_INFINITY = _BIGINT.pack(8, 2**63 - 1)


class Array:
    """One array in PostgreSQL's binary format."""

    oid: ClassVar[int]
    element_oid: ClassVar[int]

    def __init__(self, elements: Iterable[bytes], count: int) -> None:
        header = struct.pack("!iiiii", 1, 1, self.element_oid, count, 1) if count else b"\0" * 8 + _oid(self)
        self.image = header + b"".join(elements)


class TextArray(Array):
    oid, element_oid = 1009, 25

    def __init__(self, values: Sequence[bytes | str | None]) -> None:
        super().__init__([_variable(value) for value in values], len(values))


class ByteaArray(Array):
    oid, element_oid = 1001, 17

    def __init__(self, values: Sequence[bytes]) -> None:
        super().__init__(map(_variable, values), len(values))


class IntegerArray(Array):
    oid, element_oid = 1007, 23

    def __init__(self, values: Sequence[int]) -> None:
        super().__init__([_INTEGER.pack(4, value) for value in values], len(values))


class MomentArray(Array):
    """timestamptz[]; None stands for infinity."""

    oid, element_oid = 1185, 1184

    def __init__(self, values: Sequence[datetime | None]) -> None:
        super().__init__(
            [
                _INFINITY if value is None else _BIGINT.pack(8, microseconds_since(EPOCH_2000, value))
                for value in values
            ],
            len(values),
        )


class DateArray(Array):
    oid, element_oid = 1182, 1082

    def __init__(self, values: Sequence[date]) -> None:
        super().__init__([_INTEGER.pack(4, value.toordinal() - EPOCH_DAY_2000) for value in values], len(values))


def _variable(value: bytes | str | None) -> bytes:
    if value is None:
        return _NULL
    if isinstance(value, str):
        value = value.encode()
    return _LENGTH.pack(len(value)) + value


def _oid(array: Array) -> bytes:
    return _LENGTH.pack(array.element_oid)


def _dumper_of(kind: type[Array]) -> type[Dumper]:
    class ArrayDumper(Dumper):
        format = Format.BINARY
        oid = kind.oid

        def dump(self, obj: Array) -> bytes:
            return obj.image

    return ArrayDumper


for _kind in (TextArray, ByteaArray, IntegerArray, MomentArray, DateArray):
    psycopg.adapters.register_dumper(_kind, _dumper_of(_kind))
