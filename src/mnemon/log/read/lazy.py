"""Values that are worked out when first looked at. Like functools.cached_property, without its lock per access."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801  used as a decorator
    """Keeps its value in the instance, which from then on answers by itself."""

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> "Value | lazy[Value]":
        if instance is None:
            return self
        value = self._work_out(instance)
        instance.__dict__[self._name] = value
        return value
