# SPDX-License-Identifier: BSD-3-Clause
"""The data that a callable reaches without getting it as an argument. A call that changes them in place, such as a sort,
leaves less work to the next one: they are found, and restored before each call."""

from __future__ import annotations

import array
import functools
import inspect
import math
import types
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ._travel import names_of

LONG = 32  # a shorter list is a counter or the like, which belongs to the callable's state
ENTRIES = 100  # of a container that are looked at
DEPTH = 3
BYTES_MAX = 256 << 20  # of all copies


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) in (int, float) for each in value)


def copy_of(value: Any) -> Any:
    """A copy of data that can be restored; None for anything else."""
    if isinstance(value, (bytearray, array.array)) or (_is_numbers(value) and len(value) >= LONG):
        return value[:]
    if isinstance(value, list) and len(value) > 1 and all(map(_is_numbers, value)) and sum(map(len, value)) >= LONG:
        return [(row, row[:]) for row in value]
    if type(value).__module__ == "numpy" and hasattr(value, "flags") and value.flags.writeable and value.dtype.kind in "biufc":
        return value.copy()
    if type(value).__module__ == "torch" and type(value).__name__ == "Tensor" and value.device.type == "cpu":
        return value.detach().clone()
    return None


def _size(copy: Any) -> int:
    nbytes = getattr(copy, "nbytes", None)
    return nbytes if isinstance(nbytes, int) else 32 * sum(len(row[1]) if isinstance(row, tuple) else 1 for row in copy)


def restore(value: Any, copy: Any) -> None:
    if isinstance(copy, list) and copy and isinstance(copy[0], tuple):
        for row, numbers in copy:
            row[:] = numbers
        value[:] = [row for row, _ in copy]
    elif type(value).__module__ == "torch":
        value.detach().copy_(copy)
    elif hasattr(value, "flags"):
        value[...] = copy
    else:
        value[:] = copy


def spoil(value: Any) -> None:
    """Overwrites data with what no computation gives."""
    if isinstance(value, list) and isinstance(value[0], list):
        for row in value:
            row[:] = [math.nan] * len(row)
    elif isinstance(value, list):
        value[:] = [math.nan] * len(value)
    elif isinstance(value, (bytearray, array.array)):
        memoryview(value).cast("B")[:] = bytes(255 - byte for byte in memoryview(value).cast("B"))
    else:
        value = value.detach() if hasattr(value, "detach") else value
        real = "float" in str(value.dtype) or "complex" in str(value.dtype)
        value[...] = math.nan if real else ~value


def _is_changed(value: Any, copy: Any) -> bool:
    if isinstance(copy, list) and copy and isinstance(copy[0], tuple):
        return bool(value != [numbers for _, numbers in copy])
    if isinstance(value, array.array):
        return bool(value.tobytes() != copy.tobytes())
    if hasattr(value, "shape"):
        return bool(((value != copy) & ~((value != value) & (copy != copy))).any())  # NaN differs from itself
    return bool(value != copy)


def _members(value: Any) -> Iterator[Tuple[str, Any]]:
    """What is within reach of a value, with its name."""
    if isinstance(value, functools.partial):
        yield "", value.func
        yield from ((str(i), each) for i, each in enumerate(value.args))
        yield from value.keywords.items()
    elif inspect.ismethod(value):
        yield "self", value.__self__
        yield "", value.__func__
    elif isinstance(value, types.FunctionType):
        yield "", getattr(value, "__wrapped__", None)
        parameters = list(inspect.signature(value).parameters.values())
        yield from ((each.name, each.default) for each in parameters if each.default is not each.empty)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            if cell != types.CellType():
                yield name, cell.cell_contents
        yield from ((name, value.__globals__[name]) for name in names_of(value.__code__) if name in value.__globals__)
    elif isinstance(value, dict):
        yield from list(value.items())[:ENTRIES]
    elif isinstance(value, (list, tuple)):
        yield from ((str(i), each) for i, each in enumerate(value[:ENTRIES]))
    elif not isinstance(value, (type, types.ModuleType)):
        yield from list(getattr(value, "__dict__", {}).items())[:ENTRIES]
        call = getattr(type(value), "__call__", None)
        if isinstance(call, types.FunctionType):
            yield "", call


class Inputs:
    """`changed` has the names of the data that calls have changed so far."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.data: Dict[int, Tuple[str, Any, Any]] = {}
        self.seen: Dict[int, Any] = {}  # the objects themselves, so that no other one gets the same id
        self.bytes = 0
        self.changed: List[str] = []
        self._find("", function, 0)
        self.seen.clear()

    def _find(self, name: str, value: Any, depth: int) -> None:
        if depth > DEPTH or id(value) in self.seen or self.bytes > BYTES_MAX:
            return
        self.seen[id(value)] = value
        nbytes = getattr(value, "nbytes", 0)
        if isinstance(nbytes, int) and self.bytes + nbytes > BYTES_MAX:
            return
        copy = copy_of(value)
        if copy is not None:
            self.data[id(value)] = (name, value, copy)
            self.bytes += _size(copy)
            return
        for member, inner in _members(value):
            if name and member and not isinstance(value, types.FunctionType):
                member = "%s[%s]" % (name, member) if isinstance(value, (dict, list, tuple)) else "%s.%s" % (name, member)
            self._find(str(member) or name, inner, depth + 1)

    def look(self) -> None:
        """Notes what has changed, and restores it."""
        for name, value, copy in self.data.values():
            if _is_changed(value, copy):
                if name not in self.changed:
                    self.changed.append(name)
                restore(value, copy)

    def restore(self) -> None:
        for name, value, copy in self.data.values():
            if name in self.changed:
                restore(value, copy)
