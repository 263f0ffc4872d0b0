# SPDX-License-Identifier: BSD-3-Clause
"""Takes the arguments of Kernel Tuner's tune_kernel() and makes a T1 specification of them."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._command import document
from .kernel_tuner._interface import tune_kernel
from .kernel_tuner._launch import configurations, names_of, plain_params, thread_limit
from .kernel_tuner._source import SUFFIXES, Source
from ._params import Space
from ._results import Result
from ._options import budget_of, words_of
from ._tune import _result
from ._watch import Reader

# T1 calls the others as NumPy does.
_TYPES = {"float64": "double", "float32": "float", "bool": "uint8"}
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# The arguments of tune_kernel() that a specification knows.
_SAID = ("kernel_name", "kernel_source", "problem_size", "arguments", "tune_params", "grid_div_x", "grid_div_y", "grid_div_z", "restrictions",
         "answer", "atol", "lang", "smem_args", "cmem_args", "compiler_options", "defines", "block_size_names")  # fmt: skip


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


def from_kernel_tuner(*args: Any, **kwargs: Any) -> Specification:
    """A specification from the arguments of tune_kernel().

    Arguments are arrays and scalars of NumPy, or of PyTorch or CuPy. Restrictions may be functions: the valid
    configurations are then listed. Options that choose how Kernel Tuner searches and measures (strategy, iterations, ..)
    have no effect, which is said by a warning; Specification.tune() has its own. Raises ValueError for what a
    specification cannot say: other functions, textures, types other than numbers. tune_kernel() takes them.
    """
    given = inspect.signature(tune_kernel).bind(*args, **kwargs).arguments
    if given.pop("objective", "time") != "time" or given.pop("objective_higher_is_better", None):
        raise ValueError("a specification is tuned for the time: tune_kernel() takes other objectives")
    for name in ("texmem_args", "verify"):
        if given.pop(name, None):
            raise ValueError("%s cannot be specified" % name)
    other = [name for name in given if name not in _SAID]
    if other:
        warnings.warn("%s: no effect on a specification" % ", ".join(other), stacklevel=2)
    title, params, names = given["kernel_name"], plain_params(given["tune_params"]), names_of(given.get("block_size_names"))
    space, defines = Space(params), given.get("defines") or {}
    source = Source(title, given["kernel_source"], given.get("lang"), defines)
    if callable(source.first):
        raise ValueError("a kernel source that is a function cannot be specified: use tune_kernel(), or give the text or a file")
    text, language = source.text({}), source.language({})
    file = os.path.basename(source.path) if source.path else "kernel" + {"C": ".c"}.get(language, SUFFIXES[language])
    if language == "C":
        text = text.replace('extern "C"', "")
    options = [*(given.get("compiler_options") or []), *("-D%s=%s" % (name, _text(value)) for name, value in defines.items())]
    spec: Dict[str, Any] = {"Language": language, "KernelName": title, "KernelFile": file, "CompilerOptions": options}
    files = {file: text.encode(), **_headers(source.path, text), **{name: more.encode() for name, more in source.others.items()}}
    if language not in ("C", "Fortran"):
        spec.update(_launch(given["problem_size"], params, [given.get("grid_div_" + axis) for axis in "xyz"], names))
        if "size" in (given.get("smem_args") or {}):
            spec["SharedMemory"] = _text(given["smem_args"]["size"])
    if given.get("atol") is not None:  # numpy.allclose(), which Kernel Tuner compares with, adds this relative part
        spec["Tolerance"] = {"Absolute": float(given["atol"]), "Relative": 1e-5}
    spec["Arguments"] = _arguments(given["arguments"], given.get("answer"), given.get("cmem_args") or {}, files)
    parameters = [{"Name": key, "Type": _type(values), "Values": values} for key, values in params.items()]
    document_ = {
        "General": {"BenchmarkName": title},
        "ConfigurationSpace": {"TuningParameters": parameters, **_valid(params, given.get("restrictions"), names, language)},
        "KernelSpecification": spec,
    }
    return Specification(re.sub(r"\W+", "_", title), document_, files, space)


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
    answers = [*(answer if answer is not None else ()), *[None] * len(arguments)]
    rows = [_argument("a%d" % i, argument, right, files) for i, (argument, right) in enumerate(zip(arguments, answers))]
    return rows + [{**_argument(name, data, None, files), "MemoryType": "Constant"} for name, data in constant.items()]


def _argument(name: str, value: Any, right: Any, files: Dict[str, bytes]) -> Dict[str, Any]:
    if not hasattr(value, "dtype"):
        raise ValueError("argument %s is a %s: use arrays and scalars of NumPy, as tune_kernel() does" % (name, type(value).__name__))
    kind = _TYPES.get(str(value.dtype), str(value.dtype))
    if kind not in (*_TYPES.values(), *_WHOLE):
        raise ValueError("argument %s has the type %s, which cannot be specified" % (name, value.dtype))
    if not getattr(value, "shape", ()):
        number = value.item()
        return {"Name": name, "Type": kind, "MemoryType": "Scalar", "FillValue": int(number) if isinstance(number, bool) else number}
    row: Dict[str, Any] = {"Name": name, "Type": kind, "MemoryType": "Vector", "Size": math.prod(value.shape), "AccessType": "ReadWrite"}
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
