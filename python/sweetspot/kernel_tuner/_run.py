# SPDX-License-Identifier: BSD-3-Clause
"""One configuration: compiled, verified, observed and timed."""

from __future__ import annotations

import inspect
import os
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from .._params import module
from ._device import Device, Instance, Outcome, host, parameter_type
from ._files import Row, failure, is_number, stamp
from ._launch import Config, block_of, evaluate, grid_of, problem_of
from ._source import Source
from .observers import BenchmarkObserver, OutputObserver, Read


class Kernel:
    """What run_kernel() and tune_kernel() have in common: the kernel without a configuration."""

    def __init__(
        self,
        source: Source,
        problem_size: Any,
        arguments: Sequence[Any],
        dividers: Sequence[Any],
        names: Sequence[str],
        smem_args: Optional[Mapping[str, Any]],
        cmem_args: Optional[Mapping[str, Any]],
        texmem_args: Optional[Mapping[str, Any]],
    ) -> None:
        if texmem_args:
            raise ValueError("texmem_args is not supported: textures need objects of a driver's API; read the array from global memory")
        unknown = [name for name in smem_args or () if name != "size"]
        if unknown:
            raise ValueError("smem_args: only 'size' is known, not %r" % unknown[0])
        self.source, self.problem_size, self.dividers, self.names = source, problem_size, dividers, names
        self.shared = (smem_args or {}).get("size", 0)
        self.constants = dict(cmem_args or {})
        self.arguments = [each if hasattr(each, "select_for_configuration") else host(each) for each in arguments]

    def arguments_of(self, config: Config) -> List[Any]:
        """Some depend on the configuration (Tunable)."""
        return [host(each.select_for_configuration(config)) if hasattr(each, "select_for_configuration") else each for each in self.arguments]

    def instance(self, config: Config) -> Instance:
        block = block_of(self.names, config)
        grid = grid_of(problem_of(self.problem_size, config), self.dividers, self.names, config)
        arguments = self.arguments_of(config)
        macros = self.source.macros(config, grid, block, self.names)
        text, function = self.source.prepared(config, macros, [parameter_type(each) for each in arguments])
        return Instance(text, function, macros, grid, block, int(evaluate(self.shared, config)), arguments, self.constants)


def accepts_atol(verify: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(verify).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(each.name == "atol" or each.kind == each.VAR_KEYWORD for each in parameters)


class Checker:
    """Compares outputs with `answer`, within atol, or by the user's verify()."""

    def __init__(self, answer: Optional[Sequence[Any]], atol: float, verify: Optional[Callable[..., Any]]) -> None:
        self.answer, self.atol, self.verify = answer, atol, verify

    def wrong(self, outputs: Sequence[Any], config: Config) -> str:
        """Why the outputs are wrong; empty if they are right or nothing is known."""
        if self.answer is None and self.verify is None:
            return ""
        answer = [each.select_for_configuration(config) if hasattr(each, "select_for_configuration") else each for each in self.answer or []]
        if answer and not any(getattr(each, "shape", ()) for each in outputs[len(answer) :]):
            answer += [None] * (len(outputs) - len(answer))  # scalars, which no kernel changes
        if len(answer) not in (0, len(outputs)):
            raise ValueError("answer has %d elements, but there are %d arguments" % (len(answer), len(outputs)))
        answer = [None if each is None else host(each) for each in answer]
        if self.verify:
            found = [out if right is not None else None for out, right in zip(outputs, answer)] if answer else list(outputs)
            more = {"atol": self.atol} if accepts_atol(self.verify) else {}
            return "" if self.verify(answer or None, found, **more) else "verify() was not true"
        numpy = module("numpy")
        for i, right in enumerate(answer):
            if right is not None and not numpy.allclose(numpy.reshape(right, outputs[i].shape), outputs[i], atol=self.atol):
                return "the output in argument %d differs from the answer by up to %.3g" % (i, float(numpy.max(numpy.abs(right.ravel() - outputs[i].ravel()))))
        return ""


Metric = Union[str, Callable[[Dict[str, Any]], Any]]


class Bench:
    """Makes the row of a configuration."""

    def __init__(self, kernel: Kernel, device: Device, checker: Checker, iterations: int, observers: Sequence[Any], metrics: Mapping[str, Metric]) -> None:
        self.kernel, self.device, self.checker, self.iterations, self.metrics = kernel, device, checker, iterations, metrics
        self.read = [each for each in observers if isinstance(each, Read)]
        self.called: List[BenchmarkObserver] = [each for each in observers if not isinstance(each, Read)]
        self.more: Dict[str, Any] = {}
        for each in self.read:
            self.more.update(each.request)
        for called in self.called:
            if hasattr(called, "register_device"):
                called.register_device(device)

    def _verified(self, instance: Instance, config: Config, row: Row) -> Outcome:
        begun = time.perf_counter()
        dump = os.path.join(self.device.folder, "output")
        outcome = self.device.run(instance, 1, dump)
        if outcome.status == "correct":
            outputs = self.device.outputs(dump, instance.arguments)
            for observer in self.called:
                if isinstance(observer, OutputObserver):
                    observer.process_output(self.checker.answer, outputs)
            why = self.checker.wrong(outputs, config)
            outcome = Outcome("correctness", message=why, compile_ms=outcome.compile_ms) if why else outcome
        row["compile_time"] = outcome.compile_ms
        row["verification_time"] = max(0.0, (time.perf_counter() - begun) * 1e3 - outcome.compile_ms)
        return outcome

    def _timed(self, instance: Instance, config: Config) -> Outcome:
        if not self.called:
            return self.device.run(instance, self.iterations, **self.more)
        for observer in self.called:
            getattr(observer, "register_configuration", lambda params: None)(config)
        times: List[float] = []
        outcome = Outcome("runtime")
        for _ in range(self.iterations):
            for observer in self.called:
                observer.before_start()
            for observer in self.called:
                observer.after_start()
            outcome = self.device.run(instance, 1, **self.more)
            for observer in self.called:
                getattr(observer, "during", lambda: None)()
                observer.after_finish()
            if outcome.status != "correct":
                return outcome
            times += outcome.times
        outcome.times = times
        return outcome

    def row(self, config: Config) -> Row:
        begun = time.perf_counter()
        row: Row = dict(config)
        try:
            instance = self.kernel.instance(config)
        except (ZeroDivisionError, ValueError) as error:
            return self._failed(row, "constraints", str(error))
        needs = self.checker.answer is not None or self.checker.verify or any(isinstance(each, OutputObserver) for each in self.called)
        row["compile_time"] = row["verification_time"] = 0.0
        outcome = self._verified(instance, config, row) if needs else Outcome("correct")
        bench = time.perf_counter()
        if outcome.status == "correct":
            outcome = self._timed(instance, config)
            bench += 0.0 if needs else outcome.compile_ms / 1e3
            row["compile_time"] = row["compile_time"] or outcome.compile_ms
        if outcome.status != "correct" or not outcome.times:
            return self._failed(row, outcome.status, outcome.message)
        row["benchmark_time"] = (time.perf_counter() - bench) * 1e3
        row["time"], row["times"] = sum(outcome.times) / len(outcome.times), outcome.times
        for observer in self.read:
            row.update(observer.read(outcome.reply))
        for called in self.called:
            row.update(called.get_results())
        self.measure(row)
        row["timestamp"] = stamp()
        row["framework_time"] = max(0.0, (time.perf_counter() - begun) * 1e3 - sum(row[name] for name in ("compile_time", "verification_time", "benchmark_time")))
        row["strategy_time"] = 0.0
        return row

    def _failed(self, row: Row, status: str, message: str) -> Row:
        error = failure(status, message)
        return {"compile_time": 0.0, "verification_time": 0.0, **row, "benchmark_time": 0.0, "strategy_time": 0.0, "framework_time": 0.0,
                "time": error, "__error__": message or str(error), "timestamp": stamp()}  # fmt: skip

    def measure(self, row: Row) -> None:
        """The user's metrics, each of which may use those before it."""
        for name, metric in self.metrics.items():
            row[name] = evaluate(metric, row)


def good(row: Row, objective: str) -> bool:
    return "__error__" not in row and is_number(row.get(objective))


