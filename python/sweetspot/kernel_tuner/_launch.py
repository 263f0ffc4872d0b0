# SPDX-License-Identifier: BSD-3-Clause
"""What depends on a configuration: sizes, and whether it is valid."""

from __future__ import annotations

import inspect
import math
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

BLOCK_NAMES = ("block_size_x", "block_size_y", "block_size_z")
MAX_THREADS = 1024  # of a block, as Kernel Tuner assumes where a device does not say
_WORDS = {"__builtins__": {}, "abs": abs, "min": min, "max": max, "int": int, "float": float, "round": round, "pow": pow,
          "len": len, "sum": sum, "bool": bool, "any": any, "all": all, "range": range, "math": math, "ceil": math.ceil}  # fmt: skip
Config = Dict[str, Any]
Check = Callable[[Config], Any]


def plain(value: Any) -> Any:
    """A scalar of NumPy as a number of Python."""
    return value.item() if hasattr(value, "item") and not isinstance(value, (str, bytes)) else value


def plain_params(params: Any) -> Dict[str, List[Any]]:
    items = params.items() if hasattr(params, "items") else params
    return {str(name): [plain(value) for value in values] for name, values in items}


def evaluate(value: Any, config: Config) -> Any:
    """A number, an expression or a function of the configuration."""
    if callable(value):
        value = value(config)
    elif isinstance(value, str):
        value = eval(value, dict(_WORDS), dict(config))
    return plain(value)


def problem_of(size: Any, config: Config) -> Tuple[int, ...]:
    size = evaluate(size, config)
    parts = [evaluate(part, config) for part in (size if isinstance(size, (list, tuple)) else [size])]
    return tuple([int(part) for part in parts] + [1] * (3 - len(parts)))


def names_of(given: Optional[Sequence[str]]) -> Tuple[str, ...]:
    """The names of the block's sizes; those that are not given have Kernel Tuner's."""
    if given is not None and (isinstance(given, str) or len(given) > 3):
        raise ValueError("block_size_names must be a list of at most three names")
    return tuple(given or ()) + BLOCK_NAMES[len(given or ()) :]


def block_of(names: Sequence[str], config: Config) -> Tuple[int, ...]:
    return tuple(int(config.get(name, 1)) for name in names)


def grid_of(problem: Sequence[int], dividers: Sequence[Any], names: Sequence[str], config: Config) -> Tuple[int, ...]:
    grid = []
    for size, divider, name in zip(problem, dividers, names):
        if divider is None:
            divider = [name] if name in config else []
        parts = divider if isinstance(divider, (list, tuple)) else [divider]
        grid.append(max(1, math.ceil(size / math.prod(evaluate(part, config) for part in parts))))
    return tuple(grid)


def _expression_check(text: str) -> Tuple[Check, Optional[List[str]]]:
    code = compile(text.strip(), text, "eval")
    return lambda config: eval(code, dict(_WORDS), config), [name for name in code.co_names if name not in _WORDS]


def _function_check(function: Callable[..., Any], params: Mapping[str, Any]) -> Tuple[Check, Optional[List[str]]]:
    """A function of the configuration, or of some parameters by their names."""
    try:
        wanted = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        wanted = []
    if wanted and all(name in params for name in wanted):
        return lambda config: function(*[config[name] for name in wanted]), wanted
    return function, None


def _constraint_check(constraint: Any, names: Optional[Sequence[str]], params: Mapping[str, Any]) -> Tuple[Check, Optional[List[str]]]:
    """A Constraint of python-constraint, which judges the values of some variables."""
    wanted = list(names or params)
    if hasattr(constraint, "_func"):
        return lambda config: constraint._func(*[config[name] for name in wanted]), wanted
    return lambda config: constraint(wanted, {}, {name: config[name] for name in wanted}), wanted


def checks_of(restrictions: Any, params: Mapping[str, Any]) -> List[Tuple[Check, Optional[List[str]]]]:
    """Each restriction with the parameters that it needs; None: all of them."""
    if restrictions is None:
        return []
    listed = list(restrictions) if isinstance(restrictions, (list, tuple)) else [restrictions]
    checks = []
    for each in listed:
        names = None
        if isinstance(each, tuple) and len(each) == 2:
            each, names = each
        if isinstance(each, str):
            checks.append(_expression_check(each))
        elif hasattr(each, "preProcess") or (names is not None and not inspect.isfunction(each)):
            checks.append(_constraint_check(each, names, params))
        elif callable(each):
            checks.append(_function_check(each, params))
        else:
            raise TypeError("a restriction must be a text, a function or a Constraint, not %r" % (each,))
    return checks


def thread_limit(names: Sequence[str], params: Mapping[str, Any], limit: int = MAX_THREADS) -> Optional[str]:
    """The device's limit as an expression; None where no parameter is a block's size."""
    used = [name for name in names if name in params]
    return "%s <= %d" % (" * ".join(used), limit) if used else None


def configurations(params: Mapping[str, Sequence[Any]], restrictions: Any, names: Sequence[str]) -> Iterable[Config]:
    """Every valid configuration, in order. A restriction is judged as soon as its parameters have values."""
    limit = thread_limit(names, params)
    listed = checks_of(restrictions, params) + ([_expression_check(limit)] if limit else [])
    order = list(params)
    at: List[List[Check]] = [[] for _ in order]
    for check, wanted in listed:
        missing = [name for name in wanted or () if name not in params]
        if missing:
            raise ValueError("a restriction uses %s, which is no parameter" % missing[0])
        at[max((order.index(name) for name in wanted), default=len(order) - 1) if wanted is not None else len(order) - 1].append(check)
    config: Config = {}

    def extend(depth: int) -> Iterable[Config]:
        if depth == len(order):
            yield dict(config)
            return
        for value in params[order[depth]]:
            config[order[depth]] = value
            if all(check(config) for check in at[depth]):
                yield from extend(depth + 1)
        config.pop(order[depth], None)

    return extend(0)
