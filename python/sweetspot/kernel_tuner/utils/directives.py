# SPDX-License-Identifier: BSD-3-Clause
"""Kernels out of an application: what stands between `#pragma tuner start NAME ..` and `#pragma tuner stop` (`!$tuner` in
Fortran) becomes a function that returns its time. `a(float*:SIZE)` after the name declares an argument, with its size."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ..._params import module

Data = Dict[str, List[str]]
_NUMPY = {"float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "long": "int64", "char": "int8"}
_FORTRAN = {"float": "real(c_float)", "double": "real(c_double)", "int": "integer(c_int)", "long": "integer(c_long)"}


class Directive:
    word = ""

    def get(self) -> str:
        return self.word


class OpenACC(Directive):
    word = "openacc"


class OpenMP(Directive):
    word = "openmp"


class Language:
    word = mark = ""

    def get(self) -> str:
        return self.word


class Cxx(Language):
    word, mark = "cxx", "#pragma tuner"


class Fortran(Language):
    word, mark = "fortran", "!$tuner"


class Code:
    def __init__(self, directive: Directive, lang: Language) -> None:
        self.directive, self.language = directive, lang


DirectiveCode = Code


def _joined(code: str) -> List[str]:
    return re.sub(r"(\\|&)\s*\n\s*(!\$tuner)?", " ", code).split("\n") if "!$tuner" in code else code.replace("\\\n", " ").split("\n")


def _sections(code: str, langs: Code, word: str) -> List[Tuple[str, List[str]]]:
    """(what follows the word, lines) of each section."""
    found: List[Tuple[str, List[str]]] = []
    inside = False
    for line in _joined(code):
        text = line.strip()
        if text.lower().startswith("%s %s" % (langs.language.mark, word)):
            found.append((text[len(langs.language.mark) + len(word) + 1 :].strip(), []))
            inside = True
        elif text.lower().startswith(langs.language.mark + " stop"):
            inside = False
        elif inside:
            found[-1][1].append(line)
    return found


def _kernels(code: str, langs: Code, kernel_name: Optional[str]) -> Dict[str, Tuple[Data, str]]:
    found = {}
    for head, lines in _sections(code, langs, "start"):
        name = head.split()[0]
        data = {variable: [kind.strip(), size.strip()] for variable, kind, size in re.findall(r"(\w+)\(([\w\s*]+):([^)]+)\)", head)}
        if kernel_name in (None, name):
            found[name] = (data, "\n".join(lines))
    return found


def extract_preprocessor(code: str) -> List[str]:
    return [line for line in code.split("\n") if line.lstrip().startswith("#") and not line.lstrip().startswith("#pragma")]


def extract_directive_code(code: str, langs: Code, kernel_name: Optional[str] = None) -> Dict[str, str]:
    return {name: body for name, (_, body) in _kernels(code, langs, kernel_name).items()}


def extract_directive_data(code: str, langs: Code, kernel_name: Optional[str] = None) -> Dict[str, Data]:
    return {name: data for name, (data, _) in _kernels(code, langs, kernel_name).items()}


def extract_initialization_code(code: str, langs: Code) -> str:
    return "\n".join("\n".join(lines) for _, lines in _sections(code, langs, "initialize"))


def extract_deinitialization_code(code: str, langs: Code) -> str:
    return "\n".join("\n".join(lines) for _, lines in _sections(code, langs, "deinitialize"))


def extract_directive_signature(code: str, langs: Code, kernel_name: Optional[str] = None) -> Dict[str, str]:
    return {name: _signature(name, data, langs) for name, (data, _) in _kernels(code, langs, kernel_name).items()}


def _signature(name: str, data: Data, langs: Code) -> str:
    if isinstance(langs.language, Cxx):
        return "float %s(%s)" % (name, ", ".join("%s %s" % (kind, variable) for variable, (kind, _) in data.items()))
    lines = ['function %s(%s) result(timing) bind(C, name="%s")' % (name, ", ".join(data), name), "use iso_c_binding"]
    for variable, (kind, size) in data.items():
        shape = "dimension(%s)" % size if "*" in kind else "value"
        lines.append("%s, %s :: %s" % (_FORTRAN[kind.replace("*", "").strip()], shape, variable))
    return "\n".join([*lines, "integer(c_long) :: kt_begun, kt_ended, kt_rate", "real(c_float) :: timing"])


def size_of(size: Any, preprocessor: Sequence[str] = (), dimensions: Optional[Mapping[str, Any]] = None) -> int:
    """The product of the dimensions: numbers, macros of the preprocessor, or names that the user gives values."""
    product = 1
    for part in str(size).split(","):
        part = part.strip()
        if dimensions and part in dimensions:
            product *= int(dimensions[part])
        elif re.fullmatch(r"\d+", part):
            product *= int(part)
        else:
            macro = [re.match(r"\s*#\s*define\s+%s\s+(\d+)" % re.escape(part), line) for line in preprocessor]
            values = [int(found.group(1)) for found in macro if found]
            if not values:
                raise ValueError("the size %s is neither a number nor a macro with one" % part)
            product *= values[0]
    return product


def allocate_signature_memory(data: Data, preprocessor: Sequence[str] = (), user_dimensions: Optional[Mapping[str, Any]] = None) -> List[Any]:
    """Random arrays, and scalars with the value that stands in the place of their size."""
    numpy = module("numpy")
    found = []
    for kind, size in data.values():
        dtype = numpy.dtype(_NUMPY[kind.replace("*", "").strip()])
        count = size_of(size, preprocessor, user_dimensions)
        found.append(numpy.random.default_rng(1).random(count).astype(dtype) if "*" in kind else dtype.type(count))
    return found


def _moved(data: Data, langs: Code, preprocessor: Sequence[str], dimensions: Optional[Mapping[str, Any]], body: str) -> Tuple[str, str]:
    """Directives that bring arrays to a device and back, where the body works on one."""
    acc = isinstance(langs.directive, OpenACC)
    mark = "#pragma" if isinstance(langs.language, Cxx) else "!$"
    if not re.search(r"(#pragma |!\$)(acc|omp target)\b", body):
        return "", ""
    before, after = [], []
    for variable, (kind, size) in data.items():
        if "*" not in kind:
            continue
        extent = ("%s[:%d]" if mark == "#pragma" else "%s(:%d)") % (variable, size_of(size, preprocessor, dimensions))
        start = mark + " " if mark == "#pragma" else mark
        before.append(start + ("acc enter data copyin(%s)" if acc else "omp target enter data map(to: %s)") % extent)
        after.append(start + ("acc exit data copyout(%s)" if acc else "omp target exit data map(from: %s)") % extent)
    return "\n".join(before), "\n".join(after)


def generate_directive_function(
    preprocessor: Sequence[str],
    signature: str,
    body: str,
    langs: Code,
    data: Optional[Data] = None,
    initialization: str = "",
    deinitialization: str = "",
    user_dimensions: Optional[Mapping[str, Any]] = None,
) -> str:
    """The source for tune_kernel(): a function that returns its time in milliseconds."""
    before, after = _moved(data or {}, langs, preprocessor, user_dimensions, body)
    defines = ["#define %s %s" % each for each in (user_dimensions or {}).items()]
    head = [*preprocessor, *defines]
    if isinstance(langs.language, Cxx):
        timed = ["auto kt_begun = std::chrono::steady_clock::now();", body, "auto kt_ended = std::chrono::steady_clock::now();"]
        end = "return std::chrono::duration<float, std::milli>(kt_ended - kt_begun).count();"
        lines = [*head, "#include <chrono>", 'extern "C" %s {' % signature, initialization, before, *timed, after, deinitialization, end, "}"]
    else:
        timed = ["call system_clock(kt_begun, kt_rate)", body, "call system_clock(kt_ended)"]
        end = "timing = real(kt_ended - kt_begun, c_float) / real(kt_rate, c_float) * 1e3"
        name = re.search(r"function (\w+)", signature)
        lines = [*head, "module kt", "contains", signature, initialization, before, *timed, after, end, deinitialization,
                 "end function " + (name.group(1) if name else ""), "end module kt"]  # fmt: skip
    return "\n".join(line for line in lines if line) + "\n"


def process_directives(
    langs: Code, source: str, user_dimensions: Optional[Mapping[str, Any]] = None
) -> Tuple[Dict[str, str], Dict[str, List[Any]]]:
    """The sources and the arguments of all kernels, by their names."""
    preprocessor = extract_preprocessor(source)
    both = extract_initialization_code(source, langs), extract_deinitialization_code(source, langs)
    strings, arguments = {}, {}
    for name, (own, body) in _kernels(source, langs, None).items():
        strings[name] = generate_directive_function(preprocessor, _signature(name, own, langs), body, langs, own, *both, user_dimensions)
        arguments[name] = allocate_signature_memory(own, preprocessor, user_dimensions)
    return strings, arguments
