# SPDX-License-Identifier: BSD-3-Clause
"""Takes the arguments of Kernel Tuner's tune_kernel() and makes a T1 specification of them."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._command import SweetspotError, document
from ._params import Space
from ._results import Result
from ._options import budget_of, words_of
from ._tune import _result
from ._watch import Reader

_TYPES = {
    "float64": "double",
    "float32": "float",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "bool": "uint8",
}
_SUFFIXES = {"CUDA": ".cu", "OpenCL": ".cl", "HIP": ".hip", "C": ".c"}
_BLOCK = ("block_size_x", "block_size_y", "block_size_z")


class Specification:
    """A tuning specification with its files. `document` is the JSON; `write` puts both into a folder."""

    def __init__(self, title: str, document: Dict[str, Any], files: Mapping[str, bytes], space: Space) -> None:
        self.title, self.document, self.files, self.space = title, document, dict(files), space

    def write(self, folder: Union[str, "os.PathLike[str]"]) -> str:
        """Writes NAME.t1.json and its files; returns the path of the former."""
        os.makedirs(folder, exist_ok=True)
        for name, data in self.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        path = os.path.join(folder, self.title + ".t1.json")
        with open(path, "w", encoding="utf-8") as text:
            json.dump(self.document, text, indent=1)
            text.write("\n")
        return path

    def valid(self) -> int:
        """The number of valid configurations, as `sweetspot list params --spec` counts them."""
        with tempfile.TemporaryDirectory(prefix="sweetspot-python-") as folder:
            found = document(["list", "params", "--json", "--spec", self.write(folder)])
        return int(found["space"]["valid"] if "space" in found else found["valid"])

    def tune(self, budget: Union[str, int, float] = "60s", progress: bool = False, **options: Any) -> Result:
        """Tunes it; `options` are those of sweetspot-tune(1), for example device="cuda:1"."""
        with tempfile.TemporaryDirectory(prefix="sweetspot-python-") as folder:
            words = ["tune", "--json", "--budget=" + budget_of(budget), "--quiet"]
            found = document([*words, *words_of(options), "--spec=" + self.write(folder)])
        return _result(found, Reader(self.space, options))


def from_kernel_tuner(
    kernel_name: str,
    kernel_source: Union[str, Sequence[str], Callable[..., Any]],
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Optional[Sequence[str]] = None,
    grid_div_y: Optional[Sequence[str]] = None,
    grid_div_z: Optional[Sequence[str]] = None,
    restrictions: Any = None,
    answer: Optional[Sequence[Any]] = None,
    lang: Optional[str] = None,
    compiler_options: Optional[Sequence[str]] = None,
    block_size_names: Optional[Sequence[str]] = None,
    defines: Optional[Mapping[str, Any]] = None,
    smem_args: Optional[Mapping[str, Any]] = None,
    cmem_args: Optional[Mapping[str, Any]] = None,
    texmem_args: Optional[Mapping[str, Any]] = None,
    atol: Optional[float] = None,
    **ignored: Any,
) -> Specification:
    """A specification from the arguments of tune_kernel().

    Arguments are NumPy arrays and scalars, or anything with `dtype`, `shape` and `tobytes()`. Options that choose how
    Kernel Tuner searches and measures (strategy, iterations, verbose, ..) are not needed and ignored. Raises ValueError
    for what a specification cannot say: restrictions or sources that are Python functions, textures, types other than
    numbers.
    """
    if texmem_args:
        raise ValueError("textures (texmem_args) cannot be specified")
    source, name, language = _source(kernel_source, lang)
    space = Space(tune_params)
    spec: Dict[str, Any] = {
        "Language": language,
        "KernelName": kernel_name,
        "KernelFile": name,
        "CompilerOptions": list(compiler_options or []) + ["-D%s=%s" % each for each in (defines or {}).items()],
    }
    files = {name: source}
    if language != "C":
        spec.update(_launch(problem_size, tune_params, (grid_div_x, grid_div_y, grid_div_z), block_size_names))
        if smem_args and "size" in smem_args:
            spec["SharedMemory"] = _expression(smem_args["size"])
    if atol is not None:  # numpy.allclose(), which Kernel Tuner compares with, adds this relative part
        spec["Tolerance"] = {"Absolute": float(atol), "Relative": 1e-5}
    spec["Arguments"] = _arguments(arguments, answer, cmem_args or {}, files, language)
    conditions = [{"Expression": text} for text in _restrictions(restrictions)]
    parameters = [{"Name": key, "Type": _type(values), "Values": list(values)} for key, values in tune_params.items()]
    return Specification(
        re.sub(r"\W+", "_", kernel_name),
        {
            "General": {"BenchmarkName": kernel_name},
            "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": conditions},
            "KernelSpecification": spec,
        },
        files,
        space,
    )


def _source(source: Any, lang: Optional[str]) -> Tuple[bytes, str, str]:
    if callable(source):
        raise ValueError("a kernel source that is a function cannot be specified: give the text or a file")
    if isinstance(source, (list, tuple)):
        if len(source) != 1:
            raise ValueError("several source files cannot be specified: let the first one include the others")
        source = source[0]
    text = str(source)
    is_file = "\n" not in text and len(text) < 4096 and os.path.isfile(text)
    if not is_file and re.fullmatch(r"[^\s{;]+\.\w+", text):
        raise SweetspotError("cannot read the kernel source %s" % text)
    suffix = os.path.splitext(text)[1] if is_file else ""
    language = (lang or {".c": "C", ".cl": "OpenCL", ".hip": "HIP"}.get(suffix) or "CUDA").upper()
    language = {"CUPY": "CUDA", "NVCUDA": "CUDA", "OPENCL": "OpenCL"}.get(language, language)
    if language not in _SUFFIXES:
        raise ValueError("sources in %s cannot be specified: use CUDA, OpenCL, HIP or C" % language)
    if is_file:
        with open(text, "rb") as file:
            return file.read(), os.path.basename(text), language
    return text.encode(), "kernel" + _SUFFIXES[language], language


def _type(values: Sequence[Any]) -> str:
    return "string" if any(isinstance(value, str) for value in values) else "int" if all(
        isinstance(value, int) for value in values
    ) else "float"


def _launch(problem: Any, params: Mapping[str, Any], dividers: Sequence[Any], names: Optional[Sequence[str]]) -> Dict[str, Any]:
    sizes = list(problem) if isinstance(problem, (list, tuple)) else [problem]
    launch: Dict[str, Any] = {}
    if any(isinstance(size, str) or callable(size) for size in sizes):
        raise ValueError("a problem size that depends on parameters cannot be specified: give numbers")
    launch["ProblemSize"] = [int(size) for size in sizes]
    for axis, divider in zip("XYZ", dividers):
        if divider is not None:
            launch["GridDiv" + axis] = [_expression(each) for each in divider]
    blocks = list(names or _BLOCK)
    if any(name not in params for name in blocks[:1]) or blocks[:3] != list(_BLOCK)[: len(blocks)]:
        launch["LocalSize"] = {
            axis: name if name in params else "1" for axis, name in zip("XYZ", [*blocks, "", ""])
        }
        for axis, name in zip("XYZ", blocks):
            if "GridDiv" + axis not in launch and name in params:
                launch["GridDiv" + axis] = [name]
    return launch


def _expression(value: Any) -> str:
    if callable(value):
        raise ValueError("an expression that is a function cannot be specified: write it as a text")
    return str(value)


def _restrictions(restrictions: Any) -> List[str]:
    if not restrictions:
        return []
    if callable(restrictions) or isinstance(restrictions, str):
        restrictions = [restrictions]
    for each in restrictions:
        if not isinstance(each, str):
            raise ValueError("a restriction that is a function cannot be specified: write it as a text, such as 'a*b <= 1024'")
    return list(restrictions)


def _arguments(
    arguments: Sequence[Any], answer: Optional[Sequence[Any]], constant: Mapping[str, Any], files: Dict[str, bytes], language: str
) -> List[Dict[str, Any]]:
    rows = []
    for index, argument in enumerate(arguments):
        right = answer[index] if answer is not None and index < len(answer) else None
        rows.append(_argument("a%d" % index, argument, right, files))
    for name, data in constant.items():
        row = _argument(name, data, None, files)
        row["MemoryType"] = "Constant"
        rows.append(row)
    return rows


def _argument(name: str, value: Any, right: Any, files: Dict[str, bytes]) -> Dict[str, Any]:
    if not hasattr(value, "dtype"):
        raise ValueError("argument %s is a %s: use arrays and scalars of NumPy, as tune_kernel() does" % (name, type(value).__name__))
    kind = _TYPES.get(str(value.dtype))
    if not kind:
        raise ValueError("argument %s has the type %s, which cannot be specified" % (name, value.dtype))
    if not getattr(value, "shape", ()):
        number = value.item()
        return {"Name": name, "Type": kind, "MemoryType": "Scalar", "FillValue": int(number) if isinstance(number, bool) else number}
    size = 1
    for extent in value.shape:
        size *= extent
    row: Dict[str, Any] = {"Name": name, "Type": kind, "MemoryType": "Vector", "Size": size, "AccessType": "ReadWrite"}
    data = value.tobytes()
    if any(data):
        files[name + ".bin"] = data
        row.update({"FillType": "BinaryRaw", "DataSource": name + ".bin"})
    else:
        row.update({"FillType": "Constant", "FillValue": 0})
    if right is not None:
        files[name + ".right.bin"] = (right.astype(value.dtype) if hasattr(right, "astype") else right).tobytes()
        row["ReferenceFile"] = name + ".right.bin"
    return row
