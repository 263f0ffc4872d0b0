# SPDX-License-Identifier: BSD-3-Clause
"""A kernel's source: which language it is in, and its text for a configuration."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

from .._command import SweetspotError

Config = Dict[str, Any]
Given = Union[str, "os.PathLike[str]", Callable[[Config], str], Sequence[Union[str, "os.PathLike[str]", Callable[[Config], str]]]]
SUFFIXES = {"CUDA": ".cu", "OpenCL": ".cl", "HIP": ".hip", "C": ".cc", "Fortran": ".F90"}
_NAMES = {"CUDA": "CUDA", "CUPY": "CUDA", "NVCUDA": "CUDA", "OPENCL": "OpenCL", "HIP": "HIP", "C": "C", "C++": "C", "FORTRAN": "Fortran"}
_FORTRAN = re.compile(r"^\s*(end\s+(function|subroutine|module)\b|use\s+iso_c_binding|implicit\s+none)", re.I | re.M)


def recognise(text: str, suffix: str = "") -> str:
    """The language of a source, by the words that occur in no other one."""
    if suffix.lower() in (".f90", ".f", ".f95", ".f03", ".f08") or (_FORTRAN.search(text) and "#include <" not in text):
        return "Fortran"
    if re.search(r"\b__global__\b", text):
        return "HIP" if suffix == ".hip" or re.search(r'#\s*include\s*[<"]hip/', text) else "CUDA"
    if re.search(r"\b(__kernel|kernel\s+void)\b", text) or suffix == ".cl":
        return "OpenCL"
    return {".cu": "CUDA", ".hip": "HIP"}.get(suffix, "C")


def number_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


class Source:
    """`kernel_source` as tune_kernel() takes it: a text, a file, a function of the configuration, or a list whose first
    element includes the others."""

    def __init__(self, kernel_name: str, kernel_source: Given, lang: Optional[str] = None, defines: Optional[Mapping[str, Any]] = None) -> None:
        if lang is not None and str(lang).upper() not in _NAMES:
            raise ValueError("lang=%r is not supported: use CUDA, OpenCL, HIP, C or Fortran" % (lang,))
        several = list(kernel_source) if isinstance(kernel_source, (list, tuple)) else [kernel_source]
        self.name, self.defines = kernel_name, defines
        self.first: Any = several[0]
        self.path = self._file(several[0])
        self.folder = os.path.dirname(os.path.abspath(self.path)) if self.path else None
        self.others = {os.path.basename(str(each)): _read(str(each)) for each in several[1:]}
        self.suffix = os.path.splitext(self.path)[1] if self.path else ""
        self._language = _NAMES[str(lang).upper()] if lang else None

    @staticmethod
    def _file(given: Any) -> Optional[str]:
        if callable(given):
            return None
        text = os.fspath(given) if isinstance(given, os.PathLike) else str(given)
        if "\n" not in text and len(text) < 4096 and os.path.isfile(text):
            return text
        if isinstance(given, os.PathLike) or re.fullmatch(r"[^\n{;]+\.\w+", text):
            raise SweetspotError("cannot read the kernel source %s" % text)
        return None

    def text(self, config: Config) -> str:
        if callable(self.first):
            return str(self.first(config))
        return _read(self.path) if self.path else str(self.first)

    def language(self, config: Config) -> str:
        """C files named .F90 are Fortran, whatever lang says: Kernel Tuner has one name for both."""
        found = self._language or recognise(self.text(config), self.suffix)
        return "Fortran" if found == "C" and recognise(self.text(config), self.suffix) == "Fortran" else found

    def macros(self, config: Config, grid: Sequence[int], block: Sequence[int], names: Sequence[str]) -> Dict[str, str]:
        """What is defined in front of the source: every parameter, or what the user's `defines` say."""
        if self.defines is not None:
            return {name: number_text(value(config) if callable(value) else value) for name, value in self.defines.items()}
        sizes = {"grid_size_" + axis: str(size) for axis, size in zip("xyz", grid)}
        sizes.update({name: str(size) for name, size in zip(names, block)})
        return {"kernel_tuner": "1", **sizes, **{name: number_text(value) for name, value in config.items()}}

    def prepared(self, config: Config, macros: Dict[str, str], parameters: Sequence[str]) -> Tuple[str, str]:
        """The text, and the function to call. parameters: the types of its arguments. Unroll factors, which are no
        macros in a pragma, leave `macros` for the text."""
        text = self.text(config)
        for name in [name for name in macros if name.startswith("loop_unroll_factor")]:
            value = macros.pop(name)
            text = re.sub(r"#pragma unroll %s\b" % name, "" if value == "0" else "#pragma unroll " + value, text)
            text = re.sub(r"\b%s\b" % name, value, text)
        if "<" not in self.name:
            return text, self.name
        names = "|".join(re.escape(name) for name in config)
        given = re.sub(r"\b(%s)\b" % names, lambda found: number_text(config[found.group()]), self.name) if names else self.name
        return _instance(text, given, parameters)

    def includes(self) -> Sequence[str]:
        return ["-I" + self.folder] if self.folder else []


def _instance(text: str, name: str, parameters: Sequence[str]) -> Tuple[str, str]:
    """A template has no name that can be looked up: a function that calls it has one."""
    bare = name[: name.index("<")].strip()
    wrapper = bare + "_instance"
    text = re.sub(r"__global__(\s+(?:[\w:]+\s+)*?%s\s*\()" % re.escape(bare), r"__device__\1", text)
    passed = ["%s a%d" % (kind, i) for i, kind in enumerate(parameters)]
    call = ", ".join("a%d" % i for i in range(len(parameters)))
    return '%s\nextern "C" __global__ void %s(%s) { %s(%s); }\n' % (text, wrapper, ", ".join(passed), name, call), wrapper


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()
