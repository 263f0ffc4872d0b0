# SPDX-License-Identifier: BSD-3-Clause
"""tune_kernel() and run_kernel() with the arguments and the results of Kernel Tuner's."""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ._device import open_device
from ._files import Cache, Row, TIMES, failure
from ._launch import Config, configurations, names_of, plain, plain_params
from ._run import Bench, Checker, Kernel, Metric, good
from ._search import Search, strategy_of, tuned
from ._source import Given, Source

_HIGHER = {
    "time": False, "energy": False, "fitness": True, "cost": False, "loss": False, "GFLOP/s": True, "TFLOP/s": True, "GB/s": True,
    "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True,
}  # fmt: skip


def objective_of(objective: Optional[str], higher: Optional[bool]) -> Tuple[str, bool]:
    objective = objective or "time"
    if higher is None:
        if objective not in _HIGHER:
            raise ValueError("say by objective_higher_is_better whether a higher %s is better" % objective)
        higher = _HIGHER[objective]
    return objective, bool(higher)


def _log(kernel_name: str, level: Any) -> None:
    if level:
        logging.basicConfig(filename="%s%s.log" % (kernel_name, time.strftime("%Y%m%d-%H:%M:%S")), level=level)


def _line(row: Row, params: Sequence[str], metrics: Sequence[str]) -> str:
    shown = ["%s=%s" % (name, row[name]) for name in params if name in row]
    shown += ["%s=%.4g%s" % (name, row[name], "ms" if name == "time" else "") for name in ("time", *metrics) if good(row, name)]
    return ", ".join(shown + (["failed: %s" % row["__error__"]] if "__error__" in row else []))


def tune_kernel(
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
    atol: float = 1e-6,
    verify: Optional[Callable[..., Any]] = None,
    verbose: bool = False,
    lang: Optional[str] = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Optional[Mapping[str, Any]] = None,
    cmem_args: Optional[Mapping[str, Any]] = None,
    texmem_args: Optional[Mapping[str, Any]] = None,
    compiler: Optional[str] = None,
    compiler_options: Optional[Sequence[str]] = None,
    defines: Optional[Mapping[str, Any]] = None,
    log: Any = None,
    iterations: int = 7,
    block_size_names: Optional[Sequence[str]] = None,
    quiet: bool = False,
    strategy: Any = None,
    strategy_options: Optional[Mapping[str, Any]] = None,
    cache: Any = None,
    metrics: Optional[Mapping[str, Metric]] = None,
    simulation_mode: bool = False,
    observers: Optional[Sequence[Any]] = None,
    objective: Optional[str] = None,
    objective_higher_is_better: Optional[bool] = None,
    parallel: Any = None,
    parallel_runner: Any = None,
) -> Tuple[List[Row], Dict[str, Any]]:
    """Measures configurations of a kernel: all valid ones, or those that a strategy asks for.

    Returns the rows, one a configuration, and the environment with `best_config`. A configuration that does not compile
    or run, or gives a wrong result, has a row with `__error__`, and an ErrorConfig in the place of its time; it never is
    the best. The other arguments mean what they mean to Kernel Tuner's tune_kernel(): doc/from-kernel-tuner.md has the
    differences.
    """
    begun = time.perf_counter()
    _log(kernel_name, log)
    if parallel or parallel_runner:
        warnings.warn("parallel: configurations run one after another, because they would disturb each other's times", stacklevel=2)
    options = {name: plain(value) for name, value in (strategy_options or {}).items()}
    params, names = plain_params(tune_params), names_of(block_size_names)
    objective, higher = objective_of(objective, objective_higher_is_better)
    chosen = strategy_of(strategy, options)
    source = Source(kernel_name, kernel_source, lang, defines)
    kernel = Kernel(source, problem_size, arguments, (grid_div_x, grid_div_y, grid_div_z), names, smem_args, cmem_args, texmem_args)
    kept = Cache(cache, kernel_name, params, problem_size, objective) if cache else None
    if simulation_mode and not (kept and kept.rows):
        raise ValueError("simulation_mode needs a cache with results")
    first: Config = {name: values[0] for name, values in params.items()}
    opened = open_device(source, source.language(first), device, platform, compiler, compiler_options)
    bench = Bench(kernel, opened, Checker(answer, atol, verify), iterations, observers or [], metrics or {})
    shown = list(metrics or {})

    def evaluate(config: Config) -> Row:
        row = kept.find(config) if kept else None
        if row is not None:
            if "__error__" not in row and good(row, "time"):
                bench.measure(row)
        elif simulation_mode:
            row = {**config, "time": failure("constraints", ""), "__error__": "it is not in the cache"}
        else:
            row = bench.row(config)
            if kept:
                kept.add(config, row, opened.name)
        if not quiet and ("__error__" not in row or verbose):
            print(_line(row, list(params), shown))
        return row

    limit = options.get("max_fevals") or (None if chosen == "grid" else 100)
    search = Search(evaluate, objective, higher, limit, options.get("time_limit"))
    try:
        tuned(search, chosen, params, configurations(params, restrictions, names), options)
    finally:
        opened.close()
        if kept and not simulation_mode:
            kept.write()
    rows = list(search.rows.values())
    env = {"device_name": (kept.head["device_name"] if kept else "") or opened.name, "device": opened.name, "iterations": iterations}
    return rows, _finish(rows, env, search, list(params), quiet, (time.perf_counter() - begun) * 1e3)


def _finish(rows: List[Row], env: Dict[str, Any], search: Search, params: Sequence[str], quiet: bool, overall_ms: float) -> Dict[str, Any]:
    """The environment with the best configuration and where the time went."""
    right = [row for row in rows if good(row, search.objective)]
    if right:
        env["best_config"] = min(right, key=lambda row: search.cost(row) or 0.0)
        if not quiet:
            print("best performing configuration:\n" + _line(env["best_config"], params, [] if search.objective == "time" else [search.objective]))
    elif not quiet:
        print("no results to report")
    for name in TIMES:
        env["total_" + name] = sum(row.get(name) or 0.0 for row in rows)
    env["overhead_time"] = max(0.0, overall_ms - sum(env["total_" + name] for name in TIMES))
    return env


def run_kernel(
    kernel_name: str,
    kernel_source: Given,
    problem_size: Any,
    arguments: Sequence[Any],
    params: Mapping[str, Any],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    lang: Optional[str] = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Optional[Mapping[str, Any]] = None,
    cmem_args: Optional[Mapping[str, Any]] = None,
    texmem_args: Optional[Mapping[str, Any]] = None,
    compiler: Optional[str] = None,
    compiler_options: Optional[Sequence[str]] = None,
    defines: Optional[Mapping[str, Any]] = None,
    block_size_names: Optional[Sequence[str]] = None,
    quiet: bool = False,
    log: Any = None,
) -> List[Any]:
    """Runs a kernel once, and returns its arguments as it has left them: arrays of NumPy, and scalars as they were.

    RuntimeError where it does not compile or run.
    """
    _log(kernel_name, log)
    config = {name: plain(value) for name, value in params.items()}
    source, names = Source(kernel_name, kernel_source, lang, defines), names_of(block_size_names)
    kernel = Kernel(source, problem_size, arguments, (grid_div_x, grid_div_y, grid_div_z), names, smem_args, cmem_args, texmem_args)
    opened = open_device(source, source.language(config), device, platform, compiler, compiler_options)
    try:
        instance = kernel.instance(config)
        dump = opened.folder + "/output"
        outcome = opened.run(instance, 1, dump)
        if outcome.status != "correct":
            raise RuntimeError("%s: %s" % (kernel_name, outcome.message or outcome.status))
        if not quiet:
            print("Using: " + opened.name)
        return opened.outputs(dump, instance.arguments)
    finally:
        opened.close()
