# SPDX-License-Identifier: BSD-3-Clause
"""Looks up tuned settings through libsweetspot, as libsweetspot(3) describes."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, TypeVar

from ._command import SweetspotError, program

_MESSAGE = 512
F = TypeVar("F", bound=Callable[..., Any])


class _Value(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("number", ctypes.c_double), ("word", ctypes.c_char_p)]


class _Match(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("fit", ctypes.c_int),
        ("predicted", ctypes.c_double),
        ("measured", ctypes.c_double),
        ("speedup", ctypes.c_double),
        ("distance", ctypes.c_double),
        ("unit", ctypes.c_char_p),
        ("objective", ctypes.c_char_p),
    ]


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """libsweetspot: $SWEETSPOT_LIBRARY, beside the program in PATH, or where the loader finds it."""
    names: List[Optional[str]] = [os.environ.get("SWEETSPOT_LIBRARY")]
    try:
        folder = os.path.join(os.path.dirname(os.path.realpath(program())), "..", "lib")
        names += [os.path.join(folder, "libsweetspot.so.0"), os.path.join(folder, "libsweetspot.so")]
    except SweetspotError:
        pass
    names += ["libsweetspot.so.0", "libsweetspot.so", ctypes.util.find_library("sweetspot")]
    for name in names:
        try:
            library = ctypes.CDLL(name) if name else None
        except OSError:
            continue
        if library:
            return _declare(library)
    raise SweetspotError("cannot load libsweetspot", hint="install Sweetspot, or set SWEETSPOT_LIBRARY to its path")


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    library.sweetspot_open.restype = pointer
    library.sweetspot_open.argtypes = [text, text, ctypes.c_size_t]
    library.sweetspot_close.restype = None
    library.sweetspot_close.argtypes = [pointer]
    library.sweetspot_about.restype = text
    library.sweetspot_about.argtypes = [pointer, text]
    library.sweetspot_kernel.restype = text
    library.sweetspot_kernel.argtypes = [pointer, ctypes.c_size_t]
    library.sweetspot_lookup.restype = pointer
    library.sweetspot_lookup.argtypes = [pointer, text, text, ctypes.POINTER(_Value), ctypes.c_size_t, ctypes.POINTER(_Match)]
    library.sweetspot_status_word.restype = text
    library.sweetspot_status_word.argtypes = [ctypes.c_int]
    library.sweetspot_setting.restype = ctypes.c_int
    library.sweetspot_setting.argtypes = [pointer, ctypes.c_size_t, ctypes.POINTER(_Value)]
    return library


@dataclass(frozen=True)
class Match:
    """Settings for a problem. `status` says how they relate to it: exact, interpolated, nearest, stale or foreign.

    `predicted` is the cost of the problem, `speedup` that of the tuned one over its baseline; None if it is unknown."""

    config: Dict[str, Any]
    status: str
    predicted: Optional[float]
    speedup: Optional[float]
    unit: str


class Profile:
    """An open profile; use it in a `with`, or call close()."""

    def __init__(self, path: Optional[str] = None) -> None:
        self._library = _library()
        why = ctypes.create_string_buffer(_MESSAGE)
        self._handle = self._library.sweetspot_open(os.fsencode(path) if path else None, why, _MESSAGE)
        if not self._handle:
            raise SweetspotError(why.value.decode("utf-8", "replace"))

    def __enter__(self) -> "Profile":
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle:
            self._library.sweetspot_close(handle)

    @property
    def foreign(self) -> str:
        """The difference to this machine; "" if it belongs to it."""
        reason: Optional[bytes] = self._library.sweetspot_about(self._handle, b"foreign")
        return (reason or b"").decode("utf-8", "replace")

    def kernels(self) -> List[str]:
        names: List[str] = []
        while True:
            name = self._library.sweetspot_kernel(self._handle, len(names))
            if not name:
                return names
            names.append(name.decode())

    def lookup(self, kernel: str, objective: Optional[str] = None, **problem: Any) -> Optional[Match]:
        """The settings for a problem, for example lookup("fw", n=4096); None if nothing fits."""
        members = (_Value * max(1, len(problem)))()
        for member, (name, value) in zip(members, problem.items()):
            member.name = name.encode()
            if isinstance(value, str):
                member.word = value.encode()
            else:
                member.number = float(value)
        match = _Match()
        config = self._library.sweetspot_lookup(
            self._handle, kernel.encode(), objective.encode() if objective else None, members, len(problem), ctypes.byref(match)
        )
        if not config:
            return None
        return Match(
            self._settings(config),
            self._library.sweetspot_status_word(match.status).decode(),
            match.predicted if match.predicted == match.predicted else None,
            match.speedup if match.speedup == match.speedup else None,
            (match.unit or b"").decode(),
        )

    def _settings(self, config: int) -> Dict[str, Any]:
        settings: Dict[str, Any] = {}
        each = _Value()
        while self._library.sweetspot_setting(config, len(settings), ctypes.byref(each)):
            number = int(each.number) if each.number.is_integer() else each.number
            settings[each.name.decode()] = each.word.decode() if each.word else number
        return settings


def lookup(kernel: str, objective: Optional[str] = None, profile: Optional[str] = None, **problem: Any) -> Optional[Match]:
    """The tuned settings of a kernel for a problem, from this machine's profile or the one named.

    None if nothing fits. Raises SweetspotError where no profile can be read."""
    with Profile(profile) as opened:
        return opened.lookup(kernel, objective, **problem)


def tuned(kernel: str, problem: Callable[..., Dict[str, Any]], profile: Optional[str] = None) -> Callable[[F], F]:
    """A decorator that passes the tuned settings for a call's problem as keyword arguments.

        @sweetspot.tuned("blur", lambda image, **_: {"n": len(image)})
        def blur(image, block=64): ...

    `problem` gets the call's arguments and returns the problem. Settings that the function does not accept are left
    out, explicit arguments win, and without a profile the function's own defaults hold.
    """
    import inspect

    def decorate(function: F) -> F:
        accepted = inspect.signature(function).parameters
        any_name = any(each.kind is each.VAR_KEYWORD for each in accepted.values())
        opened: List[Optional[Profile]] = []
        cache: Dict[Any, Dict[str, Any]] = {}

        def settings(asked: Dict[str, Any]) -> Dict[str, Any]:
            if not opened:
                try:
                    opened.append(Profile(profile))
                except SweetspotError:
                    opened.append(None)
            key = tuple(sorted(asked.items()))
            if key not in cache:
                match = opened[0].lookup(kernel, **asked) if opened[0] else None
                cache[key] = match.config if match else {}
            return cache[key]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            named = inspect.signature(function).bind_partial(*args, **kwargs).arguments
            chosen = settings(problem(*args, **kwargs))
            extra = {k: v for k, v in chosen.items() if (any_name or k in accepted) and k not in named and k not in kwargs}
            return function(*args, **kwargs, **extra)

        return call  # type: ignore[return-value]

    return decorate
