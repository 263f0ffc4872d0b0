# SPDX-License-Identifier: BSD-3-Clause
"""Whether the results of a callable are right, and where nobody can say so, why."""

from __future__ import annotations

import asyncio
import collections.abc
import functools
import inspect
import io
from typing import Any, Callable, Dict, Optional, Tuple

from ._compare import Incomparable, kept, same
from ._inputs import copy_of, restore, spoil

RIGHT, WRONG, UNCHECKED = "right", "wrong", "unchecked"
AGAIN = 2  # calls of the default before another configuration is blamed for a result that differs


def refuse(function: Callable[..., Any]) -> None:
    """ValueError for a callable whose calls do not work when they are timed."""
    if isinstance(function, functools._lru_cache_wrapper):
        raise ValueError("the callable keeps its results (functools.cache), so that only its first call works; pass its __wrapped__")
    if inspect.isasyncgenfunction(function):
        raise ValueError("an async generator only works when it is iterated; pass an async function that does so")


def is_promise(result: Any) -> bool:
    """Is there work left to do after a call that returned this?"""
    if isinstance(result, collections.abc.Iterator):
        return not isinstance(result, io.IOBase)
    return hasattr(result, "block_until_ready") or inspect.iscoroutine(result)


def finish(promise: Any) -> Any:
    """Does the work that a call has only promised, which is a part of what is timed."""
    if isinstance(promise, collections.abc.Iterator):
        return list(promise)
    if hasattr(promise, "block_until_ready"):  # an array of JAX
        return promise.block_until_ready()
    return asyncio.run(promise)


class Checks:
    """Judges results against the default's, or by a function. `why`: nothing can be checked, and this is the reason."""

    def __init__(self, verify: Any, metric: Optional[str], default: Dict[str, Any], rtol: float) -> None:
        self.verify, self.default, self.rtol = verify, default, rtol
        self.why = ""
        if not callable(verify) and verify != "baseline":
            self.why = "the function returns its cost" if metric else "verify=%r" % (verify,)
        self.reference: Any = None
        self.has_reference = self.repeats = False  # repeats: the default has given it again
        self.renews = self.keeps = False  # the default returns a new object each time; one that it fills only once

    def check(self, config: Dict[str, Any], result: Any, call: Callable[[Dict[str, Any]], Any]) -> Tuple[str, str]:
        """RIGHT, WRONG or UNCHECKED, and the reason. `call` calls the function."""
        if callable(self.verify):
            return (RIGHT, "") if self.verify(result, config) else (WRONG, "verify(result, config) was not true")
        try:
            difference = "" if self.why else self._compare(config, result, call)
        except Incomparable as reason:
            self.why = str(reason)
        if self.why:
            return UNCHECKED, self.why
        return (WRONG, difference) if difference else (RIGHT, "")

    def prepare(self, config: Dict[str, Any], call: Callable[[Dict[str, Any]], Any]) -> None:
        """Calls the default before another configuration, whose result may lie in a buffer that the default fills."""
        if not (callable(self.verify) or self.why or self.has_reference or config == self.default):
            self.check(self.default, call(dict(self.default)), call)

    def _compare(self, config: Dict[str, Any], result: Any, call: Callable[[Dict[str, Any]], Any]) -> str:
        difference = ""
        if not self.has_reference:
            self.reference, self.has_reference = kept(result), True
            same(self.reference, result, self.rtol)  # raises Incomparable where nothing can be said
        else:
            difference = same(self.reference, result, self.rtol)
            if config == self.default:
                self._reproduced(difference)
            elif difference:
                self._again(call)
        if result is None and not difference:
            raise Incomparable("the function returns None")
        return difference

    def _reproduced(self, difference: str) -> None:
        if difference:
            raise Incomparable("results of the default differ from call to call: %s" % difference)
        self.repeats = True

    def _again(self, call: Callable[[Dict[str, Any]], Any]) -> None:
        for _ in range(0 if self.repeats else AGAIN):
            self._reproduced(same(self.reference, call(dict(self.default)), self.rtol))

    def leftover(self, config: Dict[str, Any], first: Any, second: Any, call: Callable[[Dict[str, Any]], Any]) -> str:
        """Why two calls have not both computed their result, if they have not: they returned the same object.

        A buffer that each call fills is spoilt, to see whether the next call fills it again. Other objects count as kept
        where the default makes a new one in each call.
        """
        is_default = config == self.default
        if is_default and first is not second:
            self.renews = True
        if first is not second or self.why or callable(self.verify):
            return ""
        saved = copy_of(first)
        if saved is None:
            made = isinstance(first, (float, complex, list, dict)) or (isinstance(first, (tuple, bytes)) and len(first) > 1)
            made = made or (isinstance(first, int) and abs(first) > 1 << 30)  # smaller ones may be shared
            made = made or hasattr(first, "block_until_ready") or not getattr(getattr(first, "flags", None), "writeable", True)
            return "two calls returned the same object: it was kept, not computed" if made and self.renews else ""
        if self.keeps:
            return ""
        spoil(first)
        status, _ = self.check(config, call(config), call)
        if status != WRONG and not (is_default and status == UNCHECKED):
            return ""
        restore(first, saved)
        if is_default:
            self.keeps, self.why = True, ""
            return ""
        return "two calls returned the same object, and the second one did not compute it again"
