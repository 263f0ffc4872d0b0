# SPDX-License-Identifier: BSD-3-Clause
"""Whether two results of a callable are the same."""

from __future__ import annotations

import array
import collections
import copy
import ctypes
import math
import numbers
from typing import Any, Dict

from ._params import module


class Incomparable(Exception):
    """Nobody can say whether the results are the same; the text says why."""


def same(right: Any, result: Any, rtol: float = 1e-6) -> str:
    """The first difference between a result and the right one; empty if there is none.

    Floating-point numbers may differ by `rtol` of the larger magnitude; of an array, by `rtol` of the largest magnitude
    in it, as sums differ that were added in another order. Objects are compared by `==` and by their attributes. Raises
    Incomparable for those that have neither.
    """
    try:
        return _same(right, result, rtol)
    except Incomparable:
        raise
    except Exception as error:  # a comparison that fails says nothing about the result
        raise Incomparable("a %s cannot be compared: %.200s" % (type(right).__name__, error)) from None


def kept(result: Any) -> Any:
    """A copy that no later call can change."""
    if _is_array(result):
        numpy = module("numpy")

        return numpy.array(_host(result))
    if type(result) in (list, tuple):
        return type(result)(kept(each) for each in result)
    if type(result) is dict:
        return {key: kept(value) for key, value in result.items()}
    if isinstance(result, memoryview):
        return result.tobytes()
    try:
        return copy.deepcopy(result)
    except Exception as error:
        raise Incomparable("a %s cannot be copied: %.200s" % (type(result).__name__, error)) from None


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _same(right: Any, result: Any, rtol: float) -> str:
    if _is_array(right):
        return _arrays(right, result, rtol)
    right, result = (bytes(each) if isinstance(each, (bytearray, memoryview)) else each for each in (right, result))
    if isinstance(right, (list, tuple, range, array.array, collections.deque, ctypes.Array)):
        return _sequences(right, result, rtol)
    if isinstance(right, dict):
        return _dictionaries(right, result, rtol)
    if isinstance(right, (float, complex)) and isinstance(result, numbers.Complex):
        return "%r differs from %r" % (result, right) if _differ(complex(right), complex(result), rtol) else ""
    if right is None or isinstance(right, (numbers.Number, str, bytes, set, frozenset)):
        equal = (result is None) == (right is None) and not getattr(result, "shape", ()) and right == result
        return "" if equal else "%.60r differs from %.60r" % (result, right)
    return _objects(right, result, rtol)


def _differ(right: complex, result: complex, rtol: float) -> bool:
    pairs = ((right.real, result.real), (right.imag, result.imag))
    if all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in pairs):
        return False
    finite = all(map(math.isfinite, (right.real, right.imag, result.real, result.imag)))
    return not (finite and abs(right - result) <= rtol * max(abs(right), abs(result)))


def _sequences(right: Any, result: Any, rtol: float) -> str:
    if _is_array(result):
        result = _host(result).tolist()
    kinds = (list, tuple, range, array.array, collections.deque, ctypes.Array)
    if not isinstance(result, kinds) or len(right) != len(result):
        return "%.60r is not a sequence of %d elements" % (result, len(right))
    for index, (a, b) in enumerate(zip(right, result)):
        difference = _same(a, b, rtol)
        if difference:
            return "element %d: %s" % (index, difference)
    return ""


def _dictionaries(right: Any, result: Any, rtol: float) -> str:
    if not isinstance(result, dict) or set(right) != set(result):
        return "%.60r has other keys than %.60r" % (result, right)
    for key in right:
        difference = _same(right[key], result[key], rtol)
        if difference:
            return "%r: %s" % (key, difference)
    return ""


def _attributes(value: Any) -> Dict[str, Any]:
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    return {**{name: getattr(value, name) for name in slots}, **getattr(value, "__dict__", {})}


def _objects(right: Any, result: Any, rtol: float) -> str:
    if type(right) is not type(result):
        return "its type is %s, not %s" % (type(result).__name__, type(right).__name__)
    if hasattr(right, "to_numpy"):  # a table of pandas or the like
        return _sequences(list(getattr(right, "columns", ())), list(getattr(result, "columns", ())), rtol) or _arrays(
            right.to_numpy(), result.to_numpy(), rtol
        )
    compares = getattr(type(right), "__eq__") is not object.__eq__
    if compares and right == result:
        return ""
    members = {} if callable(right) or isinstance(right, type) else _attributes(right)
    if not members and not compares:
        raise Incomparable("a %s cannot be compared" % type(right).__name__)
    difference = _dictionaries(members, _attributes(result), rtol) if members else "%.60r differs from %.60r" % (result, right)
    return difference


def _host(array: Any) -> Any:
    """The array in host memory: as CuPy, PyTorch and NumPy name that, and SciPy for a sparse matrix."""
    if "bfloat16" in str(getattr(array, "dtype", "")) and hasattr(array, "float"):
        array = array.float()  # NumPy has no such type
    for step in ("detach", "cpu", "get", "numpy", "toarray"):
        if hasattr(array, step) and not (step == "get" and isinstance(array, dict)):
            array = getattr(array, step)()
    return array


def _arrays(right: Any, result: Any, rtol: float) -> str:
    numpy = module("numpy")

    if not _is_array(result) and isinstance(result, (list, tuple, numbers.Number)):
        result = numpy.asarray(result)
    if getattr(result, "shape", None) != right.shape:
        return "its shape is %s, not %s" % (getattr(result, "shape", None), tuple(right.shape))
    a, b = numpy.asarray(_host(right)), numpy.asarray(_host(result))
    if a.dtype == b.dtype and a.dtype.kind != "O" and numpy.array_equal(a, b):
        return ""
    with numpy.errstate(all="ignore"):
        wrong = _elements(a, b, rtol)
    if not wrong.any():
        return ""
    first = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    return "%d of %d elements differ, the first at %s: %s instead of %s" % (wrong.sum(), wrong.size, first, b[first], a[first])


def _elements(a: Any, b: Any, rtol: float) -> Any:
    """Which elements differ."""
    numpy = module("numpy")

    if a.dtype.kind == "O":
        pairs = zip(a.ravel(), b.ravel())
        return numpy.array([bool(_same(x, y, rtol)) for x, y in pairs], dtype=bool).reshape(a.shape)
    if a.dtype.kind not in "fc":
        return numpy.asarray((a != b) & ~((a != a) & (b != b)))  # NaT differs from itself
    finite = a[numpy.isfinite(a)]
    scale = numpy.abs(finite).max() if finite.size else 0
    return ~((numpy.abs(a - b) <= rtol * scale) | (a == b) | (numpy.isnan(a) & numpy.isnan(b)))
