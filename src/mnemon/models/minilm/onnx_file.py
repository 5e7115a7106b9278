"""Writes an ONNX model file: the few protobuf messages that a graph of tensors needs, and nothing else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 10
OPSETS = {"": 21, "com.microsoft": 1}
ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10}
FLOAT, INTEGER, INTEGERS = 1, 2, 7

Attribute = int | float | Sequence[int]


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def _number(tag: int, number: int) -> bytes:
    return _varint(tag << 3) + _varint(number)


def _block(tag: int, content: bytes | str) -> bytes:
    octets = content.encode() if isinstance(content, str) else content
    return _varint(tag << 3 | 2) + _varint(len(octets)) + octets


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _block(1, name) + _varint(2 << 3 | 5) + np.float32(value).tobytes() + _number(20, FLOAT)
    if isinstance(value, int):
        return _block(1, name) + _number(3, value) + _number(20, INTEGER)
    return _block(1, name) + b"".join(_number(8, one) for one in value) + _number(20, INTEGERS)


def _tensor(name: str, values: NDArray[Any]) -> bytes:
    dimensions = b"".join(_number(1, size) for size in values.shape)
    kind = _number(2, ELEMENT_TYPES[values.dtype.name])
    return dimensions + kind + _block(8, name) + _block(9, np.ascontiguousarray(values).tobytes())


def _port(name: str, kind: str, shape: Iterable[int | str]) -> bytes:
    """An input or output; a dimension given by name is free."""
    sizes = (_number(1, size) if isinstance(size, int) else _block(2, size) for size in shape)
    dimensions = b"".join(_block(1, size) for size in sizes)
    tensor_type = _number(1, ELEMENT_TYPES[kind]) + _block(2, dimensions)
    return _block(1, name) + _block(2, _block(1, tensor_type))


@dataclass
class GraphFile:
    """Collects nodes and constants in the order of the calculation, then gives the bytes of the file."""

    name: str
    _parts: list[bytes] = field(default_factory=list)
    _count: int = 0

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self._parts.append(_block(5, _tensor(name, values)))
        return name

    def node(
        self, operation: str, inputs: Sequence[str], domain: str = "", outputs: int = 1, **attributes: Attribute
    ) -> list[str]:
        """Add one operation; its outputs get fresh names."""
        self._count += 1
        results = [f"{operation}_{self._count}_{index}" for index in range(outputs)]
        self._parts.append(
            _block(
                1,
                b"".join(_block(1, one) for one in inputs)
                + b"".join(_block(2, one) for one in results)
                + _block(3, f"{operation}_{self._count}")
                + _block(4, operation)
                + b"".join(_block(5, _attribute(key, value)) for key, value in attributes.items())
                + _block(7, domain),
            )
        )
        return results

    def input(self, name: str, kind: str, shape: Iterable[int | str]) -> str:
        self._parts.append(_block(11, _port(name, kind, shape)))
        return name

    def output(self, name: str, kind: str, shape: Iterable[int | str]) -> None:
        self._parts.append(_block(12, _port(name, kind, shape)))

    def contents(self) -> bytes:
        opsets = (_block(1, domain) + _number(2, version) for domain, version in OPSETS.items())
        return (
            _number(1, IR_VERSION)
            + _block(2, "mnemon")
            + _block(7, _block(2, self.name) + b"".join(self._parts))
            + b"".join(_block(8, opset) for opset in opsets)
        )
