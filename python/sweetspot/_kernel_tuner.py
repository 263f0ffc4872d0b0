# SPDX-License-Identifier: BSD-3-Clause
"""Takes the arguments of Kernel Tuner's tune_kernel() and makes a T1 specification of them."""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._command import document
from .kernel_tuner._launch import configurations, names_of, plain_params, thread_limit
from .kernel_tuner._source import SUFFIXES, Given, Source
from ._params import Space
from ._results import Result
from ._options import budget_of, unknown, words_of
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

    def tune(self, budget: Union[str, int, float] = "60s", **options: Any) -> Result:
        """Tunes it; `options` are those of sweetspot-tune(1), for example device="cuda:1"."""
        with tempfile.TemporaryDirectory(prefix="sweetspot-python-") as folder:
            words = ["tune", "--json", "--budget=" + budget_of(budget), "--quiet"]
            found = document([*words, *words_of(options), "--spec=" + self.write(folder)])
        return _result(found, Reader(self.space, options))


def from_kernel_tuner(
    kernel_name: str,
    kernel_source: Given,
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Any,
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Optional[Sequence[Any]] = None,
    atol: Optional[float] = None,
    verify: Any = None,
    lang: Optional[str] = None,
    smem_args: Optional[Mapping[str, Any]] = None,
    cmem_args: Optional[Mapping[str, Any]] = None,
    texmem_args: Optional[Mapping[str, Any]] = None,
    compiler_options: Optional[Sequence[str]] = None,
    defines: Optional[Mapping[str, Any]] = None,
    block_size_names: Optional[Sequence[str]] = None,
    **search: Any,
) -> Specification:
    """A specification from the arguments of tune_kernel().

    Arguments are arrays and scalars of NumPy, or of PyTorch or CuPy. Restrictions may be functions: the valid
    configurations are then listed. Options that choose how Kernel Tuner searches and measures (`search`: strategy,
    iterations, ..) have no effect, which is said by a warning; Specification.tune() has its own. Raises ValueError for
    what a specification cannot say: other functions, textures, types other than numbers. tune_kernel() takes them.
    """
    known = ("strategy", "strategy_options", "iterations", "verbose", "quiet", "log", "cache", "metrics", "observers", "objective",
             "objective_higher_is_better", "simulation_mode", "device", "platform", "compiler")  # fmt: skip
    unknown("from_kernel_tuner", search, known)
    if search.pop("objective", "time") != "time" or search.pop("objective_higher_is_better", None):
        raise ValueError("a specification is tuned for the time: tune_kernel() takes other objectives")
    if search:
        warnings.warn("%s: no effect on a specification" % ", ".join(search), stacklevel=2)
    for name, value in (("texmem_args", texmem_args), ("verify", verify)):
        if value:
            raise ValueError("%s cannot be specified" % name)
    params, names = plain_params(tune_params), names_of(block_size_names)
    space = Space(params)
    source = Source(kernel_name, kernel_source, lang, defines)
    if callable(source.first):
        raise ValueError("a kernel source that is a function cannot be specified: use tune_kernel(), or give the text or a file")
    text, language = source.text({}), source.language({})
    file = os.path.basename(source.path) if source.path else "kernel" + {"C": ".c"}.get(language, SUFFIXES[language])
    if language == "C":
        text = text.replace('extern "C"', "")
    spec: Dict[str, Any] = {
        "Language": language,
        "KernelName": kernel_name,
        "KernelFile": file,
        "CompilerOptions": list(compiler_options or []) + ["-D%s=%s" % (k, _text(v)) for k, v in (defines or {}).items()],
    }
    files = {file: text.encode(), **_headers(source.path, text), **{name: other.encode() for name, other in source.others.items()}}
    if language not in ("C", "Fortran"):
        spec.update(_launch(problem_size, params, (grid_div_x, grid_div_y, grid_div_z), names))
        if smem_args and "size" in smem_args:
            spec["SharedMemory"] = _text(smem_args["size"])
    if atol is not None:  # numpy.allclose(), which Kernel Tuner compares with, adds this relative part
        spec["Tolerance"] = {"Absolute": float(atol), "Relative": 1e-5}
    spec["Arguments"] = _arguments(arguments, answer, cmem_args or {}, files)
    parameters = [{"Name": key, "Type": _type(values), "Values": values} for key, values in params.items()]
    document_ = {
        "General": {"BenchmarkName": kernel_name},
        "ConfigurationSpace": {"TuningParameters": parameters, **_valid(params, restrictions, names, language)},
        "KernelSpecification": spec,
    }
    return Specification(re.sub(r"\W+", "_", kernel_name), document_, files, space)


def _headers(path: Optional[str], text: str) -> Dict[str, bytes]:
    """The files that a kernel file includes from its own folder, and those that these include."""
    found: Dict[str, bytes] = {}
    folder, waiting = os.path.dirname(path or ""), [text] if path else []
    while waiting:
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"/\\]+)"', waiting.pop(), re.M):
            if name not in found and os.path.isfile(os.path.join(folder, name)):
                with open(os.path.join(folder, name), "rb") as file:
                    found[name] = file.read()
                waiting.append(found[name].decode(errors="replace"))
    return found


def _valid(params: Mapping[str, Sequence[Any]], restrictions: Any, names: Sequence[str], language: str) -> Dict[str, Any]:
    """Conditions where all restrictions are texts, else the configurations that meet them."""
    listed = list(restrictions) if isinstance(restrictions, (list, tuple)) else [restrictions] if restrictions else []
    limit = thread_limit(names, params) if language not in ("C", "Fortran") else None
    if all(isinstance(each, str) for each in listed):
        return {"Conditions": [{"Expression": text} for text in [*listed, *([limit] if limit else [])]]}
    return {"Configurations": [list(config.values()) for config in configurations(params, restrictions, names)]}


def _type(values: Sequence[Any]) -> str:
    if any(isinstance(value, str) for value in values):
        return "string"
    return "int" if all(isinstance(value, int) for value in values) else "float"


def _launch(problem: Any, params: Mapping[str, Any], dividers: Sequence[Any], names: Sequence[str]) -> Dict[str, Any]:
    sizes = list(problem) if isinstance(problem, (list, tuple)) else [problem]
    if any(isinstance(size, str) or callable(size) for size in sizes):
        raise ValueError("a problem size that depends on parameters cannot be specified: use tune_kernel(), or give numbers")
    launch: Dict[str, Any] = {"ProblemSize": [int(size) for size in sizes]}
    for axis, divider, name in zip("XYZ", dividers, names):
        if divider is not None:
            launch["GridDiv" + axis] = [_text(each) for each in (divider if isinstance(divider, (list, tuple)) else [divider])]
        elif name in params and not name.startswith("block_size_"):
            launch["GridDiv" + axis] = [name]
    if any(not name.startswith("block_size_") for name in names) or names[0] not in params:
        launch["LocalSize"] = {axis: name if name in params else "1" for axis, name in zip("XYZ", names)}
    return launch


def _text(value: Any) -> str:
    if callable(value):
        raise ValueError("an expression that is a function cannot be specified: use tune_kernel(), or write it as a text")
    return str(value)


def _arguments(
    arguments: Sequence[Any], answer: Optional[Sequence[Any]], constant: Mapping[str, Any], files: Dict[str, bytes]
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
