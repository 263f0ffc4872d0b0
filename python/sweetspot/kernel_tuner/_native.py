# SPDX-License-Identifier: BSD-3-Clause
"""C, C++ and Fortran functions: compiled to a library and called in a process of their own."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import time
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._params import module

_GNU = {"-mp": "-fopenmp", "-acc": "-fopenacc", "-fast": "-O3"}  # what the compilers of NVIDIA's HPC SDK call otherwise


class CompileError(Exception):
    pass


def _found(compiler: str) -> Optional[str]:
    toolkit = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    return shutil.which(compiler) or (shutil.which(compiler, path=toolkit) if compiler == "nvcc" else None)


def compiler_of(path: str, language: str, compiler: Optional[str], options: Sequence[str]) -> Tuple[str, List[str]]:
    """The compiler and its options; a compiler that is not here is replaced by GNU's, which is said."""
    cuda = path.endswith(".cu")
    usual = "nvcc" if cuda else "gfortran" if language == "Fortran" else "g++"
    wanted = usual if compiler is None or (cuda and compiler == "g++") else compiler
    found = _found(wanted)
    if found or wanted == usual:
        if not found:
            raise CompileError("%s, which compiles %s, is not installed" % (wanted, "host code with kernels of CUDA" if cuda else language))
        return found, list(options)
    if not _found(usual):
        raise CompileError("neither %s nor %s is installed" % (compiler, usual))
    kept = []
    for option in options:
        mapped = next((gnu for start, gnu in _GNU.items() if option.startswith(start)), option)
        kept += [] if option.startswith(("-gpu", "-ta", "-M")) else [mapped]
    gone = [option for option in options if option not in kept]
    warnings.warn("%s is not installed: %s compiles instead%s" % (compiler, usual, ", without " + " ".join(gone) if gone else ""), stacklevel=2)
    return usual, kept


def build(path: str, library: str, language: str, compiler: Optional[str], options: Sequence[str], text: str) -> None:
    """Compiles one source file; raises CompileError with the first error."""
    command, given = compiler_of(path, language, compiler, options)
    base = os.path.basename(command)
    start = ["-shared", "-Xcompiler", "-fPIC"] if base == "nvcc" else ["-shared", "-fPIC", "-O3"]
    if language == "Fortran" and "gfortran" in base:
        start += ["-cpp", "-ffree-line-length-none", "-J", os.path.dirname(library)]
    if re.search(r"omp\.h|#pragma omp|!\$omp|use omp_lib", text, re.I) and base != "nvcc":
        start += ["-fopenmp"] if "nv" not in base else ["-mp"]
    line = [command, *start, *given, path, "-o", library]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode and "-fopenacc" in given and "-fopenacc" not in options:  # GNU's lack clauses, or crash on them
        warnings.warn("%s cannot compile the directives of OpenACC in %s: they are left out" % (command, os.path.basename(path)), stacklevel=2)
        line.remove("-fopenacc")
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if re.search(r"error|undefined|fatal", line, re.I)]
        raise CompileError((lines or done.stderr.splitlines() or ["%s failed" % command])[0])


def symbol_of(library: str, name: str) -> str:
    """The function's name in the library: as it is, as Fortran spells it, or as C++ does without extern "C"."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    known = [line.split()[-1] for line in done.stdout.splitlines() if line.split()]
    low = name.lower()
    tests = (lambda s: s == name, lambda s: s in (low, low + "_") or re.fullmatch(r"__\w+_MOD_%s" % low, s),
             lambda s: re.match(r"_Z%d%s" % (len(name), name), s))  # fmt: skip
    for test in tests:
        for symbol in known:
            if test(symbol):
                return symbol
    raise CompileError("there is no function %s in the library" % name)


def returns(text: str, name: str) -> str:
    """What the function returns: its time in milliseconds as "float" or "double", or nothing that counts."""
    found = re.search(r"\b(float|double|void|int)\s+%s\s*\(" % re.escape(name), text)
    if found:
        return found.group(1) if found.group(1) in ("float", "double") else "void"
    kind = re.search(r"\b(real|double precision)[^\n]*\bfunction\s+%s\b" % re.escape(name), text, re.I)
    if kind is None and re.search(r"\bsubroutine\s+%s\b" % re.escape(name), text, re.I):
        return "void"
    return "double" if kind and ("8" in kind.group(0) or "double" in kind.group(0)) else "float"


class Job:
    """Travels to the process in which the functions run."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.arguments = list(arguments)

    def open(self) -> "_Runner":
        return _Runner(self.arguments)


class _Runner:
    def __init__(self, arguments: Sequence[Any]) -> None:
        self.given = arguments
        self.numpy = module("numpy")
        self.current: List[Any] = []

    def _passed(self, value: Any) -> Any:
        if getattr(value, "shape", None):
            return ctypes.c_void_p(value.ctypes.data)
        return self.numpy.ctypeslib.as_ctypes_type(value.dtype)(value.item())

    def request(self, text: bytes) -> Dict[str, Any]:
        """Calls a function, on fresh arguments if asked, and writes what it has left in arrays."""
        asked = json.loads(text)
        if asked["fresh"] or not self.current:
            self.current = [self.numpy.array(value, copy=True) for value in self.given]
        function = getattr(ctypes.CDLL(asked["library"]), asked["symbol"])
        function.restype = {"float": ctypes.c_float, "double": ctypes.c_double}.get(asked["returns"])
        passed = [self._passed(value) for value in self.current]
        times = []
        for _ in range(asked["iterations"]):
            begun = time.perf_counter()
            said = function(*passed)
            times.append((time.perf_counter() - begun) * 1e3 if said is None else float(said))
        for i, value in enumerate(self.current if asked["dump"] else ()):
            if value.shape:
                value.tofile("%s.%d" % (asked["dump"], i))
        return {"status": "correct", "times": times, "why": ""}
