# SPDX-License-Identifier: BSD-3-Clause
"""Whether two results of a callable are the same."""

from __future__ import annotations

import math
from typing import Any


def same(right: Any, result: Any, rtol: float = 1e-6) -> str:
    """The first difference between a result and the right one; empty if there is none.

    Floating-point numbers may differ by `rtol` of the larger magnitude; of an array, by `rtol` of the largest magnitude
    in it, as sums differ that were added in another order. Objects of unknown types are compared by their type only.
    """
    if right is None and result is None:
        return ""
    if hasattr(right, "shape") and hasattr(right, "dtype"):
        return _arrays(right, result, rtol)
    if isinstance(right, (list, tuple)):
        return _sequences(right, result, rtol)
    if isinstance(right, dict):
        return _dictionaries(right, result, rtol)
    if isinstance(right, complex) and isinstance(result, (int, float, complex)):
        close = abs(right - result) <= rtol * max(abs(right), abs(result))
        return "" if close else "%r differs from %r" % (result, right)
    if isinstance(right, float) and isinstance(result, (int, float)):
        close = math.isclose(right, result, rel_tol=rtol) or (math.isnan(right) and math.isnan(result))
        return "" if close else "%r differs from %r" % (result, right)
    if isinstance(right, (int, bool, str, bytes)) or right is None:
        return "" if right == result else "%.60r differs from %.60r" % (result, right)
    if type(right) is not type(result):
        return "its type is %s, not %s" % (type(result).__name__, type(right).__name__)
    return ""


def _sequences(right: Any, result: Any, rtol: float) -> str:
    if not isinstance(result, (list, tuple)) or len(right) != len(result):
        return "%.60r is not a sequence of %d elements" % (result, len(right))
    for index, (a, b) in enumerate(zip(right, result)):
        difference = same(a, b, rtol)
        if difference:
            return "element %d: %s" % (index, difference)
    return ""


def _dictionaries(right: Any, result: Any, rtol: float) -> str:
    if not isinstance(result, dict) or set(right) != set(result):
        return "%.60r has other keys than %.60r" % (result, right)
    for key in right:
        difference = same(right[key], result[key], rtol)
        if difference:
            return "%r: %s" % (key, difference)
    return ""


def _host(array: Any) -> Any:
    """The array in host memory: as CuPy, PyTorch and NumPy name that."""
    for step in ("detach", "cpu", "get", "numpy"):
        if hasattr(array, step) and not (step == "get" and isinstance(array, dict)):
            array = getattr(array, step)()
    return array


def _arrays(right: Any, result: Any, rtol: float) -> str:
    if getattr(result, "shape", None) != right.shape:
        return "its shape is %s, not %s" % (getattr(result, "shape", None), right.shape)
    import numpy

    a, b = numpy.asarray(_host(right)), numpy.asarray(_host(result))
    if a.dtype.kind not in "fc":
        wrong = a != b
    else:
        finite = a[numpy.isfinite(a)]
        scale = numpy.abs(finite).max() if finite.size else 0
        wrong = ~((numpy.abs(a - b) <= rtol * scale) | (a == b) | (numpy.isnan(a) & numpy.isnan(b)))
    if not wrong.any():
        return ""
    first = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    return "%d of %d elements differ, the first at %s: %s instead of %s" % (wrong.sum(), wrong.size, first, b[first], a[first])
