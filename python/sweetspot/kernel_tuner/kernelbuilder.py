# SPDX-License-Identifier: BSD-3-Clause
"""A kernel with a configuration as a function of Python."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._interface import run_kernel
from ._source import Given


class PythonKernel:
    """Calls return the arrays that `outputs` marks, in a list. `inputs` marks the arguments of the call that are used; the
    others are those given here."""

    def __init__(
        self,
        kernel_name: str,
        kernel_string: Given,
        problem_size: Any,
        arguments: Sequence[Any],
        params: Mapping[str, Any],
        inputs: Optional[Sequence[bool]] = None,
        outputs: Optional[Sequence[bool]] = None,
        device: int = 0,
        platform: int = 0,
        block_size_names: Optional[Sequence[str]] = None,
        grid_div_x: Any = None,
        grid_div_y: Any = None,
        grid_div_z: Any = None,
        verbose: bool = True,
        lang: Optional[str] = None,
    ) -> None:
        self.arguments = list(arguments)
        self.inputs = list(inputs) if inputs else [True] * len(self.arguments)
        self.outputs = list(outputs) if outputs else [True] * len(self.arguments)
        self._given = (kernel_name, kernel_string, problem_size)
        self._params = dict(params)
        self._options: Dict[str, Any] = {"grid_div_x": grid_div_x, "grid_div_y": grid_div_y, "grid_div_z": grid_div_z, "lang": lang, "device": device,
                         "platform": platform, "block_size_names": block_size_names, "quiet": True}  # fmt: skip

    def run_kernel(self, args: Sequence[Any]) -> List[Any]:
        used = [given if is_input else kept for given, kept, is_input in zip(args, self.arguments, self.inputs)]
        found = run_kernel(*self._given, used, self._params, **self._options)
        for given, is_output, value in zip(args, self.outputs, found):
            if is_output and type(given).__module__.split(".")[0] == "cupy" and hasattr(given, "set"):
                given.set(value)  # an array of CuPy is changed in place
        return [value for value, is_output in zip(found, self.outputs) if is_output and getattr(value, "shape", None)]

    def __call__(self, *args: Any) -> List[Any]:
        return self.run_kernel(args)
