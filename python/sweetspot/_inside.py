# SPDX-License-Identifier: BSD-3-Clause
"""Choices while the program runs, by libsweetspot's contexts (libsweetspot(3), "Choices inside a run")."""

from __future__ import annotations

import ctypes
import math
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._command import SweetspotError
from ._params import Space, Value
from ._profile import _Value, _library


class _Choice(ctypes.Structure):
    _fields_ = [
        ("context", ctypes.c_void_p),
        ("config", ctypes.c_void_p),
        ("place", ctypes.c_void_p),
        ("start", ctypes.c_ulonglong),
        ("ticket", ctypes.c_ulonglong),
        ("reserved", ctypes.c_void_p * 3),
    ]


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    choice, values = ctypes.POINTER(_Choice), ctypes.POINTER(_Value)
    for name, result, arguments in (
        ("context_open", pointer, [text]),
        ("context_int", ctypes.c_int, [pointer, text, ctypes.POINTER(ctypes.c_longlong), size, ctypes.c_longlong]),
        ("context_real", ctypes.c_int, [pointer, text, ctypes.POINTER(ctypes.c_double), size, ctypes.c_double]),
        ("context_word", ctypes.c_int, [pointer, text, ctypes.POINTER(text), size, text]),
        ("context_constraint", ctypes.c_int, [pointer, text]),
        ("choose", None, [pointer, values, size, choice]),
        ("chosen_int", ctypes.c_longlong, [choice, text]),
        ("chosen_real", ctypes.c_double, [choice, text]),
        ("chosen_word", text, [choice, text]),
        ("report", None, [choice, ctypes.c_double]),
    ):
        function = getattr(library, "sweetspot_" + name)
        function.restype, function.argtypes = result, arguments
    return library


def _type_of(words: Sequence[str]) -> str:
    """The narrowest type that has all of the words: numbers keep their order for the search."""
    numbers = [Space.json(word) for word in words]
    if all(type(each) is int and abs(each) < 2**63 for each in numbers):
        return "int"
    return "real" if all(type(each) in (int, float) for each in numbers) else "word"


def _members(problem: Mapping[str, Any]) -> Any:
    members = (_Value * max(1, len(problem)))()
    for member, (name, value) in zip(members, problem.items()):
        member.name = name.encode()
        if isinstance(value, str):
            member.word = value.encode()
        else:
            member.number = float(value)
    return members


class _Declared:
    """A context of libsweetspot, declared once in the process. Without the library the defaults hold."""

    def __init__(self, name: str, space: Space, default: Mapping[str, Value], constraints: Sequence[str]) -> None:
        self.space, self.default = space, {**space.first(), **default}
        self.types = {each: _type_of(words) for each, words in space.words.items()}
        try:
            self.library: Optional[ctypes.CDLL] = _declared(_library())
        except (SweetspotError, AttributeError):  # an older library has no contexts
            self.library = None
            return
        self.handle = self.library.sweetspot_context_open(name.encode())
        for each, words in space.words.items():
            self._param(each, words, space.word(each, self.default[each]))
        for text in constraints:
            if self.library.sweetspot_context_constraint(self.handle, text.encode()):
                raise ValueError("the constraint %r cannot be understood" % text)

    def _param(self, name: str, words: List[str], default: str) -> None:
        assert self.library
        convert: Any = {"int": int, "real": float, "word": str.encode}[self.types[name]]
        item: Any = {"int": ctypes.c_longlong, "real": ctypes.c_double, "word": ctypes.c_char_p}[self.types[name]]
        array = item * len(words)
        declare = getattr(self.library, "sweetspot_context_" + self.types[name])
        if declare(self.handle, name.encode(), array(*map(convert, words)), len(words), convert(default)):
            raise ValueError("the parameter %s is not accepted: a context has up to 32, of up to 1024 values each" % name)

    def choose(self, problem: Mapping[str, Any]) -> Tuple[Optional[_Choice], Dict[str, Any]]:
        if not self.library:
            return None, dict(self.default)
        choice = _Choice()
        self.library.sweetspot_choose(self.handle, _members(problem), len(problem), ctypes.byref(choice))
        config = {}
        for name, kind in self.types.items():
            word = getattr(self.library, "sweetspot_chosen_" + kind)(ctypes.byref(choice), name.encode())
            config[name] = self.space.value(name, word.decode() if kind == "word" else word)
        return choice, config

    def report(self, choice: Optional[_Choice], cost: float) -> None:
        if self.library and choice:
            self.library.sweetspot_report(ctypes.byref(choice), cost)


_known: Dict[Any, _Declared] = {}
_lock = threading.Lock()


def declare(name: str, params: Mapping[str, Sequence[Value]], default: Mapping[str, Value], constraints: Sequence[str]) -> _Declared:
    space = Space(params)
    key = (name, tuple((each, tuple(words)) for each, words in space.words.items()), tuple(constraints))
    with _lock:
        if key not in _known:
            _known[key] = _Declared(name, space, default, constraints)
        return _known[key]


class Context:
    """A choice, from the beginning of a `with` to its end: its values are attributes and items."""

    def __init__(self, declared: _Declared, problem: Mapping[str, Any]) -> None:
        self._declared, self._problem = declared, problem
        self._choice: Optional[_Choice] = None
        self.config: Dict[str, Any] = {}

    def __enter__(self) -> "Context":
        self._choice, self.config = self._declared.choose(self._problem)
        return self

    def __exit__(self, kind: Optional[type], *what: object) -> None:
        if kind is None:
            self.report(math.nan)
        self._choice = None

    def report(self, cost: float) -> None:
        """The cost in seconds where it is not the time of the block, as of a kernel that runs on after it."""
        choice, self._choice = self._choice, None
        self._declared.report(choice, cost)

    def __getitem__(self, name: str) -> Any:
        return self.config[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["config"][name]
        except KeyError:
            raise AttributeError("the context has no parameter %s" % name) from None


def context(
    name: str,
    /,
    *,
    problem: Optional[Mapping[str, Any]] = None,
    default: Optional[Mapping[str, Value]] = None,
    constraints: Sequence[str] = (),
    **params: Sequence[Value],
) -> Context:
    """A choice that the program makes again and again, and that is learned while it runs.

        with sweetspot.context("spmv", block=[16, 32], problem={"n": n}) as c:
            run(block=c.block)

    By itself the program gets the default, each parameter's first value where it is not named, and with a profile the
    values for the problem. `sweetspot tune -- python program.py` and `sweetspot apply --learn` try the others. A block
    that ends by an exception is not learned from. Without libsweetspot the defaults hold.
    """
    return Context(declare(name, params, default or {}, constraints), problem or {})
