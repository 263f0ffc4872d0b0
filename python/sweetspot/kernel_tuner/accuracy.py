# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that depend on the configuration, such as their precision."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .._params import module
from ._launch import Config
from .observers import OutputObserver

_TYPES = {"half": "float16", "float": "float32", "double": "float64", "float16": "float16", "float32": "float32", "float64": "float64"}


class Tunable:
    """An argument for each value of a parameter: Tunable("name", {"a": array, "b": array})."""

    def __init__(self, param_key: str, values: Mapping[Any, Any]) -> None:
        self.param_key, self.values = param_key, dict(values)

    def select_for_configuration(self, params: Config) -> Any:
        value = params.get(self.param_key)
        if value not in self.values:
            raise ValueError("there is no argument for %s=%r" % (self.param_key, value))
        return self.values[value]


class TunablePrecision(Tunable):
    """An array in the type that a parameter names: half, float or double."""

    def __init__(self, param_key: str, array: Any, dtypes: Optional[Mapping[Any, Any]] = None) -> None:
        numpy = module("numpy")
        types = dict(dtypes) if dtypes else {name: numpy.dtype(kind) for name, kind in _TYPES.items()}
        made: Dict[str, Any] = {str(numpy.dtype(kind)): numpy.asarray(array).astype(kind) for kind in types.values()}
        super().__init__(param_key, {name: made[str(numpy.dtype(kind))] for name, kind in types.items()})


class AccuracyObserver(OutputObserver):
    """error: how far the outputs are from the answer, by the root of the mean squared error or a metric of one's own."""

    def __init__(self, metric: Any = None, key: str = "error") -> None:
        self.metric, self.key, self.found = metric, key, 0.0

    def process_output(self, answer: Any, output: List[Any]) -> None:
        numpy = module("numpy")
        pairs = [(right, out) for right, out in zip(answer or (), output) if right is not None]
        distance = self.metric or (lambda a, b: float(numpy.sqrt(numpy.mean((numpy.asarray(a) - b) ** 2))))
        self.found = max((float(distance(right, out)) for right, out in pairs), default=0.0)

    def get_results(self) -> Dict[str, Any]:
        return {self.key: self.found}
