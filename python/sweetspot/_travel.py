# SPDX-License-Identifier: BSD-3-Clause
"""How a callable reaches the process in which it runs. pickle takes functions of modules by their name; a function of a
script, a lambda or a closure goes with its code and what it uses. cloudpickle, if it is installed, takes more."""

from __future__ import annotations

import ctypes
import importlib
import io
import marshal
import pickle
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, Tuple

_Base: Any = pickle.Pickler
try:
    _Base = importlib.import_module("cloudpickle").Pickler
except ImportError:
    pass
_BY_CODE = _Base is pickle.Pickler
_globals_of: Dict[str, Dict[str, Any]] = {}  # of functions that travelled with their code


def names_of(code: types.CodeType) -> Iterator[str]:
    """The global names and attributes that a code mentions."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from names_of(const)


def _is_importable(function: types.FunctionType) -> bool:
    if function.__module__ in (None, "__main__"):
        return False
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _make_function(code: bytes, module: str, name: str, cells: int) -> types.FunctionType:
    shared = _globals_of.setdefault(module, {"__name__": module, "__builtins__": __builtins__})
    return types.FunctionType(marshal.loads(code), shared, name, None, tuple(types.CellType() for _ in range(cells)))


def _fill_function(function: types.FunctionType, state: Dict[str, Any]) -> None:
    function.__globals__.update(state["globals"])
    for cell, value in zip(function.__closure__ or (), state["cells"]):
        if value:
            cell.cell_contents = value[0]
    function.__defaults__, function.__kwdefaults__ = state["defaults"], state["kwdefaults"]
    function.__qualname__, function.__module__ = state["qualname"], function.__globals__["__name__"]
    function.__dict__.update(state["dict"])


def _reduce_function(function: types.FunctionType) -> Tuple[Any, ...]:
    used = {name: function.__globals__[name] for name in names_of(function.__code__) if name in function.__globals__}
    empty = types.CellType()
    cells = function.__closure__ or ()
    state = {
        "globals": dict(used, __file__=function.__globals__.get("__file__")),
        "cells": [() if cell == empty else (cell.cell_contents,) for cell in cells],
        "defaults": function.__defaults__,
        "kwdefaults": function.__kwdefaults__,
        "qualname": function.__qualname__,
        "dict": function.__dict__,
    }
    made = (marshal.dumps(function.__code__), function.__module__ or "__main__", function.__name__, len(cells))
    return _make_function, made, state, None, None, _fill_function


def _load_library(name: str, functions: List[Tuple[str, Any, Any]]) -> ctypes.CDLL:
    library = ctypes.CDLL(name)
    for function, restype, argtypes in functions:
        getattr(library, function).restype = restype
        getattr(library, function).argtypes = argtypes
    return library


def _reduce_library(library: ctypes.CDLL) -> Tuple[Any, ...]:
    found = [(name, each) for name, each in vars(library).items() if hasattr(each, "restype")]
    return _load_library, (library._name, [(name, each.restype, each.argtypes) for name, each in found])


class _Pickler(_Base):  # type: ignore[misc]
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, ctypes.CDLL):
            return _reduce_library(value)
        if isinstance(value, types.FunctionType) and not _is_importable(value):
            return _reduce_function(value)  # cloudpickle would forget its file, which a traceback names
        if not _BY_CODE:
            return super().reducer_override(value)
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, type) and value.__module__ == "__main__":
            raise pickle.PicklingError("the class %s of this script cannot" % value.__qualname__)
        return NotImplemented


def pack(value: Any, what: Callable[..., Any]) -> bytes:
    """Bytes from which pickle.loads makes the value in another process. TypeError for what cannot travel."""
    file = io.BytesIO()
    try:
        _Pickler(file, 5).dump(value)
    except Exception as error:
        name = getattr(what, "__qualname__", type(what).__name__)
        more = "; or pip install cloudpickle, which takes more" if _BY_CODE else ""
        raise TypeError(
            "%s runs in a process of its own, and what it uses cannot be sent there: %s. Put it into a module that can be "
            "imported, and make such objects within the function%s" % (name, error, more)
        ) from error
    return file.getvalue()
