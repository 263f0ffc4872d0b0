# SPDX-License-Identifier: BSD-3-Clause
"""Where kernels run: GPUs by way of sweetspot-worker, C and Fortran in a process of their own."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from typing import IO, Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._command import SweetspotError, program
from .._params import module
from .._travel import pack
from .._worker import Process
from . import _native
from ._source import SUFFIXES, Source

_KINDS = {"f": "real", "i": "signed", "u": "unsigned", "b": "unsigned"}
_C_TYPES = {"float64": "double", "float32": "float", "float16": "half", "int8": "char", "uint8": "unsigned char", "int16": "short",
            "uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long",
            "bool": "bool"}  # fmt: skip


@dataclass
class Outcome:
    """status: correct, compile, constraints, runtime or correctness; times in milliseconds; `reply` is the worker's."""

    status: str
    times: List[float] = field(default_factory=list)
    message: str = ""
    compile_ms: float = 0.0
    reply: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Instance:
    """A configuration, ready to run."""

    text: str
    function: str
    macros: Mapping[str, str]
    grid: Sequence[int]
    block: Sequence[int]
    shared: int
    arguments: Sequence[Any]
    constants: Mapping[str, Any]


def host(value: Any) -> Any:
    """An array of PyTorch or CuPy as one of NumPy, and any scalar as one of NumPy."""
    numpy = module("numpy")
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif type(value).__module__.split(".")[0] == "cupy" and hasattr(value, "get"):
        value = value.get()
    if not hasattr(value, "dtype"):
        raise TypeError("an argument is a %s: use arrays and scalars of NumPy, as tune_kernel() does" % type(value).__name__)
    return value if not getattr(value, "shape", ()) else numpy.ascontiguousarray(value)


def parameter_type(value: Any) -> str:
    kind = _C_TYPES.get(str(value.dtype), "float")
    return kind + " *" if getattr(value, "shape", ()) else kind


class Device:
    """`folder` holds sources, arguments and outputs while it is open."""

    name = ""

    def __init__(self, source: Source, language: str) -> None:
        self.source, self.language = source, language
        self._temporary = tempfile.TemporaryDirectory(prefix="sweetspot-python-")
        self.folder = self._temporary.name
        for name, text in source.others.items():
            self.write(name, text.encode("utf-8", "surrogateescape"))

    def write(self, name: str, data: bytes) -> str:
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(data)
        return path

    def written(self, text: str) -> str:
        """A file with this text, whose name tells it from others."""
        data = text.encode("utf-8", "surrogateescape")
        suffix = self.source.suffix if self.source.suffix and self.language in ("C", "Fortran") else SUFFIXES[self.language]
        suffix = ".cu" if self.language == "C" and re.search(r"<<<|__global__", text) else suffix
        return self.write("kernel-%s%s" % (hashlib.sha256(data).hexdigest()[:16], suffix), data)

    def outputs(self, dump: str, arguments: Sequence[Any]) -> List[Any]:
        """The arrays that a run has left; scalars as they were given."""
        numpy = module("numpy")
        found = []
        for i, value in enumerate(arguments):
            path = "%s.%d" % (dump, i)
            there = getattr(value, "shape", ()) and os.path.exists(path)
            found.append(numpy.fromfile(path, dtype=value.dtype).reshape(value.shape) if there else value)
            if there:
                os.unlink(path)
        return found

    def run(self, instance: Instance, iterations: int, dump: Optional[str] = None, **more: Any) -> Outcome:
        """Runs it so many times. dump: on fresh arguments, whose arrays are then written to files of this name. more:
        further members of the request to the worker, such as counters."""
        raise NotImplementedError

    def close(self) -> None:
        self._temporary.cleanup()


class Native(Device):
    name = platform.processor() or platform.machine()

    def __init__(self, source: Source, language: str, compiler: Optional[str], options: Sequence[str]) -> None:
        super().__init__(source, language)
        self.compiler, self.options = compiler, [*options, "-I" + self.folder, *source.includes()]
        self.built: Dict[str, Tuple[str, str, float]] = {}
        self.process: Optional[Process] = None
        self.arguments: Sequence[Any] = ()

    def _build(self, instance: Instance) -> Tuple[str, str, float]:
        macros = ["#define %s %s" % each for each in instance.macros.items()]
        path = self.written("\n".join([*macros, "#line 1", instance.text]))
        if path not in self.built:
            begun = time.perf_counter()
            _native.build(path, path + ".so", self.language, self.compiler, self.options, instance.text)
            symbol = _native.symbol_of(path + ".so", instance.function)
            self.built[path] = (path + ".so", symbol, (time.perf_counter() - begun) * 1e3)
        return self.built[path]

    def run(self, instance: Instance, iterations: int, dump: Optional[str] = None, **more: Any) -> Outcome:
        if more:
            raise ValueError("%s cannot be observed of a function of %s" % (", ".join(more), self.language))
        try:
            library, symbol, compile_ms = self._build(instance)
        except _native.CompileError as error:
            return Outcome("compile", message=str(error))
        if not self.process or list(map(id, self.arguments)) != list(map(id, instance.arguments)):
            self._end()
            self.arguments = instance.arguments
            self.process = Process(pack(_native.Job(instance.arguments), _native.Job))
            self.process.channel.recv_bytes()
        asked = {"library": library, "symbol": symbol, "returns": _native.returns(instance.text, self.source.name), "dump": dump,
                 "iterations": iterations, "fresh": bool(dump)}  # fmt: skip
        try:
            self.process.channel.send_bytes(json.dumps(asked).encode())
            said = json.loads(self.process.channel.recv_bytes())
        except (EOFError, OSError):
            self._end()
            return Outcome("runtime", message="the function has crashed", compile_ms=compile_ms)
        return Outcome("correct" if said["status"] == "correct" else "runtime", said.get("times", []), said["why"], compile_ms)

    def _end(self) -> None:
        if self.process:
            self.process.kill()
        self.process = None

    def close(self) -> None:
        self._end()
        super().close()


def _worker_path() -> str:
    here = os.path.dirname(os.path.realpath(program()))
    places = [os.path.join(here, "..", "libexec", "sweetspot", "sweetspot-worker"), os.path.join(here, "sweetspot-worker")]
    said = os.environ.get("SWEETSPOT_WORKER")
    for path in [said] if said else places:
        if os.access(path, os.X_OK):
            return path
    raise SweetspotError("cannot find sweetspot-worker", hint="install the whole package, or name it in SWEETSPOT_WORKER")


class Gpu(Device):
    """CUDA, OpenCL and HIP, in the protocol of doc/protocol.md."""

    def __init__(self, source: Source, language: str, device: int, options: Sequence[str]) -> None:
        super().__init__(source, language)
        kind = language.lower()
        self.device = "%s:%d" % (kind, device) if device else kind
        self.options = [*options, "-I" + self.folder, *source.includes()]
        if kind == "opencl":  # its options are one text, which is split at blanks
            self.options = [each for each in self.options if " " not in each]
        self.worker: Optional["subprocess.Popen[bytes]"] = None
        self.errors: IO[bytes] = tempfile.TemporaryFile()
        self.files: Dict[int, Tuple[str, Any]] = {}
        self.name = self.device

    def _request(self, request: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """None: the worker has crashed."""
        if not self.worker or self.worker.poll() is not None:
            self.worker = subprocess.Popen(
                [_worker_path(), "kept"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True
            )
        assert self.worker.stdin and self.worker.stdout
        try:
            self.worker.stdin.write(json.dumps(request).encode() + b"\n")
            self.worker.stdin.flush()
            line = self.worker.stdout.readline()
        except OSError:
            line = b""
        if not line:
            self._end()
            return None
        answer: Dict[str, Any] = json.loads(line)
        if answer.get("ending"):
            self._end()
        return answer

    def _argument(self, name: str, value: Any, memory: str) -> Dict[str, Any]:
        shape = getattr(value, "shape", ())
        kind = _KINDS.get(value.dtype.kind)
        if not kind:
            raise TypeError("an argument of the type %s cannot be passed to a kernel" % value.dtype)
        if value.dtype.itemsize == 2 and kind == "real":
            kind = "unsigned"  # its bits are all that is passed on
        access = "ReadWrite" if memory == "Vector" else "ReadOnly"
        row: Dict[str, Any] = {"name": name, "kind": kind, "bytes": value.dtype.itemsize, "count": value.size or 1, "memory": memory,
                               "access": access, "random": False, "output": False, "real": 0.0, "whole": 0}  # fmt: skip
        if not shape:
            if kind == "real":
                row["real"] = float(value)
            else:
                whole = int.from_bytes(value.tobytes(), "little")
                row["whole"] = whole - (1 << 64) if whole >= 1 << 63 else whole
        elif value.any():
            if id(value) not in self.files:
                self.files[id(value)] = (self.write("argument-%d.bin" % len(self.files), value.tobytes()), value)
            row["file"] = self.files[id(value)][0]
        return row

    def run(self, instance: Instance, iterations: int, dump: Optional[str] = None, **more: Any) -> Outcome:
        arguments = [
            self._argument("a%d" % i, value, "Vector" if getattr(value, "shape", ()) else "Scalar")
            for i, value in enumerate(instance.arguments)
        ]
        arguments += [self._argument(name, host(value), "Constant") for name, value in instance.constants.items()]
        problem = {"file": self.written(instance.text), "function": instance.function, "options": self.options, "arguments": arguments}
        defines = ["-D%s=%s" % each for each in instance.macros.items()]
        config: Dict[str, Any] = {"defines": defines, "grid": list(instance.grid), "block": list(instance.block), "shared": instance.shared, "reference": False}
        if dump:
            config["dump"] = dump
        request = {"op": "trial", "kernel": "t1", "device": self.device, "problem": {"text": json.dumps(problem)}, "config": {"text": json.dumps(config)},
                   "samples": iterations, "warmup": 0, "min_sample_s": 0, "verify": "always" if dump else False, **more}  # fmt: skip
        reply = self._request(request)
        if reply is None:
            return Outcome("runtime", message="the kernel has crashed")
        if "error" in reply:
            if reply["error"].get("code") == "unavailable":
                raise SweetspotError(reply["error"]["what"], status=4, hint=reply["error"].get("hint", ""))
            return Outcome("runtime", message=reply["error"]["what"])
        gpu = reply.get("gpu") or {}
        self.name = gpu.get("name") or self.name
        times = [seconds * 1e3 for seconds in reply.get("samples") or []]
        return Outcome(reply["status"], times, reply.get("message") or "", 1e3 * (gpu.get("compile_s") or 0.0), reply)

    def _end(self) -> None:
        worker, self.worker = self.worker, None
        if worker and worker.stdin and worker.stdout:
            worker.stdin.close()
            worker.stdout.close()
            worker.terminate()
            worker.wait()

    def close(self) -> None:
        self._end()
        self.errors.close()
        super().close()


def open_device(source: Source, language: str, device: int, platform_: int, compiler: Optional[str], options: Optional[Sequence[str]]) -> Device:
    if language in ("C", "Fortran"):
        return Native(source, language, compiler, list(options or []))
    if compiler:
        raise ValueError("compiler= is for C and Fortran: the driver compiles %s" % language)
    if platform_:
        raise ValueError("platform= cannot be chosen: device= counts the devices of all platforms")
    return Gpu(source, language, device, list(options or []))
