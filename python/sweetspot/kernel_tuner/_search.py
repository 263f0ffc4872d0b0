# SPDX-License-Identifier: BSD-3-Clause
"""Which configurations are measured: all of them, those that one of our strategies asks for, or a user's strategy."""

from __future__ import annotations

import itertools
import math
import random
import time
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from .._study import Study
from ._files import Row
from ._launch import Config
from ._run import good

# Kernel Tuner's names. Those without one of ours of the same kind are left to `auto`, which is said.
STRATEGIES = {
    "brute_force": "grid",
    "random_sample": "random",
    "bayes_opt": "bayes",
    "genetic_algorithm": "genetic",
    "simulated_annealing": "annealing",
    "dual_annealing": "annealing",
    "greedy_ils": "ils",
    **dict.fromkeys(("basinhopping", "diff_evo", "firefly_algorithm", "greedy_mls", "minimize", "mls", "ordered_greedy_mls", "pso",
                     "pyatf_strategies", "skopt"), ""),
    **{name: name for name in ("auto", "grid", "random", "bayes", "genetic", "annealing", "ils")},
}  # fmt: skip
LISTED_MAX = 200000  # configurations that a study is given as a list


class StopCriterionReached(Exception):
    """The budget of a search is used up."""


class Searchspace:
    """The valid configurations as tuples of values, for strategies of the user's own."""

    def __init__(self, tune_params: Mapping[str, Sequence[Any]], configs: Sequence[Config]) -> None:
        self.tune_params = {name: list(values) for name, values in tune_params.items()}
        self.param_names = list(tune_params)
        self.list: List[Tuple[Any, ...]] = [tuple(config.values()) for config in configs]
        self._known = set(self.list)
        self.size = len(self.list)

    def is_param_config_valid(self, config: Sequence[Any]) -> bool:
        return tuple(config) in self._known

    def get_random_sample(self, count: int) -> List[Tuple[Any, ...]]:
        return random.sample(self.list, min(count, self.size))

    def get_neighbors(self, config: Sequence[Any], neighbor_method: str = "Hamming") -> List[Tuple[Any, ...]]:
        """The valid configurations in which one parameter differs, for "adjacent" by one step."""
        found = []
        for i, name in enumerate(self.param_names):
            values = self.tune_params[name]
            at = values.index(config[i])
            near = values if neighbor_method == "Hamming" else values[max(0, at - 1) : at + 2]
            found += [(*config[:i], value, *config[i + 1 :]) for value in near if value != config[i]]
        return [each for each in found if each in self._known]

    def get_param_config_from_param_indices(self, indices: Sequence[int]) -> Tuple[Any, ...]:
        return tuple(self.tune_params[name][i] for name, i in zip(self.param_names, indices))


class Search:
    """Evaluates configurations within a budget, each of them once."""

    def __init__(
        self,
        evaluate: Callable[[Config], Row],
        objective: str,
        higher: bool,
        max_fevals: Optional[int],
        time_limit: Optional[float],
    ) -> None:
        self.evaluate, self.objective, self.higher = evaluate, objective, higher
        self.max_fevals, self.time_limit, self.begun = max_fevals, time_limit, time.monotonic()
        self.rows: Dict[Tuple[Any, ...], Row] = {}
        self.asked_s = 0.0  # what the strategy has taken since the last row

    @property
    def budget_spent_fraction(self) -> float:
        return max(
            len(self.rows) / self.max_fevals if self.max_fevals else 0.0,
            (time.monotonic() - self.begun) / self.time_limit if self.time_limit else 0.0,
        )

    def run(self, config: Config) -> Row:
        key = tuple(config.values())
        if key not in self.rows:
            if self.budget_spent_fraction >= 1:
                raise StopCriterionReached("the budget is used up")
            row = self.evaluate(config)
            row["strategy_time"] = self.asked_s * 1e3
            self.rows[key] = row
        return self.rows[key]

    def cost(self, row: Row) -> Optional[float]:
        """None: it has no value. Smaller is better."""
        if not good(row, self.objective):
            return None
        return -float(row[self.objective]) if self.higher else float(row[self.objective])

    def all(self, configs: Iterable[Config]) -> None:
        try:
            for config in configs:
                self.run(config)
        except StopCriterionReached:
            pass

    def study(self, name: str, params: Mapping[str, Sequence[Any]], configs: Sequence[Config], seed: int) -> None:
        """One of our strategies asks."""
        listed = list(configs) if len(configs) <= LISTED_MAX else random.Random(seed).sample(list(configs), LISTED_MAX)
        study = Study(params, strategy=name, configurations=listed, seed=seed, budget=self.max_fevals)
        try:
            while self.budget_spent_fraction < 1:
                begun = time.monotonic()
                trial = study.ask()
                self.asked_s = time.monotonic() - begun
                if trial is None:
                    break
                study.tell(trial, self.cost(self.run(trial.config)))
        except StopCriterionReached:
            pass
        finally:
            study.close()

    def own(self, strategy: Any, params: Mapping[str, Sequence[Any]], configs: Sequence[Config], options: Mapping[str, Any]) -> None:
        """A user's strategy: an object with tune(searchspace, runner, tuning_options), or wrapped by OptAlgWrapper."""
        space = Searchspace(params, configs)
        runner = Runner(self, space)
        try:
            strategy.tune(space, runner, Options(options, runner))
        except StopCriterionReached:
            pass


class Runner:
    """What a user's strategy calls: run() with a list of configurations, or cost() with one."""

    def __init__(self, search: Search, space: Searchspace) -> None:
        self.search, self.space = search, space

    def run(self, parameter_space: Iterable[Sequence[Any]], tuning_options: Any = None) -> List[Row]:
        return [self.search.run(dict(zip(self.space.param_names, values))) for values in parameter_space]

    def cost(self, values: Sequence[Any]) -> float:
        """Infinity for a configuration that is not valid, or does not work."""
        if not self.space.is_param_config_valid(values):
            return math.inf
        found = self.search.cost(self.run([values])[0])
        return math.inf if found is None else found

    __call__ = cost

    @property
    def budget_spent_fraction(self) -> float:
        return self.search.budget_spent_fraction


class Options(Dict[str, Any]):
    """tuning_options of a user's strategy: the options as keys and as attributes."""

    def __init__(self, options: Mapping[str, Any], runner: Runner) -> None:
        search = runner.search
        super().__init__(options, objective=search.objective, objective_higher_is_better=search.higher, strategy_options=dict(options))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class OptAlgWrapper:
    """Makes a strategy of an algorithm that is called with (func, searchspace): func(values) is the cost to minimise."""

    def __init__(self, optimizer: Callable[[Runner, Searchspace], Any]) -> None:
        self.optimizer = optimizer

    def tune(self, searchspace: Searchspace, runner: Runner, tuning_options: Any) -> List[Row]:
        try:
            self.optimizer(runner, searchspace)
        except StopCriterionReached:
            pass
        return list(runner.search.rows.values())


def strategy_of(strategy: Any, options: Mapping[str, Any]) -> Any:
    """One of our names, or the user's own object. What cannot be followed is said."""
    if strategy is None:
        strategy = "brute_force"
    if not isinstance(strategy, str):
        if not callable(getattr(strategy, "tune", None)):
            raise ValueError("strategy must be one of %s, or an object with tune()" % ", ".join(STRATEGIES))
        return strategy
    if strategy not in STRATEGIES:
        raise ValueError("unknown strategy %r: use one of %s" % (strategy, ", ".join(STRATEGIES)))
    if not STRATEGIES[strategy]:
        warnings.warn("strategy=%r: auto searches instead, a model of all results" % strategy, stacklevel=4)
    others = [name for name in options if name not in ("max_fevals", "time_limit", "seed")]
    if others:
        warnings.warn("strategy_options: our strategies have no %s" % ", ".join(others), stacklevel=4)
    return STRATEGIES[strategy] or "auto"


def tuned(
    search: Search, strategy: Any, params: Mapping[str, Sequence[Any]], configs: Iterable[Config], options: Mapping[str, Any]
) -> None:
    if strategy == "grid":
        search.all(configs)
        return
    listed = list(itertools.islice(configs, 1 << 24))
    if not listed:
        return
    if isinstance(strategy, str):
        search.study(strategy, params, listed, int(options.get("seed", 1)))
    else:
        search.own(strategy, params, listed, options)
